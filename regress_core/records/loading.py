"""Reading run records from files, with errors that name file, JSON path and case."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.records.json_io import JsonError, loads
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_id_of, case_name_of_file, is_folder_without_a_name


@dataclass(frozen=True, slots=True)
class RecordFile:
    """Where a record lies.

    Attributes:
        case_id: The case it belongs to, from the name of the file or of the case's folder.
        path: The file.
    """

    case_id: str
    path: Path


@dataclass(frozen=True, slots=True)
class CaseRecords:
    """Where the accepted runs of a case lie.

    Attributes:
        case_id: The case.
        name: The name of its file, or of its folder.
        path: The one file, or the folder of several.
        files: The accepted runs; the first is the baseline, which is replayed.
        remains: The file that the folder has taken the place of, should it still stand beside it.
    """

    case_id: str
    name: str
    path: Path
    files: tuple[RecordFile, ...]
    remains: Path | None = None

    @property
    def baseline(self) -> RecordFile:
        """The run that is replayed."""
        return self.files[0]


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
    """List the record files of a folder, one a case, in the order of their case ids, or the one file given.

    Raises:
        InputError: If the folder is missing or cannot be read, holds anything but `.json` files (hidden ones
            are passed over), or two files name one case, without regard to letter case.
    """
    return [case.baseline for case in _list(source, _of_file)]


def list_case_records(source: Path) -> list[CaseRecords]:
    """List the cases of a folder of baselines in the order of their ids, or the one of the file given.

    A folder in it holds several accepted runs of one case, in the order of their names.

    Raises:
        InputError: As `list_record_files`; or if the folder of a case is empty, or a file and a folder name
            one case. A file that is the first one of its folder, byte for byte, is no error: a move into the
            folder was interrupted.
    """
    return _list(source, lambda entry: _of_folder(entry) if entry.is_dir() else _of_file(entry))


def _list(source: Path, case_of: Callable[[Path], CaseRecords]) -> list[CaseRecords]:
    if not source.exists():
        raise InputError("no such file or folder", file=source, remedy="name the records you have")
    by_folded_id: dict[str, CaseRecords] = {}
    # All of them first: a file that is none of ours tells more than two that are alike.
    for case in [case_of(entry) for entry in (_visible(source) if source.is_dir() else [source])]:
        folded_id = case.case_id.casefold()
        twin = by_folded_id.setdefault(folded_id, case)
        if twin is case:
            continue
        if not _is_remains(case, twin):
            raise InputError(
                f"the same case as {twin.path.name} (letter case aside)",
                file=case.path,
                case=case.case_id,
                remedy="rename or remove one of them",
            )
        by_folded_id[folded_id] = replace(twin, remains=case.path)
    return sorted(by_folded_id.values(), key=lambda case: case.case_id)


def _visible(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=folder) from error
    return [entry for entry in entries if not entry.name.startswith(".")]


def _is_remains(file: CaseRecords, folder: CaseRecords) -> bool:
    """Tell whether a file only still stands there that a folder has taken the place of."""
    if not folder.path.is_dir() or file.name != folder.name or folder.remains:
        return False
    return _read(file.baseline) == _read(folder.baseline)


def _of_file(path: Path) -> CaseRecords:
    name = case_name_of_file(path.name)
    file = _record_file(case_id_of(name), path)
    return CaseRecords(file.case_id, name, path, (file,))


def _of_folder(path: Path) -> CaseRecords:
    if is_folder_without_a_name(path.name):
        raise _sub_folder(path)
    case_id = case_id_of(path.name)
    files = tuple(_record_file(case_id, entry) for entry in _visible(path))
    if not files:
        remedy = "put the accepted runs of the case into it, or remove it"
        raise InputError("an empty folder among the records", file=path, case=case_id, remedy=remedy)
    return CaseRecords(case_id, path.name, path, files)


def _sub_folder(path: Path) -> InputError:
    inside = "put the record files directly into the folder"
    remedy = f"name {path} itself" if is_folder_without_a_name(path.name) else inside
    return InputError("a sub-folder among the records", file=path, remedy=remedy)


def _record_file(case_id: str, path: Path) -> RecordFile:
    if path.is_dir():
        raise _sub_folder(path)
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
    data = _read(file)
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


def _read(file: RecordFile) -> bytes:
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {os_error_text(error)}", file=file.path, case=file.case_id
        ) from error


def display_name(case: CaseRecords, baseline: RunRecord) -> str:
    """Give the case's name: what an importer noted, while file or folder still bear its id; else theirs."""
    noted = baseline.regress_metadata.get("name")
    if isinstance(noted, str) and case_id_of(noted) == case.case_id:
        return noted
    return case.name
