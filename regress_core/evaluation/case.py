"""One trial of one case, from the baseline's file to an outcome. Whatever goes wrong here stays here."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import NO_SIGNALS, Comparison
from regress_core.compare.options import CompareOptions
from regress_core.evaluation.candidate import CandidateEvidence, CandidateSource
from regress_core.evaluation.judging import Judging, Pair
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.run_facts import RunFacts
from regress_core.evaluation.source import load_planned, text_of
from regress_core.evaluation.spending import Spending
from regress_core.foreign import error_text, passes_through
from regress_core.ids import Clock
from regress_core.journal.steps import Stage
from regress_core.judge.contract import SEVERITY
from regress_core.judge.time_limit import JudgeTimeUpError
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.records.loading import LoadedRecord
from regress_core.records.model import RunRecord
from regress_core.suite.classification import classify
from regress_core.suite.config import GateConfig
from regress_core.suite.judged import Judged
from regress_core.suite.loading import CaseRef
from regress_core.suite.outcome import NO_FINDINGS, CaseOutcome

T = TypeVar("T")

Evidence = Mapping[Stage, str]
"""JSON text by stage."""

Keep = Callable[[Evidence], Awaitable[Evidence]]
"""Commits evidence before the next step is built on it; gives what stands, should another have been first."""


@dataclass(frozen=True, slots=True)
class CaseWork:
    """What a trial made: evidence that is not committed yet, and the outcome."""

    evidence: Evidence
    outcome: CaseOutcome


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of one case of a plan.

    Attributes:
        plan: The plan.
        case: The case.
        number: Counts from 1.
        begun: What an earlier process committed of it in this revision.
    """

    plan: EvaluationPlan
    case: CaseRef
    number: int
    begun: Evidence


async def evaluate_trial(
    trial: Trial, source: CandidateSource, judging: Judging, spending: Spending, clock: Clock, keep: Keep
) -> CaseWork:
    """Get the candidate's record, compare, judge and classify.

    Trouble is an inconclusive outcome; only cancellation, what `keep` raises, and judges that have taken too
    long come out.
    """
    started = time.perf_counter()
    work = _Work(trial, source, judging, spending, _blank(trial, clock))
    pair = await work.attempt(work.run())
    if pair is None:  # a run that was cut short may have cost something too
        cost_usd = spending.cost_usd(trial.case.case_id, trial.number)
        work.outcome = replace(work.outcome, cost_usd=cost_usd)
    else:
        if pair.to_keep:
            pair = pair.as_kept(await keep(pair.to_keep))
        await work.attempt(work.decide(pair))
    outcome = replace(work.outcome, duration_s=time.perf_counter() - started, finished_at=clock())
    return CaseWork(work.evidence, outcome)


def given_up(trial: Trial, clock: Clock) -> CaseWork:
    """Give what a trial comes to whose candidate has cancelled the task that evaluates it."""
    message = "the candidate cancelled the task it was run in"
    trouble = Trouble("internal error", "candidate", "CancelledError", message, retryable=False)
    return CaseWork({}, _inconclusive(_blank(trial, clock), trouble))


