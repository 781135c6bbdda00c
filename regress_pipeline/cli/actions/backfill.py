"""What `regress pipeline backfill` does once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError, os_error_text
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.history.results import Only
from regress_core.ids import utc_now
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_core.suite.selection import Selection
from regress_pipeline.backfill import (
    Backfill,
    Progress,
    daemon_runs,
    is_known_to_daemon,
    plan_backfills,
    submit,
    wait,
)
from regress_pipeline.cli.actions.inputs import date_option, load_environment
from regress_pipeline.cli.actions.pipeline import evaluate_here, resume_command, tell
from regress_pipeline.cli.render import note, say
from regress_pipeline.launch import Wanted
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import find_suite

_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.INVALID_INPUT,
    ExitCode.NO_CASES,
    ExitCode.GATE,
    ExitCode.NOTHING_KNOWN,
    ExitCode.OK,
)


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of `regress pipeline backfill`."""

    suites: tuple[str, ...]
    candidate: Path
    cases: tuple[str, ...]
    tags: tuple[str, ...]
    since: str | None
    as_of: str | None
    only: Only | None
    wait: bool
    fail_on: FailOn
    store: Path | None
    allow_empty: bool


def backfill(choices: Choices, *, env_file: Path | None) -> ExitCode:
    """Plan all suites, hand them to the daemon or evaluate them here, give the worst exit code.

    Raises:
        InputError: If any input is at fault; nothing has been entered then. Or if Dagster refuses it.
    """
    load_environment(env_file)
    settings = load_settings(store=choices.store)
    selection = Selection(_patterns(choices.cases), choices.tags, date_option(choices.since, "--since"))
    folders = [find_suite(text, settings) for text in dict.fromkeys(choices.suites)]
    wanted = [Wanted(one, choices.candidate, selection, choices.as_of, choices.only) for one in folders]
    planned = plan_backfills(wanted, settings, note)
    for folder in planned.unselected:
        what = f"matches {' '.join(selection.patterns)}" if selection.patterns else "is selected"
        note(f"regress: {folder.root}: no case {what}; nothing is evaluated there")
    for folder in planned.settled:
        note(f"regress: {folder.root}: nothing is {choices.only}; nothing is evaluated there")
    backfills = planned.backfills
    if not backfills:
        # Whoever asks for what is missing wants every case to have a result, and that is so.
        is_fine = choices.allow_empty or (choices.only == "missing" and planned.settled)
        return ExitCode.OK if is_fine else ExitCode.NO_CASES
    if daemon_runs(settings, utc_now()) and is_known_to_daemon(backfills, settings):
        return _by_daemon(backfills, choices, settings)
    note("no Dagster daemon works on this store and these suites, so this process evaluates them")
    return _here(backfills, choices, settings)


def _patterns(texts: Sequence[str]) -> tuple[str, ...]:
    """Give the globs; a text that names a file stands for its lines."""
    patterns: list[str] = []
    for text in texts:
        if not Path(text).is_file():
            patterns.append(text)
            continue
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            raise InputError(f"cannot be read: {os_error_text(error)}", file=text, field="--cases") from error
        except UnicodeDecodeError as error:
            raise InputError("not UTF-8", file=text, field="--cases", remedy="save it as UTF-8") from error
        found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not found:
            raise InputError("names no case", file=text, field="--cases", remedy="one id or glob a line")
        patterns += found
    return tuple(patterns)


def _here(backfills: Sequence[Backfill], choices: Choices, settings: Settings) -> ExitCode:
    codes: list[ExitCode] = []
    for one in backfills:
        launched = evaluate_here(one.plan, one.suite, settings)
        if launched is None:
            note("interrupted: what is done is kept; the same command goes on")
            return ExitCode.INTERRUPTED
        tell(launched.summary, launched.outputs)
        codes.append(exit_code(launched.summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty))
    return _worst(codes)


def _by_daemon(backfills: Sequence[Backfill], choices: Choices, settings: Settings) -> ExitCode:
    ids = submit(backfills, settings)
    for one, backfill_id in zip(backfills, ids, strict=True):
        count = len(one.plan.suite.cases)
        say(f"{one.suite.name}: {count} cases, evaluation {one.plan.evaluation_id}, backfill {backfill_id}")
    if not choices.wait:
        note("the daemon evaluates them; see `regress pipeline status`, or Runs > Backfills in Dagster")
        return ExitCode.OK
    try:
        with _show() as show:
            wait(backfills, ids, settings, show)
    except KeyboardInterrupt:
        note("the daemon goes on; cancel it in Dagster (Runs > Backfills), or see `regress pipeline status`")
        return ExitCode.INTERRUPTED
    with Ports.open(settings.store) as ports:
        codes: list[ExitCode] = []
        for one in backfills:
            summary = summarize_evaluation(one.plan, ports)
            tell(summary, ports.outputs_of(one.plan.evaluation_id))
            if not summary.complete:
                command = resume_command(one.plan.evaluation_id, choices.store)
                note(f"not complete; go on with: {command}")
            codes.append(exit_code(summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty))
    return _worst(codes)


def _worst(codes: Sequence[ExitCode]) -> ExitCode:
    return min(codes, key=_WORST_FIRST.index)


@contextmanager
def _show() -> Generator[Callable[[Sequence[Progress]], None]]:
    """Show progress and money: one line that changes on a terminal, else a line a tenth."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True) as live:
        yield lambda parts: live.update(Text("\n".join(map(_line, parts))))


def _lines() -> Callable[[Sequence[Progress]], None]:
    told: dict[str, int] = {}

    def show(parts: Sequence[Progress]) -> None:
        for part in parts:
            tenth = part.done * 10 // part.trials
            if told.get(part.suite) != tenth:
                told[part.suite] = tenth
                note(_line(part))

    return show


def _line(part: Progress) -> str:
    return f"  {part.suite}: {part.done} of {part.trials} done, ${part.spent_usd:.4f} spent"
