"""The status of a case that has a candidate record, and the reasons in words."""

from __future__ import annotations

import pytest
from hypothesis import given

from regress_core.compare.model import Comparison
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import Status
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.suite.classification import Classification, classify
from regress_core.suite.config import GateConfig
from tests.compare.strategies import RECORDS
from tests.compare.support import compare, decision, fingerprint, guardrail, proposal
from tests.support.records import record_json, tool_call, tool_output


def _classified(
    left: JsonObject, right: JsonObject, gate: JsonObject | None = None, **options: JsonValue
) -> Classification:
    comparison: Comparison = compare(left, right, CompareOptions.from_json(options))
    return classify(RunRecord.parse(right), comparison, GateConfig.from_json(gate or {}))


def _calling(name: str = "refund", output: JsonValue = 1, **arguments: JsonValue) -> JsonObject:
    return record_json(items=[tool_call("c1", name, arguments=arguments), tool_output("c1", output=output)])


PLAIN = record_json(
    items=[tool_call("c1", "refund", arguments={"amount": 24.95}), tool_output("c1", output=1)],
    policyDecisions=[decision(name="refund")],
)
FAILED = PLAIN | {"status": "failed", "errorName": "ToolCallError", "errorMessage": "boom"}
OTHER_ANSWER = PLAIN | {"response": "Sorry."}
OTHER_CALL = PLAIN | {"items": _calling(amount=124.85)["items"]}
OTHER_OUTPUT = PLAIN | {"items": _calling(amount=24.95, output=2)["items"]}
OTHER_DECISION = PLAIN | {"policyDecisions": [decision(name="refund", decision="deny")]}
ALL_PASS: JsonObject = {
    "signals": {
        "statusChanged": "pass",
        "toolsChanged": "pass",
        "policyChanged": "pass",
        "finalOutputChanged": "pass",
    }
}

# Baseline, candidate, gate, status.
STATUSES: list[tuple[str, JsonObject, JsonObject, JsonObject, Status]] = [
    ("equal", PLAIN, PLAIN, {}, "pass"),
    ("answer", PLAIN, OTHER_ANSWER, {}, "warn"),
    ("call", PLAIN, OTHER_CALL, {}, "warn"),
    ("decision", PLAIN, OTHER_DECISION, {}, "warn"),
    ("status", FAILED, PLAIN, {}, "warn"),
    ("answer fails", PLAIN, OTHER_ANSWER, {"signals": {"finalOutputChanged": "fail"}}, "fail"),
    ("call fails", PLAIN, OTHER_CALL, {"signals": {"toolsChanged": "fail"}}, "fail"),
    ("decision fails", PLAIN, OTHER_DECISION, {"signals": {"policyChanged": "fail"}}, "fail"),
    ("status fails", FAILED, PLAIN, {"signals": {"statusChanged": "fail"}}, "fail"),
    ("answer passes", PLAIN, OTHER_ANSWER, {"signals": {"finalOutputChanged": "pass"}}, "pass"),
    ("answer warns, as said", PLAIN, OTHER_ANSWER, {"signals": {"finalOutputChanged": "warn"}}, "warn"),
    ("call passes", PLAIN, OTHER_CALL, {"signals": {"toolsChanged": "pass"}}, "pass"),
    ("decision passes", PLAIN, OTHER_DECISION, {"signals": {"policyChanged": "pass"}}, "pass"),
    ("another signal fails", PLAIN, OTHER_ANSWER, {"signals": {"toolsChanged": "fail"}}, "warn"),
    (
        "the worst of two",
        PLAIN,
        OTHER_CALL | {"response": "Sorry."},
        {"signals": {"toolsChanged": "pass"}},
        "warn",
    ),
    (
        "the worst of three",
        PLAIN,
        OTHER_CALL | {"response": "Sorry.", "policyDecisions": []},
        {"signals": {"toolsChanged": "pass", "policyChanged": "fail"}},
        "fail",
    ),
    ("output", PLAIN, OTHER_OUTPUT, {}, "warn"),
    ("guardrail", PLAIN, PLAIN | {"guardrailDecisions": [guardrail()]}, {}, "warn"),
    ("proposal", PLAIN, PLAIN | {"suspendedProposals": [proposal()]}, {}, "warn"),
    ("error", PLAIN, PLAIN | {"errorMessage": "boom"}, {}, "warn"),
    ("output, all signals pass", PLAIN, OTHER_OUTPUT, ALL_PASS, "warn"),
    ("guardrail, all signals pass", PLAIN, PLAIN | {"guardrailDecisions": [guardrail()]}, ALL_PASS, "warn"),
    ("fingerprint", PLAIN, PLAIN | {"requestFingerprints": [fingerprint()]}, {}, "pass"),
    ("metadata", PLAIN, PLAIN | {"metadata": {"team": "a"}}, {}, "pass"),
    ("failed", PLAIN, FAILED, {}, "fail"),
    ("failed, all signals pass", PLAIN, FAILED, ALL_PASS, "fail"),
    ("failed as the baseline did", FAILED, FAILED, {}, "fail"),
    ("failed with the same answer", PLAIN, PLAIN | {"status": "failed"}, ALL_PASS, "fail"),
]


