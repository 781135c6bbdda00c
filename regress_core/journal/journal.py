"""Evaluations and the steps of their cases, committed before anything is built on them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    and_,
    bindparam,
    delete,
    func,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from regress_core.ids import Clock, utc_now
from regress_core.journal.announcements import Announcements
from regress_core.journal.database import open_engines
from regress_core.journal.ledger import Ledger
from regress_core.journal.schema import EVALUATIONS, PLANNED_CASES, STEPS
from regress_core.journal.writer import Writer

T = TypeVar("T")

Stage = Literal["baseline", "accepted", "candidate", "run", "comparison", "checks", "judge", "outcome"]
"""What a step holds: a record as its file has it or as it was made (of further accepted runs a list), how the
candidate's run went, a comparison, what the checks found, what became of the judges, or the outcome that ends
a trial."""

Redo = Literal["none", "retryable", "inconclusive"]
"""Which finished cases a reopened evaluation does again."""

_READ_AT_ONCE = 200
_CASES_AT_ONCE = 250
_PAGES_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Step:
    """One committed fact of a case. `payload` is JSON text."""

    evaluation_id: str
    case_id: str
    trial: int
    stage: Stage
    revision: int
    payload: str


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
    """A journal file. Reads see what is committed; writes go through one thread. Safe across processes."""

    def __init__(self, reading: Engine, writing: Engine, path: Path) -> None:
        self._reading = reading
        self._writing = writing
        self._writer = Writer(writing, path)

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

    # -- evaluations

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

    def take_back(self, evaluation_id: str, revision: int, trials: Sequence[tuple[str, int]]) -> None:
        """Delete all steps that some trials have in a revision, so that they are evaluated again in it.

        Nothing happens unless that revision is the current one of an unfinished evaluation: what a finished
        one came to stands in the history.

        Args:
            evaluation_id: The evaluation.
            revision: The revision.
            trials: Case id and trial of each.
        """
        current = select(EVALUATIONS.c.evaluation_id).where(
            EVALUATIONS.c.evaluation_id == evaluation_id,
            EVALUATIONS.c.revision == revision,
            EVALUATIONS.c.state == "running",
        )
        of_revision = (STEPS.c.evaluation_id.in_(current)) & (STEPS.c.revision == revision)

        def operation(connection: Connection) -> None:
            for case_id, trial in trials:
                of_trial = (STEPS.c.case_id == case_id) & (STEPS.c.trial == trial)
                connection.execute(delete(STEPS).where(of_revision, of_trial))

        self._write(operation).result()

    def finish(self, evaluation_id: str, revision: int) -> None:
        """Mark the current revision as finished, and drop the evidence that the history now holds."""

        def operation(connection: Connection) -> None:
            connection.execute(
                update(EVALUATIONS)
                .where(EVALUATIONS.c.evaluation_id == evaluation_id, EVALUATIONS.c.revision == revision)
                .values(state="finished")
            )

        self._write(operation).result()
        while self._write(_drop_some_evidence).result():
            pass
        self._give_back_free_pages()

    def _give_back_free_pages(self) -> None:
        with self._reading.connect() as connection:
            driver = cast("sqlite3.Connection", connection.connection.driver_connection)
            while driver.execute("PRAGMA freelist_count").fetchone()[0]:
                # The pragma frees a page a step; of the driver's calls only executescript steps to the end.
                driver.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")

    # -- steps

    async def commit(self, steps: Sequence[Step]) -> None:
        """Commit the steps of one trial together, its outcome among them.

        If another process has committed the outcome meanwhile, that one stands and nothing is written.
        """
        values = [_values(step) for step in steps]

        def operation(connection: Connection) -> None:
            if "outcome" not in _stages_there(connection, values[0]):
                connection.execute(_INSERT_STEPS, values)

        await asyncio.wrap_future(self._write(operation))

    async def keep(self, steps: Sequence[Step]) -> list[Step]:
        """Commit steps of one trial before its outcome, and give what stands of their stages.

        If another process has committed one of them meanwhile, its steps stand: of two runs of one trial the
        first counts.
        """
        values = [_values(step) for step in steps]
        stages = [step.stage for step in steps]

        def operation(connection: Connection) -> list[Step]:
            if _stages_there(connection, values[0]).isdisjoint(stages):
                connection.execute(_INSERT_STEPS, values)
                return list(steps)
            query = select(STEPS).where(_OF_TRIAL, STEPS.c.stage.in_(stages))
            return [Step(**row) for row in connection.execute(query, values[0]).mappings()]

        return await asyncio.wrap_future(self._write(operation))

    def begun(self, evaluation_id: str, revision: int) -> Iterator[Step]:
        """Give the steps of trials of one revision that have no outcome yet, ordered by case id and trial."""
        done = (
            select(STEPS.c.case_id, STEPS.c.trial)
            .where(
                STEPS.c.evaluation_id == evaluation_id,
                STEPS.c.revision == revision,
                STEPS.c.stage == "outcome",
            )
            .subquery()
        )
        query = (
            select(STEPS)
            .outerjoin(done, (STEPS.c.case_id == done.c.case_id) & (STEPS.c.trial == done.c.trial))
            .where(
                STEPS.c.evaluation_id == evaluation_id,
                STEPS.c.revision == revision,
                done.c.case_id.is_(None),
            )
            .order_by(STEPS.c.case_id, STEPS.c.trial)
        )
        return self._steps(query)

    def outcomes(self, evaluation_id: str) -> Iterator[Step]:
        """Give each case's outcome of the highest revision that has one, ordered by case id and trial."""
        newest = (
            select(STEPS.c.case_id, STEPS.c.trial, func.max(STEPS.c.revision).label("revision"))
            .where(STEPS.c.evaluation_id == evaluation_id, STEPS.c.stage == "outcome")
            .group_by(STEPS.c.case_id, STEPS.c.trial)
            .subquery()
        )
        query = (
            select(STEPS)
            .join(
                newest,
                (STEPS.c.case_id == newest.c.case_id)
                & (STEPS.c.trial == newest.c.trial)
                & (STEPS.c.revision == newest.c.revision),
            )
            .where(STEPS.c.evaluation_id == evaluation_id, STEPS.c.stage == "outcome")
            .order_by(STEPS.c.case_id, STEPS.c.trial)
        )
        return self._steps(query)

    def evidence_of(self, evaluation_id: str, case_id: str, trial: int, stage: Stage) -> str | None:
        """Give the newest payload of a stage of one trial; None if there is none, or the history has it."""
        query = (
            select(STEPS.c.payload)
            .where(
                STEPS.c.evaluation_id == evaluation_id,
                STEPS.c.case_id == case_id,
                STEPS.c.trial == trial,
                STEPS.c.stage == stage,
            )
            .order_by(STEPS.c.revision.desc())
            .limit(1)
        )
        with self._reading.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def steps_of_revision(self, evaluation_id: str, revision: int) -> Iterator[Step]:
        """Give every step of one revision, ordered by case id, trial and stage."""
        query = (
            select(STEPS)
            .where(STEPS.c.evaluation_id == evaluation_id, STEPS.c.revision == revision)
            .order_by(STEPS.c.case_id, STEPS.c.trial, STEPS.c.stage)
        )
        return self._steps(query)

    def _write(self, operation: Callable[[Connection], T]) -> Future[T]:
        return self._writer.submit(operation)

    def _steps(self, query: Select[Any]) -> Iterator[Step]:
        with self._reading.connect() as connection:
            rows = connection.execution_options(yield_per=_READ_AT_ONCE).execute(query)
            for row in rows.mappings():
                yield Step(**row)

    def _latest(self, condition: ColumnElement[bool]) -> EvaluationRow | None:
        rows = self._evaluations(_newest_first(select(EVALUATIONS).where(condition), 1))
        return rows[0] if rows else None

    def _evaluations(self, query: Select[Any]) -> list[EvaluationRow]:
        with self._reading.connect() as connection:
            return [_evaluation_row(row) for row in connection.execute(query).mappings()]


