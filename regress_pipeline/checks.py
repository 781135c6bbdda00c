"""The asset check that carries a case's verdict."""

from __future__ import annotations

import dagster as dg

from regress_core.suite.outcome import CaseOutcome

NO_REGRESSION = "no_regression"


def no_regression(asset: dg.AssetKey, outcome: CaseOutcome) -> dg.AssetCheckEvaluation:
    """Evaluate a case: passed if its status is pass; a warning or an error otherwise, as its status says."""
    severity = dg.AssetCheckSeverity.ERROR if outcome.status == "fail" else dg.AssetCheckSeverity.WARN
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name=NO_REGRESSION,
        passed=outcome.status == "pass",
        severity=severity,
        partition=outcome.case_id,
        metadata={"status": outcome.status, "reasons": list(outcome.reasons)},
    )
