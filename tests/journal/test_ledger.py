"""The ledger: what counts against a cap, and which replies need not be bought again."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.journal.journal import Journal
from regress_core.journal.ledger import CallEntry, CallRow, Ledger
from tests.journal.support import entry

NOW = datetime(2026, 4, 1, 0, 30, tzinfo=UTC)
CENT = 10**7
"""Nano-dollars in a cent."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Journal.open(tmp_path / "journal.sqlite") as journal:
        yield journal.ledger(lambda: NOW)


async def _reserve(
    ledger: Ledger, amount: int, cap: int | None = None, *, of: CallEntry | None = None
) -> int | None:
    return await ledger.reserve(of or entry(), amount, cap_nanousd=cap, payload='{"model":"m"}')


async def _reserved(ledger: Ledger, of: CallEntry | None = None, amount: int = 5 * CENT) -> int:
    call_id = await _reserve(ledger, amount, of=of)
    assert call_id is not None
    return call_id


def test_a_reservation_is_a_row(ledger: Ledger) -> None:
    async def reserve() -> int:
        return await _reserved(ledger)

    call_id = asyncio.run(reserve())

    assert list(ledger.calls_of("e1", 1)) == [
        CallRow(call_id, entry(), "open", None, 5 * CENT, None, 0, '{"model":"m"}', NOW)
    ]


End = Callable[[Ledger, int], Awaitable[None]]

# How a call that reserved 5 cents ends, what its row says then, and what counts of it.
ENDS: list[tuple[str, End, dict[str, Any], int]] = [
    (
        "settled",
        lambda ledger, call: ledger.settle(call, 2 * CENT, usable=True, payload="1"),
        {"state": "settled", "usable": True, "cost_nanousd": 2 * CENT, "payload": "1"},
        2 * CENT,
    ),
    (
        "settled without a verdict",
        lambda ledger, call: ledger.settle(call, 2 * CENT, usable=False, payload="1"),
        {"state": "settled", "usable": False, "cost_nanousd": 2 * CENT, "payload": "1"},
        2 * CENT,
    ),
    (
        "dearer than reserved",
        lambda ledger, call: ledger.settle(call, 9 * CENT, usable=True, payload="1"),
        {"state": "settled", "usable": True, "cost_nanousd": 9 * CENT, "payload": "1"},
        9 * CENT,
    ),
    (
        "free",
        lambda ledger, call: ledger.settle(call, 0, usable=True, payload="1"),
        {"state": "settled", "usable": True, "cost_nanousd": 0, "payload": "1"},
        0,
    ),
    (
        "unbilled",
        lambda ledger, call: ledger.unbilled(call, payload="1"),
        {"state": "unbilled", "usable": None, "cost_nanousd": 0, "payload": "1"},
        0,
    ),
    (
        "unknown, no reply",
        lambda ledger, call: ledger.unknown(call, usable=None, payload="1"),
        {"state": "unknown", "usable": None, "cost_nanousd": None, "payload": "1"},
        5 * CENT,
    ),
    (
        "unknown, a reply without usage",
        lambda ledger, call: ledger.unknown(call, usable=True, payload="1"),
        {"state": "unknown", "usable": True, "cost_nanousd": None, "payload": "1"},
        5 * CENT,
    ),
]


@pytest.mark.parametrize(("end", "row", "counted"), [pytest.param(*case[1:], id=case[0]) for case in ENDS])
def test_how_a_call_ends(ledger: Ledger, end: End, row: dict[str, Any], counted: int) -> None:
    async def call() -> None:
        await end(ledger, await _reserved(ledger))

    asyncio.run(call())

    (found,) = ledger.calls_of("e1", 1)
    assert {name: getattr(found, name) for name in row} == row
    assert found.reserved_nanousd == 5 * CENT
    assert ledger.spent("e1", "judge") == counted


def test_what_was_released_was_never_there(ledger: Ledger) -> None:
    async def twice() -> tuple[int, int]:
        first = await _reserved(ledger)
        await ledger.release(first)
        return first, await _reserved(ledger)

    first, second = asyncio.run(twice())

    assert second > first, "an id is not given again"
    assert [row.call_id for row in ledger.calls_of("e1", 1)] == [second]


@pytest.mark.parametrize(
    ("amount", "cap", "fit"),
    [
        pytest.param(5 * CENT, 100 * CENT, 20, id="to the last cent"),
        pytest.param(5 * CENT + 1, 100 * CENT, 19, id="a nano-dollar too dear"),
        pytest.param(5 * CENT, 100 * CENT - 1, 19, id="a nano-dollar short"),
        pytest.param(101 * CENT, 100 * CENT, 0, id="never"),
        pytest.param(0, 0, 30, id="what is free fits always"),
        pytest.param(100 * CENT, None, 30, id="no cap"),
    ],
)
def test_what_fits(ledger: Ledger, amount: int, cap: int | None, fit: int) -> None:
    async def all_at_once() -> list[int | None]:
        return await asyncio.gather(*(_reserve(ledger, amount, cap) for _ in range(30)))

    came = asyncio.run(all_at_once())

    assert sum(call_id is not None for call_id in came) == fit
    assert ledger.spent("e1", "judge") == fit * amount


