"""Writing imported runs into a suite: those that can be, each whole; what cannot is listed."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.files import temporary_sibling
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.json_io import JsonError, check_depth, dumps
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_id_of, case_name_of_file

REJECTS_FILE = "import-rejects.jsonl"
"""Where a suite has the list of what an import rejected, until the next one."""

_MOST_NAMES = 5  # of the cases a warning lists


@dataclass(slots=True)
class Counts:
    """What the records of an import hold.

    Attributes:
        cases: How many there are.
        calls: Calls of tools.
        outputs: Outputs of tools.
        errors: Outputs that the source flags as errors.
        labelled: Cases with a label.
        multi_turn: Cases that cannot be replayed, since users speak after their input.
        failed: Names of the first few whose run failed.
        more_failed: How many more there are of those.
    """

    cases: int = 0
    calls: int = 0
    outputs: int = 0
    errors: int = 0
    labelled: int = 0
    multi_turn: int = 0
    failed: list[str] = field(default_factory=list[str])
    more_failed: int = 0

    def add(self, run: Imported) -> None:
        """Count one more."""
        kinds = Counter(item["type"] for item in run.record.items)
        self.cases += 1
        self.calls += kinds["tool_call_item"]
        self.outputs += kinds["tool_call_output_item"]
        self.errors += sum(item.get("isError") is True for item in run.record.items)
        self.labelled += "label" in run.record.regress_metadata
        self.multi_turn += run.multi_turn
        if run.record.status == "failed":
            if len(self.failed) < _MOST_NAMES:
                self.failed.append(run.name)
            else:
                self.more_failed += 1

    def warnings(self) -> Iterator[str]:
        """Say what there is to know about the records."""
        if self.failed:
            more = f" and {self.more_failed} more" if self.more_failed else ""
            names = ", ".join(self.failed)
            yield f"status failed: {names}{more}; replaying a baseline to an equal run needs a completed one"
        if self.multi_turn:
            yield (
                f"multi-turn: {self.multi_turn} of {self.cases} records can be compared with "
                "recorded candidates only; import with --turns each to replay"
            )


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an import.

    Attributes:
        folder: Where the records are.
        written: How many were written.
        unchanged: How many were there already, byte for byte.
        counts: What they hold.
        skipped: What was no run.
        rejected: What could not be imported.
    """

    folder: Path
    written: int
    unchanged: int
    counts: Counts
    skipped: tuple[Skipped, ...]
    rejected: tuple[Rejected, ...]


def count_only(outcomes: Iterable[Outcome], suite: Path) -> ImportReport:
    """Say what `write_imported` would do with an empty suite, and write nothing."""
    sorted_out = _Sorted(None)
    for outcome in outcomes:
        sorted_out.add(outcome)
    return sorted_out.report(suite / "records", written=0, twins=())


def write_imported(outcomes: Iterable[Outcome], suite: Path) -> ImportReport:
    """Write each imported run to `SUITE/records/<case_id>.json`, and what is rejected to a file beside them.

    Every file is written beside the folder first and moved when the source has come to its end, so that an
    import that breaks off leaves nothing behind. A run is rejected if there is another one of its case, in
    the source before it or in the folder.

    Raises:
        InputError: If the suite cannot be written. Nothing is written then.
    """
    records = suite / "records"
    try:
        with _staging_folder(suite) as folder:
            sorted_out = _Sorted(folder)
            for outcome in outcomes:
                sorted_out.add(outcome)
            new, twins = _new_files(folder, records)
            if new:
                records.mkdir(exist_ok=True)
            for file in new:
                file.replace(records / file.name)
            report = sorted_out.report(records, written=len(new), twins=twins)
            _list_rejects(report.rejected, suite)
    except OSError as error:
        raise InputError(
            f"cannot be written: {os_error_text(error)}",
            file=suite,
            remedy="name a folder that you can write",
        ) from error
    return report


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


class _Sorted:
    """Sorts outcomes as they come, and writes the runs to a folder, where there is one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._counts = Counts()
        self._places: dict[str, str] = {}
        self._skipped: list[Skipped] = []
        self._rejected: list[Rejected] = []

    def add(self, outcome: Outcome) -> None:
        match outcome:
            case Imported():
                self._add_run(outcome)
            case Skipped():
                self._skipped.append(outcome)
            case Rejected():
                self._rejected.append(outcome)

    def _add_run(self, run: Imported) -> None:
        try:
            text = _text_of(run.record)
        except JsonError as error:
            self._rejected.append(Rejected(run.position, str(error), run.file))
            return
        # The id that a reader will give to a file of this name: it takes `.runrecord` off.
        case_id = case_id_of(case_name_of_file(f"{run.name}.json"))
        place = f"{run.file}: {run.position}"
        twin = self._places.setdefault(case_id.casefold(), place)
        if twin is not place:
            reason = f"the same case as {twin}, letter case aside: {case_id}; name them apart with --name"
            self._rejected.append(Rejected(run.position, reason, run.file))
            return
        if self._folder is not None:
            (self._folder / f"{case_id}.json").write_bytes(text)
        self._counts.add(run)

    def report(self, folder: Path, *, written: int, twins: Iterable[Path]) -> ImportReport:
        rejected = [*self._rejected]
        for twin in twins:
            case_id = case_id_of(case_name_of_file(twin.name))
            file, _, position = self._places[case_id.casefold()].partition(": ")
            reason = f"{twin} stands there already, with another run of the case: remove it first"
            rejected.append(Rejected(position, reason, file))
        unchanged = self._counts.cases - written - (len(rejected) - len(self._rejected))
        return ImportReport(
            folder=folder,
            written=written,
            unchanged=unchanged if self._folder is not None else 0,
            counts=self._counts,
            skipped=tuple(self._skipped),
            rejected=tuple(rejected),
        )


def _text_of(record: RunRecord) -> bytes:
    """Give a record as its file has it.

    Raises:
        JsonError: If it nests deeper than its row did, too deep to be read again.
    """
    text = dumps(record.data, indent=2) + b"\n"
    check_depth(text)
    return text


def _new_files(staging: Path, records: Path) -> tuple[list[Path], list[Path]]:
    """Give the staged files that are not in the folder yet, and what stands in the place of some."""
    existing: dict[str, Path] = {}
    if records.exists():
        visible = (entry for entry in records.iterdir() if not entry.name.startswith("."))
        existing = {case_id_of(case_name_of_file(entry.name)).casefold(): entry for entry in visible}
    new: list[Path] = []
    twins: list[Path] = []
    for file in sorted(staging.iterdir()):
        twin = existing.get(case_name_of_file(file.name).casefold())
        if twin is None:
            new.append(file)
        elif twin.name != file.name or twin.is_dir() or twin.read_bytes() != file.read_bytes():
            twins.append(twin)
    return new, twins


def _list_rejects(rejected: Iterable[Rejected], suite: Path) -> None:
    """Write the list of what was rejected; without any there is no such file."""
    lines = [
        dumps({"file": one.file, "position": one.position, "reason": one.reason}) + b"\n" for one in rejected
    ]
    path = suite / REJECTS_FILE
    if lines:
        path.write_bytes(b"".join(lines))
    else:
        path.unlink(missing_ok=True)
