"""Calls of OpenAI's Responses API: items, chains, histories that repeat; by hand from its reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.base import Imported, Outcome
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.openai_responses import is_openai_responses, read_openai_responses
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output
from tests.support.strategies import JSON_VALUES

USER: JsonObject = {"role": "user", "content": "Where is it?"}
THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "r1",
    "summary": [{"type": "summary_text", "text": "Look."}],
}
CALL: JsonObject = {
    "type": "function_call",
    "id": "f1",
    "call_id": "c1",
    "name": "find",
    "arguments": '{"n": 1}',
}
GIVEN: JsonObject = {"type": "function_call_output", "call_id": "c1", "output": "here"}
DONE: JsonObject = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "It is here.", "annotations": []}],
}
USAGE: JsonObject = {"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 80}}


def response(*output: JsonObject, id: str = "resp_1", **more: JsonValue) -> JsonObject:  # noqa: A002 - the format's name
    known: JsonObject = {
        "id": id,
        "object": "response",
        "model": "m-1",
        "status": "completed",
        "usage": USAGE,
    }
    return {**known, "output": list(output), **more}


def read(*rows: JsonValue, turns: Turns = "whole") -> list[Outcome]:
    return cases(read_openai_responses(rows_of(*rows)), turns=turns)


def bare(outcome: Outcome) -> list[JsonObject]:
    items = imported(outcome).record.items
    return [{k: v for k, v in item.items() if k not in ("rawItem", "reasoning")} for item in items]


ALL = [
    message("Where is it?"),
    tool_call("c1", "find", arguments={"n": 1}),
    tool_output("c1", output="here"),
    message("It is here.", "assistant"),
]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([{"input": [USER, THOUGHT, CALL, GIVEN], "response": response(DONE)}], id="one request"),
        pytest.param(
            [
                {"input": "Where is it?", "response": response(THOUGHT, CALL)},
                {"input": [USER, THOUGHT, CALL, GIVEN], "response": response(DONE, id="resp_2")},
            ],
            id="the second repeats the first",
        ),
        pytest.param(
            [
                {"input": [USER], "response": response(THOUGHT, CALL)},
                {
                    "input": [GIVEN],
                    "previous_response_id": "resp_1",
                    "response": response(DONE, id="resp_2"),
                },
            ],
            id="the second names the first",
        ),
        pytest.param([{"input": [USER, THOUGHT, CALL, GIVEN], **response(DONE)}], id="all in one object"),
        pytest.param(
            [
                {
                    "request": {"input": [USER, THOUGHT, CALL, GIVEN]},
                    "response": [
                        {"type": "response.created", "response": response()},
                        {"type": "response.output_text.delta", "delta": "It is "},
                        {"type": "response.completed", "response": response(DONE)},
                    ],
                }
            ],
            id="a stream",
        ),
    ],
)
def test_however_it_is_told_it_is_one_conversation(rows: list[JsonObject]) -> None:
    (outcome,) = read(*rows)

    assert bare(outcome) == ALL
    record = imported(outcome).record
    assert (record.response, record.data.get("model")) == ("It is here.", "m-1")
    assert record.regress_metadata["usage"] == {
        "inputTokens": 20 * len(rows),
        "outputTokens": 5 * len(rows),
        "cacheReadTokens": 80 * len(rows),
        "cacheWriteTokens": 0,
    }
    assert record.items[1].get("reasoning") == [THOUGHT]


def test_rows_that_do_not_go_on_are_conversations_of_their_own() -> None:
    first, second = read(
        {"input": "Hello", "response": response(DONE)}, {"input": "Hello", "response": response(DONE)}
    )
    assert [imported(one).name for one in (first, second)] == ["row-1", "row-2"]


def test_the_instructions_are_the_prompt() -> None:
    (outcome,) = read({"input": "Hello", "instructions": "Be kind.", "response": response(DONE)})
    snapshot = imported(outcome).record.data["promptSnapshots"][0]
    assert snapshot.get("promptText") == "Be kind."


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({**USER, "content": [{"type": "input_text", "text": "a"}, {"type": "input_image"}]}, [message("a")]),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            [message("No.", "assistant")],
        ),
        (
            {
                "type": "mcp_call",
                "id": "m1",
                "name": "get",
                "arguments": '{"a": 1}',
                "output": "x",
                "error": None,
            },
            [tool_call("m1", "get", arguments={"a": 1}), tool_output("m1", output="x")],
        ),
        (
            {"type": "mcp_call", "id": "m1", "name": "get", "arguments": "{}", "error": "gone"},
            [tool_call("m1", "get", arguments={}), {**tool_output("m1", output="gone"), "isError": True}],
        ),
        (
            {"type": "file_search_call", "id": "s1", "queries": ["q"], "results": [{"text": "t"}]},
            [
                tool_call("s1", "file_search", arguments={"queries": ["q"]}),
                tool_output("s1", output=[{"text": "t"}]),
            ],
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"},
            [tool_call("c", "sh", arguments="ls")],
        ),
        ({"type": "mcp_list_tools", "tools": []}, []),
    ],
)
def test_items(item: JsonObject, expected: list[JsonObject]) -> None:
    (outcome,) = read({"input": [USER, item], "response": response()})
    assert bare(outcome) == [message("Where is it?"), *expected]


def test_a_response_that_was_cut_off_has_failed() -> None:
    cut = response(status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    record = imported(read({"input": "Hello", "response": cut})[0]).record
    assert (record.status, record.error_name, record.error_message) == (
        "failed",
        "incomplete",
        "max_output_tokens",
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (3, "$: no JSON object"),
        ({}, "$.input: the field is missing"),
        ({"input": 3}, "$.input: neither text nor a list of items"),
        ({"input": [3]}, "$.input[0]: no JSON object"),
        ({"input": []}, "$.input: no message of the user"),
        ({"input": [{"type": "x"}]}, "$.input[0].type: no item that is known: 'x'"),
        ({"input": [{"role": "x"}]}, "$.input[0].role: no role of a message: 'x'"),
        ({"input": [{"type": "function_call", "name": "f"}]}, "$.input[0].call_id: the field is missing"),
        ({"input": "a", "response": []}, "$.response: the stream breaks off: no response is completed"),
    ],
)
def test_rejected_with_the_path(row: JsonValue, reason: str) -> None:
    rejected, good = read(row, {"input": "Hello", "response": response(DONE)})
    assert rejection(rejected) == ("row 1", reason)
    assert isinstance(good, Imported)


@pytest.mark.parametrize(
    ("row", "is_one"),
    [
        ({"input": "a", "output": []}, True),
        ({"input": [USER], "response": response()}, True),
        ({"input": "a"}, False),  # a question of some log
        ({"input": {"messages": []}, "output": {}}, False),
        ({"messages": []}, False),
        (None, False),
    ],
)
def test_what_looks_like_it(row: JsonValue, *, is_one: bool) -> None:
    assert is_openai_responses(row) is is_one


_TYPES = ["message", "function_call", "function_call_output", "reasoning", "mcp_call", "web_search_call"]
_TEXTS: st.SearchStrategy[JsonValue] = st.sampled_from(["", "a"]) | JSON_VALUES
_ITEMS: st.SearchStrategy[JsonValue] = JSON_VALUES | st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(_TYPES) | JSON_VALUES,
        "role": st.sampled_from(["user", "assistant"]) | JSON_VALUES,
        "content": _TEXTS,
        "call_id": _TEXTS,
        "id": _TEXTS,
        "name": _TEXTS,
        "arguments": _TEXTS,
        "output": _TEXTS,
        "error": JSON_VALUES,
    },
)
_LISTS: st.SearchStrategy[JsonValue] = st.lists(_ITEMS, max_size=3) | JSON_VALUES
_ROWS: st.SearchStrategy[JsonValue] = JSON_VALUES | st.fixed_dictionaries(
    {"input": _LISTS},
    optional={
        "output": _LISTS,
        "response": JSON_VALUES | st.fixed_dictionaries({"output": _LISTS}, optional={"usage": JSON_VALUES}),
        "instructions": JSON_VALUES,
        "previous_response_id": _TEXTS,
        "id": _TEXTS,
    },
)


@given(st.lists(_ROWS, max_size=3), st.sampled_from(["whole", "each"]))
def test_any_json_is_a_record_or_a_reason(rows: list[JsonValue], turns: Turns) -> None:
    for row in rows:
        is_openai_responses(row)
    for outcome in read(*rows, turns=turns):
        assert isinstance(outcome, Imported) or outcome.reason
