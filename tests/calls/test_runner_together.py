"""Many calls: how many at a time, how fast, and what one does to the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import TroubleError
from regress_core.models.client import ModelError
from tests.calls.support import HANG, Bench, Step, fails

TEN = "abcdefghij"


async def _later(seconds: float, call: Callable[[str], Awaitable[Any]], name: str) -> None:
    await asyncio.sleep(seconds)
    await call(name)


@pytest.mark.parametrize(
    ("concurrency", "times"),
    [
        pytest.param(1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], id="one"),
        pytest.param(4, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2], id="four"),
        pytest.param(10, [0] * 10, id="all"),
        pytest.param(99, [0] * 10, id="more than there are"),
    ],
)
def test_concurrency(concurrency: int, times: list[float]) -> None:
    bench = Bench(CallLimits(concurrency=concurrency), {name: [Step(name, seconds=1)] for name in TEN})

    assert bench.time.run(bench.outcomes(TEN)) == list(TEN)
    assert bench.provider.times == times
    assert bench.provider.most_in_flight == min(concurrency, 10)


def test_a_call_that_waits_to_try_again_takes_no_slot() -> None:
    bench = Bench(
        CallLimits(concurrency=1), {"a": [fails("outage"), Step("a")], "b": [Step("b", seconds=0.5)]}
    )

    assert bench.time.run(bench.outcomes("ab")) == ["a", "b"]
    assert bench.provider.left == [(0, "a"), (0, "b"), (1, "a")]


def test_ten_calls_at_two_a_second() -> None:  # fault R40
    bench = Bench(CallLimits(requests_per_second=2), {name: [Step(name)] for name in TEN})

    assert bench.time.run(bench.outcomes(TEN)) == list(TEN)
    assert bench.provider.times == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]


def test_retries_pass_the_same_limiter() -> None:  # fault R40
    scripts = {"a": [fails("outage"), Step("a")], "b": [Step("b")], "c": [Step("c")], "d": [Step("d")]}
    bench = Bench(CallLimits(requests_per_second=2, first_wait_s=0.5), scripts)

    assert bench.time.run(bench.outcomes("abcd")) == list("abcd")
    assert [at for at, name in bench.provider.left if name == "a"] == [0, 2]
    assert bench.provider.times == [0, 0.5, 1, 1.5, 2]


def test_the_limiter_on_the_real_clock() -> None:  # fault R40
    runner = CallRunner(CallLimits(requests_per_second=200))

    async def attempt() -> float:
        return time.monotonic()

    async def ten() -> list[float]:
        return await asyncio.gather(*(runner.run(attempt, stage="judge") for _ in range(10)))

    times = sorted(asyncio.run(ten()))

    assert times[-1] - times[0] >= 9 / 200 - 1e-6


# The limits, what the provider answers call a at once, when b is made, and when b leaves.
HELD_BACK: list[tuple[str, CallLimits, Step, float, float]] = [
    ("asked to wait", CallLimits(), fails("rate limit", retry_after_s=10), 1, 10),
    (
        "asked before b waits for its turn",
        CallLimits(requests_per_second=0.5),
        fails("rate limit", retry_after_s=10),
        1,
        10,
    ),
    (
        "asked while b waits for its turn",
        CallLimits(requests_per_second=0.5),
        fails("rate limit", retry_after_s=10, seconds=1),
        0.5,
        11,
    ),
    (
        "asked while b waits for a slot",
        CallLimits(concurrency=1),
        fails("rate limit", retry_after_s=10, seconds=1),
        0.5,
        11,
    ),
    ("asked at the last attempt", CallLimits(attempts=1), fails("rate limit", retry_after_s=10), 1, 10),
    ("asked to wait too long", CallLimits(), fails("rate limit", retry_after_s=61), 1, 1),
    ("not asked", CallLimits(), fails("rate limit"), 1, 1),
    ("a server that fails", CallLimits(), fails("outage", retry_after_s=10), 1, 1),
]


@pytest.mark.parametrize(
    ("limits", "step", "made_at", "left_at"), [pytest.param(*case[1:], id=case[0]) for case in HELD_BACK]
)
def test_a_rate_limit_holds_back_all(limits: CallLimits, step: Step, made_at: float, left_at: float) -> None:
    bench = Bench(limits, {"a": [step, Step("a")], "b": [Step("b")]})

    async def both() -> None:
        await asyncio.gather(bench.outcome("a"), _later(made_at, bench.call, "b"))

    bench.time.run(both())

    assert [at for at, name in bench.provider.left if name == "b"] == [left_at]


@pytest.mark.parametrize("concurrency", [1, 3, 20])
def test_attempts_are_bounded_in_all(concurrency: int) -> None:  # fault R41
    names = [str(number) for number in range(20)]
    limits = CallLimits(concurrency=concurrency, attempts=4, failures_to_open=1000)
    bench = Bench(limits, {name: [fails("outage", seconds=0.1)] for name in names})

    outcomes = bench.time.run(bench.outcomes(names))

    assert all(isinstance(outcome, TroubleError) for outcome in outcomes)
    assert [bench.provider.attempts_of(name) for name in names] == [4] * 20


# How a call ends that took one of two slots.
ENDS: list[tuple[str, Step]] = [
    ("a value", Step("x", seconds=1)),
    ("trouble", fails("outage", seconds=1)),
    ("a refusal", fails("refused request", seconds=1)),
    ("an error of ours", Step(ValueError("x"), seconds=1)),
    ("a time-out", HANG),
    ("a cancellation from within", Step(asyncio.CancelledError(), seconds=1)),
]


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in ENDS])
def test_a_slot_is_free_again(step: Step) -> None:
    ending = "abcde"
    scripts = {**{name: [step] for name in ending}, "y": [Step("y", seconds=1)], "z": [Step("z", seconds=1)]}
    bench = Bench(CallLimits(concurrency=2, attempts=1), scripts)

    async def ending_then_two() -> list[str | Exception]:
        await asyncio.gather(*(bench.call(name) for name in ending), return_exceptions=True)
        bench.provider.left.clear()
        bench.provider.most_in_flight = 0
        return await bench.outcomes("yz")

    assert bench.time.run(ending_then_two()) == ["y", "z"]
    assert len(set(bench.provider.times)) == 1
    assert bench.provider.most_in_flight == 2


# Call a takes a second and a half; when b is cancelled, and how often it had left by then.
CANCELLATIONS: list[tuple[str, CallLimits, list[Step], float, int]] = [
    ("waiting for a slot", CallLimits(concurrency=1), [Step("b")], 1, 0),
    ("waiting for its turn", CallLimits(requests_per_second=0.25), [Step("b")], 3, 0),
    ("in flight", CallLimits(), [Step("b", seconds=9)], 1, 1),
    ("in flight, at its time-out", CallLimits(time_out_s=2), [HANG], 2, 1),
    ("waiting to try again", CallLimits(first_wait_s=9), [fails("outage")], 1, 1),
]


@pytest.mark.parametrize(
    ("limits", "steps", "at", "attempts"), [pytest.param(*case[1:], id=case[0]) for case in CANCELLATIONS]
)
def test_a_cancelled_call(limits: CallLimits, steps: list[Step], at: float, attempts: int) -> None:
    bench = Bench(limits, {"a": [Step("a", seconds=1.5)], "b": steps, "c": [Step("c")]})

    async def cancel_b() -> tuple[str, str]:
        a = asyncio.create_task(bench.call("a"))
        b = asyncio.create_task(bench.call("b"))
        await asyncio.sleep(at)
        b.cancel()
        with pytest.raises(asyncio.CancelledError):
            await b
        return await a, await bench.call("c")

    assert bench.time.run(cancel_b()) == ("a", "c")
    assert bench.provider.attempts_of("b") == attempts
    assert bench.provider.in_flight == 0


def test_a_cancelled_wait_for_a_turn_leaves_the_turn_to_the_next() -> None:
    bench = Bench(CallLimits(requests_per_second=0.25), {name: [Step(name)] for name in "abc"})

    async def cancel_b() -> None:
        a, b, c = (asyncio.create_task(bench.call(name)) for name in "abc")
        await asyncio.sleep(1)
        b.cancel()
        await asyncio.gather(a, b, c, return_exceptions=True)

    bench.time.run(cancel_b())

    assert bench.provider.left == [(0, "a"), (4, "c")]


def test_an_attempt_that_outlives_its_time_out_fails_that_attempt_only() -> None:
    error = ModelError("connection", "cut off while being stopped")
    bench = Bench(CallLimits(time_out_s=1), {"b": [Step("b")]})

    async def stubborn() -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            raise error from None
        return "never"

    async def both() -> tuple[str | None, str]:
        try:
            await bench.runner.run(stubborn, stage="judge")
        except TroubleError as trouble:
            return trouble.trouble.code, await bench.call("b")
        return None, ""

    assert bench.time.run(both()) == ("connection", "b")
