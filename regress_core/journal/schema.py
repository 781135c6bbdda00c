"""The journal's tables, and the forward-only steps that bring an older file up to date."""

from __future__ import annotations

from sqlalchemy import (
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
)

from regress_core.errors import InputError

SCHEMA_VERSION = 1

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


def migrate(connection: Connection, place: str) -> None:
    """Create the tables in a new database, or refuse one that a newer program wrote.

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
