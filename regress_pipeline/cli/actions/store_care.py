"""What `regress pipeline status` and `regress pipeline prune` do once their options are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg

from regress_core.errors import InputError
from regress_core.ids import utc_now
from regress_core.records.json_io import dumps_text
from regress_core.suite.gate import ExitCode
from regress_pipeline.backfill import daemon_runs
from regress_pipeline.cli.render import say
from regress_pipeline.home import dagster_home
from regress_pipeline.prune import prune
from regress_pipeline.settings import load_settings
from regress_pipeline.status import SuiteStatus, status_of
from regress_pipeline.suites import BrokenSuite, find_suite, find_suites

_MOST_NAMED = 5


def status(names: Sequence[str], store: Path | None, *, as_json: bool) -> ExitCode:
    """Say how suites stand, all below the suites root when none is named.

    Raises:
        InputError: If a named suite is not there or broken.
    """
    settings, now = load_settings(store=store), utc_now()
    everything = find_suites(settings.suites_root)
    suites = [find_suite(name, settings) for name in names] or list(everything.found)
    broken = () if names else everything.broken
    found = status_of(suites, settings, now)
    runs = daemon_runs(settings, now)
    if as_json:
        say(dumps_text(_json(found, broken, daemon=runs)))
        return ExitCode.OK
    say(f"daemon: {'running' if runs else 'not running; `regress pipeline dev` starts one'}")
    for one in found:
        for line in _lines(one):
            say(line)
    for one in broken:
        say(f"{one.root.name}: cannot be loaded: {one.error}")
    if not found and not broken:
        say(f"no suites below {settings.suites_root}")
    return ExitCode.OK


def _lines(one: SuiteStatus) -> Iterator[str]:
    night = f", next night {_utc(one.next_night)}" if one.next_night else ", no schedule"
    yield f"{one.suite.name}: {one.cases} cases, {one.registered} registered{night}"
    if one.error:
        yield f"  {one.error}"
    for point in one.last:
        rate = "" if point.pass_rate is None else f", pass rate {point.pass_rate:.3f}"
        yield (
            f"  last {point.trigger}: {_utc(point.created_at)}, {point.candidate_label}, gate"
            f" {point.gate_status} ({point.passed} passed, {point.warned} warned, {point.failed} failed)"
            f"{rate}, ${point.cost_usd or 0:.4f}"
        )
    for left in one.unfinished:
        how = f"{left.done} of {left.trials} done"
        if left.runs:
            what = f"{left.runs} runs under way"
        else:
            what = f"go on with: regress run --resume {left.evaluation_id}"
        newer = ", superseded by a newer night" if left.superseded else ""
        head = f"unfinished {left.trigger} of {_utc(left.created_at)}, {left.candidate}"
        yield f"  {head}: {how}{newer}; {what}"
    if one.orphaned:
        named = ", ".join(case.case_id for case in one.orphaned[:_MOST_NAMED])
        more = f" and {len(one.orphaned) - _MOST_NAMED} more" if len(one.orphaned) > _MOST_NAMED else ""
        yield f"  orphaned, in the history only: {named}{more}"
    if one.alarm:
        yield f"  trend: {one.alarm}"


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _json(found: Sequence[SuiteStatus], broken: Sequence[BrokenSuite], *, daemon: bool) -> dict[str, Any]:
    return {
        "daemon": daemon,
        "suites": [_plain({**asdict(one), "suite": one.suite.name, "root": one.suite.root}) for one in found],
        "broken": [{"folder": str(one.root), "error": str(one.error)} for one in broken],
    }


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
        say(f"{name} was in use; the next pruning gives its free space back")
    return ExitCode.OK
