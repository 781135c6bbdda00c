"""The journal: what evaluations there are and how far they are, in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    RowMapping,
    Select,
    func,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from regress_core.ids import Clock, utc_now
from regress_core.journal.announcements import Announcements
from regress_core.journal.database import open_engines
from regress_core.journal.ledger import Ledger
from regress_core.journal.schema import EVALUATIONS, PLANNED_CASES, STEPS
from regress_core.journal.steps import Steps
from regress_core.journal.writer import Writer

T = TypeVar("T")

Redo = Literal["none", "retryable", "inconclusive"]
"""Which finished cases a reopened evaluation does again."""

_READ_AT_ONCE = 200
_CASES_AT_ONCE = 250
_PAGES_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """An evaluation as the journal knows it.

    Attributes:
        state: `running` until every planned case has an outcome and the history holds it, then `finished`.
        revision: 1, and one more each time it is reopened.
        redo: What the current revision does again.
        plan: The plan but for its cases, JSON text.
    """

    evaluation_id: str
    plan_key: str
    suite: str
    state: Literal["running", "finished"]
    revision: int
    redo: Redo
    created_at: datetime
    plan: str


class Journal:
    """A journal file. Reads see what is committed; writes go through one thread. Safe across processes.

    Attributes:
        steps: The steps of its evaluations' cases.
    """

    def __init__(self, reading: Engine, writing: Engine, path: Path) -> None:
        self._reading = reading
        self._writing = writing
        self._writer = Writer(writing, path)
        self.steps = Steps(reading, self._writer)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a journal, creating it and its folder where missing.

        Raises:
            InputError: If the folder cannot be made, the file is no journal, or a newer program wrote it.
        """
        reading, writing = open_engines(path)
        return cls(reading, writing, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commit what waits and close the file."""
        self._writer.close()
        self._reading.dispose()
        self._writing.dispose()

    def ledger(self, clock: Clock = utc_now) -> Ledger:
        """Give the ledger of calls, which lies in the same file."""
        return Ledger(self._reading, self._writer, clock)

    def announcements(self) -> Announcements:
        """Give the notes of which evaluations have been announced, which lie in the same file."""
        return Announcements(self._writer)

    def create_evaluation(self, row: EvaluationRow, cases: Iterable[str] = ()) -> EvaluationRow:
        """Enter an evaluation with its planned cases, JSON text each, in their order.

        If its id is there already, the entry that is there wins and is returned.
        """

        def operation(connection: Connection) -> EvaluationRow:
            values = {name: getattr(row, name) for name in EvaluationRow.__slots__}
            entered = connection.execute(insert(EVALUATIONS).values(values).on_conflict_do_nothing())
            planned = enumerate(cases) if entered.rowcount else iter(())
            while part := list(islice(planned, _CASES_AT_ONCE)):
                connection.execute(
                    insert(PLANNED_CASES),
                    [
                        {"evaluation_id": row.evaluation_id, "position": position, "payload": payload}
                        for position, payload in part
                    ],
                )
            return _one(connection, row.evaluation_id)

        return self._write(operation).result()

    def planned_cases(self, evaluation_id: str) -> Iterator[str]:
        """Give the planned cases of an evaluation, JSON text each, in their order."""
        query = (
            select(PLANNED_CASES.c.payload)
            .where(PLANNED_CASES.c.evaluation_id == evaluation_id)
            .order_by(PLANNED_CASES.c.position)
        )
        with self._reading.connect() as connection:
            yield from connection.execution_options(yield_per=_READ_AT_ONCE).execute(query).scalars()

    def evaluation(self, evaluation_id: str) -> EvaluationRow | None:
        """Give an evaluation, or None."""
        return self._latest(EVALUATIONS.c.evaluation_id == evaluation_id)

    def latest_of_plan(self, plan_key: str) -> EvaluationRow | None:
        """Give the newest evaluation of a plan, or None."""
        return self._latest(EVALUATIONS.c.plan_key == plan_key)

    def latest_of_suite(self, suite: str) -> EvaluationRow | None:
        """Give the newest evaluation of a suite, or None."""
        return self._latest(EVALUATIONS.c.suite == suite)

    def evaluations_of(self, suite: str, *, most: int | None = None) -> list[EvaluationRow]:
        """List the evaluations of a suite, newest first, at most so many."""
        return self._evaluations(_newest_first(select(EVALUATIONS).where(EVALUATIONS.c.suite == suite), most))

    def progress(self, evaluation_id: str) -> tuple[int, int]:
        """Give how many cases an evaluation has planned, and how many trials of them have an outcome."""
        planned = select(func.count()).where(PLANNED_CASES.c.evaluation_id == evaluation_id)
        trials = (
            select(STEPS.c.case_id, STEPS.c.trial)
            .where(STEPS.c.evaluation_id == evaluation_id, STEPS.c.stage == "outcome")
            .distinct()
            .subquery()
        )
        with self._reading.connect() as connection:
            done = connection.execute(select(func.count()).select_from(trials)).scalar_one()
            return connection.execute(planned).scalar_one(), done

    def unfinished(self) -> list[EvaluationRow]:
        """List the evaluations that are not finished, oldest first."""
        query = select(EVALUATIONS).where(EVALUATIONS.c.state == "running").order_by(EVALUATIONS.c.created_at)
        return self._evaluations(query)

    def reopen(self, evaluation_id: str, redo: Redo) -> EvaluationRow:
        """Begin the next revision of a finished evaluation; an unfinished one is returned as it is."""

        def operation(connection: Connection) -> EvaluationRow:
            connection.execute(
                update(EVALUATIONS)
                .where(EVALUATIONS.c.evaluation_id == evaluation_id, EVALUATIONS.c.state == "finished")
                .values(state="running", revision=EVALUATIONS.c.revision + 1, redo=redo)
            )
            return _one(connection, evaluation_id)

        return self._write(operation).result()

    def finish(self, evaluation_id: str, revision: int) -> None:
        """Mark the current revision as finished, and drop the evidence that the history now holds."""

        def operation(connection: Connection) -> None:
            connection.execute(
                update(EVALUATIONS)
                .where(EVALUATIONS.c.evaluation_id == evaluation_id, EVALUATIONS.c.revision == revision)
                .values(state="finished")
            )

        self._write(operation).result()
        self.steps.drop_evidence()
        self._give_back_free_pages()

    def _give_back_free_pages(self) -> None:
        with self._reading.connect() as connection:
            driver = cast("sqlite3.Connection", connection.connection.driver_connection)
            while driver.execute("PRAGMA freelist_count").fetchone()[0]:
                # The pragma frees a page a step; of the driver's calls only executescript steps to the end.
                driver.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")

    def _write(self, operation: Callable[[Connection], T]) -> Future[T]:
        return self._writer.submit(operation)

    def _latest(self, condition: ColumnElement[bool]) -> EvaluationRow | None:
        rows = self._evaluations(_newest_first(select(EVALUATIONS).where(condition), 1))
        return rows[0] if rows else None

    def _evaluations(self, query: Select[Any]) -> list[EvaluationRow]:
        with self._reading.connect() as connection:
            return [_evaluation_row(row) for row in connection.execute(query).mappings()]


def _newest_first(query: Select[Any], most: int | None) -> Select[Any]:
    return query.order_by(EVALUATIONS.c.created_at.desc(), EVALUATIONS.c.evaluation_id.desc()).limit(most)


def _one(connection: Connection, evaluation_id: str) -> EvaluationRow:
    query = select(EVALUATIONS).where(EVALUATIONS.c.evaluation_id == evaluation_id)
    return _evaluation_row(connection.execute(query).mappings().one())


def _evaluation_row(row: RowMapping) -> EvaluationRow:
    created_at = row["created_at"].replace(tzinfo=UTC)  # SQLite gives it back without its zone
    return EvaluationRow(**{**row, "created_at": created_at})
