"""The journal's tables, and the forward-only steps that bring an older file up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    tuple_,
    update,
)

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, dumps_text, loads_own

SCHEMA_VERSION = 4

METADATA = MetaData()

VERSION = Table("schema_version", METADATA, Column("version", Integer, primary_key=True))

EVALUATIONS = Table(
    "evaluations",
    METADATA,
    Column("evaluation_id", String, primary_key=True),
    Column("plan_key", String, nullable=False),
    Column("suite", String, nullable=False),
    Column("state", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("redo", String, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("plan", Text, nullable=False),
    Index("evaluations_by_plan", "plan_key", "created_at"),
)

PLANNED_CASES = Table(
    "planned_cases",
    METADATA,
    Column("evaluation_id", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("payload", Text, nullable=False),
)

STEPS = Table(
    "steps",
    METADATA,
    Column("evaluation_id", String, primary_key=True),
    Column("case_id", String, primary_key=True),
    Column("trial", Integer, primary_key=True),
    Column("stage", String, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("payload", Text, nullable=False),
)

CALLS = Table(
    "calls",
    METADATA,
    Column("call_id", Integer, primary_key=True, autoincrement=True),
    Column("evaluation_id", String, nullable=False),
    Column("purpose", String, nullable=False),
    Column("case_id", String, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("judge", String),
    Column("number", Integer, nullable=False),
    Column("cache_key", String),
    Column("state", String, nullable=False),
    Column("usable", Boolean),
    Column("reserved_nanousd", BigInteger, nullable=False),
    Column("cost_nanousd", BigInteger),
    Column("saved_nanousd", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    # It holds all that a sum needs: each reservation makes one, over all calls of its evaluation.
    Index("calls_by_purpose", "evaluation_id", "purpose", "cost_nanousd", "reserved_nanousd"),
    Index("calls_by_case", "evaluation_id", "case_id", "trial"),
    Index("calls_by_key", "cache_key"),
    sqlite_autoincrement=True,  # an id that was released is not given again
)


ANNOUNCEMENTS = Table(
    "announcements",
    METADATA,
    Column("evaluation_id", String, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("claimed_at", DateTime(timezone=True), nullable=False),
    Column("announced_at", DateTime(timezone=True)),
)


def migrate(connection: Connection, place: str) -> None:
    """Create the tables in a new database, bring an older one up to date, or refuse one of a newer program.

    Raises:
        InputError: If the schema is newer than this program knows.
    """
    if not inspect(connection).has_table(VERSION.name):
        METADATA.create_all(connection)
        connection.execute(VERSION.insert().values(version=SCHEMA_VERSION))
        return
    found = connection.execute(select(VERSION.c.version)).scalar_one()
    if found > SCHEMA_VERSION:
        message = f"the journal has schema {found}, this program knows {SCHEMA_VERSION}"
        raise InputError(message, file=place, remedy="upgrade regress, or name another store with --store")
    if found < SCHEMA_VERSION:
        for step in _STEPS[found - 1 :]:
            step(connection)
        connection.execute(VERSION.update().values(version=SCHEMA_VERSION))


def _to_2(connection: Connection) -> None:
    """Candidates can be harnesses: plans say how they are run, outcomes say more of trouble."""
    for row in connection.execute(select(EVALUATIONS.c.evaluation_id, EVALUATIONS.c.plan)).all():
        plan = loads_own(row.plan)
        plan["candidate"] |= {"kind": "records", "harness": None}
        plan["suite"]["baselineDescriptor"] = None
        plan["how"] = {"mode": "strict", "inputMode": "recorded", "trials": 1, "fromTurn": 0}
        values = update(EVALUATIONS).values(plan=dumps_text(plan))
        connection.execute(values.where(EVALUATIONS.c.evaluation_id == row.evaluation_id))
    key = (STEPS.c.evaluation_id, STEPS.c.case_id, STEPS.c.trial, STEPS.c.revision)
    outcomes = select(*key, STEPS.c.payload).where(STEPS.c.stage == "outcome")
    for row in connection.execute(outcomes).all():
        outcome = loads_own(row.payload)
        outcome |= {"replayMiss": False, "judge": None, "trouble": _trouble_of_2(outcome["trouble"])}
        of_row = tuple_(*key) == (row.evaluation_id, row.case_id, row.trial, row.revision)
        values = update(STEPS).values(payload=dumps_text(outcome))
        connection.execute(values.where(of_row, STEPS.c.stage == "outcome"))


def _trouble_of_2(trouble: JsonObject | None) -> JsonObject | None:
    if trouble is None:
        return None
    code = trouble["kind"]
    return {
        "kind": code if code == "internal error" else "input",
        "stage": "comparison" if code in ("internal error", "nothing to compare") else "candidate",
        "code": code,
        "message": trouble["message"],
        "retryable": trouble["retryable"],
    }


def _to_3(connection: Connection) -> None:
    """Calls are paid through a ledger; a trial may have several judges, so that its step holds a list."""
    CALLS.create(connection)
    of_judges = update(STEPS).where(STEPS.c.stage == "judge")
    connection.execute(of_judges.values(payload="[" + STEPS.c.payload + "]"))


def _to_4(connection: Connection) -> None:
    """Finished evaluations are announced once."""
    ANNOUNCEMENTS.create(connection)


_STEPS: Sequence[Callable[[Connection], None]] = (_to_2, _to_3, _to_4)
"""What brings a database of version 1 to 2, of 2 to 3, and so on."""