@pytest.mark.parametrize("change", [{"evaluation_id": "e2"}, {"purpose": "candidate"}], ids=",".join)
def test_another_cap_is_not_touched(ledger: Ledger, change: dict[str, Any]) -> None:
    async def both() -> list[int | None]:
        return [await _reserve(ledger, 10, 10), await _reserve(ledger, 10, 10, of=entry(**change))]

    assert None not in asyncio.run(both())


def test_every_revision_counts(ledger: Ledger) -> None:
    async def both() -> list[int | None]:
        return [await _reserve(ledger, 10, 19, of=entry(revision=number)) for number in (1, 2)]

    assert asyncio.run(both())[1] is None


# What a ledger holds: the entry, usable and how it ends; and which of them answers `entry()`, from 0.
_OTHER = {"evaluation_id": "e0"}
FOUND: list[tuple[str, Sequence[tuple[dict[str, Any], bool | None, str]], int | None]] = [
    ("nothing", [], None),
    ("its own", [({}, True, "settled")], 0),
    ("its own, of no use", [({}, False, "settled")], 0),
    ("its own of unknown cost", [({}, True, "unknown")], 0),
    ("its own of unknown cost, of no use", [({}, False, "unknown")], 0),
    ("one in flight", [({}, None, "open")], None),
    ("an error", [({}, None, "unbilled")], None),  # fault R49
    ("a time-out", [({}, None, "unknown")], None),  # fault R49
    ("another evaluation's", [(_OTHER, True, "settled")], 0),
    ("another evaluation's of unknown cost", [(_OTHER, True, "unknown")], 0),
    ("another evaluation's, of no use", [(_OTHER, False, "settled")], None),
    ("another revision's", [({"revision": 2}, True, "settled")], 0),
    ("another revision's, of no use", [({"revision": 2}, False, "settled")], None),
    ("another key", [({"cache_key": "k2"}, True, "settled")], None),
    ("no key", [({"cache_key": None}, True, "settled")], None),
    ("another answer to the same question", [({"number": 2}, True, "settled")], None),
    ("the first of several", [(_OTHER, True, "settled"), (_OTHER, True, "settled")], 0),
    ("the one of use", [(_OTHER, False, "settled"), (_OTHER, True, "settled")], 1),
    ("its own before another's", [(_OTHER, True, "settled"), ({}, False, "settled")], 1),
    ("of its own the one of use", [({}, False, "settled"), ({}, True, "settled")], 1),
]


@pytest.mark.parametrize(("held", "index"), [pytest.param(*case[1:], id=case[0]) for case in FOUND])
def test_which_reply_is_used_again(
    ledger: Ledger, held: Sequence[tuple[dict[str, Any], bool | None, str]], index: int | None
) -> None:
    async def enter_and_find() -> tuple[list[int], CallRow | None]:
        ids: list[int] = []
        for changes, usable, state in held:
            ids.append(await _reserved(ledger, entry(**changes)))
            if state == "settled":
                await ledger.settle(ids[-1], 1, usable=bool(usable), payload="{}")
            elif state == "unknown":
                await ledger.unknown(ids[-1], usable=usable, payload="{}")
            elif state == "unbilled":
                await ledger.unbilled(ids[-1], payload="{}")
        return ids, await ledger.find(entry())

    ids, found = asyncio.run(enter_and_find())

    assert (found and found.call_id) == (None if index is None else ids[index])


def test_without_a_key_nothing_is_used_again(ledger: Ledger) -> None:
    keyless = entry(cache_key=None)

    async def enter_and_find() -> CallRow | None:
        await ledger.settle(await _reserved(ledger, keyless), 1, usable=True, payload="{}")
        return await ledger.find(keyless)

    assert asyncio.run(enter_and_find()) is None


@pytest.mark.parametrize(("cost", "saved"), [(3 * CENT, 3 * CENT), (None, 0)])
def test_a_reply_used_again_is_free(ledger: Ledger, cost: int | None, saved: int) -> None:
    later = entry(evaluation_id="e2")

    async def use_again() -> None:
        call_id = await _reserved(ledger)
        if cost is None:
            await ledger.unknown(call_id, usable=True, payload="{}")
        else:
            await ledger.settle(call_id, cost, usable=True, payload="{}")
        for _ in range(2):  # the second time after a crash
            original = await ledger.find(later)
            assert original is not None
            assert original.call_id == call_id
            await ledger.note_cached(later, original, payload="2")

    asyncio.run(use_again())

    (row,) = ledger.calls_of("e2", 1)
    assert (row.entry, row.state, row.usable, row.payload) == (later, "cached", True, "2")
    assert (row.reserved_nanousd, row.cost_nanousd, row.saved_nanousd) == (0, 0, saved)
    assert ledger.spent("e2", "judge") == 0


