"""What stands how: suites, their evaluations, what goes on and what is left undone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

import dagster as dg

from regress_core.errors import InputError
from regress_core.evaluation.plan import Trigger
from regress_core.evaluation.plan_rows import trigger_of
from regress_core.evaluation.ports import JOURNAL_FILE, Ports
from regress_core.history.results import OrphanedCase, orphaned
from regress_core.history.store import History
from regress_core.history.trends import TrendPoint, finished_evaluations, last_of, trend_alarm
from regress_core.journal.journal import EvaluationRow
from regress_core.records.json_io import loads_own
from regress_core.records.loading import list_case_records
from regress_core.suite.config import SUITE_FILE, SuiteConfig
from regress_core.suite.loading import load_suite_config
from regress_core.suite.nightly import ScheduleConfig
from regress_pipeline.failed_ticks import FailedTick, failed_ticks
from regress_pipeline.home import dagster_home
from regress_pipeline.partitions import partitions_name, unfinished_runs
from regress_pipeline.schedules import night_name
from regress_pipeline.sensors import watch_name
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder
from regress_pipeline.ticks import check_schedule, ticks_from
from regress_pipeline.workers import fail_dead_runs


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An evaluation that is not finished.

    Attributes:
        done: How many trials have an outcome, of how many.
        trials: How many there are.
        runs: How many Dagster runs of it are queued or under way.
        superseded: Whether a newer night has taken its place.
    """

    evaluation_id: str
    trigger: str
    created_at: datetime
    candidate: str
    done: int
    trials: int
    runs: int
    superseded: bool


@dataclass(frozen=True, slots=True)
class NextNight:
    """When a schedule ticks next.

    Attributes:
        cron: As suite.yaml has it, in the time zone.
        timezone: IANA name of the time zone.
        at: The moment, UTC.
    """

    cron: str
    timezone: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SuiteStatus:
    """How a suite stands.

    Attributes:
        cases: How many cases its folder has; None if they cannot be listed.
        registered: How many partitions Dagster has.
        orphaned: Cases with results that the folder no longer has.
        last: The newest finished evaluation of each trigger, the newest first.
        unfinished: Evaluations that are not finished, the newest first.
        next_night: When the schedule ticks next; None without one that ticks.
        failed_ticks: Of the schedule and the sensor, where the last one failed.
        alarm: What is to be said of a slow decline of the nights.
        error: What keeps the suite from being evaluated; None if nothing does.
    """

    suite: SuiteFolder
    cases: int | None
    registered: int
    orphaned: tuple[OrphanedCase, ...]
    last: tuple[TrendPoint, ...]
    unfinished: tuple[Unfinished, ...]
    next_night: NextNight | None
    failed_ticks: tuple[FailedTick, ...]
    alarm: str | None
    error: str | None

    def is_complete(self, point: TrendPoint) -> bool:
        """Tell whether an evaluation is as it was finished; one that is reopened is unfinished again."""
        return point.evaluation_id not in {left.evaluation_id for left in self.unfinished}


def has_store(settings: Settings) -> bool:
    """Tell whether anything has been evaluated on this store."""
    return (settings.store / JOURNAL_FILE).is_file()


def status_of(suites: Sequence[SuiteFolder], settings: Settings, now: datetime) -> list[SuiteStatus]:
    """Look at suites; record files are listed and not read, and nothing is written but that a run is dead.

    Raises:
        InputError: If the store cannot be read.
    """
    with ExitStack() as stack:
        ports = stack.enter_context(Ports.open(settings.store)) if has_store(settings) else None
        instance = None
        if (settings.store / "dagster" / "dagster.yaml").is_file():
            home = dagster_home(settings.store)
            instance = stack.enter_context(dg.DagsterInstance.from_config(str(home)))
            fail_dead_runs(instance, settings.store, now)
        return [_status(one, settings, now, ports, instance) for one in suites]


def _status(
    suite: SuiteFolder,
    settings: Settings,
    now: datetime,
    ports: Ports | None,
    instance: dg.DagsterInstance | None,
) -> SuiteStatus:
    config = load_suite_config(suite.root)
    ids, unlisted = _case_ids(suite, config)
    night, no_night = _next_night(suite, config.schedule, now)
    history = History.open(settings.store)
    triggers: tuple[Trigger, ...] = get_args(Trigger)
    finished = finished_evaluations(history, suite.name)
    last = [point for trigger in triggers for point in last_of(finished, trigger, 1)]
    nights = last_of(finished, "night", config.trend.evaluations)
    names = (night_name(suite.name), watch_name(suite.name))
    keys = instance.get_dynamic_partitions(partitions_name(suite.name)) if instance else ()
    return SuiteStatus(
        suite=suite,
        cases=None if ids is None else len(ids),
        registered=len(keys),
        orphaned=() if ids is None else orphaned(history, suite.name, ids),
        last=tuple(sorted(last, key=lambda point: point.created_at, reverse=True)),
        unfinished=_unfinished(suite, ports, instance) if ports else (),
        next_night=night,
        failed_ticks=() if instance is None else failed_ticks(instance, names),
        alarm=trend_alarm(nights, config.trend),
        error=unlisted or no_night,
    )


def _case_ids(suite: SuiteFolder, config: SuiteConfig) -> tuple[list[str] | None, str | None]:
    try:
        return [case.case_id for case in list_case_records(suite.root / config.records)], None
    except InputError as error:
        return None, str(error)


def _unfinished(
    suite: SuiteFolder, ports: Ports, instance: dg.DagsterInstance | None
) -> tuple[Unfinished, ...]:
    rows = ports.journal.evaluations_of(suite.name)
    nights = [row.evaluation_id for row in rows if trigger_of(row) == "night"]
    return tuple(
        _one(row, ports, instance, superseded=row.evaluation_id in nights[1:])
        for row in rows
        if row.state == "running"
    )


def _one(
    row: EvaluationRow, ports: Ports, instance: dg.DagsterInstance | None, *, superseded: bool
) -> Unfinished:
    plan = loads_own(row.plan)
    cases, done = ports.journal.progress(row.evaluation_id)
    return Unfinished(
        evaluation_id=row.evaluation_id,
        trigger=trigger_of(row),
        created_at=row.created_at,
        candidate=plan["candidate"]["label"],
        done=done,
        trials=cases * plan["how"]["trials"],
        runs=0 if instance is None else len(unfinished_runs(instance, row.suite, row.evaluation_id)),
        superseded=superseded,
    )


def _next_night(
    suite: SuiteFolder, schedule: ScheduleConfig | None, now: datetime
) -> tuple[NextNight | None, str | None]:
    if schedule is None:
        return None, None
    try:
        check_schedule(schedule, suite.root / SUITE_FILE)
    except InputError as error:
        return None, str(error)
    return NextNight(schedule.cron, schedule.timezone, next(ticks_from(schedule, now))), None
