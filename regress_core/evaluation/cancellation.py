"""Ending an evaluation from another thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from regress_core.errors import InputError


def cancelled_by_candidate() -> InputError:
    """Give what to say where a candidate's code has cancelled the task that it was called in."""
    message = "its code cancelled the evaluation; what is done is kept"
    return InputError(message, field="candidate", remedy="let it raise an exception")


class Cancellation:
    """Ends an evaluation from another thread.

    What is committed stays, calls that have not left give their reservations back, and `run_evaluation`
    raises CancelledError.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def cancel(self) -> None:
        """Ask for the end; also before the evaluation has begun, and when it is over."""
        with self._lock:
            self._asked = True
            if self._running is not None:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)

    @contextmanager
    def of_this_task(self) -> Generator[None]:
        """Make the current task the one that is cancelled."""
        task = asyncio.current_task()
        with self._lock:
            if self._asked:
                raise asyncio.CancelledError
            self._running = None if task is None else (asyncio.get_running_loop(), task)
        try:
            yield
        finally:
            with self._lock:
                self._running = None
