"""Picking rows of a source: by an SQL condition, by number."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import cast

from regress_core.errors import InputError
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.columns import Columns
from regress_core.records.importers.rows import read_rows
from regress_core.records.json_io import clean_text

_NUMBER = "__row_number__"
_LARGEST_ROW_BY_DEFAULT = 16 * 1024 * 1024
_MOST_COLUMNS, _LONGEST_TEXT = 50, 200  # in a message


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows to take.

    Attributes:
        where: A DuckDB condition over the rows; all of them without one.
        limit: How many of those at most; all of them without one.
    """

    where: str | None = None
    limit: int | None = None


def select_rows(file: Path, selection: Selection) -> Iterator[SourceRow]:
    """Read the selected rows of a file.

    The condition only says which rows; their values come from the file, never from the database.

    Raises:
        InputError: If the file cannot be read, or the condition does not fit its rows.
    """
    rows = read_rows(file)
    if selection.where is not None:
        chosen = _matching_rows(file, selection.where)
        rows = (row for row in rows if row.number in chosen)
    return islice(rows, selection.limit)


def _matching_rows(file: Path, condition: str) -> frozenset[int]:
    import duckdb  # noqa: PLC0415 - costs some 50 MB, and few imports have a condition

    columns = Columns(condition)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.ndjson"
        longest = _write_table(file, table, columns)
        try:
            with duckdb.connect() as connection:
                relation = connection.read_json(
                    str(table),
                    format="newline_delimited",
                    columns={_NUMBER: "BIGINT", **columns.sql_types()},
                    maximum_object_size=max(longest, _LARGEST_ROW_BY_DEFAULT),
                )
                numbers = relation.filter(condition).select(_NUMBER).fetchall()
        except duckdb.Error as error:
            raise InputError(
                _cut(str(error).partition("\n")[0]),
                file=file,
                field=f"--where {condition}",
                remedy=f"the columns are: {_listed(columns)}",
            ) from error
    return frozenset(cast("int", number) for (number,) in numbers)


def _listed(columns: Columns) -> str:
    """List the columns, those that the condition mentions with their types."""
    types = columns.sql_types()
    listed = [_cut(f"{name} {types.get(name, '')}".strip()) for name in columns.names]
    more = [f"and {len(listed) - _MOST_COLUMNS} more"] if len(listed) > _MOST_COLUMNS else []
    return ", ".join([*listed[:_MOST_COLUMNS], *more]) or "none"


def _cut(text: str) -> str:
    """Shorten text that names the type of a large object."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _write_table(file: Path, table: Path, columns: Columns) -> int:
    """Write what the condition mentions of each row, and give the length of the longest line."""
    longest = 0
    with table.open("wb") as stream:
        for row in read_rows(file):
            cells = columns.cells(row.members or {})
            text = json.dumps({_NUMBER: row.number, **cells}, ensure_ascii=False)
            line = clean_text(text).encode("utf-8") + b"\n"  # DuckDB refuses lone surrogates
            longest = max(longest, stream.write(line))
    return longest
