"""A candidate's record becomes the baseline of its case, or another accepted run beside it."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import replacing_folder, write_bytes
from regress_core.records.loading import CaseRecords
from regress_core.records.naming import case_name_of_file, is_folder_without_a_name
from regress_core.records.wire import WireModel
from regress_core.suite.appended_lines import Moment, append_lines

ARCHIVE_FOLDER = "archive"
ACCEPTED_FILE = "accepted.jsonl"


class AcceptedRecord(WireModel):
    """A line of archive/accepted.jsonl: a person accepted a candidate's record.

    Attributes:
        case_id: The case.
        reason: Why.
        who: Who decided.
        when: When, UTC.
        evaluation_id: The evaluation that the record is from.
        run_id: The run that it records.
        sha256: SHA-256 of the new record file.
        archived: The file of the baseline that it took the place of, relative to the archive; None for a
            record that is accepted beside the baseline.
    """

    case_id: str
    reason: str
    who: str
    when: Moment
    evaluation_id: str
    run_id: str
    sha256: str
    archived: str | None = None


def replace_baseline(root: Path, case: CaseRecords, record: bytes, accepted: AcceptedRecord) -> Path:
    """Put a record in the place of a case's baseline; other accepted runs stay.

    The archive is written first, so that whatever happens in between, the old baseline is there. Its file is
    `<case>/<UTC time>-<8 digits of SHA-256>.json`.

    Args:
        root: The suite's folder.
        case: The case's records.
        record: The new content.
        accepted: The line that says so, to which the archive's file is added.

    Returns:
        The file in the archive.

    Raises:
        InputError: If another process does not let go of accepted.jsonl.
        OSError: If a file cannot be read or written.
    """
    standing = case.baseline.path.read_bytes()
    when = datetime.fromisoformat(accepted.when).astimezone(UTC)
    archived = f"{case.case_id}/{when:%Y%m%dT%H%M%SZ}-{_digits(standing)}.json"
    write_bytes(root / ARCHIVE_FOLDER / archived, standing)
    _note(root, accepted.model_copy(update={"archived": archived}))
    _remove_remains(case)
    write_bytes(case.baseline.path, record)
    return root / ARCHIVE_FOLDER / archived


def add_beside(root: Path, case: CaseRecords, record: bytes, accepted: AcceptedRecord) -> Path:
    """Put a record beside a case's accepted runs; the baseline stays the first of them, byte for byte.

    The file of a case that has one becomes a folder, in which it is `1.json`. Files beside the baseline have
    8 digits of their SHA-256, so that two branches that accept one each do not meet; the baseline has none,
    for its content gets replaced. The old file goes when the folder stands; in between the two are loaded as
    what the folder is.

    Args:
        root: The suite's folder.
        case: The case's records.
        record: The new content.
        accepted: The line that says so.

    Returns:
        The new file.

    Raises:
        InputError: If another process does not let go of accepted.jsonl, or no folder may be named as the
            case is.
        OSError: If a file cannot be read or written.
    """
    if case.path.is_dir():
        added = case.path / _next_name(case, record)
        _note(root, accepted)
        _remove_remains(case)
        write_bytes(added, record)
        return added
    folder, baseline = _new_folder(case), case.path.read_bytes()
    name = f"2-{_digits(record)}.json"
    _note(root, accepted)
    with replacing_folder(folder) as fresh:
        (fresh / "1.json").write_bytes(baseline)
        (fresh / name).write_bytes(record)
    case.path.unlink()
    return folder / name


def _new_folder(case: CaseRecords) -> Path:
    if is_folder_without_a_name(case.name):
        message, remedy = "no folder of a case may have its name", "rename the case's files"
        raise InputError(message, file=case.path, case=case.case_id, remedy=remedy)
    return case.path.with_name(case.name)


def _next_name(case: CaseRecords, record: bytes) -> str:
    """Name a file that comes after the baseline's, however people have named theirs."""
    names = [file.path.name for file in case.files]
    numbers = [int(found[0]) for name in names if (found := re.match("[0-9]+", name))]
    name = f"{max([len(names), *numbers]) + 1}-{_digits(record)}.json"
    return name if name > names[0] else f"{case_name_of_file(names[0])}_{name}"


def _digits(record: bytes) -> str:
    return hashlib.sha256(record).hexdigest()[:8]


def _note(root: Path, accepted: AcceptedRecord) -> None:
    append_lines(root / ARCHIVE_FOLDER / ACCEPTED_FILE, [accepted.to_json()])


def _remove_remains(case: CaseRecords) -> None:
    if case.remains is not None:
        case.remains.unlink(missing_ok=True)
