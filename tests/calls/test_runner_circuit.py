"""What the circuit breaker does to calls."""

from __future__ import annotations

import asyncio

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.calls.trouble import Trouble, TroubleError, TroubleKind
from regress_core.models.client import ModelErrorKind
from tests.calls.support import HANG, Bench, Step, fails

NAMES = [str(number) for number in range(50)]
DOWN = fails("outage", status=503)
THREE = CallLimits(attempts=1, failures_to_open=3, cool_down_s=30)


def _troubles(outcomes: list[str | Exception]) -> list[Trouble]:
    assert all(isinstance(outcome, TroubleError) for outcome in outcomes)
    return [outcome.trouble for outcome in outcomes if isinstance(outcome, TroubleError)]


@pytest.mark.parametrize(("error", "kind"), [("quota", "quota"), ("configuration", "configuration")])
@pytest.mark.parametrize(
    ("limits", "attempts"),
    [
        pytest.param(CallLimits(concurrency=1), 1, id="one at a time"),
        pytest.param(CallLimits(concurrency=8), 8, id="eight in flight"),
        pytest.param(CallLimits(concurrency=8, requests_per_second=0.5), 1, id="waiting for a turn"),
        pytest.param(CallLimits(concurrency=8, requests_per_second=2), 2, id="two in flight"),
    ],
)
def test_no_quota_no_further_calls(
    error: ModelErrorKind, kind: TroubleKind, limits: CallLimits, attempts: int
) -> None:  # fault R42
    bench = Bench(limits, {name: [fails(error, status=429, seconds=0.75)] for name in NAMES})

    troubles = _troubles(bench.time.run(bench.outcomes(NAMES)))

    assert len(bench.provider.left) == attempts
    assert {(trouble.kind, trouble.code, trouble.retryable) for trouble in troubles} == {(kind, "429", True)}
    assert sum(trouble.message == f"{error} (1 attempt)" for trouble in troubles) == attempts
    refused = f"no request sent, because an earlier call failed: {error} (0 attempts)"
    assert sum(trouble.message == refused for trouble in troubles) == 50 - attempts


def test_later_calls_are_refused_at_once_and_for_good() -> None:  # fault R42
    bench = Bench(CallLimits(), {"a": [fails("quota")], "b": [Step("b")]})

    async def much_later() -> list[str | Exception]:
        first = await bench.outcome("a")
        await asyncio.sleep(1e6)
        return [first, *await bench.in_turn("bbb")]

    troubles = _troubles(bench.time.run(much_later()))

    assert [trouble.kind for trouble in troubles] == ["quota"] * 4
    assert bench.provider.left == [(0, "a")]


@pytest.mark.parametrize("status", [403, 404])
def test_what_may_be_of_one_request_keeps_no_other_from_being_asked(status: int) -> None:
    refused = fails("configuration", status=status)
    bench = Bench(CallLimits(concurrency=1), {"a": [Step("a")], "b": [refused], "c": [Step("c")]})

    first, second, third = bench.time.run(bench.in_turn("abc"))

    assert (first, third) == ("a", "c")
    (trouble,) = _troubles([second])
    assert (trouble.kind, trouble.code) == ("configuration", str(status))


def test_a_refused_call_does_not_wait_for_a_slot() -> None:
    limits = CallLimits(concurrency=1, attempts=1, failures_to_open=1, cool_down_s=30)
    bench = Bench(limits, {"down": [DOWN], "probe": [Step("yes", seconds=50)], "c": [Step("c")]})

    async def refused_at() -> float:
        await bench.outcome("down")
        await asyncio.sleep(30)
        probe = asyncio.create_task(bench.call("probe"))
        await asyncio.sleep(1)
        await bench.outcome("c")
        at = bench.time.now
        await probe
        return at

    assert bench.time.run(refused_at()) == 31
    assert bench.provider.attempts_of("c") == 0


def test_a_call_that_waits_to_try_again_is_refused_too() -> None:
    scripts = {"a": [fails("outage"), Step("a")], "b": [fails("quota", status=429)]}
    bench = Bench(CallLimits(), scripts)

    a, _ = _troubles(bench.time.run(bench.outcomes("ab")))

    assert bench.provider.attempts_of("a") == 1
    assert a == Trouble(
        "quota",
        "candidate",
        "429",
        "no request sent, because an earlier call failed: quota (1 attempt)",
        retryable=True,
    )


