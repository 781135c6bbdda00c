"""The event log that keeps its connections answers as Dagster's own does, whatever processes do to it."""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.events import AssetMaterializationPlannedData, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.scheduler.instigation import TickStatus
from dagster._core.storage.event_log.schema import DynamicPartitionsTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from regress_pipeline.dagster_storage import KeptSqliteEventLogStorage, RegressInstance
from regress_pipeline.home import dagster_home

RUNS = ("run-a", "run-b")
ASSETS = (dg.AssetKey(["orders", "comparisons"]), dg.AssetKey(["orders", "suite_summary"]))
_DATA_VERSION = "dagster/data_version"
_GIVE_UP_AFTER_S = 60
_APART = multiprocessing.get_context("spawn")

Storage = SqliteEventLogStorage


@dataclass(frozen=True)
class Do:
    """A call of a storage's method."""

    method: str
    arguments: tuple[Any, ...] = ()

    def __call__(self, storage: Storage) -> None:
        getattr(storage, self.method)(*self.arguments)


@contextmanager
def opened(kind: type[Storage], folder: Path) -> Generator[Storage]:
    """Open a storage, and close it at the end of the block."""
    storage = kind(str(folder))
    try:
        yield storage
    finally:
        storage.dispose()


def entry(run_id: str, event: dg.DagsterEvent | None = None, *, at: float = 1.0) -> EventLogEntry:
    """Make an entry of the event log: a message where there is no event."""
    return EventLogEntry(
        error_info=None,
        level=20,
        user_message=f"at {at}",
        run_id=run_id,
        timestamp=at,
        job_name="job",
        dagster_event=event,
    )


def event_of(kind: dg.DagsterEventType, data: Any = None) -> dg.DagsterEvent:  # noqa: ANN401 - Dagster's union
    return dg.DagsterEvent(kind.value, "job", event_specific_data=data)


