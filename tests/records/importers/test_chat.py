"""Rows of chat messages as records: whole, turn by turn, named, dated."""

from __future__ import annotations

import hashlib

import pytest

from regress_core.records.importers.base import Imported, Skipped
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from tests.records.importers.support import chat, chat_record, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output

TALK: list[JsonValue] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": None,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"n":1}'}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "on its way"},
    {"role": "assistant", "content": "On its way."},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": None,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"n":2}'}}]},
    {"role": "user", "content": "Well?"},
    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "here"},
    {"role": "assistant", "content": "Here."},
]  # fmt: skip
ITEMS = [
    message("Where is it?"),
    tool_call("c1", "find", arguments={"n": 1}),
    tool_output("c1", output="on its way"),
    message("On its way.", "assistant"),
    message("And now?"),
    tool_call("c1#2", "find", arguments={"n": 2}),
    message("Well?"),
    tool_output("c1#2", output="here"),
    message("Here.", "assistant"),
]
SECTIONS = ["policy", "suspendedProposals", "guardrails", "fingerprints", "descriptor"]
SNAPSHOT: JsonObject = {
    "timestamp": "2023-11-14T22:13:20.000Z",
    "turn": 1,
    "agentName": "unknown",
    "promptHash": hashlib.sha256(b"Be kind.").hexdigest(),
    "promptText": "Be kind.",
}


def record(name: str, **more: JsonValue) -> JsonObject:
    noted: JsonObject = {"name": name, "label": 1.0, "source": "log.jsonl", "row": 1, "unrecorded": SECTIONS}
    return {
        "runId": name,
        "startedAt": "2023-11-14T22:13:20.000Z",
        "completedAt": "2023-11-14T22:13:20.000Z",
        "status": "completed",
        "agentName": "unknown",
        "model": "gpt-4o",
        "question": more["question"],
        "response": more["response"],
        "contextSnapshot": {},
        "items": more["items"],
        "inputItemCount": more["inputItemCount"],
        "promptSnapshots": [SNAPSHOT],
        "requestFingerprints": [],
        "policyDecisions": [],
        "metadata": {"regress": noted},
    }


ROW: JsonObject = {
    "task": {"id": 3, "reward": 1.0},
    "traj": TALK,
    "created": 1_700_000_000,
    "model": "gpt-4o",
    "other": "x",
}


def test_whole() -> None:
    (outcome,) = chat(rows_of(ROW), "traj", name="{task.id}", label="task.reward")
    run = imported(outcome)
    expected = record("3", question="Where is it?", response="Here.", items=ITEMS, inputItemCount=1)
    assert dumps(run.record.data) == dumps(expected)  # the order of the keys too
    assert (run.name, run.position, run.multi_turn) == ("3", "row 1", True)


def test_each() -> None:
    first, second, third = chat(rows_of(ROW), "traj", name="{task.id}", label="task.reward", turns="each")
    reason = "the turn does not end with an answer of the assistant"
    assert second == Skipped("row 1, turn 2", reason, "log.jsonl")
    expected = [
        record("3-t1", question="Where is it?", response="On its way.", items=ITEMS[:4], inputItemCount=1),
        record("3-t3", question="Well?", response="Here.", items=ITEMS, inputItemCount=7),
    ]
    runs = [imported(first), imported(third)]
    assert [dumps(run.record.data) for run in runs] == [dumps(value) for value in expected]
    assert [(run.name, run.position, run.multi_turn) for run in runs] == [
        ("3-t1", "row 1, turn 1", False),
        ("3-t3", "row 1, turn 3", False),
    ]


@pytest.mark.parametrize(
    ("last", "answers"),
    [
        ([{"role": "assistant", "content": "yes"}], True),
        ([{"role": "assistant", "content": None, "refusal": "no"}], True),
        ([], False),
        ([{"role": "assistant", "content": ""}], False),
        ([{"role": "assistant", "content": "wait", "tool_calls": [{"name": "t"}]}], False),
        ([{"role": "assistant", "content": "yes"}, {"role": "system", "content": "note"}], False),
    ],
)
def test_a_turn_needs_an_answer_at_its_end(last: list[JsonValue], answers: bool) -> None:  # noqa: FBT001
    messages = [{"role": "user", "content": "hi"}, *last]
    (outcome,) = chat(rows_of({"messages": messages}), turns="each")
    assert isinstance(outcome, Imported if answers else Skipped)


def test_what_comes_before_the_first_question_is_input() -> None:
    messages = [
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "there"},
        {"role": "assistant", "content": "Hello."},
    ]
    whole = chat_record(messages)
    assert (whole["question"], whole["response"], whole["inputItemCount"]) == ("hi", "Hello.", 2)
    first, second = chat(rows_of({"messages": messages}), turns="each")
    assert isinstance(first, Skipped)
    data = imported(second).record.data
    assert (data["question"], data.get("inputItemCount"), len(data["items"])) == ("there", 3, 4)


