"""The numbers and the four signals that come with a comparison."""

from __future__ import annotations

import pytest

from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.support import REFERENCE, compare, decision, guardrail, run_of, turns
from tests.support.records import record_json, tool_call, tool_output

LENGTHS = [
    ("", 0),
    ("On its way.", 11),
    ("\U0001f600", 1),
    ("\U0001f600\U0001f600 ok", 5),
    ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 5),
    ("\u00e9", 1),
    ("e\u0301", 2),
    ("\u65e5\u672c", 2),
    ("\ud800", 1),
    ("a\r\nb", 4),
]


@pytest.mark.parametrize("options", [CompareOptions(), REFERENCE], ids=["default", "reference"])
@pytest.mark.parametrize(("text", "length"), LENGTHS)
def test_lengths_are_counted_in_code_points(text: str, length: int, options: CompareOptions) -> None:
    metrics = compare(record_json(response=text), record_json(response="ab"), options).metrics

    assert (metrics.response_length_a, metrics.response_length_b) == (length, 2)


# Calls on the left, on the right; matched, missing, extra.
COUNTS: list[tuple[str, str, tuple[int, int, int]]] = [
    ("", "", (0, 0, 0)),
    ("a1", "", (0, 1, 0)),
    ("", "a1", (0, 0, 1)),
    ("a1", "a1", (1, 0, 0)),
    ("a1", "a2", (0, 1, 1)),
    ("a1", "b1", (0, 1, 1)),
    ("a1 b2 | c3", "c3 | b2 | a1", (3, 0, 0)),
    ("a1 a1 b2", "a1 b2 b2", (2, 1, 1)),
    ("a1 a1 a1", "a1", (1, 2, 0)),
    ("a1 | b2 | c3", "a1 | d4 | c3 | e5", (2, 1, 2)),
]


@pytest.mark.parametrize("options", [CompareOptions(), REFERENCE], ids=["default", "reference"])
@pytest.mark.parametrize(("left", "right", "counts"), COUNTS)
def test_calls_are_counted_as_multisets(
    left: str, right: str, counts: tuple[int, int, int], options: CompareOptions
) -> None:
    a, b = run_of(turns(left), decided=False), run_of(turns(right), decided=False)

    metrics = compare(a, b, options).metrics

    matched, missing, extra = counts
    assert (metrics.matched_tool_calls, metrics.missing_tool_calls, metrics.extra_tool_calls) == counts
    assert (metrics.tool_calls_a, metrics.tool_calls_b) == (matched + missing, matched + extra)


@pytest.mark.parametrize(
    ("left", "right", "matched"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ({"n": 1}, {"n": 1.0}, 1),
        ({"n": 1}, {"n": True}, 0),
        ({"n": 2**53 + 1}, {"n": 2**53}, 0),
    ],
)
def test_calls_match_by_canonical_arguments(left: JsonValue, right: JsonValue, matched: int) -> None:
    a = record_json(items=[tool_call("c1", "f", arguments=left), tool_output("c1", output=1)])
    b = record_json(items=[tool_call("c1", "f", arguments=right), tool_output("c1", output=2)])

    assert compare(a, b).metrics.matched_tool_calls == matched


def test_numbers_are_given_for_sections_that_are_not_compared_too() -> None:
    a, b = run_of(turns("a1"), decided=False), run_of(turns("a1 b2"), decided=False, response="")

    metrics = compare(a, b, CompareOptions(include_sections=("policy",))).metrics

    assert (metrics.tool_calls_a, metrics.tool_calls_b, metrics.extra_tool_calls) == (1, 2, 1)
    assert (metrics.response_length_a, metrics.response_length_b) == (11, 0)


PLAIN = record_json(items=[tool_call("c1", "f"), tool_output("c1", output=1)], policyDecisions=[decision()])

