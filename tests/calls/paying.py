"""Calls that cost whole cents, and what a ledger says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from regress_core.calls.prices import NANOUSD, Price
from regress_core.calls.purse import PaidCall, Purse
from regress_core.journal.ledger import CallEntry, Ledger
from regress_core.models.client import ModelReply, Usage

CENT = NANOUSD // 100

A_CENT_A_TOKEN = Price(Decimal(0), Decimal(10_000))
"""Of output; input is free."""


def paid_call(
    name: str,
    cents: int,
    *,
    price: Price | None = A_CENT_A_TOKEN,
    cache_key: str | None = "key",
    usable: Callable[[ModelReply], bool] = lambda _: True,
) -> PaidCall:
    """Give a call for the case of that name, which may cost so many cents."""
    entry = CallEntry("e1", "judge", name, trial=1, revision=1, judge="rubric", cache_key=cache_key)
    return PaidCall(entry, "some:model", price, 7, cents, prompt_version="v1", usable=usable)


def reply(cents: int) -> ModelReply:
    """Give a reply that costs so many cents."""
    return ModelReply("a verdict", usage=Usage(3, cents))


@dataclass(frozen=True)
class Costs:
    """A call that may cost `at_most` cents, and does cost `cents` after so many seconds."""

    at_most: int
    cents: int
    seconds: float = 1.0


async def make(purse: Purse, name: str, call: Costs, left: list[tuple[float, str]]) -> ModelReply:
    """Make a call, and note when it leaves."""

    async def send() -> ModelReply:
        left.append((asyncio.get_running_loop().time(), name))
        await asyncio.sleep(call.seconds)
        return reply(call.cents)

    async with purse.charge(paid_call(name, call.at_most)) as pay:
        return await pay(send)


def states(ledger: Ledger) -> dict[str, list[str]]:
    """Give the states of each case's calls, in the order of their reservation."""
    found: dict[str, list[str]] = {}
    for row in ledger.calls_of("e1", 1):
        found.setdefault(row.entry.case_id, []).append(row.state)
    return found