def test_a_run_without_an_answer_has_an_empty_response() -> None:
    value = chat_record([{"role": "user", "content": "hi"}])
    assert (value["question"], value["response"], value["status"]) == ("hi", "", "completed")


def test_prompts() -> None:
    messages: list[JsonValue] = [
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": [{"type": "text", "text": "Be \ud800."}]},
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "later"},
    ]
    value = chat_record(messages)
    assert value["promptSnapshots"] == [
        {
            "timestamp": "1970-01-01T00:00:00.000Z",
            "turn": 1,
            "agentName": "unknown",
            "promptHash": hashlib.sha256("Be kind.\n\nBe \ufffd.".encode()).hexdigest(),
            "promptText": "Be kind.\n\nBe \ud800.",
            "rawItem": messages[:2],
        }
    ]
    assert value["items"] == [message("hi"), message("later", "system")]
    assert value["metadata"]["regress"]["unrecorded"] == SECTIONS


def test_without_a_prompt_the_prompts_are_unrecorded() -> None:
    value = chat_record([{"role": "user", "content": "hi"}, {"role": "system", "content": "later"}])
    assert value["promptSnapshots"] == []
    assert value["metadata"]["regress"]["unrecorded"] == [*SECTIONS, "prompts"]


HI: JsonObject = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("row", "path", "name"),
    [
        ({}, None, "row-1"),
        ({"id": None}, None, "row-1"),
        ({"id": ""}, None, "row-1"),
        ({"id": "a/b 😀"}, None, "a/b 😀"),
        ({"id": 7}, None, "7"),
        ({"id": 0}, None, "0"),
        ({"task": {"id": 3.0}}, "task.id", "3"),
        ({"id": "x", "ids": ["y"]}, "ids.0", "y"),
    ],
)
def test_names(row: JsonObject, path: str | None, name: str) -> None:
    (outcome,) = chat(rows_of({**row, **HI}), name=None if path is None else f"{{{path}}}")
    run = imported(outcome)
    assert (run.name, run.record.run_id, run.record.regress_metadata["name"]) == (name, name, name)


@pytest.mark.parametrize(
    ("row", "messages", "name", "reason"),
    [
        (3, "messages", None, "$: no JSON object"),
        ({}, "messages", None, "$.messages: the field is missing"),
        ({}, "a.b", None, "$.a: the field is missing"),
        (HI, "messages", "{task.id}", "$.task: the field is missing"),
        ({**HI, "id": True}, "messages", None, "$.id: no text or number to name the case by"),
        ({**HI, "x": ""}, "messages", "{x}", "$.x: no text or number to name the case by"),
        ({**HI, "x": None}, "messages", "{x}", "$.x: no text or number to name the case by"),
        ({**HI, "x": True}, "messages", "{x}", "$.x: no text or number to name the case by"),
    ],
)
def test_rows_that_are_rejected(row: JsonValue, messages: str, name: str | None, reason: str) -> None:
    good = {**HI, "x": "good", "task": {"id": 1}, "a": {"b": HI["messages"]}}
    rejected, other = chat(rows_of(row, good), messages, name=name)
    assert rejection(rejected) == ("row 1", reason)
    assert isinstance(other, Imported)


@pytest.mark.parametrize(
    ("template", "name"),
    [("{name}-{trial}", "a-2"), ("run {task.id}.{score}", "run 3.1.5"), ("plain", "plain"), ("{{x}}", "{X}")],
)
def test_a_name_of_several_parts(template: str, name: str) -> None:
    row = {**HI, "id": "a", "trial": 2, "task": {"id": 3}, "score": 1.5, "x": "X"}
    (outcome,) = chat(rows_of(row), name=template)
    assert imported(outcome).name == name


@pytest.mark.parametrize(
    ("row", "time"),
    [
        ({"timestamp": "2026-03-01T10:00:00Z", "created": 5}, "2026-03-01T10:00:00.000Z"),
        ({"created_at": 1_700_000_000_000}, "2023-11-14T22:13:20.000Z"),
        ({"timestamp": None, "created": 5}, "1970-01-01T00:00:05.000Z"),
        ({"timestamp": "noon", "created": 5}, "1970-01-01T00:00:05.000Z"),
        ({"timestamp": "noon"}, "1970-01-01T00:00:00.000Z"),
    ],
)
def test_times(row: JsonObject, time: str) -> None:
    value = chat_record(HI["messages"], **row)
    assert (value["startedAt"], value["completedAt"]) == (time, time)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"reward": 0.0}, {"label": 0.0}),
        ({"reward": False}, {"label": False}),
        ({"reward": None}, {}),
        ({}, {}),
    ],
)
def test_labels(row: JsonObject, label: JsonObject) -> None:
    (outcome,) = chat(rows_of({**HI, **row}), label="reward")
    noted = imported(outcome).record.regress_metadata
    assert {key: value for key, value in noted.items() if key == "label"} == label


def test_a_model_that_is_no_text_is_left_out() -> None:
    assert "model" not in chat_record(HI["messages"], model={"name": "x"})
