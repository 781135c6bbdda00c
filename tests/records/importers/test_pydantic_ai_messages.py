"""Histories of pydantic-ai, made by the library itself and by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from regress_core.records.importers.base import Imported, Outcome
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.pydantic_ai_messages import is_pydantic_ai, read_pydantic_ai
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output
from tests.support.strategies import JSON_VALUES

USAGE = RequestUsage(input_tokens=100, output_tokens=5, cache_read_tokens=80)


def read(*rows: JsonValue, turns: Turns = "whole") -> list[Outcome]:
    return cases(read_pydantic_ai(rows_of(*rows, file="run.json")), turns=turns)


def bare(outcome: Outcome) -> list[JsonObject]:
    items = imported(outcome).record.items
    return [{k: v for k, v in item.items() if k not in ("rawItem", "reasoning")} for item in items]


def answering(*replies: Sequence[ModelResponsePart]) -> FunctionModel:
    """Give a model that answers with one reply after the other."""

    def reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        number = sum(isinstance(one, ModelResponse) for one in messages)
        return ModelResponse(parts=list(replies[number]), usage=USAGE)

    return FunctionModel(reply, model_name="m-small")


def test_a_run_as_the_library_writes_it() -> None:
    agent = Agent(
        answering(
            [
                ThinkingPart("Look."),
                ToolCallPart("find", {"n": 1}, "c1"),
                ToolCallPart("find", '{"n": 2}', "c2"),
            ],
            [ToolCallPart("find", {"n": 3}, "c3")],
            [TextPart("It is here.")],
        ),
        system_prompt="Be kind.",
        instructions="Be brief.",
    )

    @agent.tool_plain
    def find(n: int) -> dict[str, int]:  # pyright: ignore[reportUnusedFunction] - the agent calls it
        if n == 2:
            raise ModelRetry("no such order")
        return {"order": n}

    history: list[Any] = json.loads(agent.run_sync("Where is it?").all_messages_json())
    (outcome,) = read(*history)

    run = imported(outcome)
    items = bare(outcome)
    assert items[:3] == [
        message("Where is it?"),
        tool_call("c1", "find", arguments={"n": 1}),
        tool_call("c2", "find", arguments={"n": 2}),
    ]
    assert items[3] == tool_output("c1", output={"order": 1})
    assert (items[4]["callId"], items[4]["isError"]) == ("c2", True)
    assert items[5:] == [
        tool_call("c3", "find", arguments={"n": 3}),
        tool_output("c3", output={"order": 3}),
        message("It is here.", "assistant"),
    ]
    assert run.record.items[1].get("reasoning", [{}])[0]["content"] == "Look."
    assert run.name == "run"
    prompt = run.record.data["promptSnapshots"][0].get("promptText") or ""
    assert {"Be kind.", "Be brief."} == set(prompt.split("\n\n"))
    # Three requests of 100 tokens, 80 of which came from the cache.
    assert run.record.regress_metadata["usage"] == {
        "inputTokens": 60,
        "outputTokens": 15,
        "cacheReadTokens": 240,
        "cacheWriteTokens": 0,
    }
    assert is_pydantic_ai(history)
    assert is_pydantic_ai(history[0])


def test_the_call_that_is_the_result_is_the_answer() -> None:
    class Order(BaseModel):
        number: int

    agent = Agent(answering([ToolCallPart("final_result", {"number": 7}, "c1")]), output_type=Order)
    history = json.loads(agent.run_sync("Which?").all_messages_json())

    (outcome,) = read({"id": "a", "messages": history})

    assert bare(outcome) == [message("Which?"), message('{"number":7}', "assistant")]
    assert (imported(outcome).name, imported(outcome).record.response) == ("a", '{"number":7}')


def test_several_runs_a_file_and_each_turn_a_case() -> None:
    agent = Agent(answering([TextPart("Hi.")], [TextPart("Bye.")]))
    first = agent.run_sync("Hello")
    second = agent.run_sync("Go", message_history=first.all_messages())
    rows = [
        json.loads(first.all_messages_json()),
        {"id": "b", "history": json.loads(second.all_messages_json())},
    ]

    assert [imported(one).name for one in read(*rows)] == ["row-1", "b"]
    assert [imported(one).name for one in read(*rows, turns="each")] == ["row-1-t1", "b-t1", "b-t2"]


def request(*parts: JsonObject) -> JsonObject:
    return {"kind": "request", "parts": list(parts)}


ASK: JsonObject = {"part_kind": "user-prompt", "content": "Go."}


@pytest.mark.parametrize(
    ("parts", "item"),
    [
        ([{**ASK, "content": ["a", {"kind": "image-url", "url": "u"}, "b"]}], message("a\nb")),
        ([ASK, {"part_kind": "retry-prompt", "content": "Try again."}], message("Try again.", "system")),
        (
            [
                ASK,
                {
                    "part_kind": "tool-return",
                    "tool_name": "f",
                    "content": 1,
                    "tool_call_id": "c",
                    "outcome": "denied",
                },
            ],
            {**tool_output("c", output=1), "isError": True},
        ),
    ],
)
def test_parts(parts: list[JsonObject], item: JsonObject) -> None:
    assert bare(read(request(*parts))[0])[-1] == item


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (3, "$: neither a list of messages nor a JSON object"),
        ({}, "$.messages: the field is missing"),
        ({"messages": 3}, "$.messages: no list of messages"),
        ({"messages": []}, "$.messages: no message of the user"),
        ({"messages": [{"kind": "request"}]}, "$.messages[0]: no message: it has no kind with parts"),
        (
            {"messages": [request({**ASK, "content": 3})]},
            "$.messages[0].parts[0].content: neither text nor a list",
        ),
        (
            {"messages": [request({"part_kind": "x"})]},
            "$.messages[0].parts[0].part_kind: no part of a request: 'x'",
        ),
        (
            {"messages": [request(ASK), {"kind": "response", "parts": [{"part_kind": "tool-call"}]}]},
            "$.messages[1].parts[0].tool_name: the field is missing",
        ),
    ],
)
def test_rejected_with_the_path(row: JsonValue, reason: str) -> None:
    rejected, good = read(row, {"messages": [request(ASK)]})
    assert rejection(rejected) == ("row 1", reason)
    assert isinstance(good, Imported)


def test_a_part_of_the_library_keeps_its_name() -> None:
    """The names of parts that are read here are those of the library."""
    assert (ToolReturnPart.part_kind, ToolCallPart.part_kind, ThinkingPart.part_kind) == (
        "tool-return",
        "tool-call",
        "thinking",
    )


_KINDS = [
    "user-prompt",
    "system-prompt",
    "tool-return",
    "retry-prompt",
    "text",
    "tool-call",
    "thinking",
    "file",
]
_PARTS = JSON_VALUES | st.fixed_dictionaries(
    {"part_kind": st.sampled_from(_KINDS) | JSON_VALUES},
    optional={
        "content": st.text(max_size=3) | JSON_VALUES,
        "tool_name": st.text(max_size=2) | JSON_VALUES,
        "tool_call_id": st.sampled_from("ab") | JSON_VALUES,
        "args": JSON_VALUES,
        "outcome": JSON_VALUES,
        "timestamp": JSON_VALUES,
    },
)
_MESSAGES = JSON_VALUES | st.fixed_dictionaries(
    {"kind": st.sampled_from(["request", "response"]), "parts": st.lists(_PARTS, max_size=3)},
    optional={"instructions": JSON_VALUES, "usage": JSON_VALUES, "model_name": JSON_VALUES},
)
_ROWS = (
    _MESSAGES
    | st.lists(_MESSAGES, max_size=3)
    | st.fixed_dictionaries({"messages": st.lists(_MESSAGES, max_size=3)})
)


@given(st.lists(_ROWS, max_size=3), st.sampled_from(["whole", "each"]))
def test_any_json_is_a_record_or_a_reason(rows: list[JsonValue], turns: Turns) -> None:
    for row in rows:
        is_pydantic_ai(row)
    for outcome in read(*rows, turns=turns):
        assert isinstance(outcome, Imported) or outcome.reason
