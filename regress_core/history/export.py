"""The history's newest rows in files that other programs read."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import duckdb

from regress_core.errors import InputError
from regress_core.files import replacing_folder
from regress_core.history.listing import retried
from regress_core.history.sql import connected, raise_if_gone
from regress_core.history.store import History
from regress_core.history.tables import SCHEMAS, TABLE_NAMES, TableName, kind_of

ExportFormat = Literal["parquet", "csv", "jsonl"]

_MARK = "regress-export.txt"
_ISO = "'%Y-%m-%dT%H:%M:%S.%fZ'"
_OPTIONS = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "csv": "FORMAT csv, HEADER",
    "jsonl": "FORMAT json, ARRAY false",
}


def export(
    history: History,
    folder: Path,
    file_format: ExportFormat,
    *,
    suites: Sequence[str] = (),
    since: datetime | None = None,
) -> dict[TableName, int]:
    """Write the newest revision of every row to `<table>.<format>`, the whole folder or nothing.

    Times are ISO 8601 in UTC, lists are JSON in CSV. Calibrations are of no suite.

    Args:
        history: The history.
        folder: Where to: a new folder, an empty one, or an earlier export, which is replaced.
        file_format: What the files are.
        suites: Only these suites; all of them when empty.
        since: Only evaluations that began then or later.

    Returns:
        How many rows each table has.

    Raises:
        InputError: If the history has no such suite, the folder holds anything else, or a file of the history
            cannot be read.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("not a folder", file=folder, remedy="name a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        message = "not empty and no earlier export"
        raise InputError(message, file=folder, remedy="name a new folder, or empty it")

    known = {path.name.removeprefix("suite=") for path in history.root.glob("*/suite=*")}
    for suite in suites:
        if suite not in known:
            remedy = f"suites there: {', '.join(sorted(known)) or 'none'}"
            raise InputError(f"no suite {suite!r} in the history", file=history.root, remedy=remedy)

    def write() -> dict[TableName, int]:
        with replacing_folder(folder) as fresh:
            (fresh / _MARK).write_text("written by regress history export\n", encoding="utf-8")
            return _write(history, fresh, file_format, suites, since)

    return retried(write, history.lock())


def _write(
    history: History, folder: Path, file_format: ExportFormat, suites: Sequence[str], since: datetime | None
) -> dict[TableName, int]:
    counts: dict[TableName, int] = {}
    with connected(history) as (connection, listings):
        for bad in (bad for listing in listings for bad in listing.bad):
            remedy = "restore it; see `regress history verify`"
            raise InputError(f"cannot be read: {bad.reason}", file=bad.path, remedy=remedy)
        for table in TABLE_NAMES:
            query, values = _query(table, file_format, suites, since)
            target = str(folder / f"{table}.{file_format}").replace("'", "''")
            try:
                copied = connection.execute(f"COPY ({query}) TO '{target}' ({_OPTIONS[file_format]})", values)
                counts[table] = int(copied.fetchall()[0][0])
            except duckdb.Error as error:  # an unreadable file, a full disk
                raise_if_gone(listings, error)
                remedy = "see `regress history verify`"
                raise InputError(str(error).splitlines()[0], field=table, remedy=remedy) from error
    return counts


def _query(
    table: TableName, file_format: ExportFormat, suites: Sequence[str], since: datetime | None
) -> tuple[str, list[object]]:
    columns = "*"
    if file_format != "parquet":
        schema = SCHEMAS[table]
        columns = ", ".join(_text_column(name, kind_of(schema, name), file_format) for name in schema.names)
    conditions: list[str] = []
    values: list[object] = []
    if suites and table != "calibrations":
        conditions.append("list_contains(?, suite)")
        values.append(list(suites))
    if since is not None:
        own = "created_at >= ?"
        other = "evaluation_id IN (SELECT evaluation_id FROM evaluations WHERE created_at >= ?)"
        conditions.append(own if table in ("evaluations", "calibrations") else other)
        values.append(since)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {columns} FROM {table}{where}", values  # noqa: S608 - names of ours, values are parameters


def _text_column(name: str, kind: str, file_format: ExportFormat) -> str:
    if kind.startswith("timestamp"):  # the connection's zone is UTC
        return f'strftime("{name}", {_ISO}) AS "{name}"'
    if kind.startswith("list") and file_format == "csv":
        return f'to_json("{name}")::VARCHAR AS "{name}"'
    return f'"{name}"'