def made(run_id: str, asset: dg.AssetKey, case: str | None, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a materialization."""
    materialization = dg.AssetMaterialization(asset, partition=case, tags={_DATA_VERSION: f"v{at}"})
    data = StepMaterializationData(materialization)
    return entry(run_id, event_of(dg.DagsterEventType.ASSET_MATERIALIZATION, data), at=at)


def planned(run_id: str, asset: dg.AssetKey, case: str | None, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a materialization that a run will make."""
    data = AssetMaterializationPlannedData(asset, partition=case)
    return entry(run_id, event_of(dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED, data), at=at)


def checked(run_id: str, asset: dg.AssetKey, case: str | None, at: float = 1.0) -> EventLogEntry:
    """Make the entry of an evaluated check."""
    data = dg.AssetCheckEvaluation(asset_key=asset, check_name="gate", passed=at < 5, partition=case)
    return entry(run_id, event_of(dg.DagsterEventType.ASSET_CHECK_EVALUATION, data), at=at)


def started(run_id: str, _: dg.AssetKey, __: str | None, at: float = 1.0) -> EventLogEntry:
    """Make the entry of a run's start."""
    return entry(run_id, event_of(dg.DagsterEventType.RUN_START), at=at)


def answers(storage: Storage) -> dict[str, object]:
    """Give what a storage says about everything, without the times that the database adds."""
    check_keys = [dg.AssetCheckKey(asset, "gate") for asset in ASSETS]
    changes = storage.fetch_run_status_changes(dg.DagsterEventType.RUN_START, limit=100)
    said: dict[str, object] = {
        "partitions": storage.get_dynamic_partitions("cases/orders"),
        "run starts": [(record.storage_id, record.event_log_entry) for record in changes.records],
        "asset keys": storage.all_asset_keys(),
    }
    for run_id in RUNS:
        said[f"logs of {run_id}"] = storage.get_logs_for_run(run_id)
        records = storage.get_records_for_run(run_id).records
        said[f"records of {run_id}"] = [(record.storage_id, record.event_log_entry) for record in records]
    for asset in ASSETS:
        kind = dg.DagsterEventType.ASSET_MATERIALIZATION
        said[f"materialized of {asset}"] = storage.get_materialized_partitions(asset)
        said[f"newest of {asset}"] = storage.get_latest_storage_id_by_partition(asset, kind)
        said[f"versions of {asset}"] = storage.get_latest_tags_by_partition(asset, kind, [_DATA_VERSION])
        said[f"asset {asset}"] = [
            (record.asset_entry.last_run_id, record.asset_entry.last_materialization_record)
            for record in storage.get_asset_records([asset])
        ]
    for key in check_keys:
        said[f"checks of {key}"] = [
            (record.run_id, record.status, record.partition, record.event)
            for record in storage.get_asset_check_execution_history(key, limit=100)
        ]
    return said


Make = Callable[[str, dg.AssetKey, str | None, float], EventLogEntry]


@st.composite
def stored(draw: st.DrawFn) -> Do:
    """Draw an event to store."""
    make: Make = draw(st.sampled_from([made, planned, checked, started]))
    case = draw(st.sampled_from(["case-1", "case-2", None]))
    at = float(draw(st.integers(1, 9)))
    return Do("store_event", (make(draw(st.sampled_from(RUNS)), draw(st.sampled_from(ASSETS)), case, at),))


_OTHER_CALLS = [
    *(Do("delete_events", (run_id,)) for run_id in RUNS),
    *(Do("wipe_asset", (asset,)) for asset in ASSETS),
    *(Do("add_dynamic_partitions", ("cases/orders", [key])) for key in "ab"),
    *(Do("delete_dynamic_partition", ("cases/orders", key)) for key in "ab"),
    Do("wipe"),
    Do("dispose"),
]


@given(st.lists(st.one_of(stored(), stored(), stored(), st.sampled_from(_OTHER_CALLS)), max_size=25))
@settings(max_examples=12, deadline=None)
def test_it_answers_as_dagsters_own_does(calls: list[Do]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(SqliteEventLogStorage, Path(folder) / "own") as own,
        opened(KeptSqliteEventLogStorage, Path(folder) / "kept") as kept,
    ):
        for call in calls:
            call(own)
            call(kept)
        assert answers(kept) == answers(own)


def test_either_storage_goes_on_where_the_other_stopped(tmp_path: Path) -> None:
    for number, kind in enumerate((SqliteEventLogStorage, KeptSqliteEventLogStorage) * 2, start=1):
        with opened(kind, tmp_path) as storage:
            storage.store_event(made("run-a", ASSETS[0], f"case-{number}"))

            assert materialized(storage) == {f"case-{one}" for one in range(1, number + 1)}
            assert len(storage.get_logs_for_run("run-a")) == number


def test_threads_take_turns(tmp_path: Path) -> None:
    with opened(KeptSqliteEventLogStorage, tmp_path) as storage, ThreadPoolExecutor(4) as pool:
        cases = [f"case-{number}" for number in range(60)]
        list(pool.map(storage.store_event, [made("run-a", ASSETS[0], case) for case in cases]))

        assert materialized(storage) == set(cases)
        assert len(storage.get_logs_for_run("run-a")) == len(cases)


class TestProcesses:
    def test_two_write_at_the_same_time(self, tmp_path: Path) -> None:
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            others = [apart(store_cases, tmp_path, f"run-{name}", 25) for name in "ab"]
            store_cases(tmp_path, "run-c", 25)
            for other in others:
                other.join(_GIVE_UP_AFTER_S)

            assert [other.exitcode for other in others] == [0, 0]
            assert materialized(storage) == {f"run-{name}-{number}" for name in "abc" for number in range(25)}

    def test_one_that_is_killed_loses_nothing_it_was_told_is_stored(self, tmp_path: Path) -> None:
        told = _APART.SimpleQueue()
        writer = apart(store_cases, tmp_path, "run-a", 100_000, told.put)
        stored = [told.get() for _ in range(20)]
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join(_GIVE_UP_AFTER_S)

        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            assert set(stored) <= materialized(storage)
            storage.store_event(made("run-a", ASSETS[0], "afterwards"))
            assert "afterwards" in materialized(storage)
            assert len(storage.get_logs_for_run("run-a")) >= len(stored) + 1

    def test_a_fork_leaves_the_connections_to_its_parent(self, tmp_path: Path) -> None:
        parent = apart(store_around_a_fork, tmp_path)
        parent.join(_GIVE_UP_AFTER_S)

        assert parent.exitcode == 0
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            assert materialized(storage) == {"parent-0", "child-0", "parent-1", "child-1"}

    def test_events_of_another_are_seen_while_it_keeps_its_connection(self, tmp_path: Path) -> None:
        seen: queue.SimpleQueue[str] = queue.SimpleQueue()
        end = _APART.Event()
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            storage.watch("run-a", None, lambda one, _: seen.put(one.user_message))
            writer = apart(store_and_wait, tmp_path, end)
            try:
                messages = [seen.get(timeout=_GIVE_UP_AFTER_S) for _ in range(3)]
            finally:
                end.set()
                writer.join(_GIVE_UP_AFTER_S)

        assert messages == ["at 0.0", "at 1.0", "at 2.0"]


class TestTransactions:
    def test_one_that_fails_is_taken_back_and_the_connection_serves_on(self, tmp_path: Path) -> None:
        row = {"partitions_def_name": "cases/orders", "partition": "case-1"}
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            with suppress(IntegrityError), storage.index_connection() as connection:
                connection.execute(DynamicPartitionsTable.insert().values(**row))
                connection.execute(DynamicPartitionsTable.insert().values(**row))
            assert storage.get_dynamic_partitions("cases/orders") == []

            storage.add_dynamic_partitions("cases/orders", ["case-1"])
            assert storage.get_dynamic_partitions("cases/orders") == ["case-1"]

    def test_one_waits_for_another_process_that_writes(self, tmp_path: Path) -> None:
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage, ThreadPoolExecutor(1) as pool:
            other = sqlite3.connect(tmp_path / "index.db", isolation_level=None)
            other.execute("begin immediate")
            waiting = pool.submit(storage.add_dynamic_partitions, "cases/orders", ["case-1"])
            other.execute("insert into dynamic_partitions (partitions_def_name, partition) values ('x', 'y')")
            other.execute("commit")
            other.close()

            assert waiting.result(_GIVE_UP_AFTER_S) is None
            assert storage.get_dynamic_partitions("cases/orders") == ["case-1"]


class TestFiles:
    def test_a_deleted_runs_database_is_gone_and_may_come_again(self, tmp_path: Path) -> None:
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            storage.store_event(made("run-a", ASSETS[0], "case-1"))
            storage.delete_events("run-a")
            assert not list(tmp_path.glob("run-a*"))
            assert materialized(storage) == set()

            storage.store_event(made("run-a", ASSETS[0], "case-2"))
            assert len(storage.get_logs_for_run("run-a")) == 1

    def test_a_run_that_another_process_deletes_is_not_written_to_a_lost_file(self, tmp_path: Path) -> None:
        with (
            opened(KeptSqliteEventLogStorage, tmp_path) as storage,
            opened(KeptSqliteEventLogStorage, tmp_path) as other,
        ):
            storage.store_event(made("run-a", ASSETS[0], "case-1"))
            other.delete_events("run-a")
            other.store_event(made("run-a", ASSETS[0], "case-2"))
            storage.store_event(made("run-a", ASSETS[0], "case-3"))

            for either in (storage, other):
                assert len(either.get_logs_for_run("run-a")) == 2
                assert materialized(either) == {"case-2", "case-3"}

    def test_only_a_few_connections_are_kept(self, tmp_path: Path) -> None:
        runs = [f"run-{number}" for number in range(20)]
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            for run_id in runs:
                storage.store_event(made(run_id, ASSETS[0], run_id))
            # SQLite removes a write-ahead log with the last connection to its database.
            assert {file.name for file in tmp_path.glob("*-wal")} == {
                "index.db-wal",
                *(f"{run_id}.db-wal" for run_id in runs[-8:]),
            }
            assert [len(storage.get_logs_for_run(run_id)) for run_id in runs] == [1] * len(runs)

    def test_none_is_kept_once_it_is_closed(self, tmp_path: Path) -> None:
        with opened(KeptSqliteEventLogStorage, tmp_path) as storage:
            storage.store_event(made("run-a", ASSETS[0], "case-1"))

        assert {file.name for file in tmp_path.iterdir()} == {"index.db", "run-a.db"}


OLDER_CONFIG = (
    "# The Dagster instance of a regress store. Nothing is sent anywhere.\ntelemetry:\n  enabled: false\n"
)


class TestHome:
    def test_it_has_our_storage_and_what_nights_need(self, tmp_path: Path) -> None:
        with instance_of(tmp_path) as instance:
            assert isinstance(instance, RegressInstance)
            assert isinstance(instance.event_log_storage, KeptSqliteEventLogStorage)
            assert not instance.telemetry_enabled
            assert (instance.run_retries_enabled, instance.run_retries_max_retries) == (True, 2)
            assert not instance.run_retries_retry_on_asset_or_op_failure
            assert instance.run_monitoring_enabled
            assert instance.freshness_enabled
            queue_config = instance.get_concurrency_config().run_queue_config
            assert queue_config is not None
            assert queue_config.max_concurrent_runs == 2
            days = instance.get_tick_retention_settings(InstigatorType.SENSOR)
            assert (days[TickStatus.SKIPPED], days[TickStatus.FAILURE]) == (1, 30)

    def test_one_of_an_earlier_version_keeps_what_it_has(self, tmp_path: Path) -> None:
        config = tmp_path / "dagster" / "dagster.yaml"
        config.parent.mkdir()
        config.write_text(OLDER_CONFIG, encoding="utf-8")
        with dg.DagsterInstance.from_config(str(config.parent)) as instance:
            assert type(instance.event_log_storage) is SqliteEventLogStorage
            instance.add_dynamic_partitions("cases/orders", ["case-1"])

        with instance_of(tmp_path) as instance:
            assert type(instance.event_log_storage) is KeptSqliteEventLogStorage
            assert instance.get_dynamic_partitions("cases/orders") == ["case-1"]

    @pytest.mark.parametrize(
        "theirs",
        [
            pytest.param(OLDER_CONFIG + "# ours\n", id="an earlier version's, edited"),
            pytest.param("storage: {postgres: {postgres_url: none}}\n", id="a person's"),
            pytest.param("", id="empty"),
        ],
    )
    def test_a_config_that_a_person_made_stays(self, tmp_path: Path, theirs: str) -> None:
        config = tmp_path / "dagster" / "dagster.yaml"
        config.parent.mkdir()
        config.write_text(theirs, encoding="utf-8")

        dagster_home(tmp_path)

        assert config.read_text(encoding="utf-8") == theirs

    def test_it_may_be_moved(self, tmp_path: Path) -> None:
        with instance_of(tmp_path / "here") as instance:
            instance.add_dynamic_partitions("cases/orders", ["case-1"])
        (tmp_path / "here").rename(tmp_path / "there")

        with instance_of(tmp_path / "there") as instance:
            assert instance.get_dynamic_partitions("cases/orders") == ["case-1"]
        assert not (tmp_path / "here").exists()

    def test_a_process_finds_the_same_storage_by_its_reference(self, tmp_path: Path) -> None:
        with (
            instance_of(tmp_path) as instance,
            dg.DagsterInstance.from_ref(instance.get_ref()) as again,
        ):
            assert type(again.event_log_storage) is KeptSqliteEventLogStorage


def instance_of(store: Path) -> dg.DagsterInstance:
    """Open the Dagster instance of a store."""
    return dg.DagsterInstance.from_config(str(dagster_home(store)))


def materialized(storage: Storage) -> set[str]:
    """Give the materialized partitions of the first asset."""
    return storage.get_materialized_partitions(ASSETS[0])


def apart(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process of its own that cannot outlive this one."""
    process = _APART.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def store_cases(folder: Path, run_id: str, cases: int, told: Callable[[str], object] = str) -> None:
    """Store materializations of the first asset, and tell each partition once it is stored."""
    with opened(KeptSqliteEventLogStorage, folder) as storage:
        for number in range(cases):
            storage.store_event(made(run_id, ASSETS[0], f"{run_id}-{number}"))
            told(f"{run_id}-{number}")


def store_and_wait(folder: Path, end: Event) -> None:
    """Store three events and keep the connection."""
    with opened(KeptSqliteEventLogStorage, folder) as storage:
        for number in range(3):
            storage.store_event(entry("run-a", at=float(number)))
        end.wait(_GIVE_UP_AFTER_S)


def store_around_a_fork(folder: Path) -> None:
    """Store as a process and as its fork, in turns; exits with 1 if the fork fails."""
    with opened(KeptSqliteEventLogStorage, folder) as storage:
        storage.store_event(made("run-a", ASSETS[0], "parent-0"))
        child = os.fork()
        if child == 0:
            for number in range(2):
                storage.store_event(made("run-a", ASSETS[0], f"child-{number}"))
            storage.dispose()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        storage.store_event(made("run-a", ASSETS[0], "parent-1"))
        if status:
            raise SystemExit(1)
