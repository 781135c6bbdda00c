"""Every call to a provider goes through here: candidate and judge calls alike."""

# The retry loop is our own. stamina 26.1 could wait as Retry-After says; but its `set_active` and
# `set_testing`, which an adapter may call, set the number of attempts for the whole process; where structlog
# is installed (Dagster brings it) each retry is printed to standard output, where `--json` writes; neither
# its sleep nor its jitter can be passed in.

from __future__ import annotations

import asyncio
import random as random_module
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from regress_core.calls.circuit import Circuit
from regress_core.calls.limits import CallLimits
from regress_core.calls.pace import Pace
from regress_core.calls.trouble import (
    TROUBLE_KINDS,
    CapExceededError,
    Trouble,
    TroubleError,
    TroubleStage,
    trouble_of,
)
from regress_core.models.client import ModelError

T = TypeVar("T")

Send = Callable[[], Awaitable[T]]
"""Sends one request and gives what is answered."""

Charge = Callable[[], AbstractAsyncContextManager[Callable[[Send[T]], Awaitable[T]]]]
"""Pays for one request: reserves at entry what it may cost, gives what sends it and settles the cost; what
was not sent is taken back at exit."""

_OF_ONE_REQUEST = (403, 404)
"""What a provider may also answer for what one request holds or asks for: moderation, one agent's model.

Such an error counts like any call without an answer; it does not keep all others from being asked."""


@dataclass(eq=False, slots=True)
class _Call:
    """One call and how many of its attempts left."""

    stage: TroubleStage
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class _Queues:
    """What calls wait in. Such objects of asyncio belong to the event loop in which a call first waits."""

    loop: asyncio.AbstractEventLoop
    slots: asyncio.Semaphore
    turnstile: asyncio.Lock


class CallRunner:
    """Makes calls within limits, tries them again where that can help, and tells trouble from answers.

    One runner serves all calls to a provider: its concurrency, its pace and its circuit breaker are common to
    all of them. It may be made outside of any event loop and used in one loop at a time.

    Args:
        limits: How hard to try and to press.
        clock: Gives seconds that never go back.
        sleep: Waits for so many seconds of that clock.
        random: Gives a random number in [0, 1), for the jitter of waits.
    """

    def __init__(
        self,
        limits: CallLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = random_module.random,  # noqa: S311 - jitter is no secret
    ) -> None:
        self._limits = limits
        self._sleep = sleep
        self._random = random
        self._pace = Pace(limits.requests_per_second, clock)
        self._circuit = Circuit(limits.failures_to_open, limits.cool_down_s, clock)
        self._queues: _Queues | None = None

    async def run(self, attempt: Send[T], *, stage: TroubleStage, charge: Charge[T] | None = None) -> T:
        """Make one call.

        An attempt that ends in a `ModelError` that may pass (`rate limit`, `outage`, `time-out`,
        `connection`) is made again, `attempts` times in all, after a wait in which other calls go out. A wait
        that the provider asks for is kept; after a `rate limit` all calls of this runner keep it.

        Args:
            attempt: Sends one request; called once for each attempt. It must not retry on its own.
            stage: Where the case is that the call is made for.
            charge: Pays for each attempt; None for calls that nobody pays for.

        Returns:
            What the first attempt that succeeded gave.

        Raises:
            TroubleError: If there is no answer for a reason that is not the asker's, or the circuit is open.
            ModelError: If the provider refused the request. Whatever else the attempt or the charge raises
                comes out too.
        """
        call = _Call(stage)
        met: ModelError | None = None
        try:
            while True:
                try:
                    value = await self._send(call, attempt, charge)
                except CapExceededError as error:
                    if met is None:
                        raise
                    self._circuit.failed(met)
                    text = f"{met.message}; and there is no money left to try again"
                    raise TroubleError(_trouble(call, met, text)) from error
                except ModelError as error:
                    met = error
                    if error.kind == "refused request":
                        self._circuit.answered()
                        raise
                    wait_s = self._wait_after(call, error)
                else:
                    self._circuit.answered()
                    return value
                await self._sleep(wait_s)
        finally:
            self._circuit.over(call)

    async def _send(self, call: _Call, attempt: Send[T], charge: Charge[T] | None) -> T:
        """Send one request, once there is a slot and money for it and its turn has come."""
        self._stop_if_open(call)
        queues = self._queues_of_this_loop()
        async with queues.slots:
            self._stop_if_open(call)
            # Before its turn: for money it may have to wait, and what had its turn already would leave late,
            # too close to others or although the circuit has opened.
            async with nullcontext(_unpaid) if charge is None else charge() as pay:
                await self._turn(call, queues.turnstile)
                call.attempts += 1
                return await pay(partial(self._within_time, attempt))

    async def _turn(self, call: _Call, turnstile: asyncio.Lock) -> None:
        async with turnstile:
            # Asked again after each wait: the circuit may have opened, the turn may have been put off.
            self._stop_if_open(call)
            while (wait_s := self._pace.wait_s()) > 0:
                await self._sleep(wait_s)
                self._stop_if_open(call)
            self._pace.leave()

    async def _within_time(self, attempt: Send[T]) -> T:
        deadline = asyncio.timeout(self._limits.time_out_s)
        try:
            async with deadline:
                return await attempt()
        except TimeoutError as error:
            if not deadline.expired():
                raise  # the attempt's own
            raise ModelError("time-out", f"no answer within {self._limits.time_out_s:g} s") from error

    def _queues_of_this_loop(self) -> _Queues:
        loop = asyncio.get_running_loop()
        if self._queues is None or self._queues.loop is not loop:
            self._queues = _Queues(loop, asyncio.Semaphore(self._limits.concurrency), asyncio.Lock())
        return self._queues

    def _stop_if_open(self, call: _Call) -> None:
        cause = self._circuit.refusal_of(call)
        if cause is not None:
            text = f"no request sent, because an earlier call failed: {cause.message}"
            raise TroubleError(_trouble(call, cause, text)) from cause

    def _wait_after(self, call: _Call, error: ModelError) -> float:
        """Give the seconds until the call's next attempt; end the call if there is to be none.

        Raises:
            TroubleError: If there is to be none.
        """
        if TROUBLE_KINDS[error.kind] != "outage":
            if error.status in _OF_ONE_REQUEST:
                self._circuit.failed(error)
            else:
                self._circuit.open_for_good(error)
            raise TroubleError(_trouble(call, error, error.message)) from error
        asked_s = error.retry_after_s or 0.0
        too_long = asked_s > self._limits.longest_retry_after_s
        if error.kind == "rate limit" and not too_long:
            self._pace.hold_back(asked_s)
        if call.attempts < self._limits.attempts and not too_long:
            return max(asked_s, self._limits.wait_s(call.attempts, self._random()))
        self._circuit.failed(error)
        text = error.message
        if too_long:
            text += f"; the provider asks to wait {asked_s:g} s, too long to wait for"
        raise TroubleError(_trouble(call, error, text)) from error


async def _unpaid(send: Send[T]) -> T:
    return await send()


def _trouble(call: _Call, error: ModelError, text: str) -> Trouble:
    made = f"{call.attempts} attempt{'' if call.attempts == 1 else 's'}"
    return trouble_of(error, call.stage, f"{text} ({made})")
