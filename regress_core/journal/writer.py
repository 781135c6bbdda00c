"""One thread writes; what waits is committed together, and a caller goes on once its part is safe."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError

from regress_core.errors import InputError

T = TypeVar("T")

_MOST_GROUPED = 256  # what one transaction holds at most; more would keep the first caller waiting


class Writer:
    """Runs write operations on one connection, in the order they came, several in one transaction.

    Each operation runs in a savepoint: one that raises is undone alone, and its caller gets the error.
    """

    def __init__(self, engine: Engine, place: Path) -> None:
        self._engine = engine
        self._place = place
        self._waiting: queue.SimpleQueue[tuple[Callable[[Connection], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Callable[[Connection], T]) -> Future[T]:
        """Queue an operation; its future is done once the transaction that holds it is committed."""
        if self._closed:
            raise RuntimeError("the journal is closed")
        future: Future[T] = Future()
        self._waiting.put((operation, future))
        return future

    def close(self) -> None:
        """Commit what waits, then stop."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        closing = False
        while not closing:
            group = [self._waiting.get()]
            while len(group) < _MOST_GROUPED and not self._waiting.empty():
                group.append(self._waiting.get())
            closing = None in group
            self._commit([entry for entry in group if entry is not None])

    def _commit(self, group: list[tuple[Callable[[Connection], Any], Future[Any]]]) -> None:
        settled: list[tuple[Future[Any], Any]] = []
        try:
            with self._engine.begin() as connection:
                for operation, future in group:
                    if not future.set_running_or_notify_cancel():
                        continue  # its caller has given up waiting; from here on nobody can
                    try:
                        with connection.begin_nested():
                            settled.append((future, operation(connection)))
                    except Exception as error:  # noqa: BLE001 - it is handed to the caller that waits for it
                        future.set_exception(self._named(error))
        except Exception as error:  # noqa: BLE001 - the commit failed: every caller of the group must know
            for _, future in group:
                if not future.done():
                    future.set_exception(self._named(error))
            return
        for future, result in settled:
            future.set_result(result)

    def _named(self, error: Exception) -> Exception:
        """Say in one line what the database refuses (a full disk, a lock that is never given up)."""
        if not isinstance(error, DatabaseError):
            return error
        named = InputError(f"the journal cannot be written: {error.orig}", file=self._place)
        named.__cause__ = error
        return named
