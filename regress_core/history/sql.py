"""Questions over the whole history, in SQL, by DuckDB in memory."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import duckdb
import pyarrow as pa

from regress_core.errors import InputError
from regress_core.history.listing import BadFile, retried
from regress_core.history.store import History, Listing
from regress_core.history.tables import SCHEMAS, TABLE_NAMES, TableName, keys_of
from regress_core.history.views import VIEWS

_NOTHING: pa.Table = pa.Table.from_pylist([])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave, and the files that had to be left out."""

    table: pa.Table
    bad: tuple[BadFile, ...]


def query(history: History, sql: str) -> Answer:
    """Run one SQL statement over the history's views, one view a table, newest revision of each row.

    Raises:
        InputError: If DuckDB refuses the statement; the message is DuckDB's first line.
    """
    return retried(lambda: _query(history, sql), history.lock())


def _query(history: History, sql: str) -> Answer:
    with connected(history) as (connection, listings):
        try:
            relation = cast("duckdb.DuckDBPyRelation | None", connection.sql(sql))  # None: no result at all
            result = _NOTHING if relation is None else relation.to_arrow_table()
        except duckdb.Error as error:
            raise_if_gone(listings, error)
            tables = ", ".join((*TABLE_NAMES, *VIEWS))
            text = str(error).splitlines()[0]
            raise InputError(text, field="SQL", remedy=f"tables: {tables}") from error
    return Answer(result, tuple(bad for listing in listings for bad in listing.bad))


@contextmanager
def connected(history: History) -> Generator[tuple[duckdb.DuckDBPyConnection, list[Listing]]]:
    """Give a connection in memory with a view a table, and the files behind them.

    Raises:
        InputError: If a file has a footer that DuckDB cannot read, or a newer major version.
        FileNotFoundError: If a compaction has just taken a file away.
    """
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        listings = [history.list(table) for table in TABLE_NAMES]
        try:
            for table, listing in zip(TABLE_NAMES, listings, strict=True):
                _create_view(connection, table, [str(path) for path in listing.files])
            for statement in VIEWS.values():
                connection.execute(statement)
        except duckdb.Error as error:
            raise_if_gone(listings, error)
            remedy = "see `regress history verify`"
            raise InputError(str(error).splitlines()[0], file=history.root, remedy=remedy) from error
        yield connection, listings


def raise_if_gone(listings: Sequence[Listing], error: duckdb.Error) -> None:
    """Tell a file that a compaction has taken away meanwhile from a statement at fault.

    Raises:
        FileNotFoundError: If a listed file is gone.
    """
    for listing in listings:
        for path in listing.files:
            if not path.exists():
                raise FileNotFoundError(path) from error


def _quoted_path(path: str) -> str:
    """Quote a path for SQL; what DuckDB would take for a pattern stands in brackets, literally."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in path)
    return "'" + literal.replace("'", "''") + "'"


def _create_view(connection: duckdb.DuckDBPyConnection, table: TableName, files: list[str]) -> None:
    """Make a view with every column of today's schema, whatever columns the files were written with."""
    connection.register(f"{table}_columns", SCHEMAS[table].empty_table())
    source = f"SELECT * FROM {table}_columns"  # noqa: S608 - a table name of ours
    if files:
        names = ", ".join(map(_quoted_path, files))
        source += f" UNION ALL BY NAME SELECT * FROM read_parquet([{names}], union_by_name = true, hive_partitioning = false)"  # noqa: E501, S608 - quoted paths
    newest = "" if table == "calibrations" else _newest_revision(keys_of(table))
    connection.execute(f"CREATE VIEW {table} AS SELECT * FROM ({source}) {newest}")  # noqa: S608 - as above


def _newest_revision(keys: Sequence[str]) -> str:
    return f"QUALIFY revision = max(revision) OVER (PARTITION BY {', '.join(keys)})"
