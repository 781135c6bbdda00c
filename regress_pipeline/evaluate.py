"""THE op: evaluates the cases a run asks for and tells Dagster what became of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from regress_core.evaluation.events import CaseDone, Emit, EvaluationDone
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome
from regress_pipeline.background import BackgroundEvaluation
from regress_pipeline.checks import NO_REGRESSION, no_regression
from regress_pipeline.partitions import CASE_ASSETS, SUITE_SUMMARY

# Dagster reads the data version of an observed materialization from this tag.
_DATA_VERSION_TAG = "dagster/data_version"

CaseEvent = dg.AssetMaterialization | dg.AssetCheckEvaluation


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of a suite's assets a run asks for."""

    suite: str
    assets: frozenset[dg.AssetKey]
    checks: frozenset[dg.AssetCheckKey]

    def key(self, asset: str) -> dg.AssetKey:
        """Give the key of one of the suite's assets."""
        return dg.AssetKey([self.suite, asset])

    def __contains__(self, asset: str) -> bool:
        return self.key(asset) in self.assets


class InconclusiveCasesFailure(dg.Failure):
    """Ends a run with inconclusive cases, after everything else has been materialized."""


def run_plan(plan: EvaluationPlan, ports: Ports, selection: Selection, observe: Emit) -> Iterator[CaseEvent]:
    """Evaluate the plan's portion and yield Dagster's events as cases finish.

    The evaluation runs in the background, so that Dagster's slow event writes never hold up a case.

    Raises:
        InconclusiveCasesFailure: At the end, if any case is inconclusive: those cases stop at the asset they
            could not produce; all others are materialized.
    """
    inconclusive: list[CaseOutcome] = []
    with BackgroundEvaluation(plan, ports) as evaluation:
        for event in evaluation.events():
            observe(event)
            if isinstance(event, CaseDone):
                if event.outcome.inconclusive:
                    inconclusive.append(event.outcome)
                yield from _case_events(plan, selection, event)
            elif isinstance(event, EvaluationDone) and SUITE_SUMMARY in selection:
                yield _suite_event(plan, ports, selection, event.summary)
    if inconclusive:
        first = inconclusive[0]
        raise InconclusiveCasesFailure(
            description=f"{len(inconclusive)} inconclusive: {first.case_name}: {'; '.join(first.reasons)}",
            metadata={outcome.case_id: "; ".join(outcome.reasons) for outcome in inconclusive[:50]},
            allow_retries=False,
        )


def _case_events(plan: EvaluationPlan, selection: Selection, done: CaseDone) -> Iterator[CaseEvent]:
    outcome = done.outcome
    for asset in ("baseline_records",) if outcome.inconclusive else CASE_ASSETS:
        if asset in selection and (asset != "baseline_records" or outcome.baseline_run_id is not None):
            yield dg.AssetMaterialization(
                selection.key(asset),
                partition=outcome.case_id,
                metadata=_metadata(plan, asset, done),
                tags={_DATA_VERSION_TAG: _data_version(asset, outcome)},
            )
    check = dg.AssetCheckKey(selection.key("case_summaries"), NO_REGRESSION)
    if check in selection.checks and not outcome.inconclusive:
        yield no_regression(check.asset_key, outcome)


def _metadata(plan: EvaluationPlan, asset: str, done: CaseDone) -> dict[str, dg.RawMetadataValue]:
    outcome = done.outcome
    common: dict[str, dg.RawMetadataValue] = {
        "evaluation_id": plan.evaluation_id,
        "candidate": plan.candidate.label,
        "revision": outcome.revision,
        "resumed": done.resumed,
    }
    if asset == "judge_results":
        return {**common, "judge": _judge_word(outcome), "cost_usd": outcome.cost_usd}
    if asset == "baseline_records":
        return {**common, "run_id": outcome.baseline_run_id or "", "sha256": outcome.baseline_sha256}
    if asset == "candidate_records":
        return {**common, "run_id": outcome.candidate_run_id, "sha256": outcome.candidate_sha256 or ""}
    if asset == "comparisons":
        return {**common, "equal": bool(outcome.equal), "signals": list(outcome.signals.raised())}
    return {**common, "status": outcome.status, "reasons": list(outcome.reasons)}


def _judge_word(outcome: CaseOutcome) -> str:
    """Give the regression judge's verdict, else what became of it; `none` where there is no such judge."""
    if outcome.judge is not None:
        return outcome.judge.verdict
    states = [one.state for one in outcome.findings.judging if one.judge == "regression"]
    return states[0] if states else "none"


def _data_version(asset: str, outcome: CaseOutcome) -> str:
    """A record's version is its hash; what is made of both records has both."""
    if asset == "baseline_records":
        return outcome.baseline_sha256
    candidate = outcome.candidate_sha256 or ""
    if asset == "candidate_records":
        return candidate
    return f"{(outcome.accepted_sha256 or outcome.baseline_sha256)[:32]}-{candidate[:32]}"


def _suite_event(
    plan: EvaluationPlan, ports: Ports, selection: Selection, summary: RunRegressionSummary
) -> dg.AssetMaterialization:
    totals = summary.totals
    metadata: dict[str, dg.RawMetadataValue] = {
        "evaluation_id": plan.evaluation_id,
        "candidate": plan.candidate.label,
        "complete": summary.complete,
        "status": summary.status,
        "gate": summary.gate.status if summary.gate else summary.status,
        "planned": len(plan.suite.cases),
        "cases": totals.cases,
        "passed": totals.passed,
        "warned": totals.warned,
        "failed": totals.failed,
        "inconclusive": totals.inconclusive,
    }
    if summary.complete:
        metadata["outputs"] = dg.MetadataValue.path(ports.outputs_of(plan.evaluation_id).absolute())
    return dg.AssetMaterialization(selection.key(SUITE_SUMMARY), metadata=metadata)
