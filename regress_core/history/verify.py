"""Reading the whole history and telling what is wrong with it."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.errors import InputError
from regress_core.files import TEMPORARY_PREFIX
from regress_core.history.listing import COMPACTED_PREFIX, list_folder
from regress_core.history.store import History
from regress_core.history.tables import EVALUATION_TABLES, SCHEMAS, TABLE_NAMES, TableName, keys_of, kind_of

_READ_AT_ONCE = 256
_RESTORE = "restore it from a backup, or evaluate anew"
_Revision = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file of the history, and what to do about it."""

    path: Path
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What a look at every file came to."""

    files: int
    rows: int
    findings: tuple[Finding, ...]


def verify(history: History) -> Verified:
    """Read every row of every file that counts.

    Each file has to be readable and of today's columns; its rows have to belong to the suite and, unless it
    was compacted, to the evaluation and revision that its name tells; none may be there twice; records that
    are kept byte for byte have to have their hash; and each evaluation as many cases as it says.
    """
    look = _Look()
    for table in TABLE_NAMES:
        for folder in history.folders(table):
            look.folder(folder, table)
    look.counts()
    return Verified(look.files, look.rows, tuple(look.findings))


class _Look:
    """What has been seen so far."""

    def __init__(self) -> None:
        self.files = 0
        self.rows = 0
        self.findings: list[Finding] = []
        self._evaluations: dict[_Revision, tuple[int, Path]] = {}
        self._cases: dict[_Revision, tuple[set[str], Path]] = {}

    def folder(self, folder: Path, table: TableName) -> None:
        """Look at the files of a folder."""
        try:
            listing = list_folder(folder)
        except InputError as error:
            self._find(Path(error.file or folder), error.message, error.remedy or _RESTORE)
            return
        for bad in listing.bad:
            self._find(bad.path, bad.reason, _RESTORE)
        for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
            self._find(path, "a process left it unfinished", "delete it when nothing is being evaluated")
        for name in sorted(listing.replaced):
            if (folder / name).exists():
                self._find(
                    folder / name, "a compacted file stands for it", "`regress history compact` deletes it"
                )
        seen: set[tuple[Any, ...]] = set()
        for path in listing.files:
            self._file(path, table, seen)

    def counts(self) -> None:
        """Compare what evaluations say of their cases with the cases there are, over all revisions so far."""
        so_far: dict[str, set[str]] = {}
        for (evaluation_id, revision), (cases, path) in sorted(self._cases.items()):
            known = so_far.setdefault(evaluation_id, set())
            known |= cases
            if (evaluation_id, revision) not in self._evaluations:
                message = f"evaluation {evaluation_id} has cases in revision {revision} and no row of its own"
                remedy = f"it was not published to the end: regress run --resume {evaluation_id}"
                self._find(path, message, remedy)
                continue
            said, _ = self._evaluations[evaluation_id, revision]
            if said != len(known):
                message = f"evaluation {evaluation_id} says {said} cases, there are {len(known)}"
                self._find(path, message, _RESTORE)
        for (evaluation_id, revision), (said, path) in self._evaluations.items():
            if said and (evaluation_id, revision) not in self._cases:
                message = (
                    f"evaluation {evaluation_id} says {said} cases, there is none of revision {revision}"
                )
                self._find(path, message, _RESTORE)

    def _find(self, path: Path, message: str, remedy: str) -> None:
        self.findings.append(Finding(path, message, remedy))

    def _file(self, path: Path, table: TableName, seen: set[tuple[Any, ...]]) -> None:
        self.files += 1
        told = Counter[str]()
        try:
            with pq.ParquetFile(path) as file:
                told.update(_wrong_columns(file.schema_arrow, table))
                for batch in file.iter_batches(_READ_AT_ONCE, use_threads=False):
                    for row in batch.to_pylist():
                        self.rows += 1
                        told.update(self._row(row, path, table, seen))
        except (OSError, pa.ArrowInvalid) as error:
            self._find(path, f"cannot be read to its end: {str(error).splitlines()[0]}", _RESTORE)
        for message, times in told.items():
            self._find(path, message if times == 1 else f"{message} ({times} times)", _RESTORE)

    def _row(
        self, row: dict[str, Any], path: Path, table: TableName, seen: set[tuple[Any, ...]]
    ) -> Iterator[str]:
        if table not in EVALUATION_TABLES:
            return
        own = (row["evaluation_id"], row["revision"])
        if row["suite"] != path.parent.parent.name.partition("=")[2]:
            yield f"a row of suite {row['suite']}"
        if not path.name.startswith(COMPACTED_PREFIX) and path.stem != f"{own[0]}-{own[1]}":
            yield f"a row of evaluation {own[0]}, revision {own[1]}"
        key = (*(row[name] for name in keys_of(table)), row["revision"])
        if key in seen:
            yield f"a row that is there twice: {', '.join(map(str, key))}"
        seen.add(key)
        if table == "evaluations":
            self._evaluations[own] = (row["cases"], path)
        elif table == "case_results":
            self._cases.setdefault(own, (set(), path))[0].add(row["case_id"])
        elif row.get("sha256") is not None and not _is_hash(row):
            yield f"a record with another hash: case {row['case_id']}, trial {row['trial']}"


def _wrong_columns(schema: pa.Schema, table: TableName) -> Iterator[str]:
    wanted = SCHEMAS[table]
    for name in schema.names:
        if name not in wanted.names:
            yield f"a column that is unknown here: {name}"
        elif kind_of(schema, name) != kind_of(wanted, name):
            yield f"column {name} is {kind_of(schema, name)}, not {kind_of(wanted, name)}"


def _is_hash(row: dict[str, Any]) -> bool:
    """Tell whether a record's text has its hash; a byte order mark and lone surrogates are not kept."""
    text: str = row["record_json"]
    if "\ufffd" in text:
        return True
    return row["sha256"] in {
        hashlib.sha256(text.encode(coding)).hexdigest() for coding in ("utf-8", "utf-8-sig")
    }
