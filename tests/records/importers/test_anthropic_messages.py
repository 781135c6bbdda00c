"""Calls of Anthropic's API: blocks, histories that repeat, streams; by hand from the format's description."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.anthropic_messages import is_anthropic_messages, read_anthropic_messages
from regress_core.records.importers.base import Imported
from regress_core.records.importers.conversations import Conversation, Turns
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output
from tests.support.strategies import JSON_VALUES

ASKS: JsonObject = {"role": "user", "content": "Where is it?"}
USES: JsonObject = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Look it up.", "signature": "s"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "find", "input": {"n": 1}},
        {"type": "tool_use", "id": "t2", "name": "find", "input": {"n": 2}},
    ],
}
GIVES: JsonObject = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "two"}]},
        {"type": "tool_result", "tool_use_id": "t1", "content": "no such order", "is_error": True},
    ],
}
ANSWER: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "It is "}, {"type": "text", "text": "here."}],
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 3,
    },
}


def read(*rows: JsonValue, turns: Turns = "whole") -> list[Any]:
    return cases(read_anthropic_messages(rows_of(*rows)), turns=turns)


def bare(item: JsonObject) -> JsonObject:
    return {key: value for key, value in item.items() if key not in ("rawItem", "reasoning")}


def test_a_request_with_its_response() -> None:
    row = {
        "system": "Be kind.",
        "messages": [ASKS, USES, GIVES],
        "response": ANSWER,
        "timestamp": 1_700_000_000,
    }
    (outcome,) = read(row)

    data = imported(outcome).record.data
    assert [bare(dict(item)) for item in data["items"]] == [
        message("Where is it?"),
        message("Let me see.", "assistant"),
        tool_call("t1", "find", arguments={"n": 1}),
        tool_call("t2", "find", arguments={"n": 2}),
        tool_output("t2", output="two"),
        {**tool_output("t1", output="no such order"), "isError": True},
        message("It is \nhere.", "assistant"),
    ]
    assert (data["question"], data["response"], data.get("inputItemCount")) == (
        "Where is it?",
        "It is \nhere.",
        1,
    )
    assert data["promptSnapshots"][0].get("promptText") == "Be kind."
    assert (data.get("model"), data["startedAt"]) == ("claude-x", "2023-11-14T22:13:20.000Z")
    assert data["items"][1].get("reasoning") == [USES["content"][0]], "thoughts are no answer"
    assert imported(outcome).record.regress_metadata["usage"] == {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheReadTokens": 90,
        "cacheWriteTokens": 3,
    }


def test_rows_that_each_repeat_the_one_before_are_one_conversation() -> None:
    first = {"messages": [ASKS], "response": {**ANSWER, "content": USES["content"]}}
    marked = {
        **GIVES,
        "content": [{**block, "cache_control": {"type": "ephemeral"}} for block in GIVES["content"]],
    }
    second = {"messages": [ASKS, USES, marked], "response": ANSWER}
    other = {"messages": [{"role": "user", "content": "Hello"}], "response": ANSWER}

    one, two = read(first, second, other)

    assert len(imported(one).record.items) == 7
    assert imported(one).record.regress_metadata["usage"]["outputTokens"] == 10, "each call counts once"
    assert len(imported(two).record.items) == 2


def _stream(*blocks: JsonObject, end: bool = True) -> list[JsonObject]:
    events: list[JsonObject] = [
        {"type": "message_start", "message": {**ANSWER, "content": [], "usage": {"input_tokens": 10}}},
        {"type": "ping"},
        *blocks,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    ]
    return [*events, {"type": "message_stop"}] if end else events


def test_a_streamed_response_is_joined() -> None:
    events = _stream(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "me."}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "find", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"n"'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": ": 1}"},
        },
        {"type": "content_block_stop", "index": 1},
    )
    (outcome,) = read({"request": {"messages": [ASKS]}, "response": events})
    record = imported(outcome).record
    assert [bare(dict(item)) for item in record.items] == [
        message("Where is it?"),
        message("Let me.", "assistant"),
        tool_call("t1", "find", arguments={"n": 1}),
    ]
    assert record.regress_metadata["usage"]["outputTokens"] == 7


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (3, "$: no JSON object"),
        ({}, "$.messages: the field is missing"),
        ({"messages": 3}, "$.messages: no list of messages"),
        ({"messages": []}, "$.messages: no message of the user"),
        ({"messages": [3]}, "$.messages[0]: no message: no JSON object"),
        (
            {"messages": [{"role": "robot", "content": "x"}]},
            "$.messages[0].role: no role of a message: 'robot'",
        ),
        ({"messages": [{"role": "user"}]}, "$.messages[0].content: neither text nor a list of blocks"),
        (
            {"messages": [{"role": "user", "content": [3]}]},
            "$.messages[0].content[0]: no block: no JSON object",
        ),
        (
            {"messages": [ASKS, {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}]},
            "$.messages[1].content[0].name: the field is missing",
        ),
        (
            {
                "messages": [
                    ASKS,
                    {"role": "assistant", "content": [{"type": "tool_use", "id": 3, "name": "f"}]},
                ]
            },
            "$.messages[1].content[0].id: no call id: no text",
        ),
        (
            {"messages": [ASKS], "response": _stream(end=False)},
            "$.response: the stream breaks off: it has no message_stop",
        ),
        (
            {"messages": [ASKS], "response": [{"type": "ping"}]},
            "$.response: no stream: it has no message_start",
        ),
        (
            {"messages": [ASKS], "response": _stream({"type": "content_block_delta", "index": 4})},
            "$.response[2].index: a block that has not begun",
        ),
    ],
)
def test_rejected_with_the_path(row: JsonValue, reason: str) -> None:
    rejected, good = read(row, {"messages": [ASKS], "response": ANSWER})
    assert rejection(rejected) == ("row 1", reason)
    assert isinstance(good, Imported)


@pytest.mark.parametrize(
    ("row", "is_one"),
    [
        ({"messages": [ASKS, USES]}, True),
        ({"messages": [ASKS], "system": "Be kind."}, True),
        ({"messages": [ASKS], "response": ANSWER}, True),
        ({"custom_id": "a", "params": {"messages": [ASKS], "system": "x"}}, True),
        ({"messages": [ASKS]}, False),  # may be anybody's
        ({"messages": [{"role": "system", "content": "x"}, ASKS]}, False),
        ({"messages": []}, False),
        ({}, False),
        (3, False),
    ],
)
def test_what_looks_like_it(row: JsonValue, *, is_one: bool) -> None:
    assert is_anthropic_messages(row) is is_one


_TEXTS = st.sampled_from(["", "a", "b"])
_BLOCKS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "mcp_tool_result"])
        | JSON_VALUES
    },
    optional={
        "text": _TEXTS | JSON_VALUES,
        "id": _TEXTS | JSON_VALUES,
        "name": _TEXTS | JSON_VALUES,
        "input": JSON_VALUES,
        "tool_use_id": _TEXTS | JSON_VALUES,
        "content": _TEXTS | JSON_VALUES,
        "is_error": st.booleans() | JSON_VALUES,
    },
)
_MESSAGES = JSON_VALUES | st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]),
        "content": _TEXTS | st.lists(_BLOCKS | JSON_VALUES, max_size=3),
    }
)
_ROWS = JSON_VALUES | st.fixed_dictionaries(
    {"messages": st.lists(_MESSAGES, max_size=4) | JSON_VALUES},
    optional={
        "system": JSON_VALUES,
        "response": _MESSAGES | st.lists(JSON_VALUES, max_size=3),
        "id": JSON_VALUES,
    },
)


@given(st.lists(_ROWS, max_size=3), st.sampled_from(["whole", "each"]))
def test_any_json_is_a_record_or_a_reason(values: list[JsonValue], turns: Turns) -> None:
    for value in values:
        is_anthropic_messages(value)
    found = list(read_anthropic_messages(rows_of(*values)))
    assert len(cases(found, turns=turns)) >= len([one for one in found if not isinstance(one, Conversation)])
