"""`evaluate`: drives every evaluation, whoever asks for it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby

from regress_core.errors import InputError
from regress_core.evaluation.cancellation import Cancellation
from regress_core.evaluation.candidate import CandidateSource
from regress_core.evaluation.case import CaseWork, Evidence, Keep, Trial, evaluate_trial, given_up
from regress_core.evaluation.contracts import with_contracts
from regress_core.evaluation.entering import outcomes_of
from regress_core.evaluation.events import (
    CaseDone,
    CaseStarted,
    Emit,
    EvaluationDone,
    EvaluationStarted,
    StageDone,
)
from regress_core.evaluation.judging import Judging, open_judging
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.publish import publish
from regress_core.evaluation.source import open_source
from regress_core.evaluation.spending import spending_of
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.foreign import passes_through
from regress_core.journal.steps import Stage, Step
from regress_core.records.json_io import dumps_text
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.loading import CaseRef
from regress_core.suite.outcome import CaseOutcome, counted

Enter = Callable[[EvaluationPlan], EvaluationPlan]
"""Enters a plan in the journal, such as `begin` does, and gives it back under the id it has there."""


async def evaluate(plan: EvaluationPlan, ports: Ports, emit: Emit) -> RunRegressionSummary:
    """Evaluate what is not settled yet of a plan that stands in the journal.

    A case's steps are committed before `CaseDone` is emitted, and a trial with a settled outcome is never
    evaluated again; so an interrupt at any moment, also one raised by `emit`, loses nothing that was told.
    Once every planned case has its outcomes the evaluation is published: history, outputs, journal.

    Args:
        plan: From `begin`, `join` or `resume`.
        ports: Where to read and write.
        emit: Takes the events.

    Returns:
        The summary over all planned cases that have an outcome; `complete` tells whether all have.

    Raises:
        InputError: If the candidate harness cannot be opened.
        JudgeTimeUpError: If the judges have taken too long; what is done is kept.
    """
    async with _source(plan, ports) as source, open_judging(plan, ports, source) as judging:
        await _Work(plan, ports, emit, source, judging).do()
    summary = summarize_evaluation(plan, ports)
    if summary.complete:
        publish(plan, ports, summary)
    emit(EvaluationDone(summary))
    return summary


def run_evaluation(
    plan: EvaluationPlan,
    ports: Ports,
    emit: Emit,
    *,
    enter: Enter | None = None,
    cancellation: Cancellation | None = None,
) -> RunRegressionSummary:
    """Run `evaluate` to its end, for callers without an event loop; Ctrl-C raises KeyboardInterrupt.

    Args:
        plan: The plan; one that stands in the journal, unless `enter` puts it there.
        ports: Where to read and write.
        emit: Takes the events.
        enter: Enters the plan in the journal, once its candidate could be opened.
        cancellation: Lets another thread end it.

    Raises:
        InputError: If the candidate harness cannot be opened, or ends the program.
        CancelledError: If it was cancelled; what is done is kept.
        JudgeTimeUpError: As `evaluate`.
    """
    summaries: list[RunRegressionSummary] = []

    async def main() -> None:
        # Not returned: when asyncio.run puts the signal handler back, Python makes and drops the `repr` of
        # its task, result included, which of ten thousand cases costs 20 MB.
        with (cancellation or Cancellation()).of_this_task():
            await evaluate_opened()

    async def evaluate_opened() -> None:
        async with _source(plan, ports) as source:
            entered = plan if enter is None else enter(with_contracts(plan, source))
            summaries.append(await evaluate(entered, replace(ports, candidate=source), emit))

    try:
        asyncio.run(main())
    except SystemExit as error:  # by a task that a candidate has made; asyncio lets it end the event loop
        message = "its code ended the program (SystemExit) in a task of its own; what is done is kept"
        raise InputError(message, field="candidate", remedy="let it raise an exception") from error
    return summaries[0]


@asynccontextmanager
async def _source(plan: EvaluationPlan, ports: Ports) -> AsyncGenerator[CandidateSource]:
    if ports.candidate is not None:
        yield ports.candidate
        return
    async with open_source(plan, ports.calls, ports.limits, ports.clock) as source:
        yield source


class _Work:
    """This process's part of an evaluation."""

    def __init__(
        self, plan: EvaluationPlan, ports: Ports, emit: Emit, source: CandidateSource, judging: Judging
    ) -> None:
        self._plan = plan
        self._ports = ports
        self._emit = emit
        self._source = source
        self._judging = judging
        self._spending = spending_of(plan, ports.journal.ledger(ports.clock), ports.clock)
        self._cases = [c for c in plan.suite.cases if plan.portion is None or c.case_id in plan.portion]
        self._settled: defaultdict[str, dict[int, CaseOutcome]] = defaultdict(dict)
        self._begun: dict[tuple[str, int], dict[Stage, str]] = {}

    async def do(self) -> None:
        """Evaluate every trial that is not settled."""
        plan, trials = self._plan, self._plan.how.trials
        for outcome in outcomes_of(self._ports.journal, plan.evaluation_id):
            if plan.is_settled(outcome):
                self._settled[outcome.case_id][outcome.trial] = outcome
        known = [case for case in self._cases if len(self._settled.get(case.case_id, ())) == trials]
        self._emit(
            EvaluationStarted(
                plan.evaluation_id,
                plan.revision,
                len(plan.suite.cases),
                cases=len(self._cases),
                settled=len(known),
                contracts=plan.contracts,
            )
        )
        for case in known:
            self._emit(CaseDone(self._counted(case), resumed=True))
        if len(known) < len(self._cases):
            self._read_begun()
            await self._evaluate_rest()

    def _read_begun(self) -> None:
        steps = self._ports.journal.steps.begun(self._plan.evaluation_id, self._plan.revision)
        for (case_id, trial), group in groupby(steps, key=lambda step: (step.case_id, step.trial)):
            self._begun[case_id, trial] = {step.stage: step.payload for step in group}

    async def _evaluate_rest(self) -> None:
        waiting = self._unsettled()
        at_once = self._at_once()

        async def worker() -> None:
            for case, number in waiting:
                await self._trial(case, number)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(worker())
                    await asyncio.sleep(0)  # calls leave before the last worker has read its records
        except BaseExceptionGroup as raised:  # by `emit` or the journal; the first one tells why
            raise raised.exceptions[0] from None

    def _at_once(self) -> int:
        """Give how many trials go on at a time: more than calls may be in flight, whose places stay taken so.

        Recorded candidates have nothing to wait for but a judge. While as many calls are in flight as may be,
        the questions of all that come next are made. Runs of a harness hold more, and need less of it.
        """
        concurrency = self._ports.limits.concurrency
        if self._plan.candidate.kind != "records":
            return concurrency + concurrency // 4
        return 1 if self._plan.suite.config.judge is None else 2 * concurrency

    def _unsettled(self) -> Iterator[tuple[CaseRef, int]]:
        for case in self._cases:
            for number in range(1, self._plan.how.trials + 1):
                if number not in self._settled.get(case.case_id, ()):
                    yield case, number

    async def _trial(self, case: CaseRef, number: int) -> None:
        plan, journal = self._plan, self._ports.journal

        async def keep(evidence: Evidence) -> Evidence:
            stands = await journal.steps.keep(_steps(plan, case, number, evidence))
            self._tell(stands)
            return {step.stage: step.payload for step in stands}

        self._emit(CaseStarted(case.case_id, number))
        trial = Trial(plan, case, number, self._begun.get((case.case_id, number), {}))
        work = await self._evaluated(trial, keep)
        outcome: Evidence = {"outcome": dumps_text(work.outcome.to_json())}
        steps = _steps(plan, case, number, {**work.evidence, **outcome})
        await journal.steps.commit(steps)
        self._tell(steps)
        settled = self._settled[case.case_id]
        settled[number] = work.outcome
        if len(settled) == plan.how.trials:
            self._emit(CaseDone(self._counted(case), resumed=False))

    async def _evaluated(self, trial: Trial, keep: Keep) -> CaseWork:
        """Evaluate a trial in a task of its own, so that a candidate that cancels it cancels nothing else."""
        ports = self._ports
        try:
            return await asyncio.create_task(
                evaluate_trial(trial, self._source, self._judging, self._spending, ports.clock, keep)
            )
        except asyncio.CancelledError as error:
            if passes_through(error):
                raise
            return given_up(trial, ports.clock)

    def _tell(self, steps: list[Step]) -> None:
        for step in steps:
            self._emit(StageDone(step.case_id, step.trial, step.stage, _ref(step)))

    def _counted(self, case: CaseRef) -> CaseOutcome:
        return counted([outcome for _, outcome in sorted(self._settled[case.case_id].items())])


def _steps(plan: EvaluationPlan, case: CaseRef, trial: int, evidence: Evidence) -> list[Step]:
    return [
        Step(plan.evaluation_id, case.case_id, trial, stage, plan.revision, payload)
        for stage, payload in evidence.items()
    ]


def _ref(step: Step) -> str:
    return f"{step.evaluation_id}/{step.case_id}/{step.trial}/{step.stage}/{step.revision}"
