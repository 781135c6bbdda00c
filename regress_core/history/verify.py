"""Reading the whole history and telling what is wrong with it."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.errors import InputError
from regress_core.files import TEMPORARY_PREFIX
from regress_core.history.listing import COMPACTED_PREFIX, RESTORE, list_folder, naming
from regress_core.history.store import History
from regress_core.history.tables import EVALUATION_TABLES, SCHEMAS, TABLE_NAMES, TableName, keys_of, kind_of

_READ_AT_ONCE = 256
_Revision = tuple[str, int]
_Trial = tuple[str, int]


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
    """Read every row of every file that counts; what would publish or compact meanwhile waits.

    Each file has to be readable and of today's columns; its rows have to belong to the suite and, unless it
    was compacted, to the evaluation and revision that its name tells; none may be there twice; records that
    are kept byte for byte have to have their hash; and each evaluation as many cases of each status as it
    says. An evaluation is of one suite and month, so that no more than the keys of such are in memory.
    """
    files = rows = 0
    findings: list[Finding] = []
    with history.lock():
        folders = {table: history.folders(table) for table in TABLE_NAMES}
        places = {folder.relative_to(folder.parents[1]) for some in folders.values() for folder in some}
        for place in sorted(places):
            look = _Look()
            for table in TABLE_NAMES:
                if (folder := history.root / table / place) in folders[table]:
                    look.folder(folder, table)
            look.counts()
            files, rows = files + look.files, rows + look.rows
            findings += look.findings
    return Verified(files, rows, tuple(findings))


class _Look:
    """What has been seen of one suite and month."""

    def __init__(self) -> None:
        self.files = 0
        self.rows = 0
        self.findings: list[Finding] = []
        self._evaluations: dict[_Revision, tuple[dict[str, Any], Path]] = {}
        self._cases: dict[_Revision, tuple[dict[_Trial, str], Path]] = {}
        self._unread: set[TableName] = set()

    def folder(self, folder: Path, table: TableName) -> None:
        """Look at the files of a folder."""
        try:
            listing = list_folder(folder)
        except InputError as error:
            self._find(Path(error.file or folder), error.message, error.remedy or RESTORE)
            self._unread.add(table)
            return
        for bad in listing.bad:
            self._find(bad.path, bad.reason, RESTORE)
            self._unread.add(table)
        for path in folder.glob(f"{TEMPORARY_PREFIX}*"):
            self._find(path, "a process left it unfinished", "`regress history compact` deletes it")
        for name in sorted(listing.replaced):
            if (folder / name).exists():
                self._find(
                    folder / name, "a compacted file stands for it", "`regress history compact` deletes it"
                )
        seen: set[bytes] = set()
        for path in listing.files:
            self._file(path, table, seen)

    def counts(self) -> None:
        """Compare what evaluations say of their cases with the cases there are, over all revisions so far.

        Nothing is known of that where a file of theirs cannot be read; that is told already.
        """
        if self._unread & {"evaluations", "case_results"}:
            return
        so_far: dict[str, dict[_Trial, str]] = {}
        for (evaluation_id, revision), (statuses, path) in sorted(self._cases.items()):
            known = so_far.setdefault(evaluation_id, {})
            known |= statuses
            if (evaluation_id, revision) not in self._evaluations:
                message = f"evaluation {evaluation_id} has cases in revision {revision} and no row of its own"
                remedy = f"it was not published to the end: regress run --resume {evaluation_id}"
                self._find(path, message, remedy)
                continue
            said, _ = self._evaluations[evaluation_id, revision]
            counts = _counted(known)
            if said["trials"] is not None and said["trials"] > 1:
                # Rows do not tell which cases only warned since their failed trials were within their noise.
                excused = max(0, counts["failed"] - (said["failed"] or 0))
                counts["failed"] -= excused
                counts["warned"] += excused
            for what, count in counts.items():
                if said[what] != count:
                    message = f"evaluation {evaluation_id} says {said[what]} {what}, there are {count}"
                    self._find(path, message, RESTORE)
        for (evaluation_id, revision), (said, path) in self._evaluations.items():
            if said["cases"] and (evaluation_id, revision) not in self._cases:
                message = (
                    f"evaluation {evaluation_id} says {said['cases']} cases, "
                    f"there is none of revision {revision}"
                )
                self._find(path, message, RESTORE)

    def _find(self, path: Path, message: str, remedy: str) -> None:
        self.findings.append(Finding(path, message, remedy))

    def _file(self, path: Path, table: TableName, seen: set[bytes]) -> None:
        self.files += 1
        told = Counter[str]()
        try:
            with naming(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
                told.update(_wrong_columns(file.schema_arrow, table))
                for batch in file.iter_batches(_READ_AT_ONCE, use_threads=False):
                    for row in batch.to_pylist():
                        self.rows += 1
                        told.update(self._row(row, path, table, seen))
        except InputError as error:
            self._find(path, error.message, RESTORE)
            self._unread.add(table)
        for message, times in told.items():
            self._find(path, message if times == 1 else f"{message} ({times} times)", RESTORE)

    def _row(self, row: dict[str, Any], path: Path, table: TableName, seen: set[bytes]) -> Iterator[str]:
        if table not in EVALUATION_TABLES:
            return
        keys = dict.fromkeys((*keys_of(table), "suite", "revision"))
        missing = [name for name in keys if row.get(name) is None]
        if missing:
            yield f"a row without {missing[0]}"
            return
        own = (row["evaluation_id"], row["revision"])
        if row["suite"] != path.parent.parent.name.partition("=")[2]:
            yield f"a row of suite {row['suite']}"
        if not path.name.startswith(COMPACTED_PREFIX) and path.stem != f"{own[0]}-{own[1]}":
            yield f"a row of evaluation {own[0]}, revision {own[1]}"
        key = (*(row[name] for name in keys_of(table)), row["revision"])
        digest = hashlib.blake2b(repr(key).encode(), digest_size=16).digest()  # a tuple takes ten times that
        if digest in seen:
            yield f"a row that is there twice: {', '.join(map(str, key))}"
        seen.add(digest)
        if table == "evaluations":
            self._evaluations[own] = (
                {name: row.get(name) for name in ("cases", "trials", *_WORDS.values())},
                path,
            )
        elif table == "case_results":
            statuses, _ = self._cases.setdefault(own, ({}, path))
            status = "inconclusive" if row.get("inconclusive") else row.get("status")
            statuses[row["case_id"], row["trial"]] = str(status)
        elif row.get("sha256") is not None and not _is_hash(row):
            yield f"a record with another hash: case {row['case_id']}, trial {row['trial']}"


_WORDS = {"fail": "failed", "inconclusive": "inconclusive", "warn": "warned", "pass": "passed"}
"""From what a trial came to, the worst first, to the columns of `evaluations` that count cases."""


def _counted(statuses: Mapping[_Trial, str]) -> dict[str, int]:
    """Count cases as a summary does: the worst trial counts, and an inconclusive case is a warned one too."""
    worst: dict[str, str] = {}
    for (case_id, _), status in statuses.items():
        worst[case_id] = min(worst.get(case_id, status), status, key=[*_WORDS, status].index)
    counts = Counter(_WORDS.get(status, status) for status in worst.values())
    counts["warned"] += counts["inconclusive"]
    return {"cases": len(worst), **{word: counts[word] for word in _WORDS.values()}}


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
