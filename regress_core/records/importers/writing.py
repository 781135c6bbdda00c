"""Writing imported runs into a suite: all of them, or none."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.files import temporary_sibling
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.json_io import JsonError, dumps, loads
from regress_core.records.naming import case_id_of, case_name_of_file

_MOST_NAMES = 5  # of the cases a warning lists


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an import.

    Attributes:
        folder: Where the records are.
        written: How many were written.
        unchanged: How many were there already, byte for byte.
        labelled: How many of both have a label.
        skipped: What was no run.
        rejected: The runs that could not be imported.
        warnings: What to know about the records.
    """

    folder: Path
    written: int
    unchanged: int
    labelled: int
    skipped: tuple[Skipped, ...]
    rejected: tuple[Rejected, ...]
    warnings: tuple[str, ...]

    @property
    def imported(self) -> int:
        """How many runs are in the folder now, written or already there."""
        return self.written + self.unchanged


def write_imported(outcomes: Iterable[Outcome], suite: Path, source: Path) -> ImportReport:
    """Write each imported run to `SUITE/records/<case_id>.json`; errors name `source` as its origin.

    Every file is written beside the folder first and moved when the source has come to its end, so that a
    source that breaks off leaves nothing behind. Rejected runs do not stop the others.

    Raises:
        InputError: If the source breaks off, two runs are the same case, or the folder holds another run of
            a case. Nothing is written then.
    """
    records = suite / "records"
    try:
        with _staging_folder(suite) as folder:
            staging = _Staging(folder, source)
            for outcome in outcomes:
                staging.add(outcome)
            new = _new_files(folder, records)
            if new:
                records.mkdir(exist_ok=True)
            for file in new:
                file.replace(records / file.name)
    except OSError as error:
        raise InputError(
            f"cannot be written: {os_error_text(error)}",
            file=suite,
            remedy="name a folder that you can write",
        ) from error
    return staging.report(records, written=len(new))


@contextmanager
def _staging_folder(suite: Path) -> Generator[Path]:
    """Make a folder inside the suite's; in the end it goes, and so does each new folder that stayed empty."""
    made = [folder for folder in (suite, *suite.parents) if not folder.exists()]
    staging = temporary_sibling(suite / "records")
    try:
        staging.mkdir(parents=True)
        yield staging
    finally:
        if staging.exists():
            shutil.rmtree(staging)
        for folder in made:
            with suppress(OSError):  # it holds something now
                folder.rmdir()


class _Staging:
    """Writes runs to the staging folder one by one and keeps count of them."""

    def __init__(self, folder: Path, source: Path) -> None:
        self._folder = folder
        self._source = source
        self._positions: dict[str, str] = {}
        self._skipped: list[Skipped] = []
        self._rejected: list[Rejected] = []
        self._failed: list[str] = []
        self._multi_turn = 0
        self._labelled = 0

    def add(self, outcome: Outcome) -> None:
        match outcome:
            case Imported():
                self._add_run(outcome)
            case Skipped():
                self._skipped.append(outcome)
            case Rejected():
                self._rejected.append(outcome)

    def _add_run(self, run: Imported) -> None:
        text = dumps(run.record.data, indent=2) + b"\n"
        try:
            loads(text)  # a record nests deeper than its row did, perhaps too deep to be read again
        except JsonError as error:
            self._rejected.append(Rejected(run.position, str(error)))
            return
        # The id that a reader will give to a file of this name: it takes `.runrecord` off.
        case_id = case_id_of(case_name_of_file(f"{run.name}.json"))
        twin = self._positions.get(case_id.casefold())
        if twin is not None:
            raise InputError(
                f"{twin} and {run.position} are the same case (letter case aside)",
                file=self._source,
                case=case_id,
                remedy="name them apart with --id, pick some with --where, or rename the file",
            )
        self._positions[case_id.casefold()] = run.position
        (self._folder / f"{case_id}.json").write_bytes(text)
        if run.record.status == "failed":
            self._failed.append(run.name)
        self._multi_turn += run.multi_turn
        self._labelled += "label" in run.record.regress_metadata

    def report(self, folder: Path, *, written: int) -> ImportReport:
        return ImportReport(
            folder=folder,
            written=written,
            unchanged=len(self._positions) - written,
            labelled=self._labelled,
            skipped=tuple(self._skipped),
            rejected=tuple(self._rejected),
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterable[str]:
        if self._failed:
            names = ", ".join(self._failed[:_MOST_NAMES])
            more = f" and {len(self._failed) - _MOST_NAMES} more" if len(self._failed) > _MOST_NAMES else ""
            yield f"status failed: {names}{more}; replaying a baseline to an equal run needs a completed one"
        if self._multi_turn:
            yield (
                f"multi-turn: {self._multi_turn} of {len(self._positions)} records can be compared with "
                "recorded candidates only; import with --turns each to replay"
            )


def _new_files(staging: Path, records: Path) -> list[Path]:
    """List the staged files that are not in the folder yet.

    Raises:
        InputError: If the folder holds something else for one of the cases.
    """
    existing: dict[str, Path] = {}
    if records.exists():
        visible = (entry for entry in records.iterdir() if not entry.name.startswith("."))
        existing = {case_id_of(case_name_of_file(entry.name)).casefold(): entry for entry in visible}
    new: list[Path] = []
    for file in sorted(staging.iterdir()):
        case_id = case_name_of_file(file.name)
        twin = existing.get(case_id.casefold())
        if twin is None:
            new.append(file)
        elif twin.name != file.name or twin.is_dir() or twin.read_bytes() != file.read_bytes():
            raise InputError(
                "stands there already, with another run of the case",
                file=twin,
                case=case_id,
                remedy="remove it first, or import into another suite",
            )
    return new
