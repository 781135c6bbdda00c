"""The steps of cases, committed before anything is built on them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Engine, Select, and_, bindparam, delete, func, select, tuple_
from sqlalchemy.dialects.sqlite import insert

from regress_core.journal.schema import EVALUATIONS, STEPS
from regress_core.journal.writer import Writer

Stage = Literal["baseline", "accepted", "candidate", "run", "comparison", "checks", "judge", "outcome"]
"""What a step holds: a record as its file has it or as it was made (of further accepted runs a list), how the
candidate's run went, a comparison, what the checks found, what became of the judges, or the outcome that ends
a trial."""

_READ_AT_ONCE = 200
_CASES_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class Step:
    """One committed fact of a case. `payload` is JSON text."""

    evaluation_id: str
    case_id: str
    trial: int
    stage: Stage
    revision: int
    payload: str


class Steps:
    """The steps in a journal. Reads see what is committed."""

    def __init__(self, reading: Engine, writer: Writer) -> None:
        self._reading = reading
        self._writer = writer

    async def commit(self, steps: Sequence[Step]) -> None:
        """Commit the steps of one trial together, its outcome among them.

        If another process has committed the outcome meanwhile, that one stands and nothing is written.
        """
        values = [_values(step) for step in steps]

        def operation(connection: Connection) -> None:
            if "outcome" not in _stages_there(connection, values[0]):
                connection.execute(_INSERT_STEPS, values)

        await asyncio.wrap_future(self._writer.submit(operation))

    def settle(self, steps: Sequence[Step]) -> None:
        """Commit outcomes of trials, but for those that have one in that revision."""
        values = [_values(step) for step in steps]

        def operation(connection: Connection) -> None:
            for one in values:
                if "outcome" not in _stages_there(connection, one):
                    connection.execute(_INSERT_STEPS, [one])

        self._writer.submit(operation).result()

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

        return await asyncio.wrap_future(self._writer.submit(operation))

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
        return self._given(query)

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
        return self._given(query)

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

    def of_revision(self, evaluation_id: str, revision: int) -> Iterator[Step]:
        """Give every step of one revision, ordered by case id, trial and stage."""
        query = (
            select(STEPS)
            .where(STEPS.c.evaluation_id == evaluation_id, STEPS.c.revision == revision)
            .order_by(STEPS.c.case_id, STEPS.c.trial, STEPS.c.stage)
        )
        return self._given(query)

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

        self._writer.submit(operation).result()

    def drop_evidence(self) -> None:
        """Drop the evidence of every finished evaluation, which the history holds."""
        while self._writer.submit(_drop_some_evidence).result():
            pass

    def _given(self, query: Select[Any]) -> Iterator[Step]:
        with self._reading.connect() as connection:
            rows = connection.execution_options(yield_per=_READ_AT_ONCE).execute(query)
            for row in rows.mappings():
                yield Step(**row)


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
