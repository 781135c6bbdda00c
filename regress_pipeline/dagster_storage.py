"""Dagster's storage on SQLite, with an event log that keeps its connections.

Dagster's own opens and closes a database for every event; with each close SQLite folds the write-ahead log
back into the file, and every statement is compiled anew: two thirds of the time that a case takes through
Dagster. Files and tables are Dagster's, so that either storage goes on where the other stopped.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sa
import yaml
from dagster._core.event_api import EventHandlerFn
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
)
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import event
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, Pool, StaticPool
from watchdog.events import FileSystemEvent
from watchdog.observers import Observer

_MOST_RUNS = 8  # a run's process writes one, a person in the user interface looks at a few
_SUFFIXES = ("-wal", "-shm", "")
"""The files of a database; the log goes first, so that what may remain is a whole database."""


class RegressInstance(dg.DagsterInstance):
    """A Dagster instance whose storage is `KeptSqliteStorage` where dagster.yaml names no other.

    Dagster asks the class of instance that dagster.yaml names for its defaults, and tells it where the home
    is; a storage named in dagster.yaml would have to spell the folder out.
    """

    @classmethod
    def config_schema(cls) -> Mapping[str, Any]:
        """Take no more settings than any instance."""
        return {}

    @staticmethod
    def config_defaults(base_dir: str) -> Mapping[str, ConfigurableClassData | None]:
        """Give the classes of all parts of the instance in a Dagster home."""
        where = yaml.safe_dump({"base_dir": base_dir})
        storage = ConfigurableClassData(__name__, KeptSqliteStorage.__name__, where)
        return {**InstanceRef.config_defaults(base_dir), "storage": storage}


class KeptSqliteStorage(DagsterSqliteStorage):
    """Dagster's SQLite storage, on the same files, with an event log that keeps its connections."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = KeptSqliteEventLogStorage(str(Path(base_dir) / "history" / "runs"))

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> KeptSqliteStorage:
        """Make the storage that `RegressInstance` asks for."""
        return cls.from_local(inst_data=inst_data, **config_value)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An engine with one connection, and which file it is connected to."""

    engine: sa.Engine
    file: tuple[int, int] | None


class KeptSqliteEventLogStorage(SqliteEventLogStorage):
    """Dagster's SQLite event log, with one connection kept for the index and for each of a few runs.

    Commits do not wait for the disk: a process that is killed loses nothing, and after a power cut the newest
    events may be missing while the databases are whole. What counts is in the journal.

    Threads take turns, as Dagster's own lock has it; several processes may use the same files.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._of_parents: list[OrderedDict[str, _Kept]] = []
        self._process = os.getpid()
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> KeptSqliteEventLogStorage:
        """Make the storage that dagster.yaml names."""
        return cls(inst_data=inst_data, **config_value)

    def has_table(self, table_name: str) -> bool:
        """Tell whether the index has a table; Dagster asks for every event."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def delete_events(self, run_id: str) -> None:
        """Delete a run's events, its database with them."""
        with self._db_lock:
            self._drop(run_id)
            for suffix in _SUFFIXES:
                Path(self.path_for_shard(run_id) + suffix).unlink(missing_ok=True)
        with self.index_connection() as connection:
            self.delete_events_for_run(connection, run_id)
        if self.supports_global_concurrency_limits:
            self.free_concurrency_slots_for_run(run_id)

    def wipe(self) -> None:
        """Delete all events."""
        self._close()
        super().wipe()

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Call back for a run's new events, whichever process writes them."""
        if not self._obs:
            self._obs = Observer()
            self._obs.start()
        watchdog = _Watchdog(self, run_id, callback, cursor)
        watch = self._obs.schedule(watchdog, self._base_dir, recursive=True)
        self._watchers[run_id][callback] = (watchdog, watch)

    def dispose(self) -> None:
        """Close the connections and end the watching."""
        super().dispose()
        self._close()

    @contextmanager
    def _connect(self, shard: str) -> Generator[sa.Connection]:
        with self._db_lock, self._engine(shard).begin() as connection:
            yield connection

    def _engine(self, shard: str) -> sa.Engine:
        path = Path(self.path_for_shard(shard))
        kept = self._own().get(shard)
        if kept is not None and kept.file == _file_of(path):
            self._kept.move_to_end(shard)
            return kept.engine
        self._drop(shard)
        if shard not in self._initialized_dbs or not path.exists():
            self._initdb(self._new_engine(shard, NullPool))
            self._initialized_dbs.add(shard)
        runs = [name for name in self._kept if name != INDEX_SHARD_NAME]
        if len(runs) >= _MOST_RUNS:
            self._drop(runs[0])
        self._kept[shard] = _Kept(self._new_engine(shard, StaticPool), _file_of(path))
        return self._kept[shard].engine

    def _new_engine(self, shard: str, pool: type[Pool]) -> sa.Engine:
        engine = sa.create_engine(
            self.conn_string_for_shard(shard),
            poolclass=pool,
            connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
        )
        event.listen(engine, "connect", _do_not_wait_for_the_disk)
        return engine

    def _own(self) -> OrderedDict[str, _Kept]:
        """Give the kept connections, none of them made by a process that this one was forked from.

        A connection does not survive a fork: to close it would take away the parent's locks.
        """
        if self._process != os.getpid():
            self._process = os.getpid()
            self._of_parents.append(self._kept)
            self._kept = OrderedDict()
        return self._kept

    def _drop(self, shard: str) -> None:
        kept = self._own().pop(shard, None)
        if kept is not None:
            kept.engine.dispose()

    def _close(self) -> None:
        with self._db_lock:
            for shard in list(self._own()):
                self._drop(shard)


class _Watchdog(SqliteEventLogStorageWatchdog):
    """Sees a run's events in the write-ahead log, where a kept connection leaves them for long."""

    @property
    def patterns(self) -> list[str]:
        return [self._log_path, f"{self._log_path}-wal"]

    def on_modified(self, event: FileSystemEvent) -> None:  # noqa: ARG002 - whichever of the two it was
        self._process_log()


def _file_of(path: Path) -> tuple[int, int] | None:
    """Tell one file from another that took its name; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _do_not_wait_for_the_disk(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    connection.execute("PRAGMA synchronous = NORMAL").close()
