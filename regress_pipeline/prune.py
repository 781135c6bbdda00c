"""Trimming Dagster's own record of old runs, some 40 KB a case and night; the history is never touched."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
import sqlalchemy as sa
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    DynamicPartitionsTable,
    SqlEventLogStorageTable,
)

from regress_core.errors import InputError
from regress_pipeline.partitions import BACKFILL, CASE_ASSETS, backfills_under_way, partitions_name

_DATABASES = ("history/runs/index.db", "history/runs.db", "schedules/schedules.db")
"""What grows with every night, in a Dagster home on SQLite; below it."""

T = TypeVar("T")

_CENTURY = 36_500  # days; a date before the year 1 there is none
_A_QUERY = 10_000  # SQLite takes some 32,000 values in one statement
_WAIT_S = 1.0
_SHRINK_S = 10.0  # others that want to write wait for so long; Dagster gives up after 30 s


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pruning did.

    Attributes:
        runs: How many runs were deleted.
        kept: How many are as old, and still count.
        freed_bytes: How much smaller Dagster's home is now.
        not_shrunk: The databases that were in use, or too large to be rewritten in a few seconds: what was
            freed in them, the next nights fill again.
    """

    runs: int
    kept: int
    freed_bytes: int
    not_shrunk: tuple[str, ...]


def prune(instance: dg.DagsterInstance, keep_days: int, now: datetime) -> Pruned:
    """Delete finished runs that nothing has happened to for some days, with their events and logs.

    A run stays while it holds the newest event of some asset or check for a registered partition, so that no
    status changes, or while its backfill is under way. If it is cut short, the next one does the rest.

    Args:
        instance: The store's.
        keep_days: Of how many days all runs are kept.
        now: The time, with its zone.

    Raises:
        InputError: If Dagster's events are not in a database.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        raise InputError(f"Dagster's events are not in a database: {type(storage).__name__}")
    home = Path(instance.root_directory)
    before = _size_of(home)
    until = now.astimezone(UTC) - timedelta(days=min(keep_days, _CENTURY))
    old = set(instance.get_run_ids(dg.RunsFilter(statuses=FINISHED_STATUSES, updated_before=until)))
    wanted = old & (_runs_that_count(storage) | _runs_of_backfills_under_way(instance))
    gone = sorted(old - wanted)
    _delete_checks(storage, gone)
    for run_id in gone:
        instance.compute_log_manager.delete_logs(prefix=[run_id])
        storage.delete_events(run_id)
        instance.run_storage.delete_run(run_id)  # last, for a run that is not there is not looked at again
    not_shrunk = tuple(name for name in _DATABASES if not _shrink(home / name))
    return Pruned(len(gone), len(wanted), max(0, before - _size_of(home)), not_shrunk)


def _runs_of_backfills_under_way(instance: dg.DagsterInstance) -> set[str]:
    ids = backfills_under_way(instance)
    return set(instance.get_run_ids(dg.RunsFilter(tags={BACKFILL: ids}))) if ids else set()


def _runs_that_count(storage: SqlEventLogStorage) -> set[str]:
    """Give the runs without which Dagster would show something else.

    For each asset and partition these are the run of the newest materialization, and the run of the newest
    planned one if that came to nothing; for each check and partition, the run of the newest evaluation.
    Partitions of retired cases do not count. The run of the newest event of all stays too, or else its number
    would be given again.
    """
    events, checks = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c
    made = dg.DagsterEventType.ASSET_MATERIALIZATION.value
    planned = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED.value
    newest_events = (
        sa.select(events.asset_key, events.partition, events.dagster_event_type, sa.func.max(events.id))
        .where(events.asset_key.is_not(None), events.dagster_event_type.in_([made, planned]))
        .group_by(events.asset_key, events.dagster_event_type, events.partition)
    )
    newest_checks = sa.select(checks.asset_key, checks.partition, sa.func.max(checks.id)).group_by(
        checks.asset_key, checks.check_name, checks.partition
    )
    registration = sa.select(DynamicPartitionsTable.c.partitions_def_name, DynamicPartitionsTable.c.partition)
    with storage.index_connection() as connection:
        registered = {(name, partition) for name, partition in connection.execute(registration)}
        found = {
            (asset, partition, kind): number
            for asset, partition, kind, number in connection.execute(newest_events)
            if _counts(asset, partition, registered)
        }
        event_ids = {
            number
            for (asset, partition, kind), number in found.items()
            if kind == made or number > found.get((asset, partition, made), 0)
        }
        check_ids = {
            number
            for asset, partition, number in connection.execute(newest_checks)
            if _counts(asset, partition, registered)
        }
        newest = connection.execute(sa.select(sa.func.max(events.id))).scalar() or 0
        return _run_ids(connection, events, {*event_ids, newest}) | _run_ids(connection, checks, check_ids)


def _counts(asset: str, partition: str | None, registered: set[tuple[str, str]]) -> bool:
    """Tell whether a partition of an asset is looked at; those of cases are while they are registered."""
    key = dg.AssetKey.from_db_string(asset)
    if key is None or partition is None or key.path[-1] not in CASE_ASSETS:
        return True
    return (partitions_name(key.path[0]), partition) in registered


def _run_ids(
    connection: sa.Connection, columns: sa.ColumnCollection[str, sa.Column[Any]], ids: set[int]
) -> set[str]:
    """Give the runs of rows of a table."""
    return {
        run_id
        for part in _parts(ids)
        for [run_id] in connection.execute(sa.select(columns.run_id).where(columns.id.in_(part)).distinct())
    }


def _delete_checks(storage: SqlEventLogStorage, run_ids: Collection[str]) -> None:
    """Delete the evaluations of checks in runs, which Dagster leaves behind."""
    checks = AssetCheckExecutionsTable.c
    keys = sa.select(checks.asset_key, checks.check_name).distinct()
    with storage.index_connection() as connection:
        for asset, check in connection.execute(keys).all():
            of_check = (
                checks.asset_key == asset,
                checks.check_name == check,
            )  # there is an index from these on
            for part in _parts(run_ids):
                connection.execute(
                    AssetCheckExecutionsTable.delete().where(*of_check, checks.run_id.in_(part))
                )


def _parts(values: Collection[T]) -> Iterator[list[T]]:
    """Cut values into as many as one statement takes."""
    every = list(values)
    return (every[start : start + _A_QUERY] for start in range(0, len(every), _A_QUERY))


def _size_of(folder: Path) -> int:
    """Add up the sizes of the files below a folder, in bytes; any of them may vanish meanwhile."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _shrink(database: Path) -> bool:
    """Give a database's free pages back to the disk if they are a quarter of it; tell if that went well."""
    if not database.exists():
        return True
    try:
        with closing(sqlite3.connect(database, timeout=_WAIT_S, isolation_level=None)) as connection:
            [free] = connection.execute("PRAGMA freelist_count").fetchone()
            [pages] = connection.execute("PRAGMA page_count").fetchone()
            if 4 * free >= pages:
                end = time.monotonic() + _SHRINK_S
                connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError:  # in use, or interrupted
        return False
    return True
