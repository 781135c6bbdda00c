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


_Operation = tuple[Callable[[Connection], Any], Future[Any]]
"""What to do, and the future of its result."""


class Writer:
    """Runs write operations on one connection, in the order they came, several in one transaction.

    If one of them raises, the transaction is undone and each is run again in one of its own, so that only its
    caller gets the error. That is rare, and a savepoint for each would cost more than the operations do.
    """

    def __init__(self, engine: Engine, place: Path) -> None:
        self._engine = engine
        self._place = place
        self._waiting: queue.SimpleQueue[_Operation | None] = queue.SimpleQueue()
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
            # A future whose caller has given up waiting is passed over; from here on nobody can give up.
            wanted = [entry for entry in group if entry and entry[1].set_running_or_notify_cancel()]
            self._commit(wanted)

    def _commit(self, group: list[_Operation]) -> None:
        try:
            with self._engine.begin() as connection:
                results = [operation(connection) for operation, _ in group]
        except Exception as error:  # noqa: BLE001 - it is handed to the caller that waits for it
            if len(group) == 1:
                group[0][1].set_exception(self._named(error))
                return
            for entry in group:
                self._commit([entry])
            return
        for (_, future), result in zip(group, results, strict=True):
            future.set_result(result)

    def _named(self, error: Exception) -> Exception:
        """Say in one line what the database refuses (a full disk, a lock that is never given up)."""
        if not isinstance(error, DatabaseError):
            return error
        named = InputError(f"the journal cannot be written: {error.orig}", file=self._place)
        named.__cause__ = error
        return named
