"""An event loop in which time costs nothing, and attempts that follow a script."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.ids import utc_now
from regress_core.journal.database import open_engines
from regress_core.journal.ledger import Ledger
from regress_core.journal.writer import Writer
from regress_core.models.client import ModelError, ModelErrorKind

T = TypeVar("T")


class VirtualTime:
    """Seconds that pass only while every task sleeps, and then at once."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Do as `asyncio.run` does, in a new loop on this time."""
        with asyncio.Runner(loop_factory=lambda: _VirtualLoop(self)) as runner:
            return runner.run(main)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, virtual: VirtualTime) -> None:
        self._virtual = virtual
        super().__init__(_Skipping(virtual))

    def time(self) -> float:
        return self._virtual.now


class _Skipping(selectors.SelectSelector):
    """Moves the clock instead of waiting."""

    def __init__(self, virtual: VirtualTime) -> None:
        super().__init__()
        self._virtual = virtual

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "every task waits for another one"
            self._virtual.now += timeout
        return ready


@dataclass(frozen=True)
class Step:
    """How one attempt ends: after `seconds`, with `outcome`."""

    outcome: str | BaseException
    seconds: float = 0.0


HANG = Step("too late", seconds=1e6)


def fails(
    kind: ModelErrorKind,
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
    seconds: float = 0.0,
) -> Step:
    """Give an attempt that ends in a model's error; its message is the kind."""
    return Step(ModelError(kind, kind, status=status, retry_after_s=retry_after_s), seconds)


@dataclass
class Provider:
    """Answers attempts by script and keeps what it saw.

    Attributes:
        scripts: The steps of each call; the last one repeats.
        left: Each attempt as (time, call), in order.
        in_flight: Attempts that are under way.
        most_in_flight: The most that ever were.
    """

    time: VirtualTime
    scripts: Mapping[str, Iterable[Step]]
    left: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    in_flight: int = 0
    most_in_flight: int = 0

    async def attempt(self, call: str) -> str:
        steps = list(self.scripts[call])
        step = steps[min(self.attempts_of(call), len(steps) - 1)]
        self.left.append((self.time.now, call))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(step.seconds)
        finally:
            self.in_flight -= 1
        if isinstance(step.outcome, str):
            return step.outcome
        raise step.outcome

    def attempts_of(self, call: str) -> int:
        return sum(1 for _, asking in self.left if asking == call)

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.left]


class Bench:
    """A runner and a provider on one virtual time. Jitter takes nothing off a wait unless `random` says so.

    Args:
        limits: The runner's.
        scripts: The steps of each call.
        random: What the runner's random number always is.
    """

    def __init__(
        self, limits: CallLimits, scripts: Mapping[str, Iterable[Step]], *, random: float = 1.0
    ) -> None:
        self.time = VirtualTime()
        self.provider = Provider(self.time, scripts)
        self.runner = CallRunner(limits, clock=self.time.clock, random=lambda: random)

    async def call(self, name: str) -> str:
        return await self.runner.run(lambda: self.provider.attempt(name), stage="candidate")

    async def outcome(self, name: str) -> str | Exception:
        """Make a call and give its value, or what it raised."""
        try:
            return await self.call(name)
        except Exception as error:  # noqa: BLE001 - whatever comes out is what the test looks at
            return error

    async def outcomes(self, names: Iterable[str]) -> list[str | Exception]:
        """Make calls at the same time."""
        return list(await asyncio.gather(*(self.outcome(name) for name in names)))

    async def in_turn(self, names: Iterable[str]) -> list[str | Exception]:
        """Make one call after the other."""
        return [await self.outcome(name) for name in names]


class _PatientWriter(Writer):
    """Has written before it goes on: on virtual time nobody waits for another thread."""

    def submit(self, operation: Callable[[Connection], T]) -> Future[T]:
        future = super().submit(operation)
        wait([future])
        return future


@contextmanager
def patient_ledger(folder: Path) -> Generator[Ledger]:
    """Open a ledger that can be used on virtual time."""
    path = folder / "journal.sqlite"
    reading, writing = open_engines(path)
    writer = _PatientWriter(writing, path)
    try:
        yield Ledger(reading, writer, utc_now)
    finally:
        writer.close()
        reading.dispose()
        writing.dispose()
