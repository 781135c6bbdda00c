"""What `regress history` does once its options are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regress_core.errors import InputError
from regress_core.evaluation.ports import unfinished_evaluations
from regress_core.files import relative_to_working_folder as shown
from regress_core.history.compact import compact
from regress_core.history.export import ExportFormat, export
from regress_core.history.store import History
from regress_core.history.verify import verify
from regress_core.records.json_io import JsonValue, dumps_text
from regress_core.suite.gate import ExitCode
from regress_pipeline.cli.actions.inputs import date_option
from regress_pipeline.cli.render import say
from regress_pipeline.settings import load_settings


def compact_history(store: Path | None, *, as_json: bool) -> ExitCode:
    """Compact, and say what became of each folder.

    Raises:
        InputError: If there is no history.
    """
    settings = load_settings(store=store)
    done = compact(_history(store), unfinished_evaluations(settings.store))
    if as_json:
        _print([{"folder": str(one.folder), "files": one.files, "leftAlone": one.left_alone} for one in done])
        return ExitCode.OK
    for one in done:
        if one.files:
            say(f"{shown(one.folder)}: {one.files} files are one")
        if one.left_alone:
            say(f"{shown(one.folder)}: left alone: {one.left_alone}")
    say(f"{sum(one.files for one in done)} files compacted in {sum(one.files > 0 for one in done)} folders")
    return ExitCode.OK


def verify_history(store: Path | None, *, as_json: bool) -> ExitCode:
    """Read everything, and say what is wrong.

    Raises:
        InputError: If there is no history.
    """
    found = verify(_history(store))
    if as_json:
        findings = [
            {"file": str(one.path), "message": one.message, "remedy": one.remedy} for one in found.findings
        ]
        _print({"files": found.files, "rows": found.rows, "findings": findings})
    else:
        for one in found.findings:
            say(f"{shown(one.path)}: {one.message}; {one.remedy}")
        say(f"{found.files} files, {found.rows} rows, {len(found.findings)} findings")
    return ExitCode.GATE if found.findings else ExitCode.OK


def export_history(
    folder: Path,
    file_format: ExportFormat,
    suites: Sequence[str],
    since: str | None,
    store: Path | None,
    *,
    as_json: bool,
) -> ExitCode:
    """Export, and say how many rows each table has.

    Raises:
        InputError: If an option is at fault, the folder holds something else, or a file cannot be read.
    """
    counts = export(_history(store), folder, file_format, suites=suites, since=date_option(since, "--since"))
    if as_json:
        _print(dict(counts))
        return ExitCode.OK
    for table, count in counts.items():
        say(f"{table}: {count} rows")
    say(f"written to {shown(folder)}")
    return ExitCode.OK


def _history(store: Path | None) -> History:
    history = History.open(load_settings(store=store).store)
    if not history.root.is_dir():
        remedy = "evaluate something first, or name another store with --store"
        raise InputError("no history here yet", file=history.root, remedy=remedy)
    return history


def _print(value: JsonValue) -> None:
    say(dumps_text(value))
