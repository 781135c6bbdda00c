"""`evaluate`: drives every evaluation, whoever asks for it."""

from __future__ import annotations

import asyncio

from regress_core.evaluation.case import TRIAL, CaseWork, evaluate_case
from regress_core.evaluation.events import (
    CaseDone,
    CaseStarted,
    Emit,
    EvaluationDone,
    EvaluationStarted,
    StageDone,
)
from regress_core.evaluation.plan import EvaluationPlan, outcomes_of
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.publish import publish
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.journal.journal import Stage, Step
from regress_core.records.json_io import dumps_text
from regress_core.suite.contract import RunRegressionSummary


async def evaluate(plan: EvaluationPlan, ports: Ports, emit: Emit) -> RunRegressionSummary:
    """Evaluate what is not settled yet of a plan that stands in the journal.

    A case's steps are committed together before `CaseDone` is emitted, and a case with a settled outcome is
    never evaluated again; so an interrupt at any moment, also one raised by `emit`, loses nothing that was
    told. Once every planned case has its outcome the evaluation is published: history, outputs, journal.

    Args:
        plan: From `begin`, `join` or `resume`.
        ports: Where to read and write.
        emit: Takes the events.

    Returns:
        The summary over all planned cases that have an outcome; `complete` tells whether all have.
    """
    ours = [c for c in plan.suite.cases if plan.portion is None or c.case_id in plan.portion]
    settled = {
        outcome.case_id: outcome
        for outcome in outcomes_of(ports.journal, plan.evaluation_id)
        if plan.is_settled(outcome)
    }
    known = [settled[case.case_id] for case in ours if case.case_id in settled]
    planned = len(plan.suite.cases)
    emit(EvaluationStarted(plan.evaluation_id, plan.revision, planned, cases=len(ours), settled=len(known)))
    for outcome in known:
        emit(CaseDone(outcome, resumed=True))
    for case in ours:
        if case.case_id in settled:
            continue
        emit(CaseStarted(case.case_id, TRIAL))
        work = evaluate_case(plan, case, ports.clock)
        steps = _steps(plan, work)
        await ports.journal.commit(steps)
        for step in steps:
            emit(StageDone(step.case_id, step.trial, step.stage, _ref(step)))
        emit(CaseDone(work.outcome, resumed=False))
    summary = summarize_evaluation(plan, ports.journal)
    if summary.complete:
        publish(plan, ports, summary)
    emit(EvaluationDone(summary))
    return summary


def run_evaluation(plan: EvaluationPlan, ports: Ports, emit: Emit) -> RunRegressionSummary:
    """Run `evaluate` to its end, for callers without an event loop; Ctrl-C raises KeyboardInterrupt."""
    summaries: list[RunRegressionSummary] = []

    async def main() -> None:
        # Not returned: when asyncio.run puts the signal handler back, Python makes and drops the `repr` of
        # its task, result included, which of ten thousand cases costs 20 MB.
        summaries.append(await evaluate(plan, ports, emit))

    asyncio.run(main())
    return summaries[0]


def _steps(plan: EvaluationPlan, work: CaseWork) -> list[Step]:
    outcome = work.outcome
    payloads: dict[Stage, str] = {
        **work.evidence,
        "outcome": dumps_text(outcome.to_json()),
    }
    return [
        Step(plan.evaluation_id, outcome.case_id, outcome.trial, stage, plan.revision, payload)
        for stage, payload in payloads.items()
    ]


def _ref(step: Step) -> str:
    return f"{step.evaluation_id}/{step.case_id}/{step.trial}/{step.stage}/{step.revision}"