def _blank(trial: Trial, clock: Clock) -> CaseOutcome:
    case = trial.case
    candidate = trial.plan.candidate.records.get(case.case_id)
    return CaseOutcome(
        case_id=case.case_id,
        case_name=case.name,
        trial=trial.number,
        revision=trial.plan.revision,
        status="warn",
        reasons=(),
        signals=NO_SIGNALS,
        equal=None,
        baseline_run_id=None,
        candidate_run_id="",
        baseline_sha256=case.baseline.sha256,
        candidate_sha256=candidate.sha256 if candidate else None,
        replay_miss=False,
        judge=None,
        trouble=None,
        duration_s=0.0,
        cost_usd=0.0,
        finished_at=clock(),
    )


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of a trial.

    Attributes:
        accepted: The accepted runs of the case; the first is the baseline.
        candidate: The candidate's record.
        to_keep: What is to be committed before anything is built on them.
    """

    accepted: Sequence[LoadedRecord]
    candidate: CandidateEvidence
    to_keep: Evidence

    def as_kept(self, kept: Evidence) -> _Records:
        """Give the pair with the run that stands."""
        same = kept["candidate"] == self.candidate.text
        return self if same else replace(self, candidate=_from_journal(kept))


class _Work:
    """A trial while it is evaluated: what is known of it so far."""

    def __init__(
        self,
        trial: Trial,
        source: CandidateSource,
        judging: Judging,
        spending: Spending,
        outcome: CaseOutcome,
    ) -> None:
        self.evidence: dict[Stage, str] = {}
        self.outcome = outcome
        self._trial = trial
        self._source = source
        self._judging = judging
        self._spending = spending

    async def attempt(self, step: Awaitable[T]) -> T | None:
        """Take a step. Whatever goes wrong in it makes the outcome inconclusive, and gives None."""
        try:
            return await step
        except TroubleError as error:
            self.outcome = _inconclusive(self.outcome, error.trouble)
        except BaseException as error:
            if passes_through(error) or isinstance(error, JudgeTimeUpError):
                raise
            message = f"internal error: {type(error).__name__}: {error_text(error)}"
            trouble = Trouble("internal error", "comparison", type(error).__name__, message, retryable=False)
            self.outcome = _inconclusive(self.outcome, trouble)
        return None

    async def run(self) -> _Records:
        """Get the records.

        Raises:
            TroubleError: If something keeps us from knowing.
        """
        case = self._trial.case
        baseline = load_planned(case.case_id, case.baseline, "baseline")
        if self._trial.number == 1:  # the same for every trial
            self.evidence["baseline"] = text_of(baseline)
        self.outcome = replace(self.outcome, baseline_run_id=baseline.record.run_id)
        others = [load_planned(case.case_id, ref, "baseline") for ref in case.accepted]
        if others and self._trial.number == 1:
            self.evidence["accepted"] = dumps_text(
                [{"sha256": one.sha256, "text": text_of(one)} for one in others]
            )
        return await self._run([baseline, *others])

    async def _run(self, accepted: Sequence[LoadedRecord]) -> _Records:
        """Get the candidate's record: the one that was committed before, or a new one.

        A run is committed before anything is built on it: it may have cost money, and it would not come out
        the same again. One that met trouble is not, so that it is made again.
        """
        trial = self._trial
        if "run" in trial.begun:
            return _Records(accepted, _from_journal(trial.begun), {})
        baseline = accepted[0].record
        candidate = await self._source.run(trial.case, baseline, trial.number, self._spending)
        found: dict[Stage, str] = {"candidate": candidate.text}
        if candidate.facts is not None:
            found["run"] = dumps_text(candidate.facts.to_json())
            if candidate.trouble is None:
                return _Records(accepted, candidate, found)
        self.evidence.update(found)
        return _Records(accepted, candidate, {})

    async def decide(self, pair: _Records) -> None:
        """Compare, judge and classify.

        Raises:
            TroubleError: If something keeps us from knowing.
        """
        candidate = pair.candidate
        cost_usd = candidate.facts.cost_usd if candidate.facts else 0.0
        self.outcome = replace(self.outcome, candidate_sha256=candidate.sha256, cost_usd=cost_usd)
        if candidate.trouble is not None:
            raise TroubleError(candidate.trouble)
        gate = self._trial.plan.suite.config.gate
        nearest, comparison = _nearest(pair.accepted, candidate.record, self._source.options, gate)
        if nearest is not pair.accepted[0]:
            self.outcome = replace(self.outcome, accepted_sha256=nearest.sha256)
        self.evidence["comparison"] = dumps_text(comparison.to_json())
        trial = self._trial
        replay_miss = candidate.facts is not None and candidate.facts.replay_miss
        shown = Pair(nearest.record, candidate.record, comparison, replay_miss=replay_miss)
        judged = await self._judging.of(trial.case, trial.number, shown)
        if judged.checks:
            self.evidence["checks"] = dumps_text([check.to_json() for check in judged.checks])
        if judged.judges:
            self.evidence["judge"] = dumps_text([outcome.to_json() for outcome in judged.judges])
        self._classify(shown, judged)

    def _classify(self, pair: Pair, judged: Judged) -> None:
        candidate, comparison = pair.candidate, pair.comparison
        gate = self._trial.plan.suite.config.gate
        verdict = classify(candidate, comparison, gate, replay_miss=pair.replay_miss, judged=judged)
        self.outcome = replace(
            self.outcome,
            status=verdict.status,
            reasons=verdict.reasons,
            signals=comparison.signals,
            equal=comparison.equal,
            candidate_run_id=candidate.run_id,
            replay_miss=pair.replay_miss,
            judge=judged.verdict,
            cost_usd=self.outcome.cost_usd + sum(outcome.cost_usd for outcome in judged.judges),
            findings=judged.findings(),
        )


def _from_journal(kept: Evidence) -> CandidateEvidence:
    text = kept["candidate"]
    facts = RunFacts.from_json(loads_own(kept["run"]))
    return CandidateEvidence(RunRecord(loads_own(text)), text, hash_text(text), facts)


def _nearest(
    accepted: Sequence[LoadedRecord], candidate: RunRecord, options: CompareOptions, gate: GateConfig
) -> tuple[LoadedRecord, Comparison]:
    """Compare with one accepted run after the other; give the comparison that counts.

    That is the first equal one; else, of those that the gate takes least ill, the one with the fewest
    differences, the first of equals.
    """
    unequal: list[tuple[LoadedRecord, Comparison]] = []
    for one in accepted:
        comparison = _compared(one.record, candidate, options)
        if comparison.equal:
            return one, comparison
        unequal.append((one, comparison))
    if len(unequal) == 1:
        return unequal[0]

    def distance(pair: tuple[LoadedRecord, Comparison]) -> tuple[int, int]:
        status = classify(candidate, pair[1], gate).status
        return SEVERITY[status], len(pair[1].differences)

    return min(unequal, key=distance)


def _compared(baseline: RunRecord, candidate: RunRecord, options: CompareOptions) -> Comparison:
    sections = options.plan(baseline.unrecorded | candidate.unrecorded)
    if not sections.decides and candidate.status != "failed":
        message = "nothing can be compared: the records know none of the sections that decide"
        raise TroubleError(Trouble("input", "comparison", "nothing to compare", message, retryable=False))
    return compare_run_records(baseline, candidate, options)


def _inconclusive(outcome: CaseOutcome, trouble: Trouble) -> CaseOutcome:
    return replace(
        outcome,
        status="warn",
        reasons=(trouble.message,),
        signals=NO_SIGNALS,
        equal=None,
        candidate_run_id="",
        replay_miss=False,
        judge=None,
        trouble=trouble,
        findings=NO_FINDINGS,
    )
