"""Summing up cases: totals and the worst status, as the reference does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from regress_core.compare.model import Signals
from regress_core.judge.contract import Status
from regress_core.suite.contract import (
    CaseJudgeSummary,
    RunRegressionCaseSummary,
    RunRegressionResult,
    RunRegressionSummary,
    RunRegressionTotals,
)

ClassifyCase = Callable[[RunRegressionResult], Status]
"""An application's own rule for the status of a case."""


def default_classification(result: RunRegressionResult) -> Status:
    """The reference's conservative rule.

    Candidate failed or judge says fail: fail. Comparison unequal or judge says warn: warn. Else pass.
    """
    verdict = result.judge.verdict if result.judge else None
    if result.candidate.status == "failed" or verdict == "fail":
        return "fail"
    return "warn" if not result.comparison.equal or verdict == "warn" else "pass"


def summarize_run_regression_results(
    results: Iterable[RunRegressionResult],
    *,
    suite: str | None = None,
    classify_case: ClassifyCase = default_classification,
) -> RunRegressionSummary:
    """Sum up results for CI, dashboards and release checks.

    Args:
        results: One result a case.
        suite: The suite's name; left out of the JSON when None.
        classify_case: Gives the status of a case.
    """
    cases = [_case_summary(result, classify_case(result)) for result in results]
    summary = RunRegressionSummary(
        status=worst(case.status for case in cases), totals=totals(cases), cases=cases
    )
    return summary if suite is None else summary.model_copy(update={"suite": suite})


def totals(cases: Sequence[RunRegressionCaseSummary]) -> RunRegressionTotals:
    """Count the statuses."""
    statuses = [case.status for case in cases]
    return RunRegressionTotals(
        cases=len(statuses),
        passed=statuses.count("pass"),
        warned=statuses.count("warn"),
        failed=statuses.count("fail"),
    )


def counting_cases(cases: Sequence[RunRegressionCaseSummary]) -> list[RunRegressionCaseSummary]:
    """Give the cases that count for the gate: those without an override."""
    return [case for case in cases if case.override is None]


def worst(statuses: Iterable[Status]) -> Status:
    """Give the worst of some statuses; pass when there are none."""
    found = set(statuses)
    return "fail" if "fail" in found else "warn" if "warn" in found else "pass"


def _case_summary(result: RunRegressionResult, status: Status) -> RunRegressionCaseSummary:
    summary = result.comparison.summary
    case = RunRegressionCaseSummary(
        name=result.name,
        status=status,
        baseline_run_id=result.baseline.run_id,
        candidate_run_id=result.candidate.run_id,
        signals=Signals(
            status_changed=result.baseline.status != result.candidate.status,
            tools_changed=not summary.same_tool_call_shape,
            policy_changed=not summary.same_policy_decisions,
            final_output_changed=not summary.same_final_response,
            **({"effects_changed": True} if result.comparison.signals.effects_changed else {}),
        ),
    )
    if result.judge is None:
        return case
    judge = CaseJudgeSummary(verdict=result.judge.verdict, summary=result.judge.summary)
    return case.model_copy(update={"judge": judge})
