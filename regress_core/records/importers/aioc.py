"""Run records of the reference, taken as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped, SourceRow
from regress_core.records.importers.rows import ROW_SUFFIXES, plain_name, read_rows
from regress_core.records.json_io import JsonError
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_name_of_file

_MARKS = frozenset({"runId", "items", "question"})  # an object with none of these is something else


def list_sources(source: Path) -> tuple[list[Path], list[Skipped]]:
    """List the JSON files of a folder in the order of their names, or the one file that is given.

    Returns:
        The files, and what else is in the folder with the reason to skip it. Hidden files are passed over.

    Raises:
        InputError: If the folder cannot be read.
    """
    if not source.is_dir():
        return [source], []
    try:
        entries = sorted(source.iterdir())
    except OSError as error:
        raise InputError(
            f"cannot be read: {os_error_text(error)}", file=source, remedy="name a folder that you can read"
        ) from error
    files: list[Path] = []
    skipped: list[Skipped] = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            skipped.append(Skipped(entry.name, "a sub-folder"))
        elif not plain_name(entry).endswith(ROW_SUFFIXES):
            skipped.append(Skipped(entry.name, "no JSON file"))
        else:
            files.append(entry)
    return files, skipped


def read_sources(files: Iterable[Path]) -> Iterator[SourceRow]:
    """Read the rows of one file after the other.

    Raises:
        InputError: As `read_rows`.
    """
    for file in files:
        yield from read_rows(file)


def import_aioc(rows: Iterable[SourceRow], _options: None = None, /) -> Iterator[Outcome]:
    """Import run records: values, unknown fields and the order of keys stay.

    The one record of a file is named by the file, a record of a list or of JSON lines by its run id.
    """
    for row in rows:
        yield _outcome(row)


def _outcome(row: SourceRow) -> Outcome:
    position = row.file if row.alone else f"{row.file}: {row.position}"
    if row.members is None:
        return Skipped(position, "no run record: no JSON object")
    if _MARKS.isdisjoint(row.members):
        return Skipped(position, "no run record: none of runId, items and question is there")
    try:
        record = RunRecord.parse(row.members)
    except JsonError as error:
        return Rejected(position, str(error))
    name = case_name_of_file(row.file.removesuffix(".gz")) if row.alone else record.run_id
    return Imported(name, record, position)
