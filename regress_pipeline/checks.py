"""The asset checks: a case's verdict, the gate, and a slow decline."""

from __future__ import annotations

import dagster as dg

from regress_core.judge.contract import Status
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome
from regress_core.suite.overrides import Override
from regress_pipeline.metadata import Metadata, as_list, judge_word

NO_REGRESSION = "no_regression"
"""Of case_summaries, for each case."""

GATE, TREND = "gate", "trend"
"""Of suite_summary."""


def no_regression(
    asset: dg.AssetKey, outcome: CaseOutcome, override: Override | None, *, gated: bool
) -> dg.AssetCheckEvaluation:
    """Evaluate a case: passed if its status, which the gate's severities made, is pass.

    Args:
        asset: The asset that is checked.
        outcome: What the case came to.
        override: What keeps it out of the gate.
        gated: Whether its failure alone fails the gate; else it is no more than a warning.
    """
    metadata: Metadata = {
        "status": outcome.status,
        "reasons": dg.MetadataValue.md(as_list(outcome.reasons)),
        "verdict": judge_word(outcome),
    }
    if override is not None:
        text = f"{override.reason} ({override.owner}, until {override.expires})"
        metadata["override"] = dg.MetadataValue.md(as_list([text]))
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name=NO_REGRESSION,
        passed=outcome.status == "pass",
        severity=_severity(outcome.status if gated else "warn"),
        partition=outcome.case_id,
        metadata=metadata,
    )


def gate(asset: dg.AssetKey, summary: RunRegressionSummary) -> dg.AssetCheckEvaluation:
    """Evaluate the gate of a complete evaluation."""
    status = summary.gate.status if summary.gate else summary.status
    reasons = summary.gate.reasons if summary.gate else []
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name=GATE,
        passed=status == "pass",
        severity=_severity(status),
        metadata={
            "status": status,
            "reasons": dg.MetadataValue.md(as_list(reasons)),
            "cases": summary.totals.cases,
            "warned": summary.totals.warned,
            "failed": summary.totals.failed,
            "inconclusive": summary.totals.inconclusive,
            "evaluation_id": summary.evaluation_id or "",
        },
    )


def trend(asset: dg.AssetKey, alarm: str | None) -> dg.AssetCheckEvaluation:
    """Evaluate the trend: a warning where an alarm is raised."""
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name=TREND,
        passed=alarm is None,
        severity=dg.AssetCheckSeverity.WARN,
        description=alarm,
    )


def _severity(status: Status) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if status == "fail" else dg.AssetCheckSeverity.WARN
