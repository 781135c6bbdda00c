"""One call: how often it is tried, when, and what comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import Trouble, TroubleError, TroubleKind
from regress_core.models.client import ModelError, ModelErrorKind
from tests.calls.support import HANG, Bench, Step, VirtualTime, fails

ANSWER = Step("yes")
LIMITS = CallLimits(attempts=4, first_wait_s=1, longest_wait_s=4)


def _trouble_of(outcome: str | Exception) -> Trouble:
    assert isinstance(outcome, TroubleError)
    return outcome.trouble


# What every attempt answers: attempts made, kind and code of the trouble.
TROUBLES: list[tuple[Step, int, TroubleKind, str]] = [
    (fails("rate limit", status=429), 4, "outage", "429"),
    (fails("rate limit"), 4, "outage", "rate limit"),
    (fails("outage", status=503), 4, "outage", "503"),
    (fails("time-out"), 4, "outage", "time-out"),
    (fails("time-out", status=408), 4, "outage", "408"),
    (fails("connection"), 4, "outage", "connection"),
    (HANG, 4, "outage", "time-out"),
    (fails("quota", status=429), 1, "quota", "429"),
    (fails("quota", status=429, retry_after_s=5), 1, "quota", "429"),
    (fails("configuration", status=401), 1, "configuration", "401"),
    (fails("configuration"), 1, "configuration", "configuration"),
]


@pytest.mark.parametrize(("step", "attempts", "kind", "code"), TROUBLES)
def test_trouble(step: Step, attempts: int, kind: TroubleKind, code: str) -> None:
    bench = Bench(LIMITS, {"a": [step]})

    trouble = _trouble_of(bench.time.run(bench.outcome("a")))

    assert bench.provider.attempts_of("a") == attempts
    assert (trouble.kind, trouble.stage, trouble.code, trouble.retryable) == (kind, "candidate", code, True)


@pytest.mark.parametrize(
    ("steps", "attempts", "outcome"),
    [
        pytest.param([ANSWER], 1, "yes", id="at once"),
        pytest.param([fails("rate limit"), ANSWER], 2, "yes", id="after a rate limit"),
        pytest.param(
            [fails("outage"), HANG, fails("connection"), ANSWER], 4, "yes", id="at the last attempt"
        ),
        pytest.param([*[fails("outage")] * 4, ANSWER], 4, "outage", id="one attempt too late"),
        pytest.param([fails("outage"), fails("quota"), ANSWER], 2, "quota", id="a quota on the way"),
        pytest.param([fails("outage"), fails("configuration")], 2, "configuration", id="a wrong key later"),
    ],
)
def test_a_script(steps: Sequence[Step], attempts: int, outcome: str) -> None:
    bench = Bench(LIMITS, {"a": steps})

    came = bench.time.run(bench.outcome("a"))

    assert (came if isinstance(came, str) else _trouble_of(came).kind) == outcome
    assert bench.provider.attempts_of("a") == attempts


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize(
    "error",
    [
        ModelError("refused request", "unknown tool", status=400),
        ValueError("a fault of ours"),
        TimeoutError("the attempt's own"),
        TroubleError(Trouble("input", "candidate", "x", "from within", retryable=False)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_passes_through_untouched(error: Exception, before: int) -> None:
    bench = Bench(LIMITS, {"a": [*[fails("outage")] * before, Step(error), ANSWER]})

    assert bench.time.run(bench.outcome("a")) is error
    assert bench.provider.attempts_of("a") == before + 1


@pytest.mark.parametrize(
    ("step", "attempts", "message"),
    [
        pytest.param(fails("outage"), 4, "outage (4 attempts)", id="attempts"),
        pytest.param(fails("outage"), 1, "outage (1 attempt)", id="one attempt"),
        pytest.param(fails("quota"), 4, "quota (1 attempt)", id="not tried again"),
        pytest.param(HANG, 2, "no answer within 60 s (2 attempts)", id="time-out"),
        pytest.param(
            fails("rate limit", retry_after_s=3600),
            4,
            "rate limit; the provider asks to wait 3600 s, too long to wait for (1 attempt)",
            id="a long Retry-After",
        ),
        pytest.param(
            Step(ModelError("outage", "bad\r\n  gateway\n")), 1, "bad gateway (1 attempt)", id="one line"
        ),
    ],
)
def test_messages(step: Step, attempts: int, message: str) -> None:
    bench = Bench(CallLimits(attempts=attempts), {"a": [step]})

    error = bench.time.run(bench.outcome("a"))

    assert _trouble_of(error).message == message
    assert str(error) == message


# Waits are 1, 2 and 4 seconds, or from one half of that on.
TIMES: list[tuple[str, Sequence[Step], float, list[float]]] = [
    ("the whole waits", [fails("outage")], 1.0, [0, 1, 3, 7]),
    ("half of the waits", [fails("outage")], 0.0, [0, 0.5, 1.5, 3.5]),
    ("from the end of an attempt", [fails("connection", seconds=10)], 1.0, [0, 11, 23, 37]),
    ("after a time-out", [HANG], 1.0, [0, 61, 123, 187]),
    ("as asked", [fails("rate limit", retry_after_s=5), ANSWER], 1.0, [0, 5]),
    ("as asked, from the end", [fails("rate limit", retry_after_s=5, seconds=2), ANSWER], 1.0, [0, 7]),
    ("as asked by a server that fails", [fails("outage", retry_after_s=5), ANSWER], 1.0, [0, 5]),
    ("asked for less than our own wait", [fails("rate limit", retry_after_s=0.25), ANSWER], 1.0, [0, 1]),
    ("asked for a time that is past", [fails("rate limit", retry_after_s=-3), ANSWER], 1.0, [0, 1]),
    ("asked for the longest", [fails("rate limit", retry_after_s=60), ANSWER], 1.0, [0, 60]),
    ("asked for longer", [fails("rate limit", retry_after_s=60.5), ANSWER], 1.0, [0]),
    ("asked for longer by a server that fails", [fails("outage", retry_after_s=61), ANSWER], 1.0, [0]),
    ("asked again and again", [fails("rate limit", retry_after_s=9)], 1.0, [0, 9, 18, 27]),
]


@pytest.mark.parametrize(
    ("steps", "random", "times"), [pytest.param(*case[1:], id=case[0]) for case in TIMES]
)
def test_times_of_attempts(steps: Sequence[Step], random: float, times: list[float]) -> None:
    bench = Bench(LIMITS, {"a": steps}, random=random)

    bench.time.run(bench.outcome("a"))

    assert bench.provider.times == times


def test_a_failed_call_does_not_sleep_after_its_last_attempt() -> None:
    bench = Bench(LIMITS, {"a": [fails("outage")]})

    bench.time.run(bench.outcome("a"))

    assert bench.time.now == 7


def test_five_429_answers_are_trouble_of_the_infrastructure() -> None:  # fault R39
    bench = Bench(CallLimits(attempts=5), {"a": [*[fails("rate limit", status=429)] * 5, ANSWER]})

    trouble = _trouble_of(bench.time.run(bench.outcome("a")))

    assert trouble == Trouble("outage", "candidate", "429", "rate limit (5 attempts)", retryable=True)


def test_one_runner_serves_one_loop_after_another() -> None:
    bench = Bench(CallLimits(concurrency=1), {name: [Step(name, seconds=1)] for name in "abcd"})

    assert bench.time.run(bench.outcomes("ab")) == ["a", "b"]
    assert bench.time.run(bench.outcomes("cd")) == ["c", "d"]


def test_the_real_clock_and_sleep() -> None:
    runner = CallRunner(CallLimits(time_out_s=0.02, first_wait_s=0.002, attempts=2))
    started: list[float] = []

    async def hang() -> None:
        started.append(asyncio.get_running_loop().time())
        await asyncio.Event().wait()

    with pytest.raises(TroubleError, match=r"^no answer within 0\.02 s \(2 attempts\)$"):
        asyncio.run(runner.run(hang, stage="judge"))

    assert started[1] - started[0] >= 0.021 - 1e-6  # the time-out and half of the wait


def test_retries_say_nothing(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(LIMITS, {"a": [fails("outage"), ANSWER]})

    bench.time.run(bench.outcome("a"))

    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.parametrize("kind", ["outage", "quota"])
def test_the_models_error_is_kept_as_the_cause(kind: ModelErrorKind) -> None:
    step = fails(kind)
    bench = Bench(CallLimits(attempts=1), {"a": [step]})

    outcome = bench.time.run(bench.outcome("a"))

    assert isinstance(outcome, TroubleError)
    assert outcome.__cause__ is step.outcome


def test_virtual_time_notices_a_deadlock() -> None:
    async def wait_for_nobody() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match="every task waits"):
        VirtualTime().run(wait_for_nobody())
