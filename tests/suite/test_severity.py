"""How heavily a signal weighs, and why: what has changed, under either of the gate's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.model import Comparison, SignalName
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import RunJudgeResult, Status
from regress_core.judge.outcome import JudgeOutcome
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.suite.classification import Classification, classify
from regress_core.suite.config import GATE_PRESETS, GateConfig
from regress_core.suite.judged import NOT_JUDGED, Judged
from regress_core.suite.severity import Weight, weigh
from tests.compare.support import compare, decision, guardrail
from tests.support.records import message, record_json, tool_call, tool_output

REFERENCE, RECOMMENDED = GATE_PRESETS["reference"], GATE_PRESETS["recommended"]
FAILED = "Error: no such order"
SAID = "On its way."

Call = tuple[str, int, str]
"""Tool, argument, output."""


def refund(amount: int, output: str = "ok") -> Call:
    return ("refund", amount, output)


def find(order: int, output: str = "sent") -> Call:
    return ("find_order", order, output)


def run(*calls: Call, answer: str = SAID, **changes: object) -> JsonObject:
    """Give the record of a run that makes calls, each in a turn of its own, and answers."""
    items = [message("Where is my order?")]
    for number, (tool, argument, output) in enumerate(calls, start=1):
        items += [
            tool_call(f"c{number}", tool, arguments={"n": argument}),
            tool_output(f"c{number}", output=output),
        ]
    return record_json(items=[*items, message(answer, "assistant")], response=answer, **changes)


def comparison_of(
    left: JsonObject, right: JsonObject, writes: Sequence[str] | None, options: JsonObject | None = None
) -> Comparison:
    effects = None if writes is None else EffectsConfig(write=tuple(writes))
    return compare(
        left, right, CompareOptions.from_json(options or {}).model_copy(update={"effects": effects})
    )


def answers(old: str, new: str, *calls: Call) -> tuple[JsonObject, JsonObject]:
    return run(*calls, answer=old), run(*calls, answer=new)


@dataclass(frozen=True)
class Row:
    """What has changed, which tools write (None: nobody knows), and what the recommended rules make of it."""

    signal: SignalName
    left: JsonObject
    right: JsonObject
    writes: Sequence[str] | None
    status: Status
    why: str
    options: JsonObject | None = None


ELSE = "something else was changed than in the baseline"
UNKNOWN = "effects are not compared: see effects in suite.yaml"
CONTRADICTS = "the answer contradicts the baseline's: 12.50 → 13.50"
ALL_THERE_IS = "the answer is all there is, and contradicts the baseline's: 12.50 → 13.50"
PRICE, OTHER_PRICE = "It costs 12.50.", "It costs 13.50."
WRITES = ["refund"]
ONLY_EXPLAINS: JsonObject = {"provenance": ["effects"]}

ROWS: dict[str, Row] = {
    "a-write-is-missing": Row("effectsChanged", run(refund(5)), run(), WRITES, "fail", ELSE),
    "a-write-more": Row("effectsChanged", run(), run(refund(5)), WRITES, "fail", ELSE),
    "another-write": Row("effectsChanged", run(refund(5)), run(refund(6)), WRITES, "fail", ELSE),
    "a-write-twice": Row("effectsChanged", run(refund(5)), run(refund(5), refund(5)), WRITES, "fail", ELSE),
    "a-write-failed": Row("effectsChanged", run(refund(5)), run(refund(5, FAILED)), WRITES, "fail", ELSE),
    "another-read": Row(
        "toolsChanged", run(find(1)), run(find(2)), WRITES, "pass", "the effects are the same"
    ),
    "nothing-writes": Row("toolsChanged", run(find(1)), run(find(2)), [], "pass", "the effects are the same"),
    "a-failed-write-more": Row(
        "toolsChanged",
        run(refund(5)),
        run(refund(9, FAILED), refund(5)),
        WRITES,
        "pass",
        "the effects are the same",
    ),
    "another-write-as-a-call": Row(
        "toolsChanged", run(refund(5)), run(refund(6)), WRITES, "pass", "weighed by its effects"
    ),
    "another-order": Row(
        "toolsChanged",
        run(find(1), refund(5)),
        run(refund(5), find(1)),
        None,
        "pass",
        "the same calls in another order",
    ),
    "another-call-that-may-write": Row("toolsChanged", run(find(1)), run(find(2)), None, "warn", UNKNOWN),
    "effects-excluded": Row(
        "toolsChanged",
        run(find(1)),
        run(find(2)),
        WRITES,
        "warn",
        UNKNOWN,
        {"exclude_sections": ["effects"]},
    ),
    "the-reference-knows-no-effects": Row(
        "toolsChanged", run(find(1)), run(find(2)), WRITES, "warn", UNKNOWN, {"ignore_volatile": False}
    ),
    "effects-only-explain": Row(
        "toolsChanged",
        run(refund(5)),
        run(refund(6)),
        WRITES,
        "warn",
        "the effects differ too, and only explain here",
        ONLY_EXPLAINS,
    ),
    "effects-only-explain-and-are-the-same": Row(
        "toolsChanged",
        run(find(1)),
        run(find(2)),
        WRITES,
        "pass",
        "the effects are the same",
        ONLY_EXPLAINS,
    ),
    "markdown": Row(
        "finalOutputChanged",
        *answers("It comes today by post.", "It comes  **today** by post."),
        None,
        "pass",
        "the same but for Markdown and white space",
    ),
    "the-same-facts": Row(
        "finalOutputChanged",
        *answers("It comes on 2026-03-09.", "You get it on 9 March 2026."),
        None,
        "pass",
        "other words, the same facts",
    ),
    "a-fact-lost": Row(
        "finalOutputChanged",
        *answers("It costs 12.50 and comes on 2026-03-09.", "It comes on 2026-03-09."),
        [],
        "warn",
        "facts lost 12.50",
    ),
    "a-fact-added": Row(
        "finalOutputChanged",
        *answers("It comes on 2026-03-09.", "It costs 12.50 and comes on 2026-03-09."),
        [],
        "warn",
        "facts added 12.50",
    ),
    "facts-of-two-kinds": Row(
        "finalOutputChanged",
        *answers("It costs 12.50.", "It comes on 2026-03-09."),
        [],
        "warn",
        "facts lost 12.50 and added 2026-03-09",
    ),
    "many-facts": Row(
        "finalOutputChanged",
        *answers("Boxes of 20, 30, 40, 50, 60 and 70.", "Boxes."),
        [],
        "warn",
        "facts lost 20, 30, 40, 50 and 2 more",
    ),
    "no-facts": Row(
        "finalOutputChanged",
        *answers("Hello there.", "Goodbye then."),
        [],
        "warn",
        "other words, and no value tells them apart",
    ),
    "contradiction-and-nothing-called": Row(
        "finalOutputChanged", *answers(PRICE, OTHER_PRICE), None, "fail", ALL_THERE_IS
    ),
    "contradiction-and-who-knows-what-was-changed": Row(
        "finalOutputChanged", *answers(PRICE, OTHER_PRICE, find(1)), None, "warn", CONTRADICTS
    ),
    "contradiction-and-nothing-written": Row(
        "finalOutputChanged", *answers(PRICE, OTHER_PRICE, find(1)), [], "fail", ALL_THERE_IS
    ),
    "contradiction-and-a-write-in-vain": Row(
        "finalOutputChanged",
        *answers(PRICE, OTHER_PRICE, refund(5, FAILED)),
        WRITES,
        "fail",
        ALL_THERE_IS,
    ),
    "contradiction-beside-the-same-write": Row(
        "finalOutputChanged", *answers(PRICE, OTHER_PRICE, refund(5)), WRITES, "warn", CONTRADICTS
    ),
    "contradiction-beside-a-write-of-one": Row(
        "finalOutputChanged",
        run(answer=PRICE),
        run(refund(5), answer=OTHER_PRICE),
        WRITES,
        "warn",
        CONTRADICTS,
    ),
    "the-reference-knows-no-facts": Row(
        "finalOutputChanged", *answers(PRICE, OTHER_PRICE), None, "warn", "", {"ignore_volatile": False}
    ),
    "policy": Row(
        "policyChanged",
        run(policyDecisions=[decision()]),
        run(policyDecisions=[decision(decision="deny")]),
        WRITES,
        "warn",
        "a policy decided otherwise",
    ),
    "status": Row("statusChanged", run(status="failed"), run(), WRITES, "warn", "the baseline had failed"),
}


@pytest.fixture(params=ROWS.values(), ids=list(ROWS))
def row(request: pytest.FixtureRequest) -> Row:
    return request.param


@pytest.fixture
def found(row: Row) -> Comparison:
    comparison = comparison_of(row.left, row.right, row.writes, row.options)
    assert row.signal in comparison.signals.raised()
    return comparison


def test_the_recommended_rules_look_at_what_has_changed(row: Row, found: Comparison) -> None:
    assert weigh(row.signal, found, RECOMMENDED) == Weight(row.status, row.why)


def test_by_the_references_rules_every_signal_warns(row: Row, found: Comparison) -> None:
    assert weigh(row.signal, found, REFERENCE) == Weight("warn")


@pytest.mark.parametrize("status", ["pass", "warn", "fail"])
def test_what_the_gate_says_of_a_signal_wins(row: Row, found: Comparison, status: Status) -> None:
    for rules in ("reference", "recommended"):
        assert weigh(row.signal, found, GateConfig(rules=rules, signals={row.signal: status})) == Weight(
            status
        )


def test_every_signal_has_rows() -> None:
    assert {row.signal for row in ROWS.values()} == {
        "statusChanged",
        "toolsChanged",
        "policyChanged",
        "finalOutputChanged",
        "effectsChanged",
    }


PASSING_JUDGE = Judged(
    judges=(
        JudgeOutcome(
            judge="regression",
            state="verdict",
            result=RunJudgeResult(verdict="pass", summary="fine", findings=[]),
        ),
    )
)


def classified(
    left: JsonObject,
    right: JsonObject,
    writes: Sequence[str] | None,
    gate: GateConfig = RECOMMENDED,
    *,
    options: JsonObject | None = None,
    judged: Judged = NOT_JUDGED,
) -> Classification:
    comparison = comparison_of(left, right, writes, options)
    return classify(RunRecord.parse(right), comparison, gate, judged=judged)


def test_a_reason_ends_with_why_and_the_worst_comes_first() -> None:
    left, right = run(refund(25), answer="Hello."), run(refund(20), answer="Bye.")

    assert classified(left, right, WRITES) == Classification(
        "fail",
        (
            f"effectsChanged: effects[0].arguments.n 25 → 20 ({ELSE})",
            'finalOutputChanged: response "Hello." → "Bye." (other words, and no value tells them apart)',
            "toolsChanged: toolCalls[0].arguments.n 25 → 20 (weighed by its effects)",
        ),
    )


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        (run(refund(5)), run(), 'effects[0] is gone: refund({"n":5})'),
        (run(), run(refund(5)), 'effects[0] is new: refund({"n":5})'),
        (
            run(refund(5)),
            run(refund(5, FAILED)),
            f'effects[0].outcome "done" → {{"failed": "{FAILED}"}}',
        ),
        (
            run(refund(5, FAILED)),
            run(refund(5)),
            f'effects[0].outcome {{"failed": "{FAILED}"}} → "done"',
        ),
    ],
    ids=["missing", "extra", "failed", "no-longer-failed"],
)
def test_a_reason_tells_which_effect_and_how(left: JsonObject, right: JsonObject, shown: str) -> None:
    assert classified(left, right, WRITES).reasons[0] == f"effectsChanged: {shown} ({ELSE})"


def test_a_fact_of_any_length_is_cut() -> None:
    address = f"https://example.org/{'a' * 5000}"
    left, right = answers(f"See {address} and 4711.", "Bye.")

    (reason,) = classified(left, right, []).reasons

    assert "lost https://example.org/aaa" in reason
    assert reason.endswith("…, 4711)")
    assert len(reason) < 400


def talk(told: str, *calls: Call, **changes: object) -> JsonObject:
    """Give a run that tells something, then calls, and then says good-bye."""
    record = run(*calls, answer="Good-bye.", inputItemCount=1, **changes)
    question, *rest = record["items"]
    return {**record, "items": [question, message(told, "assistant"), message("Thank you."), *rest]}


TOLD, OTHERWISE = talk(PRICE), talk(OTHER_PRICE)
TOLD_WHY = f"told before the answer ({ALL_THERE_IS})"


def test_what_was_told_before_an_answer_that_is_the_same_counts() -> None:
    assert comparison_of(TOLD, OTHERWISE, None).equal
    assert classified(TOLD, OTHERWISE, None) == Classification("fail", (TOLD_WHY,))


@pytest.mark.parametrize(
    ("gate", "judged", "expected"),
    [
        (REFERENCE, NOT_JUDGED, Classification("pass", ())),
        (
            GateConfig(rules="recommended", signals={"finalOutputChanged": "fail"}),
            NOT_JUDGED,
            Classification("pass", ()),
        ),
        (
            GateConfig(rules="recommended", signals={"toolsChanged": "fail"}),
            NOT_JUDGED,
            Classification("fail", (TOLD_WHY,)),
        ),
        (
            GateConfig(rules="recommended", judge_clears=("finalOutputChanged",)),
            PASSING_JUDGE,
            Classification("pass", ("told before the answer (cleared by the judge)",)),
        ),
        (
            GateConfig(rules="recommended", judge_clears=("finalOutputChanged",)),
            NOT_JUDGED,
            Classification("fail", (TOLD_WHY,)),
        ),
        (
            GateConfig(rules="recommended", judge_clears=("toolsChanged",)),
            PASSING_JUDGE,
            Classification("fail", (TOLD_WHY,)),
        ),
    ],
    ids=[
        "reference",
        "the-gate-names-it",
        "the-gate-names-another",
        "judge-clears",
        "no-judge",
        "judge-clears-another",
    ],
)
def test_what_was_told_counts_as_the_answer_does(
    gate: GateConfig, judged: Judged, expected: Classification
) -> None:
    assert classified(TOLD, OTHERWISE, None, gate, judged=judged) == expected


NOT_TOLD: dict[str, tuple[JsonObject, JsonObject, JsonObject]] = {
    "less-told": (TOLD, talk("It is cheap."), {}),
    "more-told": (talk("It is cheap."), TOLD, {}),
    "the-response-is-not-compared": (TOLD, OTHERWISE, {"exclude_sections": ["response"]}),
    "the-response-only-explains": (*answers(PRICE, OTHER_PRICE), {"provenance": ["response"]}),
    "the-references-rule": (TOLD, OTHERWISE, {"ignore_volatile": False}),
}


@pytest.mark.parametrize(("left", "right", "options"), NOT_TOLD.values(), ids=list(NOT_TOLD))
def test_nothing_is_said_of_what_was_told(left: JsonObject, right: JsonObject, options: JsonObject) -> None:
    assert classified(left, right, None, options=options) == Classification("pass", ())


def test_what_was_told_beside_writes_only_warns() -> None:
    left, right = talk(PRICE, refund(5)), talk(OTHER_PRICE, refund(5))

    assert classified(left, right, WRITES) == Classification(
        "warn", (f"told before the answer ({CONTRADICTS})",)
    )


def test_a_contradiction_is_told_once() -> None:
    (reason,) = classified(*answers(PRICE, OTHER_PRICE), None).reasons

    assert reason == f'finalOutputChanged: response "{PRICE}" → "{OTHER_PRICE}" ({ALL_THERE_IS})'


LOST = run(find(1, "lost"))
GUARDED = {**LOST, "guardrailDecisions": [guardrail()]}
OUTPUT = 'differs: toolCalls[0].output "sent" → "lost"'

SILENT: dict[str, tuple[JsonObject, Sequence[str] | None, GateConfig, Status, str]] = {
    "the-effects-are-the-same": (LOST, WRITES, RECOMMENDED, "pass", f"{OUTPUT} (the effects are the same)"),
    "nothing-writes": (LOST, [], RECOMMENDED, "pass", f"{OUTPUT} (the effects are the same)"),
    "nobody-knows": (LOST, None, RECOMMENDED, "warn", OUTPUT),
    "by-the-references-rules": (LOST, WRITES, REFERENCE, "warn", OUTPUT),
    "the-gate-names-every-signal": (
        LOST,
        None,
        GateConfig(rules="recommended", signals={"toolsChanged": "pass", "effectsChanged": "pass"}),
        "warn",
        OUTPUT,
    ),
    "not-only-outputs": (GUARDED, WRITES, RECOMMENDED, "warn", f"{OUTPUT}; guardrailDecisions"),
}


@pytest.mark.parametrize(("right", "writes", "gate", "status", "reason"), SILENT.values(), ids=list(SILENT))
def test_a_difference_that_raises_no_signal(
    right: JsonObject, writes: Sequence[str] | None, gate: GateConfig, status: Status, reason: str
) -> None:
    verdict = classified(run(find(1)), right, writes, gate)

    assert (verdict.status, len(verdict.reasons)) == (status, 1)
    assert verdict.reasons[0].partition(".length")[0] == reason


def test_the_output_of_a_failed_write_is_weighed_by_its_effect() -> None:
    verdict = classified(run(refund(5)), run(refund(5, FAILED)), WRITES)

    assert verdict.status == "fail"
    assert [reason.rpartition(" (")[2] for reason in verdict.reasons] == [
        f"{ELSE})",
        "weighed by its effects)",
    ]
    assert verdict.reasons[1].startswith('differs: toolCalls[0].output "ok" → ')


@pytest.mark.parametrize("gate", [REFERENCE, RECOMMENDED], ids=["reference", "recommended"])
def test_without_effects_no_effect_is_told(gate: GateConfig) -> None:
    comparison = comparison_of(run(refund(5)), run(), None)

    assert comparison.effects is None
    assert "effectsChanged" not in comparison.signals.raised()
    assert "effectsChanged" not in comparison.signals.to_json()
    verdict = classified(run(refund(5)), run(), None, gate)
    assert verdict.status == "warn"
    assert [reason.partition(":")[0] for reason in verdict.reasons] == ["toolsChanged"]


@pytest.mark.parametrize("gate", [REFERENCE, RECOMMENDED], ids=["reference", "recommended"])
def test_a_failed_candidate_fails_whatever_it_did(gate: GateConfig) -> None:
    assert classified(run(refund(5)), run(refund(5), status="failed"), WRITES, gate) == Classification(
        "fail", ("candidate failed",)
    )
