"""Where a replay begins: the recorded input by the reference's fallbacks, the question, or a later turn."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.calls.trouble import TroubleError
from regress_core.harness.replay.start import InputMode, is_multi_turn, refuse_multi_turn, replay_input
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json, tool_call, tool_output

EARLIER = [message("Earlier question"), message("Earlier answer", "assistant"), message("Question now")]
CALL = [tool_call("c1", "look", arguments={}), tool_output("c1", output=1)]
ANSWER = message("Answer", "assistant")


def request(turn: int, message_count: int) -> JsonObject:
    hashes = ("requestHash", "systemPromptHash", "messagesHash", "toolsHash", "modelSettingsHash")
    return {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "turn": turn,
        "agentName": "A",
        "providerName": "P",
        "model": "m",
        "runtimeVersion": "1",
        "fingerprintSchemaVersion": "request-fingerprint.v1",
        **dict.fromkeys(hashes, "00"),
        "messageCount": message_count,
        "toolCount": 0,
    }


def prompt(turn: int, agent_name: str) -> JsonObject:
    return {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "turn": turn,
        "agentName": agent_name,
        "promptHash": "00",
    }


def record(**changes: Any) -> RunRecord:  # noqa: ANN401 - any field of a record
    fields: JsonObject = {"question": "Question now", "items": [*EARLIER, *CALL, ANSWER], **changes}
    return RunRecord.parse(record_json(**fields))


QUESTION = [message("Question now")]


@pytest.mark.parametrize(
    ("changes", "source", "items"),
    [
        pytest.param({"inputItemCount": 3}, "inputItemCount", EARLIER, id="counted"),
        pytest.param({"inputItemCount": 0}, "inputItemCount", [], id="none"),
        pytest.param(
            {"inputItemCount": 3, "requestFingerprints": [request(1, 1)]},
            "inputItemCount",
            EARLIER,
            id="the count before the request",
        ),
        pytest.param(
            {"requestFingerprints": [request(1, 3), request(2, 5)]},
            "requestFingerprint",
            EARLIER,
            id="the first request",
        ),
        pytest.param(
            {"inputItemCount": 7, "requestFingerprints": [request(1, 1)]},
            "requestFingerprint",
            EARLIER[:1],
            id="a count of too many",
        ),
        pytest.param(
            {"inputItemCount": -1, "requestFingerprints": [request(1, 2)]},
            "requestFingerprint",
            EARLIER[:2],
            id="a negative count",
        ),
        pytest.param(
            {"inputItemCount": None, "requestFingerprints": [request(1, 7)]},
            "questionFallback",
            QUESTION,
            id="a request of too many",
        ),
        pytest.param({}, "questionFallback", QUESTION, id="nothing says so"),
        pytest.param({"items": []}, "questionFallback", QUESTION, id="no items"),
    ],
)
def test_the_recorded_input(changes: JsonObject, source: str, items: list[JsonObject]) -> None:
    begin = replay_input(record(**changes), "recorded")

    assert begin.source == source
    assert list(begin.start.items) == items
    assert (begin.start.input_item_count, begin.start.turns_done) == (len(items), 0)
    assert begin.agent_name is None


@pytest.mark.parametrize("changes", [{"inputItemCount": 3}, {}])
def test_the_question_alone(changes: JsonObject) -> None:
    begin = replay_input(record(question=" Untrimmed ", **changes), "question")

    assert (begin.source, begin.start.question) == ("question", " Untrimmed ")
    assert list(begin.start.items) == [message(" Untrimmed ")]


def test_the_question_of_a_recorded_conversation_is_that_of_its_users() -> None:
    begin = replay_input(record(inputItemCount=3), "recorded")

    assert begin.start.question == "Earlier question\n\nQuestion now"


TWO_TURNS: JsonObject = {
    "inputItemCount": 3,
    "requestFingerprints": [request(1, 3), request(2, 5)],
    "promptSnapshots": [prompt(1, "A"), prompt(2, "B")],
}


def test_after_the_first_turn() -> None:
    begin = replay_input(record(**TWO_TURNS), "recorded", 1)

    assert list(begin.start.items) == [*EARLIER, *CALL]
    assert (begin.start.input_item_count, begin.start.turns_done) == (3, 1)
    assert begin.start.question == "Earlier question\n\nQuestion now"
    assert begin.agent_name == "B"
    assert begin.start.recorded["promptSnapshots"] == [prompt(1, "A")]
    assert begin.start.recorded["requestFingerprints"] == [request(1, 3)]
    assert begin.start.recorded["policyDecisions"] == []
    assert begin.start.recorded["guardrailDecisions"] == []


def test_a_record_without_snapshots_leaves_the_agent_open() -> None:
    assert replay_input(record(inputItemCount=3), "recorded", 1).agent_name is None


@pytest.mark.parametrize(
    ("changes", "from_turn", "turns"),
    [
        pytest.param(TWO_TURNS, 2, 2, id="as many as it has"),
        pytest.param(TWO_TURNS, 99, 2, id="many more"),
        pytest.param({"inputItemCount": 3, "items": [*EARLIER, ANSWER]}, 1, 1, id="one turn only"),
    ],
)
def test_a_turn_that_the_record_does_not_have(changes: JsonObject, from_turn: int, turns: int) -> None:
    with pytest.raises(TroubleError) as raised:
        replay_input(record(**changes), "recorded", from_turn)

    trouble = raised.value.trouble
    assert (trouble.kind, trouble.stage, trouble.code, trouble.retryable) == (
        "input",
        "candidate",
        "no such turn",
        False,
    )
    assert trouble.message == f"the baseline has {turns} turns, so that none is left to run after {from_turn}"


@pytest.mark.parametrize(
    ("changes", "is_one"),
    [
        pytest.param({"inputItemCount": 3}, False, id="all user messages are input"),
        pytest.param({"inputItemCount": 1}, True, id="the user speaks again"),
        pytest.param({}, True, id="nothing tells the input"),
        pytest.param({"items": [message("Question now"), ANSWER]}, False, id="one question"),
        pytest.param({"items": [ANSWER, *CALL]}, False, id="no question"),
    ],
)
def test_records_whose_user_speaks_again_cannot_be_replayed(changes: JsonObject, *, is_one: bool) -> None:
    baseline = record(**changes)

    assert is_multi_turn(baseline) is is_one
    if is_one:
        with pytest.raises(TroubleError, match="multi-turn record: import with --turns each"):
            refuse_multi_turn(baseline)
    else:
        refuse_multi_turn(baseline)


@pytest.mark.parametrize("mode", ["recorded", "question"])
def test_the_baseline_stays_as_it_was(mode: InputMode) -> None:
    baseline = record(**TWO_TURNS)
    before = record(**TWO_TURNS)

    replay_input(baseline, mode)

    assert baseline.data == before.data
