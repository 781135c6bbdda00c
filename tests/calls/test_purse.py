"""What fits into a cap, in which order, and what stays in the ledger of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.calls.purse import CallPayload, PaidCall, Purse
from regress_core.calls.trouble import CapExceededError, Trouble
from regress_core.journal.ledger import Ledger
from regress_core.models.client import ModelError, ModelReply, Usage
from regress_core.records.json_io import loads_own
from tests.calls.paying import CENT, Costs, make, paid_call, reply, states
from tests.calls.support import VirtualTime, patient_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with patient_ledger(tmp_path) as opened:
        yield opened


async def _pay(ledger: Ledger, call: PaidCall, outcome: ModelReply | BaseException) -> ModelReply:
    async def send() -> ModelReply:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async with Purse(ledger, Decimal("0.05")).charge(call) as pay:
        return await pay(send)


# What a call comes to that may cost 5 cents, its state, whether it is usable, and the cents that count.
ENDS: list[tuple[str, ModelReply | BaseException, str, bool | None, int]] = [
    ("a reply", reply(2), "settled", True, 2),
    ("a dear reply", reply(9), "settled", True, 9),
    ("a reply that cost nothing", ModelReply("a", usage=Usage(9)), "settled", True, 0),
    ("a reply without usage", ModelReply("a"), "unknown", True, 5),
    ("an HTTP error", ModelError("outage", "no", status=503), "unbilled", None, 0),
    ("a limit", ModelError("rate limit", "no", status=429), "unbilled", None, 0),
    ("a refused request", ModelError("refused request", "no", status=400), "unbilled", None, 0),
    ("never sent", ModelError("connection", "no", never_sent=True), "unbilled", None, 0),
    ("cut off", ModelError("connection", "no"), "unknown", None, 5),
    ("a time-out", ModelError("time-out", "no"), "unknown", None, 5),
    ("an answer that cannot be read", ModelError("outage", "no"), "unknown", None, 5),
    ("a fault of ours", TypeError("no"), "unknown", None, 5),
    ("a cancellation", asyncio.CancelledError(), "open", None, 5),
]


@pytest.mark.parametrize(
    ("outcome", "state", "usable", "cents"), [pytest.param(*case[1:], id=case[0]) for case in ENDS]
)
def test_what_a_call_comes_to(
    ledger: Ledger, outcome: ModelReply | BaseException, state: str, cents: int, *, usable: bool | None
) -> None:
    if isinstance(outcome, BaseException):
        with pytest.raises(type(outcome)):
            asyncio.run(_pay(ledger, paid_call("a", 5), outcome))
    else:
        assert asyncio.run(_pay(ledger, paid_call("a", 5), outcome)) is outcome

    (row,) = ledger.calls_of("e1", 1)
    assert (row.state, row.usable, row.reserved_nanousd) == (state, usable, 5 * CENT)
    assert ledger.spent("e1", "judge") == cents * CENT


_ASKED = {"model": "some:model", "promptVersion": "v1"}

# What is kept of a call: of a reply its text only where it may be used again.
PAYLOADS: list[tuple[str, ModelReply | Exception, str | None, dict[str, Any]]] = [
    ("a reply", reply(2), "key", {"text": "a verdict", "usage": Usage(3, 2), "error": None}),
    ("no key", reply(2), None, {"text": None, "usage": Usage(3, 2), "error": None}),
    ("no usage", ModelReply("\ud800"), "key", {"text": "\ud800", "usage": None, "error": None}),
    ("a refusal", ModelReply("no", cut="refusal"), "key", {"text": "no", "cut": "refusal", "error": None}),
    ("an ordinary end", reply(2), "key", {"cut": None}),
    ("an error", ModelError("outage", "why"), "key", {"text": None, "usage": None, "error": "why"}),
]


@pytest.mark.parametrize(
    ("outcome", "key", "kept"), [pytest.param(*case[1:], id=case[0]) for case in PAYLOADS]
)
def test_what_is_kept(
    ledger: Ledger, outcome: ModelReply | Exception, key: str | None, kept: dict[str, Any]
) -> None:
    async def call() -> None:
        await asyncio.gather(_pay(ledger, paid_call("a", 5, cache_key=key), outcome), return_exceptions=True)

    asyncio.run(call())

    (row,) = ledger.calls_of("e1", 1)
    value = loads_own(row.payload)
    assert {name: value[name] for name in _ASKED} == _ASKED
    payload = CallPayload.from_json(value)
    assert {name: getattr(payload, name) for name in kept} == kept


@pytest.mark.parametrize("usable", [True, False])
def test_the_asker_tells_what_is_usable(ledger: Ledger, *, usable: bool) -> None:
    given: list[ModelReply] = []

    def tells(came: ModelReply) -> bool:
        given.append(came)
        return usable

    asyncio.run(_pay(ledger, paid_call("a", 5, usable=tells), reply(1)))

    (row,) = ledger.calls_of("e1", 1)
    assert row.usable is usable
    assert given == [reply(1)]


def test_a_price_that_nobody_knows_is_refused(ledger: Ledger) -> None:
    with pytest.raises(CapExceededError) as caught:
        asyncio.run(_pay(ledger, paid_call("a", 0, price=None), reply(1)))

    message = "cost cap exceeded: the price of some:model is not known; state it as `price`"
    assert caught.value.trouble == Trouble("quota", "judge", "cost cap exceeded", message, retryable=False)
    assert states(ledger) == {}


def test_without_a_cap_no_price_is_needed(ledger: Ledger) -> None:
    async def call() -> None:
        async with Purse(ledger, None).charge(paid_call("a", 5, price=None)) as pay:
            await pay(lambda: asyncio.sleep(0, reply(5)))

    asyncio.run(call())

    assert states(ledger) == {"a": ["unknown"]}
    assert ledger.spent("e1", "judge") == 0


def _play(
    ledger: Ledger, cap_usd: str | None, calls: Sequence[Costs]
) -> tuple[list[str], list[tuple[float, str]]]:
    """Make calls a, b, c … at the same time; give how each ended and when each left."""
    left: list[tuple[float, str]] = []
    purse = Purse(ledger, None if cap_usd is None else Decimal(cap_usd))

    async def play() -> list[ModelReply | BaseException]:
        made = (make(purse, name, call, left) for name, call in zip("abcdefghijkl", calls, strict=False))
        return await asyncio.gather(*made, return_exceptions=True)

    outcomes = VirtualTime().run(play())
    assert all(isinstance(one, ModelReply | CapExceededError) for one in outcomes), outcomes
    return ["paid" if isinstance(one, ModelReply) else str(one) for one in outcomes], left


# The cap, the calls, which of them are paid, and when each of these leaves.
FITTING: list[tuple[str, str | None, list[Costs], str, list[float]]] = [
    ("R43: a dollar, four times 30 cents", "1", [Costs(30, 30)] * 4, "abc", [0, 0, 0]),
    ("to the last cent", "1", [Costs(25, 25)] * 5, "abcd", [0, 0, 0, 0]),
    ("what is left is used by the next", "1", [Costs(40, 10)] * 3, "abc", [0, 0, 1]),
    ("as soon as one is settled", "1", [Costs(40, 10, 5), Costs(40, 10, 2), Costs(40, 10)], "abc", [0, 0, 2]),
    ("after several", "1", [Costs(40, 30, 1), Costs(40, 10, 3), Costs(60, 60)], "abc", [0, 0, 3]),
    ("never, when all are settled", "1", [Costs(40, 30, 1), Costs(40, 30, 3), Costs(60, 60)], "ab", [0, 0]),
    ("a small one does not overtake", "1", [Costs(90, 90, 5), Costs(20, 20), Costs(10, 10)], "ac", [0, 5]),
    ("a small one fits after a large one", "1", [Costs(101, 1), Costs(100, 100)], "b", [0]),
    ("nothing", "0", [Costs(1, 1)], "", []),
    ("what is free", "0", [Costs(0, 0)] * 3, "abc", [0, 0, 0]),
    ("no cap", None, [Costs(10**6, 10**6)] * 3, "abc", [0, 0, 0]),
]


@pytest.mark.parametrize(
    ("cap", "calls", "paid", "times"), [pytest.param(*case[1:], id=case[0]) for case in FITTING]
)
def test_what_fits(
    ledger: Ledger, cap: str | None, calls: list[Costs], paid: str, times: list[float]
) -> None:
    outcomes, left = _play(ledger, cap, calls)

    names = [name for name, outcome in zip("abcdefghijkl", outcomes, strict=False) if outcome == "paid"]
    assert names == list(paid)
    assert sorted(left, key=lambda one: one[1]) == list(zip(times, paid, strict=True))
    assert states(ledger) == {name: ["settled"] for name in paid}


def test_a_refusal_says_how_much(ledger: Ledger) -> None:
    outcomes, _ = _play(ledger, "1", [Costs(30, 30)] * 4)

    assert outcomes[3] == (
        "cost cap exceeded: $0.90 of $1.00 is spent or reserved, and this call may cost $0.30"
    )


def test_what_others_reserved_counts(ledger: Ledger) -> None:
    async def reserve() -> None:
        other = replace(paid_call("x", 0).entry, revision=2)
        await ledger.reserve(other, 70 * CENT, cap_nanousd=None, payload="{}")

    asyncio.run(reserve())

    outcomes, _ = _play(ledger, "1", [Costs(31, 1), Costs(30, 1)])

    assert outcomes[1] == "paid"
    assert "$0.70 of $1.00" in outcomes[0]


def test_what_was_not_sent_is_taken_back(ledger: Ledger) -> None:
    purse = Purse(ledger, Decimal(1))
    error = ValueError("the circuit has opened")

    async def twice() -> None:
        with pytest.raises(ValueError, match="opened"):
            async with purse.charge(paid_call("a", 100)):
                raise error
        await make(purse, "b", Costs(100, 1, 0), [])

    asyncio.run(twice())

    assert states(ledger) == {"b": ["settled"]}


# When call b of three is cancelled, what is left of each, and when c leaves. Call a ends after 5 seconds.
CANCELLED: list[tuple[str, str, dict[str, list[str]], float]] = [
    ("waiting", "0.50", {"a": ["settled"], "c": ["settled"]}, 5),
    ("in flight", "1.00", {"a": ["settled"], "b": ["open"], "c": ["settled"]}, 5),
]


@pytest.mark.parametrize(("cap", "found", "at"), [pytest.param(*case[1:], id=case[0]) for case in CANCELLED])
def test_a_cancelled_call(ledger: Ledger, cap: str, found: dict[str, list[str]], at: float) -> None:
    purse = Purse(ledger, Decimal(cap))
    left: list[tuple[float, str]] = []

    async def cancel_b() -> None:
        calls = {"a": Costs(50, 0, 5), "b": Costs(50, 0, 9), "c": Costs(50, 0, 1)}
        tasks = [asyncio.create_task(make(purse, name, call, left)) for name, call in calls.items()]
        asyncio.get_running_loop().call_later(2, tasks[1].cancel)
        await asyncio.gather(*tasks, return_exceptions=True)

    VirtualTime().run(cancel_b())

    assert states(ledger) == found
    assert (at, "c") in left


@st.composite
def _calls(draw: st.DrawFn) -> list[Costs]:
    def one(at_most: int) -> st.SearchStrategy[Costs]:
        return st.builds(Costs, st.just(at_most), st.integers(0, at_most), st.sampled_from([0.0, 1.0, 2.5]))

    return draw(st.lists(st.integers(0, 40).flatmap(one), max_size=12))


@given(st.integers(0, 100), _calls())
def test_it_does_not_matter_how_many_calls_are_made_at_a_time(
    tmp_path_factory: pytest.TempPathFactory, cap: int, calls: list[Costs]
) -> None:
    spent, paid = 0, list[bool]()
    for call in calls:  # one after the other
        paid.append(spent + call.at_most <= cap)
        spent += call.cents if paid[-1] else 0

    with patient_ledger(tmp_path_factory.mktemp("purse")) as ledger:
        outcomes, _ = _play(ledger, str(Decimal(cap) / 100), calls)

        assert ledger.spent("e1", "judge") == spent * CENT
    assert [outcome == "paid" for outcome in outcomes] == paid


@given(
    st.integers(0, 100),
    _calls(),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from([0.0, 0.5, 1.0, 2.0])), max_size=4),
)
def test_whoever_is_cancelled_the_cap_is_kept(
    tmp_path_factory: pytest.TempPathFactory,
    cap: int,
    calls: list[Costs],
    cancelled: list[tuple[int, float]],
) -> None:
    async def play(ledger: Ledger) -> None:
        purse = Purse(ledger, Decimal(cap) / 100)
        left: list[tuple[float, str]] = []
        tasks = [
            asyncio.create_task(make(purse, str(number), call, left)) for number, call in enumerate(calls)
        ]
        for number, at in cancelled:
            cancel: Callable[[], object] = tasks[number % len(tasks)].cancel if tasks else bool
            asyncio.get_running_loop().call_later(at, cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert set(states(ledger)) == {name for _, name in left}, "what was not sent is not there"

    with patient_ledger(tmp_path_factory.mktemp("purse")) as ledger:
        VirtualTime().run(play(ledger))

        assert ledger.spent("e1", "judge") <= cap * CENT