def test_what_is_in_flight_when_it_opens_is_let_finish() -> None:
    scripts = {"a": [Step("a", seconds=5)], "b": [fails("quota", seconds=1)], "c": [Step("c")]}
    bench = Bench(CallLimits(concurrency=2), scripts)

    a, b, c = bench.time.run(bench.outcomes("abc"))

    assert a == "a"
    assert [trouble.kind for trouble in _troubles([b, c])] == ["quota", "quota"]


# Calls one after the other, where three failures open: F fails, H hangs, A is answered, R is refused by the
# provider, E is an error of ours. Beside them, which of them left.
IN_TURN: list[tuple[str, str, str]] = [
    ("three failures", "FFFAAA", "FFF"),
    ("an answer between", "FFAFFAFFFA", "FFAFFAFFF"),
    ("a refused request is an answer", "FFRFFA", "FFRFFA"),
    ("an error of ours is neither", "FFEFA", "FFEF"),
    ("time-outs", "HHHA", "HHH"),
]
_STEPS = {
    "F": DOWN,
    "A": Step("A"),
    "R": fails("refused request"),
    "E": Step(ValueError("a fault of ours")),
    "H": HANG,
}


@pytest.mark.parametrize(("calls", "left"), [pytest.param(*case[1:], id=case[0]) for case in IN_TURN])
def test_calls_in_a_row(calls: str, left: str) -> None:
    bench = Bench(THREE, {name: [step] for name, step in _STEPS.items()})

    bench.time.run(bench.in_turn(calls))

    assert "".join(name for _, name in bench.provider.left) == left


def test_only_calls_count_not_attempts() -> None:
    bench = Bench(CallLimits(attempts=4, failures_to_open=2), {"a": [DOWN], "b": [DOWN], "c": [Step("c")]})

    bench.time.run(bench.in_turn("abc"))

    assert [bench.provider.attempts_of(name) for name in "abc"] == [4, 4, 0]


def test_a_refusal_names_what_opened_it() -> None:
    bench = Bench(THREE, {"a": [DOWN]})

    *_, last = _troubles(bench.time.run(bench.in_turn("aaaa")))

    message = "no request sent, because an earlier call failed: outage (0 attempts)"
    assert last == Trouble("outage", "candidate", "503", message, retryable=True)


@pytest.mark.parametrize(
    ("probe", "left"),
    [
        pytest.param(Step("yes", seconds=1), ["probe", "d", "d"], id="an answer closes it"),
        pytest.param(fails("refused request", seconds=1), ["probe", "d", "d"], id="so does a refusal"),
        pytest.param(fails("outage", seconds=1), ["probe"], id="a failure opens it again"),
        pytest.param(fails("quota", seconds=1), ["probe"], id="a quota opens it for good"),
        pytest.param(
            Step(ValueError("ours"), seconds=1), ["probe", "d", "d"], id="an error leaves it to the next"
        ),
    ],
)
def test_after_the_cool_down_one_call_probes(probe: Step, left: list[str]) -> None:
    scripts = {"down": [DOWN], "probe": [probe], "c": [Step("c")], "d": [Step("d")]}
    bench = Bench(THREE, scripts)

    async def probing() -> None:
        await bench.in_turn(["down"] * 3)
        await asyncio.sleep(29.5)
        await bench.in_turn("cc")
        await asyncio.sleep(0.5)
        await bench.outcomes(["probe", "c", "c"])
        await bench.in_turn("dd")

    bench.time.run(probing())

    assert [name for _, name in bench.provider.left[3:]] == left


def test_a_probe_may_try_again() -> None:
    limits = CallLimits(attempts=2, failures_to_open=1, cool_down_s=30)
    bench = Bench(limits, {"down": [DOWN], "probe": [DOWN, Step("yes")], "c": [Step("c")]})

    async def probing() -> list[str | Exception]:
        await bench.outcome("down")
        await asyncio.sleep(30)
        return await bench.outcomes(["probe", "c"])

    probe, other = bench.time.run(probing())

    assert probe == "yes"
    assert isinstance(other, TroubleError)


def test_a_cancelled_probe_leaves_it_to_the_next() -> None:
    bench = Bench(THREE, {"down": [DOWN], "probe": [HANG], "c": [Step("c")]})

    async def probing() -> str:
        await bench.in_turn(["down"] * 3)
        await asyncio.sleep(30)
        probe = asyncio.create_task(bench.call("probe"))
        await asyncio.sleep(1)
        probe.cancel()
        await asyncio.gather(probe, return_exceptions=True)
        return await bench.call("c")

    assert bench.time.run(probing()) == "c"
