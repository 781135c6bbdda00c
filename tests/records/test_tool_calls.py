"""The tool calls of a run, each with its output."""

from __future__ import annotations

import hashlib
from typing import Any, cast

import pytest

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from tests.support.json_compare import json_difference
from tests.support.records import message, record_json, tool_call, tool_output


def _call(
    call_id: str, name: str, turn: int | None, arguments: JsonValue, text: str, **output: JsonValue
) -> JsonObject:
    value: JsonObject = {
        "callId": call_id,
        "name": name,
        "arguments": arguments,
        "argsCanonicalJson": text,
        "argsHash": hashlib.sha256(text.encode()).hexdigest(),
        "hasOutput": bool(output),
        **output,
    }
    return value if turn is None else value | {"turn": turn}


CASES: list[tuple[str, list[JsonObject], list[JsonObject]]] = [
    ("nothing", [], []),
    ("messages-only", [message("a"), message("b", role="assistant")], []),
    (
        "one-call",
        [
            message("a"),
            tool_call("c1", "f", arguments={"b": 1.0, "a": "x"}),
            tool_output("c1", output={"ok": True}),
        ],
        [_call("c1", "f", 1, {"b": 1.0, "a": "x"}, '{"a":"x","b":1}', output={"ok": True})],
    ),
    ("no-output", [tool_call("c1", "f", arguments=[])], [_call("c1", "f", 1, [], "[]")]),
    (
        "C35-outputs-out-of-order",
        [
            tool_call("c1", "f", arguments={"n": 1}),
            tool_call("c2", "f", arguments={"n": 2}),
            tool_output("c2", output="two"),
            tool_output("c1", output="one"),
        ],
        [
            _call("c1", "f", 1, {"n": 1}, '{"n":1}', output="one"),
            _call("c2", "f", 2, {"n": 2}, '{"n":2}', output="two"),
        ],
    ),
    ("absent-arguments", [tool_call("c1", "f")], [_call("c1", "f", 1, {}, "{}")]),
    ("null-arguments", [tool_call("c1", "f", arguments=None)], [_call("c1", "f", 1, None, "null")]),
    (
        "arguments-kept-as-text",
        [tool_call("c1", "f", arguments='{"b": 1, "a": 2}')],
        [_call("c1", "f", 1, '{"b": 1, "a": 2}', r'"{\"b\": 1, \"a\": 2}"')],
    ),
    (
        "flagged-error",
        [tool_call("c1", "f"), tool_output("c1", output="boom", isError=True)],
        [_call("c1", "f", 1, {}, "{}", output="boom", isError=True)],
    ),
    (
        "unflagged-error",
        [tool_call("c1", "f"), tool_output("c1", output="Error: boom", isError=False)],
        [_call("c1", "f", 1, {}, "{}", output="Error: boom")],
    ),
    (
        "orphan-output",
        [tool_output("c9", output=1), tool_call("c1", "f")],
        [_call("c9", "", None, {}, "{}", output=1), _call("c1", "f", 1, {}, "{}")],
    ),
    (
        "second-output-wins",
        [
            tool_call("c1", "f"),
            tool_output("c1", output="bad", isError=True),
            tool_output("c1", output="good"),
        ],
        [_call("c1", "f", 1, {}, "{}", output="good")],
    ),
    (
        "an-output-belongs-to-the-latest-call-with-its-id",
        [
            tool_call("c1", "f"),
            tool_output("c1", output=1),
            tool_call("c1", "g"),
            message("x", role="assistant"),
            tool_output("c1", output=2),
        ],
        [_call("c1", "f", 1, {}, "{}", output=1), _call("c1", "g", 2, {}, "{}", output=2)],
    ),
    (
        "an-empty-id-is-an-id",
        [tool_call("", "f"), tool_output("", output=1)],
        [_call("", "f", 1, {}, "{}", output=1)],
    ),
]


@pytest.mark.parametrize(("items", "calls"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_calls_of_items(items: list[JsonObject], calls: list[JsonObject]) -> None:
    got = [call.to_json() for call in extract_tool_calls(cast("list[Any]", items))]

    assert json_difference(calls, got) is None


@pytest.mark.parametrize(("items", "calls"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_calls_of_a_record(items: list[JsonObject], calls: list[JsonObject]) -> None:
    record = RunRecord.parse(record_json(items=items))

    assert json_difference(calls, [call.to_json() for call in extract_tool_calls(record)]) is None


@pytest.mark.parametrize("output", [{}, {"output": None}], ids=["absent", "null"])
def test_an_output_of_nothing_is_an_output(output: JsonObject) -> None:
    record = RunRecord.parse(record_json(items=[tool_call("c1", "f"), tool_output("c1", **output)]))

    (call,) = extract_tool_calls(record)

    assert call.has_output
    assert call.output is None


def test_the_fields_of_a_call() -> None:
    items = [tool_call("c1", "f", arguments={"a": 1}), tool_output("c1", output="x", isError=True)]

    (call,) = extract_tool_calls(RunRecord.parse(record_json(items=items)))

    assert (call.call_id, call.name, call.arguments, call.turn) == ("c1", "f", {"a": 1}, 1)
    assert (call.has_output, call.output, call.is_error) == (True, "x", True)
    assert call.args_canonical_json == '{"a":1}'
    assert call.args_hash == hashlib.sha256(b'{"a":1}').hexdigest()


def test_extraction_leaves_the_record_as_it_is() -> None:
    items = [tool_call("c1", "f"), tool_output("c1")]
    record = RunRecord.parse(record_json(items=items))

    extract_tool_calls(record)

    assert record.data == record_json(items=[tool_call("c1", "f"), tool_output("c1")])
