"""Tier 0 on one run: every check that holds for its case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regress_core.checks.anomalies import check_anomalies
from regress_core.checks.assertions import find
from regress_core.checks.case_checks import CaseChecks
from regress_core.checks.hints import check_hints
from regress_core.checks.outcome import CheckResult
from regress_core.checks.own_part import OwnPart, own_part
from regress_core.checks.semantic import find_evidence
from regress_core.records.model import RunRecord


def run_checks(
    checks: CaseChecks,
    record: RunRecord,
    *,
    should_use: Sequence[str] = (),
    should_avoid: Sequence[str] = (),
) -> tuple[CheckResult, ...]:
    """Check a candidate's run; what its recorded input tells of does not count.

    Args:
        checks: What holds for the case.
        record: The run.
        should_use: Tools that the expectation hopes for.
        should_avoid: Tools that the expectation hopes not to see.

    Returns:
        A result for each check: assertions, semantic rubric, anomalies, hints.
    """
    if not (checks.assertions or checks.rubric or checks.anomalies.any or should_use or should_avoid):
        return ()  # most suites have no checks, and taking a record apart takes longer than comparing it
    own = own_part(record)
    return (
        *_stated(checks, own),
        *check_anomalies(checks.anomalies, own),
        *check_hints(should_use, should_avoid, own.calls),
    )


def _stated(checks: CaseChecks, own: OwnPart) -> Iterator[CheckResult]:
    for check_id, assertion in checks.assertions.items():
        yield find(assertion, own).result(check_id, assertion.kind, assertion.severity)
    for dimension in checks.rubric:
        yield find_evidence(dimension, own.transcript).result(dimension.id, "semantic")