@pytest.mark.parametrize(
    ("left", "right", "gate", "status"), [pytest.param(*case[1:], id=case[0]) for case in STATUSES]
)
def test_the_status_of_a_case(left: JsonObject, right: JsonObject, gate: JsonObject, status: Status) -> None:
    verdict = _classified(left, right, gate)

    assert verdict.status == status
    assert all(reason and "\n" not in reason for reason in verdict.reasons)
    if status != "pass":
        assert verdict.reasons


def test_a_case_that_is_equal_has_no_reasons() -> None:
    assert _classified(PLAIN, PLAIN).reasons == ()
    assert _classified(PLAIN, PLAIN | {"metadata": {"team": "a"}}).reasons == ()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            {"errorName": "ToolCallError", "errorMessage": "boom"},
            "candidate failed: ToolCallError: boom",
        ),
        ({"errorName": "ToolCallError"}, "candidate failed: ToolCallError"),
        ({"errorMessage": "boom"}, "candidate failed: boom"),
        ({}, "candidate failed"),
        ({"errorName": None, "errorMessage": ""}, "candidate failed"),
    ],
)
def test_why_a_candidate_failed(error: JsonObject, reason: str) -> None:
    assert _classified(PLAIN, PLAIN | {"status": "failed"} | error).reasons == (reason,)


# Baseline, candidate, and what the one reason has to say.
REASONS: list[tuple[str, JsonObject, JsonObject, list[str]]] = [
    ("amount", PLAIN, OTHER_CALL, ["toolsChanged", "toolCalls[0].arguments", "amount", "24.95 → 124.85"]),
    ("answer", PLAIN, OTHER_ANSWER, ["finalOutputChanged", "response", "On its way.", "→", "Sorry."]),
    ("tool", _calling("refund"), _calling("cancel"), ["toolsChanged", "refund", "→", "cancel"]),
    (
        "new call",
        PLAIN | {"items": []},
        PLAIN,
        ["toolsChanged", "toolCalls[0] is new", 'refund({"amount":24.95})'],
    ),
    (
        "missing call",
        PLAIN,
        PLAIN | {"items": []},
        ["toolsChanged", "toolCalls[0] is gone", 'refund({"amount":24.95})'],
    ),
    ("decision", PLAIN, OTHER_DECISION, ["policyChanged", "policyDecisions[0]", "allow", "→", "deny"]),
    (
        "no decision",
        PLAIN,
        PLAIN | {"policyDecisions": []},
        ["policyChanged", "policyDecisions[0] is gone", "refund"],
    ),
    (
        "status",
        PLAIN | {"status": "failed"},
        PLAIN,
        ["statusChanged", "status", "failed", "→", "completed"],
    ),
    ("output", PLAIN, OTHER_OUTPUT, ["toolCalls[0].output", "1 → 2"]),
    (
        "output that is an object",
        _calling(output={"total": 10, "currency": "EUR"}),
        _calling(output={"total": 12, "currency": "EUR"}),
        ["toolCalls[0].output", "total", "10 → 12"],
    ),
    (
        "argument more",
        _calling(amount=1),
        _calling(amount=1, force=True),
        ["toolCalls[0].arguments.force is new", "true"],
    ),
    (
        "argument less",
        _calling(amount=1, force=True),
        _calling(amount=1),
        ["toolCalls[0].arguments.force is gone", "true"],
    ),
    (
        "argument of an odd name",
        record_json(items=[tool_call("c1", "refund", arguments={"the amount": 1})]),
        record_json(items=[tool_call("c1", "refund", arguments={"the amount": 2})]),
        ["toolCalls[0].arguments", "the amount", "1 → 2"],
    ),
    (
        "nested argument",
        _calling(order={"id": "A1", "lines": [1, 2]}),
        _calling(order={"id": "A1", "lines": [1, 3]}),
        ["toolCalls[0].arguments.order.lines", "[1, 2] → [1, 3]"],
    ),
    (
        "guardrail",
        PLAIN | {"guardrailDecisions": [guardrail()]},
        PLAIN | {"guardrailDecisions": [guardrail(decision="triggered")]},
        ["guardrailDecisions[0].decision", "pass", "→", "triggered"],
    ),
    (
        "proposal",
        PLAIN,
        PLAIN | {"suspendedProposals": [proposal(toolName="refund")]},
        ["suspendedProposals[0] is new", "refund"],
    ),
    ("error", PLAIN, PLAIN | {"errorMessage": "boom"}, ["errorMessage is new", "boom"]),
]


