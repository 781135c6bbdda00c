"""How long the judges of one evaluation may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from regress_core.errors import RegressError


class JudgeTimeUpError(RegressError):
    """Interrupts an evaluation, which can be resumed."""


class JudgeTime:
    """Counts the time in which at least one judge is being waited for.

    Time in which only candidates run does not count, so that a suite of slow agents needs no higher limit.

    Args:
        limit_s: Seconds that this time may come to, in one process.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._used_s = 0.0
        self._waiting = 0
        self._since = 0.0

    @asynccontextmanager
    async def counted(self) -> AsyncGenerator[None]:
        """Count the time inside.

        Raises:
            JudgeTimeUpError: Once the limit is reached, wherever the inside is then.
        """
        loop = asyncio.get_running_loop()
        if self._waiting == 0:
            self._since = loop.time()
        self._waiting += 1
        deadline = asyncio.timeout_at(self._since + self._limit_s - self._used_s)
        try:
            async with deadline:
                yield
        except TimeoutError as error:
            if not deadline.expired():
                raise  # the inside's own
            minutes = self._limit_s / 60
            raise JudgeTimeUpError(f"the judges took longer than timeout_minutes ({minutes:g})") from error
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._used_s += loop.time() - self._since
