"""The summary: the worst status, totals, and no key that was not set."""

from __future__ import annotations

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import RunJudgeResult, Status
from regress_core.records.json_io import JsonObject, dumps, loads
from regress_core.records.model import RunRecord
from regress_core.suite.contract import RunRegressionResult, RunRegressionSummary
from regress_core.suite.summary import summarize_run_regression_results, totals, worst
from tests.compare.support import REFERENCE, compare, decision
from tests.suite.support import cases_of
from tests.support.records import record_json, tool_call, tool_output
from tests.support.suites import as_json


def _result(
    name: str, right: JsonObject, verdict: Status | None = None, left: JsonObject | None = None
) -> RunRegressionResult:
    baseline, candidate = left or record_json(), record_json(runId="run-2") | right
    result: JsonObject = {
        "name": name,
        "baseline": baseline,
        "candidate": candidate,
        "comparison": loads(dumps(compare(baseline, candidate, REFERENCE).to_json())),
    }
    if verdict is not None:
        result["judge"] = RunJudgeResult(verdict=verdict, summary=f"It {verdict}s.", findings=[]).to_json()
    return RunRegressionResult.from_json(result)


# What the candidate does otherwise, the judge's verdict, the status of the case.
STATUSES: list[tuple[JsonObject, Status | None, Status]] = [
    ({}, None, "pass"),
    ({}, "pass", "pass"),
    ({}, "warn", "warn"),
    ({}, "fail", "fail"),
    ({"response": "Sorry."}, None, "warn"),
    ({"response": "Sorry."}, "pass", "warn"),
    ({"response": "Sorry."}, "warn", "warn"),
    ({"response": "Sorry."}, "fail", "fail"),
    ({"status": "failed"}, None, "fail"),
    ({"status": "failed"}, "pass", "fail"),
    ({"status": "failed"}, "warn", "fail"),
]


@pytest.mark.parametrize(("right", "verdict", "status"), STATUSES)
def test_the_references_conservative_rule(right: JsonObject, verdict: Status | None, status: Status) -> None:
    summary = summarize_run_regression_results([_result("a", right, verdict)])

    assert summary.status == status
    assert [case.status for case in summary.cases] == [status]


def test_a_summary_has_the_rfcs_keys_and_no_others() -> None:
    results = [
        _result("a", {}),
        _result(
            "b",
            {
                "response": "Sorry.",
                "items": [tool_call("c1", "f")],
                "policyDecisions": [decision()],
                "status": "failed",
            },
            "warn",
        ),
    ]

    summary = summarize_run_regression_results(results, suite="airline")

    assert as_json(summary) == {
        "suite": "airline",
        "status": "fail",
        "totals": {"cases": 2, "passed": 1, "warned": 0, "failed": 1},
        "cases": [
            {
                "name": "a",
                "status": "pass",
                "baselineRunId": "run-1",
                "candidateRunId": "run-2",
                "signals": {
                    "statusChanged": False,
                    "toolsChanged": False,
                    "policyChanged": False,
                    "finalOutputChanged": False,
                },
            },
            {
                "name": "b",
                "status": "fail",
                "baselineRunId": "run-1",
                "candidateRunId": "run-2",
                "signals": {
                    "statusChanged": True,
                    "toolsChanged": True,
                    "policyChanged": True,
                    "finalOutputChanged": True,
                },
                "judge": {"verdict": "warn", "summary": "It warns."},
            },
        ],
    }


def test_a_suite_without_a_name_has_no_key_for_it() -> None:
    assert "suite" not in summarize_run_regression_results([]).to_json()


def test_no_results() -> None:
    summary = summarize_run_regression_results([], suite="airline")

    assert as_json(summary) == {
        "suite": "airline",
        "status": "pass",
        "totals": {"cases": 0, "passed": 0, "warned": 0, "failed": 0},
        "cases": [],
    }


def test_an_application_may_have_a_rule_of_its_own() -> None:
    def classify(result: RunRegressionResult) -> Status:
        return "fail" if result.candidate.status == "failed" else "pass"

    results = [_result("a", {"response": "Sorry."}, "warn"), _result("b", {})]

    summary = summarize_run_regression_results(results, classify_case=classify)

    assert summary.status == "pass"
    assert summary.totals.passed == 2
    assert [case.name for case in summary.cases] == ["a", "b"]


def test_results_may_come_one_by_one() -> None:
    summary = summarize_run_regression_results(_result(name, {}) for name in ("b", "a"))

    assert [case.name for case in summary.cases] == ["b", "a"]


@pytest.mark.parametrize(
    ("letters", "counts", "status"),
    [
        ("", (0, 0, 0, 0), "pass"),
        ("ppp", (3, 3, 0, 0), "pass"),
        ("pwp", (3, 2, 1, 0), "warn"),
        ("wfp", (3, 1, 1, 1), "fail"),
        ("ff", (2, 0, 0, 2), "fail"),
        ("pii", (3, 1, 2, 0), "warn"),
    ],
)
def test_totals_and_the_worst(letters: str, counts: tuple[int, int, int, int], status: Status) -> None:
    cases = cases_of(letters)

    counted = totals(cases)

    assert (counted.cases, counted.passed, counted.warned, counted.failed) == counts
    assert worst(case.status for case in cases) == status


EXTRA_KEYS = {
    "gate": {"status": "warn", "reasons": ["1 of 2 cases warned"]},
    "evaluationId": "0190",
    "candidate": {"id": "x", "label": "agent@v2"},
    "orphans": ["c"],
    "complete": False,
}


@pytest.mark.parametrize("key", EXTRA_KEYS)
def test_an_extra_key_stands_where_it_is_set(key: str) -> None:
    value: JsonObject = {
        "status": "pass",
        "totals": {"cases": 0, "passed": 0, "warned": 0, "failed": 0},
        "cases": [],
        key: EXTRA_KEYS[key],
    }

    assert as_json(RunRegressionSummary.from_json(value)) == value


def test_a_case_without_a_candidate_says_why() -> None:
    value: JsonObject = {
        "status": "warn",
        "totals": {"cases": 1, "passed": 0, "warned": 1, "failed": 0, "inconclusive": 1},
        "cases": [
            {
                "name": "a",
                "status": "warn",
                "baselineRunId": "run-1",
                "candidateRunId": "",
                "signals": {
                    "statusChanged": False,
                    "toolsChanged": False,
                    "policyChanged": False,
                    "finalOutputChanged": False,
                },
                "caseId": "a",
                "inconclusive": True,
                "reasons": ["no candidate record"],
            }
        ],
    }

    summary = RunRegressionSummary.from_json(value)

    assert summary.cases[0].inconclusive
    assert summary.cases[0].reasons == ["no candidate record"]
    assert as_json(summary) == value


@pytest.mark.parametrize(("output", "raised"), [("Error: too much", True), ("done", False)])
def test_effects_are_a_signal_where_they_were_compared_and_differ(output: str, *, raised: bool) -> None:
    def run(text: str) -> JsonObject:
        return record_json(items=[tool_call("c1", "refund"), tool_output("c1", output=text)])

    options = CompareOptions(effects=EffectsConfig(write=("refund",)))
    comparison = compare(run("ok"), run(output), options)
    result = RunRegressionResult(
        name="a",
        baseline=RunRecord.parse(run("ok")),
        candidate=RunRecord.parse(run(output)),
        comparison=comparison,
    )

    (case,) = as_json(summarize_run_regression_results([result]))["cases"]

    assert case["signals"].get("effectsChanged") == (True if raised else None)
    assert (case["status"], case["signals"]["toolsChanged"]) == ("warn", False)