@pytest.mark.parametrize(
    ("left", "right", "fragments"), [pytest.param(*case[1:], id=case[0]) for case in REASONS]
)
def test_a_reason_names_the_difference(left: JsonObject, right: JsonObject, fragments: list[str]) -> None:
    (reason,) = _classified(left, right).reasons

    for fragment in fragments:
        assert fragment in reason
    positions = [reason.index(fragment) for fragment in fragments if fragment != "→"]
    assert positions == sorted(positions)


# Data of tools that look like parts of a record, whole or in half.
LOOKALIKES: list[JsonObject] = [
    {"resource": "db/1"},
    {"resource": None},
    {"resource": {"kind": "table"}},
    {"resource": {"kind": "tool", "name": "f"}},
    {"proposalHash": 7},
    {"proposalHash": "h", "toolName": ["f"]},
    {"argsCanonicalJson": "{}"},
    {"name": "f", "argsCanonicalJson": None},
]


@pytest.mark.parametrize("data", LOOKALIKES, ids=repr)
def test_a_tools_data_may_look_like_anything(data: JsonObject) -> None:
    for left, right in (
        (_calling(output=1), _calling(output=data)),
        (_calling(output=data), _calling(output=1)),
        (_calling(order=1), _calling(order=1, target=data)),
        (_calling(order=[data]), _calling(order=[data, data])),
    ):
        (reason,) = _classified(left, right).reasons
        assert next(iter(data)) in reason


def test_a_reason_names_what_changed_and_nothing_that_did_not() -> None:
    (reason,) = _classified(
        _calling(order="A1", amount=24.95, note="kept"), _calling(order="A1", amount=124.85, note="kept")
    ).reasons

    assert "24.95 → 124.85" in reason
    assert "A1" not in reason
    assert "kept" not in reason


@pytest.mark.parametrize(
    "options",
    [{"ignore_volatile": False}, {"include_sections": ["response"]}],
    ids=repr,
)
def test_a_changed_status_is_named_where_status_does_not_decide(options: JsonObject) -> None:
    verdict = _classified(PLAIN | {"status": "failed"}, PLAIN, **options)

    (reason,) = verdict.reasons
    assert verdict.status == "warn"
    assert "statusChanged" in reason
    assert reason.index("failed") < reason.index("completed")


def test_a_section_that_is_moved_to_the_deciding_ones_warns_by_its_name() -> None:
    (reason,) = _classified(PLAIN, PLAIN | {"metadata": {"team": "a"}}, deciding=["metadata"]).reasons

    assert "metadata" in reason
    assert "team" in reason


