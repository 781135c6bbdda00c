"""The journal's SQLite file: opened for reading and for writing, in the modes that make it safe."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError

from regress_core.errors import InputError, os_error_text
from regress_core.journal.schema import migrate

_BUSY_TIMEOUT_S = 60


def open_engines(path: Path) -> tuple[Engine, Engine]:
    """Open a journal file for reading and for writing, creating it and its folder where missing.

    Raises:
        InputError: If the folder cannot be made, the file is no journal, or a newer program wrote it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the store cannot be created: {os_error_text(error)}"
        raise InputError(message, file=path.parent, remedy="name another folder with --store") from error
    reading, writing = _engine(path), _engine(path)
    event.listen(writing, "begin", _begin_immediate)
    remedy = "move it away, or name another folder with --store"
    try:
        _prepare(path)
        with writing.begin() as connection:
            migrate(connection, str(path))
    except InputError:
        writing.dispose()
        raise
    except (sqlite3.DatabaseError, DatabaseError) as error:
        writing.dispose()
        reason = error.orig if isinstance(error, DatabaseError) else error
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            message = "another process has been writing the journal for long"
            raise InputError(message, file=path, remedy="try again when it is done") from error
        raise InputError(f"not a usable journal: {reason}", file=path, remedy=remedy) from error
    return reading, writing


def _prepare(path: Path) -> None:
    """Give a new file the modes it keeps for ever; one that has tables already is left as it is."""
    with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")


def _engine(path: Path) -> Engine:
    place = URL.create("sqlite", database=str(path))  # not a text, in which ? and % would have a meaning
    engine = create_engine(place, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _on_connect)
    return engine


def _on_connect(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's connection
    connection.isolation_level = None  # transactions are ours to begin; the driver would begin deferred ones
    connection.execute("PRAGMA synchronous = NORMAL")  # with a write-ahead log a kill loses nothing


def _begin_immediate(connection: Connection) -> None:
    """Take the write lock at once: two deferred transactions that read and then write lock each other up."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
