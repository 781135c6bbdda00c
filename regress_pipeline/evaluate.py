"""THE op: evaluates the cases a run asks for and tells Dagster what became of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import dagster as dg

from regress_core.evaluation.events import CaseDone, Emit, EvaluationDone
from regress_core.evaluation.outputs import candidate_file
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.history.trends import finished_evaluations, last_of, trend_alarm
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome
from regress_core.suite.overrides import active
from regress_pipeline.answers import Answers
from regress_pipeline.background import BackgroundEvaluation
from regress_pipeline.checks import GATE, NO_REGRESSION, TREND, gate, no_regression, trend
from regress_pipeline.explanations import Explanations
from regress_pipeline.metadata import SHOWN_EVALUATIONS, case_metadata, suite_metadata
from regress_pipeline.partitions import CASE_ASSETS, SUITE_SUMMARY
from regress_pipeline.webhook import announce

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

    def has_check(self, asset: str, check: str) -> bool:
        """Tell whether a check of one of the suite's assets is asked for."""
        return dg.AssetCheckKey(self.key(asset), check) in self.checks


@dataclass(frozen=True, slots=True)
class Telling:
    """Whom a run tells besides Dagster.

    Attributes:
        observe: Takes the evaluation's events.
        webhook_url: Takes the summary of a complete evaluation; None for nobody.
        warn: Takes one-line warnings.
    """

    observe: Emit
    webhook_url: str | None
    warn: Callable[[str], None]


class InconclusiveCasesFailure(dg.Failure):
    """Ends a run with inconclusive cases, after everything else has been materialized."""


def run_plan(
    plan: EvaluationPlan, ports: Ports, selection: Selection, telling: Telling
) -> Iterator[CaseEvent]:
    """Evaluate the plan's portion and yield Dagster's events as cases finish.

    The evaluation runs in the background, so that Dagster's slow event writes never hold up a case.

    Raises:
        InconclusiveCasesFailure: At the end, if any case is inconclusive: those cases stop at the asset they
            could not produce; all others are materialized.
    """
    inconclusive: list[CaseOutcome] = []
    cases = _CaseEvents(plan, ports, selection)
    with BackgroundEvaluation(plan, ports) as evaluation:
        for event in evaluation.events():
            telling.observe(event)
            if isinstance(event, CaseDone):
                if event.outcome.inconclusive:
                    inconclusive.append(event.outcome)
                yield from cases.of(event)
            elif isinstance(event, EvaluationDone):
                yield from _suite_events(plan, ports, selection, event.summary)
                if event.summary.complete and telling.webhook_url is not None:
                    announce(plan, ports, event.summary, telling.webhook_url, telling.warn)
    if inconclusive:
        first = inconclusive[0]
        raise InconclusiveCasesFailure(
            description=f"{len(inconclusive)} inconclusive: {first.case_name}: {'; '.join(first.reasons)}",
            metadata={outcome.case_id: "; ".join(outcome.reasons) for outcome in inconclusive[:50]},
            allow_retries=False,
        )


class _CaseEvents:
    """Makes the events of finished cases."""

    def __init__(self, plan: EvaluationPlan, ports: Ports, selection: Selection) -> None:
        self._plan = plan
        self._selection = selection
        self._answers = Answers(plan, ports)
        self._may_be_noise = plan.how.trials > 1 and plan.suite.config.gate.trials.rule == "noise"
        self._explanations = Explanations(plan, ports)
        self._baselines = {case.case_id: case.baseline.path for case in plan.suite.cases}
        self._outputs = ports.outputs_of(plan.evaluation_id).absolute()

    def of(self, done: CaseDone) -> Iterator[CaseEvent]:
        """Give the events of a case; an inconclusive one stops at what it could not produce."""
        outcome, selection = done.outcome, self._selection
        differs = outcome.signals.final_output_changed
        metadata = case_metadata(
            self._plan,
            done,
            self._answers.of(outcome) if differs else None,
            self._explanations.of(outcome) if outcome.equal is False else {},
            baseline_file=self._baselines[outcome.case_id],
            candidate_file=self._candidate_file(outcome.case_id),
        )
        for asset in ("baseline_records",) if outcome.inconclusive else CASE_ASSETS:
            if asset in selection and (asset != "baseline_records" or outcome.baseline_run_id is not None):
                yield dg.AssetMaterialization(
                    selection.key(asset),
                    partition=outcome.case_id,
                    metadata=metadata[asset],
                    tags={_DATA_VERSION_TAG: _data_version(asset, outcome)},
                )
        if selection.has_check("case_summaries", NO_REGRESSION) and not outcome.inconclusive:
            override = active(self._plan.suite.overrides, outcome.case_id, self._plan.created_at)
            gated = override is None and not self._may_be_noise
            yield no_regression(selection.key("case_summaries"), outcome, override, gated=gated)

    def _candidate_file(self, case_id: str) -> str:
        ref = self._plan.candidate.records.get(case_id)
        return ref.path if ref else str(candidate_file(self._outputs, case_id))


def _data_version(asset: str, outcome: CaseOutcome) -> str:
    """A record's version is its hash; what is made of both records has both."""
    if asset == "baseline_records":
        return outcome.baseline_sha256
    candidate = outcome.candidate_sha256 or ""
    if asset == "candidate_records":
        return candidate
    return f"{(outcome.accepted_sha256 or outcome.baseline_sha256)[:32]}-{candidate[:32]}"


def _suite_events(
    plan: EvaluationPlan, ports: Ports, selection: Selection, summary: RunRegressionSummary
) -> Iterator[CaseEvent]:
    """Give the events of the suite; its checks are of complete evaluations."""
    if SUITE_SUMMARY not in selection:
        return
    config = plan.suite.config.trend
    most = max(config.evaluations, SHOWN_EVALUATIONS)
    points = last_of(finished_evaluations(ports.history, plan.suite.name), plan.trigger, most)
    # Evaluations of a few cases are not set beside each other.
    is_whole = plan.trigger not in ("cases", "backfill")
    alarm = trend_alarm(points, config) if is_whole else None
    outputs = ports.outputs_of(plan.evaluation_id)
    metadata = suite_metadata(plan, summary, outputs, points, alarm)
    yield dg.AssetMaterialization(selection.key(SUITE_SUMMARY), metadata=metadata)
    if summary.complete and selection.has_check(SUITE_SUMMARY, GATE):
        yield gate(selection.key(SUITE_SUMMARY), summary)
    if summary.complete and is_whole and selection.has_check(SUITE_SUMMARY, TREND):
        yield trend(selection.key(SUITE_SUMMARY), alarm)
