"""Reading run records from files, with errors that name file, JSON path and case."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.records.json_io import JsonError, loads
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_id_of, case_name_of_file


@dataclass(frozen=True, slots=True)
class RecordFile:
    """Where a record lies.

    Attributes:
        case_id: The case it belongs to, from the file's name.
        path: The file.
    """

    case_id: str
    path: Path


@dataclass(frozen=True, slots=True)
class LoadedRecord:
    """A record as it was read.

    Attributes:
        record: The record.
        sha256: SHA-256 of the file's bytes, in hexadecimal.
        text: The file's bytes.
    """

    record: RunRecord
    sha256: str
    text: bytes


def list_record_files(source: Path) -> list[RecordFile]:
    """List the record files of a folder in the order of their case ids, or the one file that is given.

    Raises:
        InputError: If the folder is missing or cannot be read, holds anything but `.json` files (hidden ones
            are passed over), or two files name one case, without regard to letter case.
    """
    if source.is_file():
        return [_record_file(source)]
    if not source.is_dir():
        raise InputError("no such file or folder", file=source, remedy="name the records you have")
    try:
        entries = sorted(source.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=source) from error
    files = [_record_file(entry) for entry in entries if not entry.name.startswith(".")]
    by_folded_id: dict[str, RecordFile] = {}
    for file in files:
        twin = by_folded_id.setdefault(file.case_id.casefold(), file)
        if twin is not file:
            raise InputError(
                f"the same case as {twin.path.name} (letter case aside)",
                file=file.path,
                case=file.case_id,
                remedy="rename or remove one of them",
            )
    return sorted(files, key=lambda file: file.case_id)


def _record_file(path: Path) -> RecordFile:
    case_id = case_id_of(case_name_of_file(path.name))
    if path.is_dir():
        inside = "put the record files directly into the folder"
        remedy = f"name {path} itself" if path.name == "records" else inside
        raise InputError("a sub-folder among the records", file=path, remedy=remedy)
    if path.suffix != ".json":
        raise InputError(
            "not a .json file",
            file=path,
            remedy="keep only run records here, or convert it with `regress import`",
        )
    return RecordFile(case_id=case_id, path=path)


def load_record(file: RecordFile) -> LoadedRecord:
    """Read and validate one record file.

    Raises:
        InputError: If it cannot be read or holds no run record; names file, JSON path and case.
    """
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {os_error_text(error)}", file=file.path, case=file.case_id
        ) from error
    try:
        record = RunRecord.parse(loads(data))
    except JsonError as error:
        raise InputError(
            error.reason,
            file=file.path,
            field=error.path,
            case=file.case_id,
            remedy="mend the file or take it out of the records",
        ) from error
    return LoadedRecord(record=record, sha256=hashlib.sha256(data).hexdigest(), text=data)


def display_name(file: RecordFile, record: RunRecord) -> str:
    """Give the case's name: what an importer noted, while the file still bears its id; else the file's."""
    noted = record.regress_metadata.get("name")
    if isinstance(noted, str) and case_id_of(noted) == file.case_id:
        return noted
    return case_name_of_file(file.path.name)
