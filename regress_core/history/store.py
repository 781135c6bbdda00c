"""Parquet files in a folder: written whole, listed and checked before they are read."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.errors import InputError
from regress_core.files import TEMPORARY_PREFIX, replacing_file
from regress_core.history.tables import (
    EVALUATION_TABLES,
    SCHEMA_VERSION,
    SCHEMAS,
    VERSION_KEY,
    EvaluationTable,
    TableName,
)
from regress_core.records.json_io import clean_text

Row = Mapping[str, Any]
"""Column name to value; a column that is left out is null."""


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file of the history that cannot be read, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one table that can be read, in the order of their names, and those that cannot."""

    files: tuple[Path, ...]
    bad: tuple[BadFile, ...]


class History:
    """The history below one folder: `<table>/suite=<suite>/month=<YYYY-MM>/<evaluation_id>-<n>.parquet`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def open(cls, store: Path) -> Self:
        """Open the history of a store. The folder need not exist yet."""
        return cls(store / "history")

    def writer(self, suite: str, month: str, evaluation_id: str, number: int) -> RevisionWriter:
        """Write one revision of an evaluation; nothing is seen of a table before the writer is closed.

        Args:
            suite: The suite's name.
            evaluation_id: The evaluation.
            month: `YYYY-MM` of the evaluation's start, UTC.
            number: Counts the revisions of the evaluation from 1; with the id it makes the file name, so that
                publishing again replaces and never doubles.
        """
        name = f"{evaluation_id}-{number}.parquet"
        return RevisionWriter(
            {table: self._folder(table, suite, month) / name for table in EVALUATION_TABLES}
        )

    def calibration_writer(self, month: str, calibration_id: str) -> RevisionWriter:
        """Write one calibration; its path says `-` for the suite, which none is called."""
        folder = self._folder("calibrations", "-", month)
        return RevisionWriter({"calibrations": folder / f"{calibration_id}-1.parquet"})

    def _folder(self, table: TableName, suite: str, month: str) -> Path:
        return self.root / table / f"suite={suite}" / f"month={month}"

    def list(self, table: TableName, suite: str = "*") -> Listing:
        """List the files of a table, or of one suite in it, each with its footer checked.

        Raises:
            InputError: If a file was written by a newer major version; the message names it.
        """
        files: list[Path] = []
        bad: list[BadFile] = []
        for path in sorted((self.root / table).glob(f"suite={suite}/month=*/*.parquet")):
            if path.name.startswith(TEMPORARY_PREFIX):
                continue
            reason = _fault(path)
            if reason is None:
                files.append(path)
            else:
                bad.append(BadFile(path, reason))
        return Listing(tuple(files), tuple(bad))

    def table(self, table: TableName) -> pa.Table:
        """Read a whole table into memory, every revision, for a notebook; unreadable files are left out."""
        tables = [pq.read_table(path) for path in self.list(table).files]
        empty = SCHEMAS[table].empty_table()
        return pa.concat_tables([empty, *tables], promote_options="default")

    def columns_of(self, table: EvaluationTable, suite: str, columns: Sequence[str]) -> pa.Table:
        """Read some columns of one suite's rows, every revision; unreadable files are left out."""
        files = self.list(table, suite).files
        tables = [pq.read_table(path, columns=list(columns)) for path in files]
        empty = SCHEMAS[table].empty_table().select(list(columns))
        return pa.concat_tables([empty, *tables], promote_options="default")

    def rows_of(
        self, table: TableName, evaluation_id: str, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Give the rows of one evaluation, revision after revision, each ordered as it was written.

        A column that an older file does not have is null.

        Args:
            table: The table.
            evaluation_id: The evaluation.
            columns: Which columns; all of them when left out.

        Raises:
            InputError: If a file of the evaluation cannot be read; the message names it.
        """
        wanted = SCHEMAS[table].names if columns is None else list(columns)
        absent = dict.fromkeys(wanted)
        files = (self.root / table).glob(f"suite=*/month=*/{evaluation_id}-*.parquet")
        for path in sorted(files, key=lambda file: int(file.stem.rpartition("-")[2])):
            reason = _fault(path)
            if reason is not None:
                remedy = "restore the file, or evaluate anew with --fresh"
                raise InputError(f"cannot be read: {reason}", file=path, remedy=remedy)
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=16, use_threads=False, columns=wanted):
                    yield from ({**absent, **row} for row in batch.to_pylist())

    def rows_by_trial(
        self, table: TableName, evaluation_id: str, case_id: str | None = None
    ) -> dict[tuple[str, int], list[dict[str, Any]]]:
        """Give the rows of an evaluation, or of one of its cases, by case id and trial.

        Of each trial they are those of the newest revision that has some.

        Raises:
            InputError: As `rows_of`.
        """
        found: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for row in self.rows_of(table, evaluation_id):
            if case_id not in (None, row["case_id"]):
                continue
            rows = found.setdefault((row["case_id"], row["trial"]), [])
            if rows and rows[0]["revision"] < row["revision"]:
                rows.clear()
            rows.append(row)
        return found


def _fault(path: Path) -> str | None:
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except (OSError, pa.ArrowInvalid) as error:
        return str(error).splitlines()[0]
    version = int(metadata.get(VERSION_KEY, b"0"))
    if version > SCHEMA_VERSION:
        message = f"written with history schema {version}, this program reads up to {SCHEMA_VERSION}"
        raise InputError(message, file=path, remedy="upgrade regress")
    return None


class RevisionWriter:
    """Writes the tables of one revision side by side, a row group a call."""

    def __init__(self, paths: Mapping[TableName, Path]) -> None:
        self._paths = paths
        self._stack = ExitStack()
        self._writers: dict[TableName, pq.ParquetWriter] = {}

    def __enter__(self) -> Self:
        self._stack.__enter__()
        for table, path in self._paths.items():
            temporary = self._stack.enter_context(replacing_file(path))
            schema = SCHEMAS[table].with_metadata({VERSION_KEY: str(SCHEMA_VERSION).encode()})
            writer = pq.ParquetWriter(temporary, schema, compression="zstd")
            self._writers[table] = self._stack.enter_context(writer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, table: TableName, rows: Sequence[Row]) -> None:
        """Append rows to a table. Lone surrogates, which Parquet's text cannot hold, become U+FFFD."""
        if not rows:
            return
        storable = [{name: _storable(value) for name, value in row.items()} for row in rows]
        self._writers[table].write_table(pa.Table.from_pylist(storable, schema=SCHEMAS[table]))


def _storable(value: Any) -> Any:  # noqa: ANN401 - any column's value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, tuple):
        return [clean_text(text) for text in cast("tuple[str, ...]", value)]
    return value
