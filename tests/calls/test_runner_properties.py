"""Whatever the provider answers and whoever is cancelled, the limits hold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regress_core.calls.limits import CallLimits
from regress_core.calls.trouble import TroubleError
from regress_core.models.client import ModelError, ModelErrorKind
from tests.calls.support import HANG, Bench, Step, fails

_SECONDS = st.sampled_from([0.0, 0.25, 1.0, 7.0])
_ANSWERS = st.builds(Step, st.just("yes"), _SECONDS)
_PASSING: list[ModelErrorKind] = ["rate limit", "outage", "time-out", "connection"]
_LASTING: list[ModelErrorKind] = ["quota", "configuration"]
_RETRY_AFTER = st.sampled_from([None, 0.0, 0.5, 20.0, 1000.0])


def _failures(kinds: list[ModelErrorKind]) -> st.SearchStrategy[Step]:
    return st.builds(fails, st.sampled_from(kinds), retry_after_s=_RETRY_AFTER, seconds=_SECONDS)


_MENDABLE = _ANSWERS | _failures([*_PASSING, "refused request"]) | st.just(HANG)
_ANY = _MENDABLE | _failures(_LASTING)


def _scripts(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[dict[str, list[Step]]]:
    script = st.lists(steps, min_size=1, max_size=5)
    return st.lists(script, min_size=1, max_size=8).map(
        lambda scripts: {str(number): one for number, one in enumerate(scripts)}
    )


def _limits(failures_to_open: st.SearchStrategy[int]) -> st.SearchStrategy[CallLimits]:
    return st.builds(
        CallLimits,
        concurrency=st.integers(1, 4),
        attempts=st.integers(1, 4),
        requests_per_second=st.sampled_from([None, 0.5, 4.0]),
        first_wait_s=st.sampled_from([0.0, 1.0]),
        failures_to_open=failures_to_open,
        cool_down_s=st.sampled_from([0.0, 3.0]),
    )


def _expected(steps: Sequence[Step], attempts: int) -> tuple[str, int]:
    """Give how a call ends that no other disturbs, and after how many attempts."""
    for made in range(1, attempts + 1):
        outcome = steps[min(made, len(steps)) - 1]
        if outcome == HANG:
            continue
        if not isinstance(outcome.outcome, ModelError):
            return "value", made
        if outcome.outcome.kind == "refused request":
            return "refused", made
        if outcome.outcome.retry_after_s == 1000:
            return "trouble", made
    return "trouble", attempts


def _word(outcome: str | Exception) -> str:
    if isinstance(outcome, str):
        return "value"
    if isinstance(outcome, ModelError):
        assert outcome.kind == "refused request"
        return "refused"
    assert isinstance(outcome, TroubleError), outcome
    return "trouble"


def _assert_limits_held(bench: Bench, limits: CallLimits) -> None:
    assert bench.provider.in_flight == 0
    assert bench.provider.most_in_flight <= limits.concurrency
    assert all(bench.provider.attempts_of(name) <= limits.attempts for name in bench.provider.scripts)
    if limits.requests_per_second is not None:
        spacing = 1 / limits.requests_per_second
        assert all(after - before >= spacing for before, after in pairwise(bench.provider.times))


@given(_limits(st.just(1000)), _scripts(_MENDABLE))
def test_every_call_gets_its_own_outcome(limits: CallLimits, scripts: dict[str, list[Step]]) -> None:
    bench = Bench(limits, scripts)

    outcomes = bench.time.run(bench.outcomes(scripts))

    _assert_limits_held(bench, limits)
    came = [
        (_word(one), bench.provider.attempts_of(name)) for name, one in zip(scripts, outcomes, strict=True)
    ]
    assert came == [_expected(steps, limits.attempts) for steps in scripts.values()]


@given(_limits(st.integers(1, 3)), _scripts(_ANY))
def test_nothing_leaves_after_an_error_that_lasts(limits: CallLimits, scripts: dict[str, list[Step]]) -> None:
    bench = Bench(limits, scripts)
    lasting: list[ModelError] = []

    async def attempt(name: str) -> str:
        assert not lasting
        try:
            return await bench.provider.attempt(name)
        except ModelError as error:
            if error.kind in _LASTING:
                lasting.append(error)
            raise

    async def outcome(name: str) -> str | Exception:
        try:
            return await bench.runner.run(lambda: attempt(name), stage="judge")
        except (ModelError, TroubleError) as error:
            return error

    async def twice() -> list[str | Exception]:
        first = await asyncio.gather(*map(outcome, scripts))
        return [*first, *await asyncio.gather(*map(outcome, scripts))]

    outcomes = bench.time.run(twice())

    assert len([_word(one) for one in outcomes]) == 2 * len(scripts)
    assert bench.provider.most_in_flight <= limits.concurrency
    assert len(bench.provider.left) <= 2 * len(scripts) * limits.attempts


@given(
    _limits(st.just(1000)),
    _scripts(_MENDABLE),
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from([0.0, 0.25, 1.0, 5.0, 40.0])), max_size=8),
)
def test_whoever_is_cancelled_no_slot_is_lost(
    limits: CallLimits, scripts: dict[str, list[Step]], cancelled: list[tuple[int, float]]
) -> None:
    after = [f"after {number}" for number in range(limits.concurrency)]
    # Longer in flight than it takes them all to leave, however slow the pace.
    bench = Bench(limits, {**scripts, **{name: [Step("yes", seconds=30)] for name in after}})

    async def some_then_as_many_as_there_are_slots() -> list[str | Exception]:
        tasks = [asyncio.create_task(bench.outcome(name)) for name in scripts]
        for number, at in cancelled:
            asyncio.get_running_loop().call_later(at, tasks[number % len(tasks)].cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        _assert_limits_held(bench, limits)
        bench.provider.most_in_flight = 0
        return await bench.outcomes(after)

    assert bench.time.run(some_then_as_many_as_there_are_slots()) == ["yes"] * limits.concurrency
    assert bench.provider.most_in_flight == limits.concurrency
