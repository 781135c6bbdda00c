"""Entering a plan in the journal, and taking up what stands there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan, is_redone
from regress_core.evaluation.plan_rows import cases_of, row_of, take_up
from regress_core.journal.journal import EvaluationRow, Journal, Redo
from regress_core.records.json_io import loads_own
from regress_core.suite.outcome import CaseOutcome


def begin(plan: EvaluationPlan, journal: Journal, *, fresh: bool = False) -> EvaluationPlan:
    """Enter a plan in the journal, or take up the evaluation that the same plan has there.

    An unfinished one goes on, a finished one is reopened if any of its cases met trouble that may have
    passed; these cases are evaluated again. Otherwise, and with `fresh`, a new evaluation begins.
    """
    row = None if fresh else journal.latest_of_plan(plan.plan_key)
    if row is not None:
        row = _again(row, journal, "retryable")
    if row is None:
        row = journal.create_evaluation(row_of(plan), cases_of(plan))
    # The key covers all content, so that only what the key leaves open is taken from the journal.
    return replace(
        plan,
        evaluation_id=row.evaluation_id,
        created_at=row.created_at,
        revision=row.revision,
        redo=row.redo,
    )


def planned(evaluation_id: str, journal: Journal) -> EvaluationPlan:
    """Give an evaluation's plan as the journal has it, and change nothing.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    return take_up(_entered(evaluation_id, journal), journal)


def resume(evaluation_id: str, journal: Journal) -> EvaluationPlan:
    """Take an evaluation up by its id; its inconclusive cases are evaluated again.

    Of a finished one that is the next revision.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    row = _entered(evaluation_id, journal)
    return take_up(_again(row, journal, "inconclusive") or row, journal)


def _entered(evaluation_id: str, journal: Journal) -> EvaluationRow:
    row = journal.evaluation(evaluation_id)
    if row is None:
        remedy = "see `regress sql` for the ids, or name another store with --store"
        raise InputError(f"no evaluation {evaluation_id} in this store", field="--resume", remedy=remedy)
    return row


def _again(row: EvaluationRow, journal: Journal, redo: Redo) -> EvaluationRow | None:
    """Have the trials that met trouble evaluated again; None for a finished evaluation without any."""
    troubled = [outcome for outcome in outcomes_of(journal, row.evaluation_id) if is_redone(outcome, redo)]
    if row.state == "finished":
        return journal.reopen(row.evaluation_id, redo) if troubled else None
    met = [(outcome.case_id, outcome.trial) for outcome in troubled if outcome.revision == row.revision]
    journal.steps.take_back(row.evaluation_id, row.revision, met)
    return row


def join(plan: EvaluationPlan, journal: Journal) -> EvaluationPlan:
    """Enter a plan under the id it has, or take up what stands under that id already."""
    return take_up(journal.create_evaluation(row_of(plan), cases_of(plan)), journal)


def outcomes_of(journal: Journal, evaluation_id: str) -> Iterator[CaseOutcome]:
    """Give the newest outcome of every case that has one, ordered by case id."""
    for step in journal.steps.outcomes(evaluation_id):
        yield CaseOutcome.from_json(loads_own(step.payload))
