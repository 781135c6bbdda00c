"""What `regress pipeline status` and `regress pipeline prune` do once their options are read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg

from regress_core.errors import InputError
from regress_core.history.trends import TrendPoint
from regress_core.ids import utc_now
from regress_core.records.json_io import dumps_text
from regress_core.suite.gate import ExitCode
from regress_pipeline.backfill import daemon_runs
from regress_pipeline.cli.actions.pipeline import resume_command
from regress_pipeline.cli.render import say
from regress_pipeline.home import dagster_home
from regress_pipeline.prune import prune
from regress_pipeline.settings import load_settings
from regress_pipeline.status import SuiteStatus, Unfinished, has_store, status_of
from regress_pipeline.suites import BrokenSuite, find_suite, find_suites

_MOST_NAMED = 5
_COLUMNS = 100


def status(names: Sequence[str], store: Path | None, *, as_json: bool) -> ExitCode:
    """Say how suites stand, all below the suites root when none is named.

    Returns:
        Invalid input if a named suite cannot be evaluated as it is, else fine.

    Raises:
        InputError: If a named suite is not there, or has no name because its suite.yaml is at fault.
    """
    settings, now = load_settings(store=store), utc_now()
    everything = find_suites(settings.suites_root)
    suites = [find_suite(name, settings) for name in names] or list(everything.found)
    broken = () if names else everything.broken
    found = status_of(suites, settings, now)
    runs = daemon_runs(settings, now)
    code = ExitCode.INVALID_INPUT if names and any(one.error for one in found) else ExitCode.OK
    if as_json:
        say(dumps_text(_json(found, broken, daemon=runs)))
        return code
    say(f"daemon: {'running' if runs else 'not running; `regress pipeline dev` starts one'}")
    if not has_store(settings):
        say(f"no store yet, nothing has been evaluated: {settings.store}")
    for one in found:
        for line in _lines(one, store):
            say(line)
    for one in broken:
        say(f"{one.root.name}: cannot be loaded: {one.error}")
    if not found and not broken:
        say(f"no suites below {settings.suites_root}")
    return code


def _lines(one: SuiteStatus, store: Path | None) -> Iterator[str]:
    if one.error:
        yield f"{one.suite.name}: cannot be loaded: {one.error}"
    cases = "cases unknown" if one.cases is None else f"{one.cases} cases"
    yield f"{one.suite.name}: {cases}, {one.registered} registered"
    night = one.next_night
    yield f"  next night: {_utc(night.at)} ({night.cron}, {night.timezone})" if night else "  no next night"
    for tick in one.failed_ticks:
        yield f"  {tick.name}: failed at {_utc(tick.at)}: {tick.error}"
    for point in one.last:
        yield from _wrapped(f"  last {point.trigger}: {_utc(point.created_at)}, {point.candidate_label}")
        state = "complete" if one.is_complete(point) else "reopened"
        yield f"    evaluation {point.evaluation_id}, {state}"
        yield from _wrapped(f"    {_outcome(point)}")
    for left in one.unfinished:
        yield from _wrapped(f"  unfinished {left.trigger}: {_utc(left.created_at)}, {left.candidate}")
        yield f"    evaluation {left.evaluation_id}"
        yield f"    {left.done} of {left.trials} done{_standing(left)}"
        if not left.runs:
            yield f"    go on with: {resume_command(left.evaluation_id, store)}"
    if one.orphaned:
        named = ", ".join(case.case_id for case in one.orphaned[:_MOST_NAMED])
        more = f" and {len(one.orphaned) - _MOST_NAMED} more" if len(one.orphaned) > _MOST_NAMED else ""
        yield from _wrapped(f"  orphaned, in the history only: {named}{more}")
    if one.alarm:
        yield from _wrapped(f"  trend: {one.alarm}")


def _outcome(point: TrendPoint) -> str:
    inconclusive = f" ({point.inconclusive} inconclusive)" if point.inconclusive else ""
    counts = f"{point.passed} passed, {point.warned} warned{inconclusive}, {point.failed} failed"
    rate = "" if point.pass_rate is None else f", pass rate {point.pass_rate:.3f}"
    return f"gate {point.gate_status}: {counts}{rate}, ${point.cost_usd or 0:.4f}"


def _standing(left: Unfinished) -> str:
    superseded = ", superseded by a newer night" if left.superseded else ""
    return f"{superseded}, {left.runs} runs under way" if left.runs else superseded


def _wrapped(line: str) -> list[str]:
    """Break a line of names that may be long, but no name."""
    return textwrap.wrap(
        line, _COLUMNS, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
    )


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _json(found: Sequence[SuiteStatus], broken: Sequence[BrokenSuite], *, daemon: bool) -> dict[str, Any]:
    return {
        "daemon": daemon,
        "suites": [_plain(_fields(one)) for one in found],
        "broken": [{"folder": str(one.root), "error": str(one.error)} for one in broken],
    }


def _fields(one: SuiteStatus) -> dict[str, Any]:
    last = [{**asdict(point), "complete": one.is_complete(point)} for point in one.last]
    return {**asdict(one), "suite": one.suite.name, "root": one.suite.root, "last": last}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON of whatever a status holds
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - as above
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]  # pyright: ignore[reportUnknownVariableType] - as above
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


def prune_log(keep_days: int | None, store: Path | None) -> ExitCode:
    """Prune Dagster's own event log, and say what went.

    Raises:
        InputError: If there is no Dagster home in the store.
    """
    settings = load_settings(store=store)
    if not (settings.store / "dagster" / "dagster.yaml").is_file():
        remedy = "run something through Dagster first, or name another store with --store"
        raise InputError("no Dagster home in this store", file=settings.store, remedy=remedy)
    days = settings.keep_days if keep_days is None else keep_days
    with dg.DagsterInstance.from_config(str(dagster_home(settings.store))) as instance:
        done = prune(instance, days, utc_now())
    say(f"{done.runs} runs older than {days} days deleted, {done.freed_bytes / 1e6:.1f} MB freed")
    if done.kept:
        say(f"{done.kept} as old are kept: they hold the newest event of some case")
    for name in done.not_shrunk:
        say(f"{name} is in use or too large to be made smaller now; what is free in it is filled again")
    return ExitCode.OK