def test_each_use_is_noted(ledger: Ledger) -> None:
    later = entry(evaluation_id="e2")
    uses = [later, replace(later, trial=2), replace(later, judge=None)]

    async def use_again() -> None:
        await ledger.settle(await _reserved(ledger), 1, usable=True, payload="{}")
        original = await ledger.find(entry())
        assert original is not None
        for one in uses:
            await ledger.note_cached(one, original, payload="{}")

    asyncio.run(use_again())

    assert {row.entry for row in ledger.calls_of("e2", 1)} == {*uses}


def test_calls_come_in_order(ledger: Ledger) -> None:
    entries = [
        entry("b", trial=1, judge="axes"),
        entry("a", trial=2, judge="axes"),
        entry("a", trial=1, judge="rubric", number=2),
        entry("a", trial=1, judge="rubric", number=1),
        entry("a", trial=1, judge="axes"),
        entry("a", trial=1, judge="rubric", number=1),
        entry("a", revision=2),
        entry("a", evaluation_id="e2"),
    ]

    async def enter() -> list[int]:
        return [await _reserved(ledger, one) for one in entries]

    ids = asyncio.run(enter())

    found = [row.call_id for row in ledger.calls_of("e1", 1)]
    assert found == [ids[index] for index in (4, 3, 5, 2, 1, 0)]


def test_a_cancelled_reservation_is_taken_back(ledger: Ledger) -> None:
    async def cancel_some() -> None:
        for _ in range(50):
            given_up = asyncio.ensure_future(_reserve(ledger, 1))
            await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
            assert given_up.cancelled()
        await _reserved(ledger, amount=7)

    asyncio.run(cancel_some())

    assert ledger.spent("e1", "judge") == 7


def test_a_reply_is_kept_whoever_is_cancelled(ledger: Ledger) -> None:
    async def cancel_settling() -> None:
        for _ in range(20):
            call_id = await _reserved(ledger)
            settling = asyncio.ensure_future(ledger.settle(call_id, 1, usable=True, payload="{}"))
            await asyncio.sleep(0)
            settling.cancel()
            await asyncio.gather(settling, return_exceptions=True)
        await ledger.find(entry())  # what was queued before is done by then

    asyncio.run(cancel_settling())

    assert [row.state for row in ledger.calls_of("e1", 1)] == ["settled"] * 20


_AMOUNTS = st.integers(0, 50)


@given(
    cap=st.integers(0, 200),
    steps=st.lists(
        st.tuples(
            _AMOUNTS,
            st.sampled_from(["settle", "unbilled", "unknown", "release", "leave open"]),
            st.floats(0, 1),
        ),
        max_size=25,
    ),
)
def test_the_cap_is_never_passed(
    tmp_path_factory: pytest.TempPathFactory, cap: int, steps: list[tuple[int, str, float]]
) -> None:
    async def play(ledger: Ledger) -> None:
        counted = 0
        for amount, end, part in steps:
            call_id = await _reserve(ledger, amount, cap)
            assert (call_id is not None) == (counted + amount <= cap)
            assert ledger.spent("e1", "judge") <= cap
            if call_id is None:
                continue
            cost = int(amount * part)
            if end == "settle":
                await ledger.settle(call_id, cost, usable=True, payload="{}")
            elif end == "unbilled":
                await ledger.unbilled(call_id, payload="{}")
            elif end == "unknown":
                await ledger.unknown(call_id, usable=None, payload="{}")
            elif end == "release":
                await ledger.release(call_id)
            counted += {"settle": cost, "unbilled": 0, "release": 0}.get(end, amount)
            assert ledger.spent("e1", "judge") == counted

    with Journal.open(tmp_path_factory.mktemp("ledger") / "journal.sqlite") as journal:
        asyncio.run(play(journal.ledger()))


PROCESSES, EACH = 25, 20


def spend(path: Path, number: int, together: Barrier) -> None:
    """Reserve as often as every process does: five cents, of one dollar that all share."""
    together.wait()

    async def reserve() -> None:
        for turn in range(EACH):
            of = entry(f"{number}-{turn}")
            call_id = await _reserve(ledger, 5 * CENT, 100 * CENT, of=of)
            if call_id is not None:
                await ledger.settle(call_id, 5 * CENT, usable=True, payload="{}")

    with Journal.open(path) as journal:
        ledger = journal.ledger()
        asyncio.run(reserve())


def test_many_processes_spend_exactly_the_cap(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    fork = multiprocessing.get_context("forkserver")
    fork.set_forkserver_preload([__name__])
    together = fork.Barrier(PROCESSES)
    processes = [fork.Process(target=spend, args=(path, number, together)) for number in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0] * PROCESSES
    with Journal.open(path) as journal:
        ledger = journal.ledger()
        assert ledger.spent("e1", "judge") == 100 * CENT
        assert len({row.entry.case_id for row in ledger.calls_of("e1", 1)}) == 20