# What the candidate does otherwise, and the signals that raises.
SIGNALS: list[tuple[str, JsonObject, list[str]]] = [
    ("nothing", {}, []),
    ("failed", {"status": "failed"}, ["statusChanged"]),
    ("answer", {"response": "Sorry."}, ["finalOutputChanged"]),
    ("another tool", {"items": [tool_call("c1", "g"), tool_output("c1", output=1)]}, ["toolsChanged"]),
    (
        "other arguments",
        {"items": [tool_call("c1", "f", arguments={"n": 1}), tool_output("c1", output=1)]},
        ["toolsChanged"],
    ),
    ("no call", {"items": []}, ["toolsChanged"]),
    ("another output", {"items": [tool_call("c1", "f"), tool_output("c1", output=2)]}, []),
    ("no output", {"items": [tool_call("c1", "f")]}, []),
    ("denied", {"policyDecisions": [decision(decision="deny")]}, ["policyChanged"]),
    ("not asked", {"policyDecisions": []}, ["policyChanged"]),
    ("guardrail", {"guardrailDecisions": [guardrail()]}, []),
    ("error", {"errorName": "Error"}, []),
    ("metadata", {"metadata": {"team": "a"}}, []),
    (
        "everything",
        {"status": "failed", "response": "", "items": [], "policyDecisions": []},
        ["statusChanged", "toolsChanged", "policyChanged", "finalOutputChanged"],
    ),
]


@pytest.mark.parametrize(("changes", "signals"), [pytest.param(*case[1:], id=case[0]) for case in SIGNALS])
def test_signals(changes: JsonObject, signals: list[str]) -> None:
    for left, right in ((PLAIN, PLAIN | changes), (PLAIN | changes, PLAIN)):
        comparison = compare(left, right)
        assert list(comparison.signals.raised()) == signals
        assert comparison.summary.same_final_response is ("finalOutputChanged" not in signals)
        assert comparison.summary.same_tool_call_shape is ("toolsChanged" not in signals)
        assert comparison.summary.same_policy_decisions is ("policyChanged" not in signals)


def test_the_four_answers_and_the_guardrails() -> None:
    summary = compare(PLAIN, PLAIN | {"guardrailDecisions": [guardrail()]}).summary

    assert not summary.same_guardrail_decisions
    assert summary.same_final_response
    assert summary.same_tool_call_shape
    assert summary.same_policy_decisions


@pytest.mark.parametrize(
    ("section", "signal"),
    [
        ("status", "statusChanged"),
        ("toolCalls", "toolsChanged"),
        ("policy", "policyChanged"),
        ("response", "finalOutputChanged"),
    ],
)
def test_an_excluded_section_raises_no_signal(section: str, signal: str) -> None:
    other = PLAIN | record_json(status="failed", response="")

    raised = compare(PLAIN, other, CompareOptions.from_json({"exclude_sections": [section]})).signals.raised()

    assert signal not in raised
    assert len(raised) == 3


def test_the_status_signal_is_the_references_where_status_is_no_section() -> None:
    other = PLAIN | {"status": "failed"}

    comparison = compare(PLAIN, other, REFERENCE)

    assert comparison.equal
    assert comparison.signals.raised() == ("statusChanged",)


def test_the_json_of_a_comparison_bears_the_references_names() -> None:
    value = compare(PLAIN, PLAIN | {"response": "Sorry."}).to_json()

    assert set(value) == {
        "equal",
        "summary",
        "metrics",
        "differences",
        "provenance",
        "sections",
        "signals",
        "trajectory",
        "answer",
    }
    assert set(value["summary"]) == {
        "sameFinalResponse",
        "sameToolCallShape",
        "samePolicyDecisions",
        "sameGuardrailDecisions",
    }
    assert value["metrics"] == {
        "responseLengthA": 11,
        "responseLengthB": 6,
        "toolCallsA": 1,
        "toolCallsB": 1,
        "matchedToolCalls": 1,
        "missingToolCalls": 0,
        "extraToolCalls": 0,
    }
    assert value["signals"] == {
        "statusChanged": False,
        "toolsChanged": False,
        "policyChanged": False,
        "finalOutputChanged": True,
    }
