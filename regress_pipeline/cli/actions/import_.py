"""What `regress import` does once its options are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder as shown
from regress_core.records.importers.base import Outcome, Rejected, Skipped
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.formats import FormatOptions, known_formats
from regress_core.records.importers.importing import Choice, Format, imported_cases
from regress_core.records.importers.naming import Naming
from regress_core.records.importers.qa_log import QaPaths
from regress_core.records.importers.redaction import everything_of, redacted
from regress_core.records.importers.sources import open_sources
from regress_core.records.importers.writing import REJECTS_FILE, ImportReport, count_only, write_imported
from regress_core.records.redact import RedactConfig
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.gate import ExitCode
from regress_core.suite.loading import load_suite_config
from regress_pipeline.cli.render import note, say

AUTO = "auto"
_MOST_LISTED = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FormatWishes:
    """Options that go with one format; None where they are not given."""

    messages: str | None
    query: str | None
    response: str | None
    timestamp: str | None
    trial: int | None

    @property
    def given(self) -> dict[str, str]:
        """The format of each option that is given, by option."""
        formats = {
            "messages": "openai-chat",
            "query": "qa-log",
            "response": "qa-log",
            "timestamp": "qa-log",
            "trial": "tau",
        }
        return {f"--{option}": name for option, name in formats.items() if getattr(self, option) is not None}

    def options(self) -> FormatOptions:
        """Give the options, the usual values where they are not given."""
        usual = FormatOptions()
        return FormatOptions(
            messages=_or(self.messages, usual.messages),
            qa=QaPaths(
                query=_or(self.query, usual.qa.query),
                response=_or(self.response, usual.qa.response),
                timestamp=_or(self.timestamp, usual.qa.timestamp),
            ),
            trial=self.trial,
        )


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options, as the command line has them."""

    limit: int | None
    where: str | None
    name: str | None
    label: str | None
    turns: Turns
    redact: bool
    dry_run: bool
    max_rejects: int
    of_format: FormatWishes


def import_runs(format_name: str, source: Path, suite: Path, wishes: Wishes) -> ExitCode:
    """Import the runs of a source and say what became of them.

    Raises:
        InputError: If the source cannot be read, the options do not go together, or the suite cannot be
            written.
    """
    formats = _formats(format_name, wishes.of_format)
    choice = Choice(wishes.where, wishes.limit, wishes.turns, Naming(wishes.name, wishes.label))
    hidden: Counter[str] = Counter()
    with open_sources(source) as (files, skipped):
        outcomes: Iterable[Outcome] = chain(skipped, imported_cases(files, formats, choice, source))
        if wishes.redact:
            outcomes = redacted(outcomes, _what_to_hide(suite), hidden)
        report = count_only(outcomes, suite) if wishes.dry_run else write_imported(outcomes, suite)
    _tell(report, suite, wishes)
    if wishes.redact and report.counts.cases:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(hidden.items())) or "nothing was found"
        say(f"redacted: {counts}")
    if len(report.rejected) > wishes.max_rejects:
        return ExitCode.INVALID_INPUT
    return ExitCode.OK if report.counts.cases else ExitCode.NO_CASES


def _formats(name: str, of_format: FormatWishes) -> Sequence[Format]:
    known = known_formats(of_format.options())
    if name != AUTO and name not in known:
        remedy = f"name one of {', '.join((*known, AUTO))}"
        raise InputError(f"no format {name!r}", field="FORMAT", remedy=remedy)
    for option, its_format in of_format.given.items():
        if name not in (AUTO, its_format):
            raise InputError(f"goes with the format {its_format}", field=option)
    return list(known.values()) if name == AUTO else [known[name]]


def _what_to_hide(suite: Path) -> RedactConfig:
    """Give every kind of personal data, and what the suite's suite.yaml hides, where that is there."""
    own = load_suite_config(suite).redact if (suite / SUITE_FILE).is_file() else None
    return everything_of(own)


def _tell(report: ImportReport, suite: Path, wishes: Wishes) -> None:
    _list(report.skipped, "skipped")
    _list(report.rejected, "rejected")
    counts = report.counts
    for warning in counts.warnings():
        note(f"warning: {warning}")
    if wishes.label is not None and counts.cases and not counts.labelled:
        note(f"warning: --label {wishes.label}: no imported run has it")
    if not counts.cases:
        note("nothing was imported")
        return
    flagged = f" ({counts.errors} flagged as errors)" if counts.errors else ""
    say(f"{counts.cases} cases: {counts.calls} calls of tools, {counts.outputs} outputs{flagged}")
    if wishes.dry_run:
        say("nothing was written: --dry-run")
        return
    there = f" ({report.unchanged} more were there already)" if report.unchanged else ""
    say(f"records written to {shown(report.folder)}: {report.written}{there}")
    if report.rejected:
        note(f"{len(report.rejected)} rejected; all are listed in {shown(suite / REJECTS_FILE)}")


def _list(ones: Sequence[Skipped | Rejected], what: str) -> None:
    for one in ones[:_MOST_LISTED]:
        place = ": ".join(part for part in (one.file, one.position) if part)
        note(f"{place}: {what}: {one.reason}")
    if len(ones) > _MOST_LISTED:
        note(f"and {len(ones) - _MOST_LISTED} more {what}")


def _or(value: T | None, usual: T) -> T:
    return usual if value is None else value
