"""Calls that are paid for: each attempt that leaves, before it leaves, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.calls.limits import CallLimits
from regress_core.calls.purse import Purse
from regress_core.calls.trouble import TroubleError
from regress_core.journal.ledger import Ledger
from regress_core.models.client import ModelError, ModelReply
from tests.calls.paying import CENT, paid_call, reply, states
from tests.calls.support import HANG, Bench, Step, fails, patient_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with patient_ledger(tmp_path) as opened:
        yield opened


class _Paying(Bench):
    """A runner whose calls may cost 30 cents each, and do cost as many as the provider's answer says."""

    def __init__(
        self, ledger: Ledger, cap_usd: str, limits: CallLimits, scripts: Mapping[str, Iterable[Step]]
    ) -> None:
        super().__init__(limits, scripts)
        self.purse = Purse(ledger, Decimal(cap_usd))

    async def call(self, name: str) -> str:
        async def attempt() -> ModelReply:
            return reply(int(await self.provider.attempt(name)))

        charge = partial(self.purse.charge, paid_call(name, 30))
        return (await self.runner.run(attempt, stage="judge", charge=charge)).text


def _kinds(outcomes: Iterable[str | Exception]) -> list[str]:
    return [one if isinstance(one, str) else type(one).__name__ for one in outcomes]


ALL = Step("30", seconds=1)

# The limits, the steps of a call whose cap is a dollar, its states in the ledger, and the cents that count.
ATTEMPTS: list[tuple[str, CallLimits, Sequence[Step], list[str], int]] = [
    ("one", CallLimits(), [ALL], ["settled"], 30),
    ("R49: 503, then 200", CallLimits(), [fails("outage", status=503), ALL], ["unbilled", "settled"], 30),
    ("a time-out, then 200", CallLimits(), [HANG, ALL], ["unknown", "settled"], 60),
    ("cut off, then 200", CallLimits(), [fails("connection"), ALL], ["unknown", "settled"], 60),
    ("R39: only 429", CallLimits(), [fails("rate limit", status=429)], ["unbilled"] * 4, 0),
    ("only time-outs", CallLimits(), [HANG], ["unknown"] * 3, 90),  # no money for the fourth
    ("a wrong key", CallLimits(), [fails("configuration", status=401)], ["unbilled"], 0),
    ("a refusal", CallLimits(), [fails("refused request", status=400)], ["unbilled"], 0),
]


@pytest.mark.parametrize(
    ("limits", "steps", "found", "cents"), [pytest.param(*case[1:], id=case[0]) for case in ATTEMPTS]
)
def test_each_attempt_is_paid(
    ledger: Ledger, limits: CallLimits, steps: Sequence[Step], found: list[str], cents: int
) -> None:
    bench = _Paying(ledger, "1", limits, {"a": steps})

    bench.time.run(bench.outcome("a"))

    assert states(ledger) == {"a": found}
    assert bench.provider.attempts_of("a") == len(found)
    assert ledger.spent("e1", "judge") == cents * CENT


@pytest.mark.parametrize("concurrency", [1, 2, 4, 8])
def test_a_dollar_four_times_thirty_cents(ledger: Ledger, concurrency: int) -> None:  # fault R43
    bench = _Paying(ledger, "1", CallLimits(concurrency=concurrency), {name: [ALL] for name in "abcd"})

    outcomes = bench.time.run(bench.outcomes("abcd"))

    assert _kinds(outcomes) == ["a verdict"] * 3 + ["CapExceededError"]
    assert bench.provider.attempts_of("d") == 0
    assert states(ledger) == {name: ["settled"] for name in "abc"}


@pytest.mark.parametrize("step", [HANG, fails("connection")], ids=["time-out", "cut off"])
def test_what_used_the_money_up_is_the_reason(ledger: Ledger, step: Step) -> None:
    """Each failed attempt may have cost 30 of 40 cents."""
    bench = _Paying(ledger, "0.40", CallLimits(), {"a": [step]})

    outcome = bench.time.run(bench.outcome("a"))

    assert type(outcome) is TroubleError
    assert (outcome.trouble.kind, outcome.trouble.retryable) == ("outage", True)
    assert "there is no money left to try again (1 attempt)" in outcome.trouble.message


