"""An evaluation in a thread of its own, whose events another thread takes one after the other."""

from __future__ import annotations

import asyncio
import atexit
import queue
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from regress_core.evaluation.cancellation import Cancellation, cancelled_by_candidate
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.events import Event
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports

_WAIT_FOR_END_S = 20.0  # a terminated run has some 30 s until it is killed


class BackgroundEvaluation:
    """Runs an evaluation while the block lasts; what is not done at its end is given up.

    However the block ends, calls that have not left give their reservations back; what is committed stays.
    Dagster drops the generator of a terminated run without closing it, so that the end of the process counts
    as the end of the block too.
    """

    def __init__(self, plan: EvaluationPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports
        self._cancellation = Cancellation()
        self._waiting: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        # As a daemon the thread lets the process end, should an adapter never come back.
        self._thread = threading.Thread(target=self._run, name="evaluation", daemon=True)

    def __enter__(self) -> Self:
        atexit.register(self._end)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        atexit.unregister(self._end)

    def events(self) -> Iterator[Event]:
        """Give the events as they come, to the last.

        Raises:
            Exception: What ended the evaluation.
        """
        while (event := self._waiting.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event

    def _run(self) -> None:
        try:
            run_evaluation(self._plan, self._ports, self._waiting.put, cancellation=self._cancellation)
            self._waiting.put(None)
        except asyncio.CancelledError:  # at the end, when nobody listens any more; or raised by an adapter
            self._waiting.put(cancelled_by_candidate())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for the events
            self._waiting.put(error)

    def _end(self) -> None:
        self._cancellation.cancel()
        if threading.current_thread() is not self._thread:  # the garbage collector ends blocks in any thread
            self._thread.join(_WAIT_FOR_END_S)
