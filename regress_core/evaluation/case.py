"""One trial of one case, from the baseline's file to an outcome. Whatever goes wrong here stays here."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from regress_core.calls.limits import CallLimits
from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import NO_SIGNALS, Comparison
from regress_core.compare.options import CompareOptions
from regress_core.evaluation.candidate import CandidateEvidence, CandidateSource
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.run_facts import RunFacts
from regress_core.evaluation.source import load_planned, text_of
from regress_core.foreign import error_text, passes_through
from regress_core.ids import Clock
from regress_core.journal.journal import Stage
from regress_core.judge.asking import ask_judge
from regress_core.judge.contract import RunJudgeInput
from regress_core.judge.outcome import JudgeOutcome
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.records.model import RunRecord
from regress_core.suite.classification import classify
from regress_core.suite.contract import CaseJudgeSummary
from regress_core.suite.loading import CaseRef
from regress_core.suite.outcome import CaseOutcome

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
    trial: Trial, source: CandidateSource, limits: CallLimits, clock: Clock, keep: Keep
) -> CaseWork:
    """Get the candidate's record, compare, judge and classify.

    Trouble is an inconclusive outcome; only cancellation, and what `keep` raises, comes out.
    """
    started = time.perf_counter()
    work = _Work(trial, source, limits, _blank(trial, clock))
    pair = await work.attempt(work.run())
    if pair is not None:
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
class _Pair:
    """Both records of a trial; `to_keep` is what is to be committed before anything is built on them."""

    baseline: RunRecord
    candidate: CandidateEvidence
    to_keep: Evidence

    def as_kept(self, kept: Evidence) -> _Pair:
        """Give the pair with the run that stands."""
        same = kept["candidate"] == self.candidate.text
        return self if same else replace(self, candidate=_from_journal(kept))


class _Work:
    """A trial while it is evaluated: what is known of it so far."""

    def __init__(
        self, trial: Trial, source: CandidateSource, limits: CallLimits, outcome: CaseOutcome
    ) -> None:
        self.evidence: dict[Stage, str] = {}
        self.outcome = outcome
        self._trial = trial
        self._source = source
        self._limits = limits

    async def attempt(self, step: Awaitable[T]) -> T | None:
        """Take a step. Whatever goes wrong in it makes the outcome inconclusive, and gives None."""
        try:
            return await step
        except TroubleError as error:
            self.outcome = _inconclusive(self.outcome, error.trouble)
        except BaseException as error:
            if passes_through(error):
                raise
            message = f"internal error: {type(error).__name__}: {error_text(error)}"
            trouble = Trouble("internal error", "comparison", type(error).__name__, message, retryable=False)
            self.outcome = _inconclusive(self.outcome, trouble)
        return None

    async def run(self) -> _Pair:
        """Get both records.

        Raises:
            TroubleError: If something keeps us from knowing.
        """
        case = self._trial.case
        loaded = load_planned(case.case_id, case.baseline, "baseline")
        if self._trial.number == 1:  # the same for every trial
            self.evidence["baseline"] = text_of(loaded)
        baseline = loaded.record
        self.outcome = replace(self.outcome, baseline_run_id=baseline.run_id)
        return await self._run(baseline)

    async def _run(self, baseline: RunRecord) -> _Pair:
        """Get the candidate's record: the one that was committed before, or a new one.

        A run is committed before anything is built on it: it may have cost money, and it would not come out
        the same again. One that met trouble is not, so that it is made again.
        """
        trial = self._trial
        if "run" in trial.begun:
            return _Pair(baseline, _from_journal(trial.begun), {})
        candidate = await self._source.run(trial.case, baseline, trial.number)
        found: dict[Stage, str] = {"candidate": candidate.text}
        if candidate.facts is not None:
            found["run"] = dumps_text(candidate.facts.to_json())
            if candidate.trouble is None:
                return _Pair(baseline, candidate, found)
        self.evidence.update(found)
        return _Pair(baseline, candidate, {})

    async def decide(self, pair: _Pair) -> None:
        """Compare, judge and classify.

        Raises:
            TroubleError: If something keeps us from knowing.
        """
        baseline, candidate = pair.baseline, pair.candidate
        self.outcome = replace(self.outcome, candidate_sha256=candidate.sha256)
        if candidate.trouble is not None:
            raise TroubleError(candidate.trouble)
        comparison = _compared(baseline, candidate.record, self._source.options)
        self.evidence["comparison"] = dumps_text(comparison.to_json())
        judged = await self._judged(baseline, candidate.record, comparison)
        self._classify(candidate, comparison, judged)

    async def _judged(
        self, baseline: RunRecord, candidate: RunRecord, comparison: Comparison
    ) -> JudgeOutcome | None:
        judge = self._source.judge
        if judge is None or candidate.status == "failed":  # which no verdict could mend
            return None
        suite = self._trial.plan.suite
        # Without validation, which would walk through both records.
        asked = RunJudgeInput.model_construct(
            baseline=baseline,
            candidate=candidate,
            comparison=comparison,
            expectation=suite.expectation,
            baseline_descriptor=suite.baseline_descriptor,
            candidate_descriptor=self._source.descriptor,
        )
        judged = await ask_judge(judge, asked, self._limits.run_time_out_s)
        self.evidence["judge"] = dumps_text(judged.to_json())
        return judged

    def _classify(
        self, candidate: CandidateEvidence, comparison: Comparison, judged: JudgeOutcome | None
    ) -> None:
        replay_miss = candidate.facts is not None and candidate.facts.replay_miss
        gate = self._trial.plan.suite.config.gate
        verdict = classify(candidate.record, comparison, gate, replay_miss=replay_miss, judge=judged)
        result = judged.result if judged else None
        self.outcome = replace(
            self.outcome,
            status=verdict.status,
            reasons=verdict.reasons,
            signals=comparison.signals,
            equal=comparison.equal,
            candidate_run_id=candidate.record.run_id,
            replay_miss=replay_miss,
            judge=CaseJudgeSummary(verdict=result.verdict, summary=result.summary) if result else None,
        )


def _from_journal(kept: Evidence) -> CandidateEvidence:
    text = kept["candidate"]
    facts = RunFacts.from_json(loads_own(kept["run"]))
    return CandidateEvidence(RunRecord(loads_own(text)), text, hash_text(text), facts)


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
    )
