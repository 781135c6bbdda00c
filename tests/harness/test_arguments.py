"""The arguments of a call: as recorded, as checked, as given to policy and tool."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from regress_core.harness.policy import Policies, PolicyResult, ToolPolicyInput, allow
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelToolCall
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.support import ended, ok, output_items, outputs, run
from tests.support.harness import agent, asks, call, says, tool


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param(" \n", {}, id="blank"),
        pytest.param('  {"a": 1}\n', {"a": 1}, id="blank around"),
        pytest.param('{"a":', {"__raw": '{"a":'}, id="cut off"),
        pytest.param(' {"a":', {"__raw": ' {"a":'}, id="kept as it came"),
        pytest.param("{'a': 1}", {"__raw": "{'a': 1}"}, id="Python"),
        pytest.param("```json\n{}\n```", {"__raw": "```json\n{}\n```"}, id="fenced"),
        pytest.param('{"a": NaN}', {"__raw": '{"a": NaN}'}, id="NaN"),
        pytest.param('{"a": 1e999}', {"__raw": '{"a": 1e999}'}, id="beyond a double"),
        pytest.param('{"a": 1, "a": 2}', {"__raw": '{"a": 1, "a": 2}'}, id="a key twice"),
        pytest.param("[" * 1000 + "]" * 1000, {"__raw": "[" * 1000 + "]" * 1000}, id="a thousand deep"),
        pytest.param(
            "[" * 190 + "]" * 190, {"__raw": "[" * 190 + "]" * 190}, id="deeper than a record holds"
        ),
        pytest.param("1" * 5000, {"__raw": "1" * 5000}, id="five thousand digits"),
        pytest.param('""', "", id="an empty text"),
        pytest.param("[1]", [1], id="a list"),
        pytest.param("null", None, id="null"),
        pytest.param("9007199254740993", 9007199254740993, id="beyond 2^53"),
        pytest.param(r'{"\ud800": "\udfff"}', {"\ud800": "\udfff"}, id="lone surrogates"),
    ],
)
def test_arguments_as_recorded(text: str, arguments: JsonValue) -> None:
    seen: list[JsonValue] = []

    def execute(given: JsonValue, _: RunContext) -> None:
        seen.append(given)

    entry = agent([Tool("look", "", execute, parameters={})])

    record = run(entry, [asks(ModelToolCall("c1", "look", text)), says("Done.")]).record

    (item,) = (item for item in record.items if item["type"] == "tool_call_item")
    assert item.get("arguments") == arguments
    assert item.get("rawItem", {})["arguments"] == text
    assert seen == [arguments]


_SEARCH = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
    "required": ["q"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "$: 'q' is a required property", id="nothing"),
        pytest.param('""', "$: '' is not of type 'object'", id="an empty text"),
        pytest.param('{"q":', "$: 'q' is a required property", id="no JSON"),
        pytest.param(
            '{"q": "a", "x": 1}',
            "$: Additional properties are not allowed ('x' was unexpected)",
            id="unknown",
        ),
        pytest.param('{"q": 1}', "$.q: 1 is not of type 'string'", id="another type"),
        pytest.param('{"q": "a", "n": 0}', "$.n: 0 is less than the minimum of 1", id="too small"),
    ],
)
def test_arguments_that_the_schema_refuses(text: str, message: str) -> None:
    entry = agent([Tool("search", "", lambda _arguments, _context: pytest.fail("ran"), _SEARCH)])

    done = run(entry, [asks(ModelToolCall("c1", "search", text)), says("Done.")])

    assert ended(done) == ("failed", "ZodError", f'Arguments of tool "search": {message}')
    assert [decision["decision"] for decision in done.record.policy_decisions] == ["allow"]
    assert output_items(done.record) == []


def test_a_schema_refers_to_itself_and_to_nothing_on_the_network() -> None:
    schema: JsonObject = {"$defs": {"id": {"type": "integer"}}, "properties": {"id": {"$ref": "#/$defs/id"}}}
    reply = asks(call("get", id="7"))

    done = run(agent([tool("get", 1, parameters=schema)]), [reply])
    assert ended(done) == (
        "failed",
        "ZodError",
        "Arguments of tool \"get\": $.id: '7' is not of type 'integer'",
    )

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the library has no name for it
        port: int = server.getsockname()[1]
        schema["properties"] = {"id": {"$ref": f"http://127.0.0.1:{port}/id.json"}}
        done = run(agent([tool("get", 1, parameters=schema)]), [reply])
        with pytest.raises(BlockingIOError):
            server.accept()
    assert done.record.status == "failed"


def test_what_a_tool_or_policy_changes_of_the_arguments_is_not_recorded() -> None:
    def take(arguments: Any, _: RunContext) -> JsonValue:  # noqa: ANN401 - any arguments
        return arguments.pop("q")

    def tamper(asked: ToolPolicyInput) -> PolicyResult:
        asked.parsed_arguments["q"] = "b"
        return allow("fine")

    done = run(
        agent([Tool("take", "", take)]),
        [asks(call("take", q="a")), says("Done.")],
        RunOptions(policies=Policies(tool=tamper)),
    )

    assert outputs(done.record) == [ok("a")]
    (item,) = (item for item in done.record.items if item["type"] == "tool_call_item")
    assert item.get("arguments") == {"q": "a"}
