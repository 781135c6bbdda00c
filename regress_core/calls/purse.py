"""A purse pays for calls: money is reserved before a request leaves, so that a cap holds whatever comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

from regress_core.calls.prices import NANOUSD, Price
from regress_core.calls.trouble import CAP_EXCEEDED, CapExceededError, Trouble
from regress_core.foreign import error_text
from regress_core.journal.ledger import CallEntry, Ledger
from regress_core.models.client import ModelError, ModelReply, Usage
from regress_core.records.json_io import dumps_text
from regress_core.records.wire import WireModel

Sending = Callable[[], Awaitable[ModelReply]]
"""Sends one request."""


class CallPayload(WireModel):
    """What the ledger keeps of a call beside its columns.

    Attributes:
        model: Who was asked, `provider:model`.
        prompt_version: The version of the instructions.
        text: The reply's text, where a later call may use it again.
        usage: Tokens, as far as the provider told.
        cut: Why the reply is not whole, as `ModelReply` says it.
        error: Why there is no reply.
    """

    model: str
    prompt_version: str | None = None
    text: str | None = None
    usage: Usage | None = None
    cut: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PaidCall:
    """A request that costs money.

    Attributes:
        entry: What it is made for.
        model: Who is asked, `provider:model`.
        price: What the model costs; None where nobody knows.
        input_bytes: UTF-8 bytes of all that is sent, field names included: so they cover what a provider adds
            around texts.
        output_tokens: The most that the model may answer, as its settings limit it; None without a limit,
            and then there is no bound on what the call costs.
        prompt_version: The version of the instructions.
        usable: Tells whether a reply gives what is asked for, so that a later call may use it again.
    """

    entry: CallEntry
    model: str
    price: Price | None
    input_bytes: int
    output_tokens: int | None
    prompt_version: str | None = None
    usable: Callable[[ModelReply], bool] = lambda _: True


class Purse:
    """Pays for the calls that one evaluation makes for one purpose, in one event loop.

    A call that does not fit while others are in flight waits, and all that come after it, until one of them
    has been settled for less than its reservation, or none is left. So what fits does not depend on how many
    calls are made at a time.

    Args:
        ledger: Where calls are entered. Other processes may spend from the same cap.
        cap_usd: What may be spent in all, US dollars; None for no cap, and then no price is needed.
    """

    def __init__(self, ledger: Ledger, cap_usd: Decimal | None) -> None:
        self._ledger = ledger
        self._cap_nanousd = None if cap_usd is None else int(cap_usd * NANOUSD)
        self._in_flight = 0
        self._next = asyncio.Lock()
        self._ended = asyncio.Event()

    @asynccontextmanager
    async def charge(self, call: PaidCall) -> AsyncGenerator[Callable[[Sending], Awaitable[ModelReply]]]:
        """Reserve what a call may cost; give what sends it and settles the cost.

        A call that is cancelled in flight counts with its whole reservation; one that was never sent with
        nothing.

        Raises:
            CapExceededError: If it does not fit, and no call in flight can make room for it.
        """
        call_id = await self._reserve(call)
        sent = False

        async def pay(send: Sending) -> ModelReply:
            nonlocal sent
            sent = True
            return await self._pay(call, call_id, send)

        try:
            yield pay
        finally:
            try:
                if not sent:
                    await self._ledger.release(call_id)
            finally:
                self._in_flight -= 1
                self._ended.set()

    async def _reserve(self, call: PaidCall) -> int:
        cap = self._cap_nanousd
        if call.price is None and cap is not None:
            raise _refused(call, f"the price of {call.model} is not known; state it as `price`")
        if call.output_tokens is None and cap is not None:
            reason = "a call without a limit of its answer may cost anything"
            raise _refused(call, f"{reason}; set max_tokens in the agent's modelSettings")
        amount = call.price.most_nanousd(call.input_bytes, call.output_tokens or 0) if call.price else 0
        async with self._next:
            while True:
                self._ended.clear()
                call_id = await self._ledger.reserve(
                    call.entry, amount, cap_nanousd=cap, payload=_payload(call)
                )
                if call_id is not None:
                    self._in_flight += 1
                    return call_id
                if self._ended.is_set():
                    continue
                if not self._in_flight:
                    raise _refused(call, self._figures(call.entry, amount))
                await self._ended.wait()

    async def _pay(self, call: PaidCall, call_id: int, send: Sending) -> ModelReply:
        try:
            reply = await send()
        except Exception as error:
            payload = _payload(call, error=error_text(error))
            if isinstance(error, ModelError) and not error.may_have_cost:
                await self._ledger.unbilled(call_id, payload=payload)
            else:
                await self._ledger.unknown(call_id, usable=None, payload=payload)
            raise
        usable = call.usable(reply)
        payload = _payload(call, reply=reply)
        if reply.usage is None or call.price is None:
            await self._ledger.unknown(call_id, usable=usable, payload=payload)
        else:
            cost = call.price.cost_nanousd(reply.usage)
            await self._ledger.settle(call_id, cost, usable=usable, payload=payload)
        return reply

    def _figures(self, entry: CallEntry, amount_nanousd: int) -> str:
        spent = self._ledger.spent(entry.evaluation_id, entry.purpose)
        return (
            f"{_usd(spent)} of {_usd(self._cap_nanousd or 0)} is spent or reserved, and this call may cost "
            f"{_usd(amount_nanousd)}"
        )


def _refused(call: PaidCall, reason: str) -> CapExceededError:
    # The same evaluation has the same cap, so that trying again could only spend more.
    message = f"{CAP_EXCEEDED}: {reason}"
    return CapExceededError(Trouble("quota", call.entry.purpose, CAP_EXCEEDED, message, retryable=False))


def _payload(call: PaidCall, *, reply: ModelReply | None = None, error: str | None = None) -> str:
    # A text that is not used again is the candidate's: its record has it.
    text = reply.text if reply is not None and call.entry.cache_key is not None else None
    payload = CallPayload(
        model=call.model,
        prompt_version=call.prompt_version,
        text=text,
        usage=None if reply is None else reply.usage,
        cut=None if reply is None else reply.cut,
        error=error,
    )
    return dumps_text(payload.to_json())


def _usd(nanousd: int) -> str:
    whole, _, parts = f"{Decimal(nanousd) / NANOUSD:.9f}".partition(".")
    return f"${whole}.{parts.rstrip('0').ljust(2, '0')}"
