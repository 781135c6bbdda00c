"""Picking runs of a source: by an SQL condition, by number."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from regress_core.errors import InputError
from regress_core.records.importers.columns import Columns
from regress_core.records.json_io import JsonObject, clean_text

_NUMBER = "__row_number__"
_LARGEST_ROW_BY_DEFAULT = 16 * 1024 * 1024
_MOST_COLUMNS, _LONGEST_TEXT = 50, 200  # in a message


def matching(origins: Iterable[JsonObject], condition: str, source: Path) -> frozenset[int]:
    """Say which runs meet a DuckDB condition, by their numbers from 0.

    The condition only says which; the values of the runs never come from the database.

    Args:
        origins: What the condition looks into, run by run; see `origin_of`.
        condition: The condition.
        source: Where the runs come from, for the message.

    Raises:
        InputError: If the condition does not fit the runs.
    """
    import duckdb  # noqa: PLC0415 - costs some 50 MB, and few imports have a condition

    columns = Columns(condition)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.ndjson"
        longest = _write_table(origins, table, columns)
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
                file=source,
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


def _write_table(origins: Iterable[JsonObject], table: Path, columns: Columns) -> int:
    """Write what the condition mentions of each run, and give the length of the longest line."""
    longest = 0
    with table.open("wb") as stream:
        for number, origin in enumerate(origins):
            text = json.dumps({_NUMBER: number, **columns.cells(origin)}, ensure_ascii=False)
            line = clean_text(text).encode("utf-8") + b"\n"  # DuckDB refuses lone surrogates
            longest = max(longest, stream.write(line))
    return longest
