"""Rows and steps of a journal, by hand."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from regress_core.journal.journal import EvaluationRow, Journal
from regress_core.journal.ledger import CallEntry
from regress_core.journal.steps import Stage, Step

CREATED_AT = datetime(2026, 3, 31, 23, 59, 58, 123456, tzinfo=UTC)


def row(evaluation_id: str = "e1", **changes: Any) -> EvaluationRow:  # noqa: ANN401 - fields of the row
    """Give a running evaluation, then `changes`."""
    made = EvaluationRow(
        evaluation_id=evaluation_id,
        plan_key="plan-1",
        suite="shop",
        state="running",
        revision=1,
        redo="none",
        created_at=CREATED_AT,
        plan='{"cases":[]}',
    )
    return dataclasses.replace(made, **changes)


def step(
    case_id: str,
    stage: Stage = "outcome",
    payload: str = "{}",
    *,
    evaluation_id: str = "e1",
    trial: int = 1,
    revision: int = 1,
) -> Step:
    """Give a step of the first revision."""
    return Step(evaluation_id, case_id, trial, stage, revision, payload)


def entry(case_id: str = "a", **changes: Any) -> CallEntry:  # noqa: ANN401 - fields of the entry
    """Give a rubric judge's first call for a case, then `changes`."""
    made = CallEntry("e1", "judge", case_id, trial=1, revision=1, judge="rubric", cache_key="k")
    return dataclasses.replace(made, **changes)


def commit(journal: Journal, steps: Iterable[Step]) -> None:
    """Commit steps and wait until they are safe."""
    asyncio.run(journal.steps.commit(list(steps)))
