"""Entering a plan in the journal, and taking up what stands there."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan, is_redone
from regress_core.evaluation.plan_rows import cases_of, row_of, take_up
from regress_core.journal.journal import EvaluationRow, Journal, Redo
from regress_core.journal.steps import Step
from regress_core.records.json_io import dumps_text, loads_own
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


def resume(evaluation_id: str, journal: Journal, cases: AbstractSet[str] | None = None) -> EvaluationPlan:
    """Take an evaluation up by its id; its inconclusive cases are evaluated again.

    Of a finished one that is the next revision.

    Args:
        evaluation_id: The evaluation.
        journal: The journal.
        cases: Ids of the only cases that are evaluated again, for one who evaluates no others; None for all.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    row = _entered(evaluation_id, journal)
    return take_up(_again(row, journal, "inconclusive", cases) or row, journal)


def _entered(evaluation_id: str, journal: Journal) -> EvaluationRow:
    row = journal.evaluation(evaluation_id)
    if row is None:
        remedy = "see `regress sql` for the ids, or name another store with --store"
        raise InputError(f"no evaluation {evaluation_id} in this store", field="--resume", remedy=remedy)
    return row


def _again(
    row: EvaluationRow, journal: Journal, redo: Redo, cases: AbstractSet[str] | None = None
) -> EvaluationRow | None:
    """Have the trials that met trouble evaluated again; None for a finished evaluation without any."""
    troubled = [outcome for outcome in outcomes_of(journal, row.evaluation_id) if is_redone(outcome, redo)]
    wanted = [outcome for outcome in troubled if cases is None or outcome.case_id in cases]
    if row.state == "finished":
        if not wanted:
            return None
        reopened = journal.reopen(row.evaluation_id, redo)
        # Nobody would evaluate the others, so that what they came to stands in the new revision too.
        others = [outcome for outcome in troubled if outcome not in wanted]
        journal.steps.settle([_in_revision(outcome, reopened) for outcome in others])
        return reopened
    met = [(outcome.case_id, outcome.trial) for outcome in wanted if outcome.revision == row.revision]
    journal.steps.take_back(row.evaluation_id, row.revision, met)
    return row


def _in_revision(outcome: CaseOutcome, row: EvaluationRow) -> Step:
    """Write an earlier outcome as one of an evaluation's current revision."""
    again = replace(outcome, revision=row.revision)
    key = (row.evaluation_id, outcome.case_id, outcome.trial)
    return Step(*key, "outcome", row.revision, dumps_text(again.to_json()))


def join(plan: EvaluationPlan, journal: Journal) -> EvaluationPlan:
    """Enter a plan under the id it has, or take up what stands under that id already."""
    return take_up(journal.create_evaluation(row_of(plan), cases_of(plan)), journal)


def outcomes_of(journal: Journal, evaluation_id: str) -> Iterator[CaseOutcome]:
    """Give the newest outcome of every case that has one, ordered by case id."""
    for step in journal.steps.outcomes(evaluation_id):
        yield CaseOutcome.from_json(loads_own(step.payload))