def test_the_most_serious_reason_comes_first() -> None:
    right = OTHER_CALL | {"response": "Sorry.", "policyDecisions": [], "guardrailDecisions": [guardrail()]}
    gate: JsonObject = {"signals": {"policyChanged": "fail", "toolsChanged": "pass"}}

    reasons = _classified(PLAIN, right, gate).reasons

    assert [reason.split(":")[0] for reason in reasons[:2]] == ["policyChanged", "finalOutputChanged"]
    assert "guardrailDecisions" in reasons[2]
    assert reasons[3].startswith("toolsChanged")
    assert len(reasons) == 4


FILLER = "The quick brown fox jumps over the lazy dog. " * 20

# Two long answers, and what the reason has to show of each.
LONG: list[tuple[str, str, str, str, str]] = [
    ("middle", f"{FILLER}24.95{FILLER}", f"{FILLER}124.85{FILLER}", "24.95", "124.85"),
    ("start", f"Yes. {FILLER}", f"No. {FILLER}", "Yes.", "No."),
    ("end", f"{FILLER}24.95", f"{FILLER}124.85", "24.95", "124.85"),
    ("longer", FILLER, f"{FILLER}But no refund.", "lazy dog.", "But no refund."),
    ("shorter", f"{FILLER}But no refund.", FILLER, "But no refund.", "lazy dog."),
    ("inserted", f"{FILLER}{FILLER}", f"{FILLER}NOT {FILLER}", "The quick", "NOT The quick"),
    ("from nothing", "", f"Sorry. {FILLER}", '""', "Sorry."),
    ("to nothing", f"Sorry. {FILLER}", "", "Sorry.", '""'),
    ("emoji", "\U0001f600" * 300 + "a", "\U0001f600" * 300 + "b", "\U0001f600a", "\U0001f600b"),
    ("first difference", f"{FILLER}one{FILLER}x", f"{FILLER}two{FILLER}y", "one", "two"),
]


@pytest.mark.parametrize(
    ("left", "right", "shown_left", "shown_right"), [pytest.param(*case[1:], id=case[0]) for case in LONG]
)
def test_long_texts_are_cut_around_the_first_difference(
    left: str, right: str, shown_left: str, shown_right: str
) -> None:
    (reason,) = _classified(record_json(response=left), record_json(response=right)).reasons

    before, after = reason.split(" → ")
    assert shown_left in before
    assert shown_right in after
    assert "…" in reason
    assert len(reason) < 300


def test_a_long_tool_output_is_cut_around_the_first_difference() -> None:
    (reason,) = _classified(
        _calling(output=f"{FILLER}24.95{FILLER}"), _calling(output=f"{FILLER}124.85{FILLER}")
    ).reasons

    assert "24.95" in reason.split(" → ")[0]
    assert "124.85" in reason.split(" → ")[1]
    assert len(reason) < 300


def test_short_texts_are_shown_whole() -> None:
    (reason,) = _classified(record_json(response="a" * 60), record_json(response="a" * 59)).reasons

    assert f'"{"a" * 60}" → "{"a" * 59}"' in reason
    assert "…" not in reason


def test_of_many_differences_some_are_shown_and_the_rest_counted() -> None:
    def record(shift: int) -> JsonObject:
        return record_json(
            items=[tool_call(f"c{n}", f"tool-{n}", arguments={"n": n + shift}) for n in range(20)]
        )

    (reason,) = _classified(record(0), record(100)).reasons

    shown = reason.count(" → ")
    assert 1 <= shown < 20
    assert f"and {20 - shown} more" in reason


@given(left=RECORDS, right=RECORDS)
def test_any_two_records_come_to_a_status(left: JsonObject, right: JsonObject) -> None:
    comparison = compare(left, right)

    verdict = classify(RunRecord.parse(right), comparison, GateConfig())

    if right["status"] == "failed":
        assert verdict.status == "fail"
    else:
        assert verdict.status == ("pass" if comparison.equal else "warn")
    assert bool(verdict.reasons) is (verdict.status != "pass")
    assert all(reason.partition(": ")[2] or reason == "candidate failed" for reason in verdict.reasons)
