"""Many small files become one a table, suite and month; no answer changes by it."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.files import replacing_file
from regress_core.history.listing import COMPACTED_PREFIX, FolderListing, list_folder, replaces_metadata
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
        left_alone: Why it was left alone; None if it was not.
    """

    folder: Path
    files: int
    left_alone: str | None = None


def compact(history: History) -> list[CompactedFolder]:
    """Compact every folder with several files; give those where something happened or could not.

    The new file says which ones it stands for and is safe on the disk before those are deleted; readers pass
    them over from the moment it has its name. A file that cannot be read stays as it is.
    """
    done: list[CompactedFolder] = []
    for table in TABLE_NAMES:
        for folder in history.folders(table):
            with history.lock():
                found = _compact(folder, table)
            if found is not None:
                done.append(found)
    return done


def _compact(folder: Path, table: TableName) -> CompactedFolder | None:
    listing = list_folder(folder)
    leftovers = [folder / name for name in sorted(listing.replaced) if (folder / name).exists()]
    _delete(leftovers)
    strange = _strange(listing, table)
    if strange is not None:
        return CompactedFolder(folder, 0, strange)
    if len(listing.files) < 2:
        return CompactedFolder(folder, 0) if leftovers else None
    files = sorted(listing.files, key=_in_order)
    names = listing.replaced | {path.name for path in files}
    with replacing_file(folder / _next_name(folder)) as temporary:
        _write(temporary, files, table, names)
        _sync(temporary)
    _sync(folder)
    _delete(files)
    return CompactedFolder(folder, len(files))


def _strange(listing: FolderListing, table: TableName) -> str | None:
    """Tell whether a file has columns that this program does not know and so would lose."""
    for path in listing.files:
        more = set(pq.read_schema(path).names) - set(SCHEMAS[table].names)
        if more:
            return f"{path.name} has columns of a newer program: {', '.join(sorted(more))}"
    return None


def _in_order(path: Path) -> tuple[bool, str, int]:
    """Put what was compacted before first, then evaluation after evaluation, each by revision."""
    evaluation_id, _, number = path.stem.rpartition("-")
    return not path.name.startswith(COMPACTED_PREFIX), evaluation_id, int(number)


def _next_name(folder: Path) -> str:
    numbers = [int(path.stem.rpartition("-")[2]) for path in folder.glob(f"{COMPACTED_PREFIX}*.parquet")]
    return f"{COMPACTED_PREFIX}{max(numbers, default=0) + 1:06}.parquet"


def _write(path: Path, files: Sequence[Path], table: TableName, names: frozenset[str]) -> None:
    version = {VERSION_KEY: str(SCHEMA_VERSION).encode()}
    schema = SCHEMAS[table].with_metadata({**version, **replaces_metadata(names)})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for part in _parts(files, SCHEMAS[table]):
            writer.write_table(part.cast(schema))


def _parts(files: Sequence[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """Give the rows of files in row groups of a good size; as much is in memory at a time."""
    waiting: list[pa.Table] = []
    for path in files:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                waiting.append(_conformed(file.read_row_group(group), schema))
                rows = sum(table.num_rows for table in waiting)
                if rows >= _ROWS_AT_ONCE or sum(table.nbytes for table in waiting) >= _BYTES_AT_ONCE:
                    yield pa.concat_tables(waiting)
                    waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _conformed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Give rows with every column of today's schema."""
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