def test_waiting_for_money_is_no_part_of_the_time_out(ledger: Ledger) -> None:
    cheap = Step("1", seconds=9)
    bench = _Paying(ledger, "0.32", CallLimits(time_out_s=10, attempts=1), {name: [cheap] for name in "abc"})

    assert _kinds(bench.time.run(bench.outcomes("abc"))) == ["a verdict"] * 3
    assert bench.provider.times == [0, 9, 18]


def test_after_waiting_for_money_the_pace_is_kept(ledger: Ledger) -> None:
    limits = CallLimits(requests_per_second=0.5)
    scripts = {"a": [Step("0", seconds=9)], "b": [Step("0", seconds=1)], "c": [Step("0")], "d": [Step("0")]}
    bench = _Paying(ledger, "0.60", limits, scripts)

    bench.time.run(bench.outcomes("abcd"))

    assert bench.provider.left == [(0, "a"), (2, "b"), (4, "c"), (6, "d")]


def test_nothing_leaves_after_the_circuit_has_opened(ledger: Ledger) -> None:
    wrong_key = fails("configuration", status=401, seconds=5)
    bench = _Paying(ledger, "0.30", CallLimits(), {"a": [wrong_key], "b": [ALL], "c": [ALL]})

    outcomes = bench.time.run(bench.outcomes("abc"))

    assert _kinds(outcomes) == ["TroubleError"] * 3
    assert states(ledger) == {"a": ["unbilled"]}


# When call b of two is cancelled, and what the ledger says of it then.
CANCELLED: list[tuple[str, CallLimits, list[Step], float, dict[str, list[str]]]] = [
    ("waiting for a slot", CallLimits(concurrency=1), [ALL], 1, {}),
    ("waiting for its turn", CallLimits(requests_per_second=0.1), [ALL], 1, {}),
    ("in flight", CallLimits(), [HANG], 1, {"b": ["open"]}),
    ("waiting to try again", CallLimits(), [fails("outage", status=500)], 0.5, {"b": ["unbilled"]}),
]


@pytest.mark.parametrize(
    ("limits", "steps", "at", "found"), [pytest.param(*case[1:], id=case[0]) for case in CANCELLED]
)
def test_a_cancelled_call(
    ledger: Ledger, limits: CallLimits, steps: list[Step], at: float, found: dict[str, list[str]]
) -> None:
    bench = _Paying(ledger, "1", limits, {"a": [Step("30", seconds=5)], "b": steps})

    async def cancel_b() -> None:
        a, b = (asyncio.create_task(bench.call(name)) for name in "ab")
        await asyncio.sleep(at)
        b.cancel()
        await asyncio.gather(a, b, return_exceptions=True)

    bench.time.run(cancel_b())

    assert states(ledger) == {"a": ["settled"], **found}


_STEPS = st.sampled_from(
    [
        Step("0", seconds=1),
        Step("12", seconds=2),
        ALL,
        HANG,
        fails("outage", status=503, seconds=1),
        fails("rate limit", status=429, retry_after_s=3),
        fails("connection", seconds=0.5),
        fails("refused request", status=400),
    ]
)


@given(
    cap=st.sampled_from(["0", "0.30", "1", "2.5"]),
    limits=st.builds(
        CallLimits,
        concurrency=st.integers(1, 4),
        attempts=st.integers(1, 3),
        requests_per_second=st.sampled_from([None, 0.5]),
        failures_to_open=st.sampled_from([1, 1000]),
    ),
    scripts=st.lists(st.lists(_STEPS, min_size=1, max_size=3), max_size=8),
)
def test_whatever_is_answered_the_cap_is_kept(
    tmp_path_factory: pytest.TempPathFactory, cap: str, limits: CallLimits, scripts: list[list[Step]]
) -> None:
    names = [str(number) for number in range(len(scripts))]
    with patient_ledger(tmp_path_factory.mktemp("ledger")) as ledger:
        bench = _Paying(ledger, cap, limits, dict(zip(names, scripts, strict=True)))

        outcomes = bench.time.run(bench.outcomes(names))

        assert ledger.spent("e1", "judge") <= Decimal(cap) * 100 * CENT
        found = states(ledger)
        assert {name: len(found.get(name, [])) for name in names} == {
            name: bench.provider.attempts_of(name) for name in names
        }
    assert "open" not in {state for calls in found.values() for state in calls}
    for outcome in outcomes:
        assert isinstance(outcome, str | TroubleError | ModelError)
