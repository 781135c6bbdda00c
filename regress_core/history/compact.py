"""Many small files become one a table, suite and month; no answer changes by it."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.errors import InputError
from regress_core.files import TEMPORARY_PREFIX, replacing_file
from regress_core.history.listing import (
    COMPACTED_PREFIX,
    BadFile,
    FolderListing,
    list_folder,
    naming,
    replaces_metadata,
)
from regress_core.history.store import History
from regress_core.history.tables import SCHEMA_VERSION, SCHEMAS, TABLE_NAMES, VERSION_KEY, TableName

_ROWS_AT_ONCE = 5_000
_BYTES_AT_ONCE = 8_000_000


@dataclass(frozen=True, slots=True)
class CompactedFolder:
    """What became of one folder.

    Attributes:
        folder: The folder.
        files: How many files became one; 0 if nothing was to be done but to take leftovers away, or if it was
            left alone.
        left_alone: Which files stay as they are, and why; None if none does. One of a newer program keeps its
            whole folder as it is, for it may stand for others in a way that only that program knows.
    """

    folder: Path
    files: int
    left_alone: str | None = None


def compact(history: History, under_way: AbstractSet[str] = frozenset()) -> list[CompactedFolder]:
    """Compact every folder with several files; give those where something happened or could not.

    The new file says which ones it stands for and is safe on the disk before those are deleted; readers pass
    them over from the moment it has its name. A file that cannot be read stays as it is.

    Args:
        history: The history.
        under_way: Ids of evaluations that are not finished. Their files stay as they are: one that is written
            again under its old name would be passed over.
    """
    done: list[CompactedFolder] = []
    for table in TABLE_NAMES:
        for folder in history.folders(table):
            with history.lock():
                found = _compact(folder, table, under_way)
            if found is not None:
                done.append(found)
    return done


def _compact(folder: Path, table: TableName, under_way: AbstractSet[str]) -> CompactedFolder | None:
    """Compact a folder. Who holds the lock knows that what is unfinished there has been abandoned."""
    try:
        listing = list_folder(folder)
    except InputError as error:
        return CompactedFolder(folder, 0, _told([BadFile(Path(error.file or folder), error.message)]))
    strange = _strange(listing, table)
    if strange is not None:
        return CompactedFolder(folder, 0, _told([*listing.bad, strange]))
    leftovers = [folder / name for name in sorted(listing.replaced) if (folder / name).exists()]
    leftovers += folder.glob(f"{TEMPORARY_PREFIX}*")
    _delete(leftovers)
    bad = list(listing.bad)
    while len(files := _mergeable(listing, bad, under_way)) > 1:
        try:
            _merge(folder, files, table, listing.replaced)
        except _UnreadableError as error:
            bad.append(error.file)
            continue
        return CompactedFolder(folder, len(files), _told(bad))
    return CompactedFolder(folder, 0, _told(bad)) if leftovers or bad else None


def _told(bad: Sequence[BadFile]) -> str | None:
    return "; ".join(f"{file.path.name}: {file.reason}" for file in bad) or None


def _strange(listing: FolderListing, table: TableName) -> BadFile | None:
    """Find a file with columns that this program does not know and so would lose."""
    for path in listing.files:
        more = set(pq.read_schema(path).names) - set(SCHEMAS[table].names)
        if more:
            return BadFile(path, f"columns of a newer program: {', '.join(sorted(more))}")
    return None


def _mergeable(listing: FolderListing, bad: Sequence[BadFile], under_way: AbstractSet[str]) -> list[Path]:
    """Give the files that become one, in the order that their rows take.

    What was compacted before comes first, then evaluation after evaluation, each by revision. Of an
    evaluation with a bad file none is taken: should that file be restored, the order would be another one.
    """
    apart = {*under_way, *(_evaluation_of(file.path) for file in bad)}
    files = [path for path in listing.files if _evaluation_of(path) not in apart]
    return sorted(files, key=lambda path: (not _is_compacted(path), _evaluation_of(path), _number(path)))


def _evaluation_of(path: Path) -> str:
    """Give the evaluation that a file's name tells; a compacted file stands by itself."""
    return path.stem if _is_compacted(path) else path.stem.rpartition("-")[0]


def _is_compacted(path: Path) -> bool:
    return path.name.startswith(COMPACTED_PREFIX)


def _number(path: Path) -> int:
    """Give the number in a file's name; 0 for a file that somebody named otherwise."""
    number = path.stem.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


class _UnreadableError(Exception):
    """The rows of a file cannot be read."""

    def __init__(self, file: BadFile) -> None:
        self.file = file
        super().__init__(file.reason)


def _merge(folder: Path, files: Sequence[Path], table: TableName, replaced: frozenset[str]) -> None:
    """Put one file in the place of several.

    Raises:
        _UnreadableError: If one of them cannot be read to its end; nothing has changed then.
    """
    number = max(map(_number, folder.glob(f"{COMPACTED_PREFIX}*.parquet")), default=0) + 1
    with replacing_file(folder / f"{COMPACTED_PREFIX}{number:06}.parquet") as temporary:
        _write(temporary, files, table, replaced | {path.name for path in files})
        _sync(temporary)
    _sync(folder)
    _delete(files)


def _write(path: Path, files: Sequence[Path], table: TableName, names: frozenset[str]) -> None:
    version = {VERSION_KEY: str(SCHEMA_VERSION).encode()}
    schema = SCHEMAS[table].with_metadata({**version, **replaces_metadata(names)})
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for part in _parts(files, schema):
            writer.write_table(part)


def _parts(files: Sequence[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """Give the rows of files in row groups of a good size; as much is in memory at a time."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for path in files:
        for part in _row_groups(path, schema):
            waiting.append(part)
            rows, size = rows + part.num_rows, size + part.nbytes
            if rows >= _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
                yield pa.concat_tables(waiting)
                waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting)


def _row_groups(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """Read a file row group after row group, each whole and with every column of today's schema.

    Raises:
        _UnreadableError: If that cannot be done; what is damaged must not be written anew as if it were not.
    """
    try:
        with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                part = _conformed(file.read_row_group(group), schema)
                part.validate(full=True)
                yield part
    except InputError as error:
        raise _UnreadableError(BadFile(path, error.message)) from error


def _conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    # What is missing is null, as in a row that has no value for it.
    return pa.concat_tables([schema.empty_table(), table], promote_options="default").select(schema.names)


def _sync(path: Path) -> None:
    """Have the disk hold a file, or the names in a folder, before anything is deleted."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _delete(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
