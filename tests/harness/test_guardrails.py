"""Output guardrails: every text of an agent is checked before anything follows from it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regress_core.harness.agent import GuardrailInput, GuardrailResult, Handoff, OutputGuardrail
from regress_core.harness.run import AgentRun
from regress_core.models.client import ModelReply
from regress_core.records.json_io import JsonObject
from tests.harness.support import allowing, ended, outputs, run
from tests.support.harness import agent, asks, call, says


def guardrail(name: str, word: str, **found: Any) -> OutputGuardrail:  # noqa: ANN401 - any field of a result
    return OutputGuardrail(name, lambda given: GuardrailResult(word in given.output_text, **found))


def decisions(done: AgentRun) -> list[JsonObject]:
    return [
        {key: value for key, value in decision.items() if key != "timestamp"}
        for decision in done.record.data.get("guardrailDecisions") or ()
    ]


def test_a_text_that_passes() -> None:
    rail = guardrail("no_secrets", "secret", reason="has a secret", metadata={"a": 1})

    done = run(agent(output_guardrails=[rail]), [says("All fine.")])

    assert ended(done) == ("completed", None, None)
    assert decisions(done) == [{"turn": 1, "guardrailName": "no_secrets", "decision": "pass"}]


@pytest.mark.parametrize(
    ("found", "message", "more"),
    [
        pytest.param({}, 'Output guardrail "no_secrets" triggered.', {}, id="without a reason"),
        pytest.param(
            {"reason": "has a secret"},
            'Output guardrail "no_secrets" triggered. Reason: has a secret',
            {"reason": "has a secret"},
            id="with a reason",
        ),
        pytest.param(
            {"reason": ""}, 'Output guardrail "no_secrets" triggered.', {"reason": ""}, id="empty reason"
        ),
        pytest.param(
            {"metadata": {"at": (3, 4)}},
            'Output guardrail "no_secrets" triggered.',
            {"metadata": {"at": [3, 4]}},
            id="with metadata",
        ),
    ],
)
def test_a_text_that_is_refused(found: dict[str, Any], message: str, more: JsonObject) -> None:
    done = run(agent(output_guardrails=[guardrail("no_secrets", "secret", **found)]), [says("The secret.")])

    assert ended(done) == ("failed", "OutputGuardrailTripwireTriggered", message)
    assert decisions(done) == [{"turn": 1, "guardrailName": "no_secrets", "decision": "triggered", **more}]
    assert done.record.response == ""
    assert [item["type"] for item in done.record.items] == ["message"]


def test_without_guardrails_none_is_recorded() -> None:
    assert "guardrailDecisions" not in run(agent(), [says("Hi.")]).record.data


def test_guardrails_are_asked_in_order_until_one_refuses() -> None:
    rails = [guardrail("first", "x"), guardrail("second", "y"), guardrail("third", "y")]

    done = run(agent(output_guardrails=rails), [says("y")])

    assert [(d["guardrailName"], d["decision"]) for d in decisions(done)] == [
        ("first", "pass"),
        ("second", "triggered"),
    ]


def test_a_turn_with_calls_is_checked_before_its_calls() -> None:
    entry = agent({"look": 1}, output_guardrails=[guardrail("no_secrets", "secret")])
    looks = ModelReply("Let me see.", (call("look"),))

    done = run(entry, [looks, says("Fine.")])
    assert [(d["turn"], d["decision"]) for d in decisions(done)] == [(1, "pass"), (2, "pass")]

    refused = run(entry, [ModelReply("A secret!", (call("look"),)), says("Fine.")])
    assert refused.record.error_name == "OutputGuardrailTripwireTriggered"
    assert refused.record.policy_decisions == []
    assert outputs(refused.record) == []


def test_each_agent_has_its_own() -> None:
    target = agent(name="Target", output_guardrails=[guardrail("theirs", "x")])
    entry = agent(name="Source", output_guardrails=[guardrail("ours", "x")], handoffs=[Handoff(target)])

    done = run(entry, [asks(call("handoff_to_target")), says("Done.")])

    assert [(d["turn"], d["guardrailName"]) for d in decisions(done)] == [(1, "ours"), (2, "theirs")]


def test_what_a_guardrail_is_given() -> None:
    given: list[GuardrailInput] = []

    async def look(asked: GuardrailInput) -> GuardrailResult:
        await asyncio.sleep(0)
        given.append(asked)
        return GuardrailResult(tripwire_triggered=False)

    entry = agent({"look": 1}, output_guardrails=[OutputGuardrail("watch", look)])

    run(entry, [asks(call("look")), says("Fine.")], allowing(context={"tier": "gold"}))

    assert [(asked.agent, asked.output_text, len(asked.history)) for asked in given] == [
        (entry, "", 1),
        (entry, "Fine.", 3),
    ]
    assert given[0].context.context == {"tier": "gold"}
    assert given[0].history[0] == {"type": "message", "role": "user", "content": "hello"}


def _raises(_: GuardrailInput) -> GuardrailResult:
    raise LookupError("no list of words")


def _gives(result: object) -> Any:  # noqa: ANN401 - a guardrail
    def execute(_: GuardrailInput) -> object:
        return result

    return execute


@pytest.mark.parametrize(
    ("execute", "error"),
    [
        pytest.param(_raises, ("LookupError", "no list of words"), id="raises"),
        pytest.param(_gives(None), ("TypeError", 'guardrail "odd" gave NoneType'), id="gives nothing"),
        pytest.param(_gives(True), ("TypeError", 'guardrail "odd" gave bool'), id="gives true"),  # noqa: FBT003 - as an adapter may
        pytest.param(
            _gives(GuardrailResult(tripwire_triggered=True, metadata={"score": float("nan")})),
            ("TypeError", "no JSON value: NaN and infinities"),
            id="metadata no JSON",
        ),
    ],
)
def test_a_guardrail_that_gives_no_result_fails_the_run(execute: Any, error: tuple[str, str]) -> None:  # noqa: ANN401 - a guardrail
    done = run(agent(output_guardrails=[OutputGuardrail("odd", execute)]), [says("Hi.")])

    assert ended(done) == ("failed", *error)
    assert decisions(done) == []
