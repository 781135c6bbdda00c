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
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import FileLock

from regress_core.errors import InputError
from regress_core.files import replacing_file
from regress_core.history.listing import COMPACTED_PREFIX, RESTORE, BadFile, list_folder, naming, retried
from regress_core.history.tables import (
    EVALUATION_TABLES,
    SCHEMA_VERSION,
    SCHEMAS,
    VERSION_KEY,
    EvaluationTable,
    TableName,
)
from regress_core.records.json_io import clean_text

_KEY = "evaluation_id"
_READ_AT_ONCE = 16  # records may be large

Row = Mapping[str, Any]
"""Column name to value; a column that is left out is null."""


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

    def lock(self) -> FileLock:
        """Give the lock that is held while files are put in or taken away."""
        return FileLock(self.root.parent / "publish.lock")

    def folders(self, table: TableName, suite: str = "*") -> list[Path]:
        """List the folders of a table, or of one suite in it, by suite and month."""
        return sorted((self.root / table).glob(f"suite={suite}/month=*"))

    def list(self, table: TableName, suite: str = "*") -> Listing:
        """List the files of a table, or of one suite in it, each with its footer checked.

        Raises:
            InputError: If a file was written by a newer major version; the message names it.
        """
        found = retried(lambda: [list_folder(folder) for folder in self.folders(table, suite)])
        return Listing(
            tuple(path for one in found for path in one.files), tuple(bad for one in found for bad in one.bad)
        )

    def table(self, table: TableName) -> pa.Table:
        """Read a whole table into memory, every revision, for a notebook; unreadable files are left out.

        Raises:
            InputError: If a file is readable in part only, or written by a newer major version.
        """
        return self._read(table, "*", SCHEMAS[table].names)

    def columns_of(self, table: EvaluationTable, suite: str, columns: Sequence[str]) -> pa.Table:
        """Read some columns of one suite's rows, every revision; unreadable files are left out.

        Raises:
            InputError: As `table`.
        """
        return self._read(table, suite, columns)

    def _read(self, table: TableName, suite: str, columns: Sequence[str]) -> pa.Table:
        """Read columns; one that an older file does not have is null."""

        def read() -> list[pa.Table]:
            listings = [list_folder(folder) for folder in self.folders(table, suite)]
            return [_read_file(path, columns) for one in listings for path in one.files]

        empty = SCHEMAS[table].empty_table().select(list(columns))
        return pa.concat_tables([empty, *retried(read, self.lock())], promote_options="default")

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
        with ExitStack() as stack:
            # All are opened at once: what a compaction takes away from then on can still be read.
            for path, file in retried(lambda: self._open(table, evaluation_id, stack), self.lock()):
                is_compacted = path.name.startswith(COMPACTED_PREFIX)
                batches = (
                    _own_batches(file, evaluation_id, wanted) if is_compacted else _batches(file, wanted)
                )
                for rows in _named(path, batches):
                    yield from ({**absent, **row} for row in rows)

    def _open(
        self, table: TableName, evaluation_id: str, stack: ExitStack
    ) -> list[tuple[Path, pq.ParquetFile]]:
        """Open the files with rows of an evaluation, in the order of its revisions."""
        paths: list[Path] = []
        missing: list[BadFile] = []  # compacted files that cannot say whether they hold any
        begun = False
        for folder in self.folders(table):
            own = sorted(folder.glob(f"{evaluation_id}-*.parquet"), key=_number)
            compacted = list(folder.glob(f"{COMPACTED_PREFIX}*.parquet"))
            if not own and not compacted:
                continue
            listing = list_folder(folder)
            for bad in listing.bad:
                if bad.path in own:
                    raise InputError(f"cannot be read: {bad.reason}", file=bad.path, remedy=RESTORE)
            missing += [bad for bad in listing.bad if bad.path in compacted]
            first = f"{evaluation_id}-1.parquet"
            begun = begun or first in listing.replaced or any(path.name == first for path in own)
            if any(name.rpartition("-")[0] == evaluation_id for name in listing.replaced):
                paths += [path for path in listing.files if path in compacted]
            paths += [path for path in own if path in listing.files]
        if missing and not begun:
            bad = missing[0]
            raise InputError(f"cannot be read: {bad.reason}", file=bad.path, remedy=RESTORE)
        return [(path, stack.enter_context(pq.ParquetFile(path))) for path in paths]

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


def _number(path: Path) -> int:
    """Give the number of a revision's file."""
    return int(path.stem.rpartition("-")[2])


def _read_file(path: Path, columns: Sequence[str]) -> pa.Table:
    with naming(path), pq.ParquetFile(path) as file:
        return file.read(columns=list(columns))


def _named(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[list[dict[str, Any]]]:
    """Give the rows of batches; should some turn out to be unreadable, their file is named."""
    while True:
        with naming(path):
            batch = next(batches, None)
            rows = [] if batch is None else batch.to_pylist()
        if batch is None:
            return
        yield rows


def _batches(file: pq.ParquetFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    return file.iter_batches(batch_size=_READ_AT_ONCE, use_threads=False, columns=list(columns))


def _own_batches(
    file: pq.ParquetFile, evaluation_id: str, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Read the rows of one evaluation out of many, from the row groups that may hold some."""
    groups = [number for number in range(file.num_row_groups) if _may_hold(file, number, evaluation_id)]
    read = list(dict.fromkeys([*columns, _KEY]))
    for batch in file.iter_batches(_READ_AT_ONCE, row_groups=groups, use_threads=False, columns=read):
        own = pc.equal(batch.column(_KEY), pa.scalar(evaluation_id))
        yield batch.filter(own).select([name for name in batch.schema.names if name in columns])


def _may_hold(file: pq.ParquetFile, group: int, evaluation_id: str) -> bool:
    metadata = file.metadata.row_group(group)
    statistics = metadata.column(file.schema_arrow.get_field_index(_KEY)).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    return str(statistics.min) <= evaluation_id <= str(statistics.max)


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
            writer = pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True)
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