def _newest_first(query: Select[Any], most: int | None) -> Select[Any]:
    return query.order_by(EVALUATIONS.c.created_at.desc(), EVALUATIONS.c.evaluation_id.desc()).limit(most)


def _drop_some_evidence(connection: Connection) -> int:
    """Delete the evidence of some cases, which only an unfinished evaluation needs; give how many cases.

    In small transactions, since a large one makes the write-ahead log as large as all it deletes; and of
    every finished evaluation, since a crash may have kept an earlier one from its end.
    """
    finished = select(EVALUATIONS.c.evaluation_id).where(EVALUATIONS.c.state == "finished")
    evidence = STEPS.c.stage != "outcome"
    query = (
        select(STEPS.c.evaluation_id, STEPS.c.case_id)
        .where(STEPS.c.evaluation_id.in_(finished), evidence)
        .distinct()
        .limit(_CASES_AT_ONCE)
    )
    cases = [(row.evaluation_id, row.case_id) for row in connection.execute(query)]
    if cases:
        case = tuple_(STEPS.c.evaluation_id, STEPS.c.case_id)
        connection.execute(delete(STEPS).where(case.in_(cases), evidence))
    return len(cases)


# Built once: two of them go with every trial, and building costs more than the database needs to do them.
_INSERT_STEPS = insert(STEPS)
_OF_TRIAL = and_(
    STEPS.c.evaluation_id == bindparam("evaluation_id"),
    STEPS.c.case_id == bindparam("case_id"),
    STEPS.c.trial == bindparam("trial"),
    STEPS.c.revision == bindparam("revision"),
)
_STAGES_THERE = select(STEPS.c.stage).where(_OF_TRIAL)


def _stages_there(connection: Connection, trial: dict[str, Any]) -> set[str]:
    """Give the stages that a trial has in its revision; `trial` are the values of any step of it."""
    return set(connection.execute(_STAGES_THERE, trial).scalars())


def _values(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__slots__}


def _one(connection: Connection, evaluation_id: str) -> EvaluationRow:
    query = select(EVALUATIONS).where(EVALUATIONS.c.evaluation_id == evaluation_id)
    return _evaluation_row(connection.execute(query).mappings().one())


def _evaluation_row(row: RowMapping) -> EvaluationRow:
    created_at = row["created_at"].replace(tzinfo=UTC)  # SQLite gives it back without its zone
    return EvaluationRow(**{**row, "created_at": created_at})
