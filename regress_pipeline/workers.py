"""Which runs are really under way: Dagster keeps a run started for ever whose process was killed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
from dagster._core.events import JobFailureData, RunFailureReason
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES, DagsterRunStatus
from filelock import FileLock, Timeout

QUIET_FOR = timedelta(seconds=15)
"""Between the end of a run's work and the event that says so."""

STARTS_WITHIN = timedelta(minutes=10)
"""Between the event that a run has started and its work."""

_MESSAGE = "the process of this run has ended without a word; what it had done is kept"
_UNDER_WAY = [DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


@contextmanager
def at_work(store: Path, run_id: str) -> Generator[None]:
    """Hold a run's lock while it works; the system lets go of it however the process ends."""
    folder = _folder(store)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{run_id}.lock"):
        yield


def fail_dead_runs(instance: dg.DagsterInstance, store: Path, now: datetime) -> list[str]:
    """Report the runs whose process is gone as failed, or as canceled where that was asked for.

    A daemon then retries a failed one, which goes on with what is not done. All runs of a store are on one
    machine.

    Returns:
        The ids of these runs.
    """
    under_way = instance.get_runs(dg.RunsFilter(statuses=_UNDER_WAY))
    dead = [run for run in under_way if _is_dead(instance, store, run, now)]
    for run in dead:
        if run.status is DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, _MESSAGE)
        else:
            reason = RunFailureReason.UNEXPECTED_TERMINATION
            instance.report_run_failed(run, _MESSAGE, JobFailureData(error=None, failure_reason=reason))
    _remove_locks(instance, store)
    return [run.run_id for run in dead]


def _is_dead(instance: dg.DagsterInstance, store: Path, run: dg.DagsterRun, now: datetime) -> bool:
    lock = _folder(store) / f"{run.run_id}.lock"
    if lock.exists():
        return _is_free(lock) and _silent(instance, run, now) > QUIET_FOR
    return _silent(instance, run, now) > STARTS_WITHIN


def _silent(instance: dg.DagsterInstance, run: dg.DagsterRun, now: datetime) -> timedelta:
    """Give how long a run has written no event."""
    [*events] = instance.event_log_storage.get_logs_for_run(run.run_id, limit=1, ascending=False)
    if not events:
        return timedelta(0)
    return now - datetime.fromtimestamp(events[0].timestamp, tz=now.tzinfo)


def _is_free(path: Path) -> bool:
    lock = FileLock(path)
    try:
        with lock.acquire(blocking=False):
            return True
    except Timeout:
        return False


def _remove_locks(instance: dg.DagsterInstance, store: Path) -> None:
    paths = list(_folder(store).glob("*.lock"))
    if not paths:
        return
    unfinished = {run.run_id for run in instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES))}
    for path in paths:
        if path.stem not in unfinished and _is_free(path):
            path.unlink(missing_ok=True)


def _folder(store: Path) -> Path:
    return store / "dagster" / "workers"
