"""The ledger: what calls may cost, committed before they leave, and replies that need not be bought again.

A row is a request that leaves, or an earlier reply that is used again. Money is counted in whole
nano-dollars (10⁻⁹ USD), so that a cap is exact. What counts against a cap is a row's cost, and as long as
that is not known its whole reservation: for ever, where the process died or the provider never told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    RowMapping,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from regress_core.ids import Clock
from regress_core.journal.schema import CALLS
from regress_core.journal.writer import Writer

T = TypeVar("T")

Purpose = Literal["judge", "candidate"]
"""Who spends: each has a cap of its own."""

CallState = Literal["open", "settled", "unbilled", "unknown", "cached"]
"""`open`: sent, nothing known yet. `settled`: the cost is known. `unbilled`: known not to have cost anything.
`unknown`: it may have cost, and nobody told how much. `cached`: an earlier call's reply was used again."""

_READ_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class CallEntry:
    """What a call is made for.

    Attributes:
        evaluation_id: The evaluation that pays.
        purpose: Whose cap it counts against.
        case_id: The case.
        trial: Counts from 1.
        revision: The evaluation's.
        judge: Which judge asks; None for a candidate.
        number: The how-manieth answer to the same question is asked for, from 1.
        cache_key: SHA-256 of all that can change the reply; None where a reply is never used again.
    """

    evaluation_id: str
    purpose: Purpose
    case_id: str
    trial: int
    revision: int
    judge: str | None = None
    number: int = 1
    cache_key: str | None = None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call as the ledger knows it.

    Attributes:
        call_id: Ascends with time.
        entry: What it was made for.
        state: What is known of it.
        usable: Whether the reply gave what was asked for, a verdict; None while there is no reply.
        reserved_nanousd: What it may cost at most, nano-dollars.
        cost_nanousd: What it did cost; None while that is not known.
        saved_nanousd: What was not spent because an earlier reply was used again.
        payload: JSON text: model, reply, usage, error.
        asked_at: When it was entered.
    """

    call_id: int
    entry: CallEntry
    state: CallState
    usable: bool | None
    reserved_nanousd: int
    cost_nanousd: int | None
    saved_nanousd: int
    payload: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class SpentRow:
    """What one judge, or the candidate, has spent and saved in an evaluation, nano-dollars."""

    purpose: Purpose
    judge: str | None
    spent_nanousd: int
    saved_nanousd: int


class Ledger:
    """The ledger in a journal file; exact across processes, since each read-then-write is one transaction.

    Whoever is cancelled while a write is under way: the write is done all the same, so that a reply that was
    paid for is not lost; only a reservation is taken back.

    Args:
        reading: The journal's engine for reading.
        writer: The journal's writer.
        clock: Gives the time that calls are entered with.
    """

    def __init__(self, reading: Engine, writer: Writer, clock: Clock) -> None:
        self._reading = reading
        self._writer = writer
        self._clock = clock

    async def reserve(
        self, entry: CallEntry, amount_nanousd: int, *, cap_nanousd: int | None, payload: str
    ) -> int | None:
        """Enter a call that is about to leave, if all that counts and this amount stay within the cap.

        Args:
            entry: What it is made for.
            amount_nanousd: What it may cost at most.
            cap_nanousd: What the entry's evaluation may spend for its purpose; None for no cap.
            payload: JSON text of what is known of it.

        Returns:
            The id of the call; None if it does not fit.
        """
        values = {
            **asdict(entry),
            "state": "open",
            "usable": None,
            "reserved_nanousd": amount_nanousd,
            "cost_nanousd": None,
            "saved_nanousd": 0,
            "payload": payload,
            "asked_at": self._clock(),
        }
        entered: list[int] = []

        def operation(connection: Connection) -> int | None:
            entered.clear()  # it may run twice, when what shared its transaction failed
            if cap_nanousd is not None:
                spent = _spent(connection, entry.evaluation_id, entry.purpose)
                if spent + amount_nanousd > cap_nanousd:
                    return None
            entered.append(_enter(connection, values))
            return entered[0]

        future = self._writer.submit(operation)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel():  # it is, or is being, done
                await self._done(lambda connection: [_release(connection, call_id) for call_id in entered])
            raise

    async def release(self, call_id: int) -> None:
        """Take a reservation back whose request never left."""
        await self._done(lambda connection: _release(connection, call_id))

    async def settle(self, call_id: int, cost_nanousd: int, *, usable: bool, payload: str) -> None:
        """Enter a reply and what it cost."""
        await self._end(call_id, "settled", cost_nanousd, payload, usable=usable)

    async def unbilled(self, call_id: int, *, payload: str) -> None:
        """Enter that a call got no reply and is known not to have cost anything."""
        await self._end(call_id, "unbilled", 0, payload, usable=None)

    async def unknown(self, call_id: int, *, usable: bool | None, payload: str) -> None:
        """Enter that nobody tells what a call cost; `usable` is None where it got no reply."""
        await self._end(call_id, "unknown", None, payload, usable=usable)

    async def find(self, entry: CallEntry) -> CallRow | None:
        """Give the reply that an entry need not be asked for: of its cache key and number.

        That is one of the same evaluation and revision, usable or not: it has been paid for, and is not asked
        for again after a crash. Else it is the first usable one of any evaluation.
        """
        if entry.cache_key is None:
            return None
        values = {
            "evaluation_id": entry.evaluation_id,
            "revision": entry.revision,
            "cache_key": entry.cache_key,
            "number": entry.number,
        }

        def operation(connection: Connection) -> CallRow | None:
            row = connection.execute(_FIND, values).mappings().one_or_none()
            return None if row is None else _row(row)

        return await self._done(operation)

    async def note_cached(self, entry: CallEntry, original: CallRow, *, payload: str) -> None:
        """Enter that an earlier evaluation's reply was used; once, also when a crash has it used again.

        Args:
            entry: What it was used for.
            original: The call that gave it.
            payload: JSON text of what is to be known of it.
        """
        values = {
            **asdict(entry),
            "state": "cached",
            "usable": True,
            "reserved_nanousd": 0,
            "cost_nanousd": 0,
            "saved_nanousd": original.cost_nanousd or 0,
            "payload": payload,
            "asked_at": self._clock(),
        }
        same = [CALLS.c[name].is_not_distinct_from(value) for name, value in asdict(entry).items()]
        noted = select(CALLS.c.call_id).where(CALLS.c.state == "cached", *same).limit(1)

        def operation(connection: Connection) -> None:
            if connection.execute(noted).first() is None:
                _enter(connection, values)

        await self._done(operation)

    def made(self, entry: CallEntry) -> tuple[int, int]:
        """Give how many requests left for the judge, case and trial of an entry, and their cost.

        Those of earlier revisions count too: the evaluation has paid for them.

        Costs are in nano-dollars; a request of unknown cost counts with its reservation.
        """
        names = ("evaluation_id", "purpose", "case_id", "trial", "judge")
        values = {name: getattr(entry, name) for name in names}
        with self._reading.connect() as connection:
            calls, cost = connection.execute(_MADE, values).one()
        return calls, cost

    def totals(self, evaluation_id: str) -> list[SpentRow]:
        """Give what an evaluation has spent and saved, by purpose and judge."""
        columns = (CALLS.c.purpose, CALLS.c.judge, _COUNTED, func.sum(CALLS.c.saved_nanousd))
        query = (
            select(*columns)
            .where(CALLS.c.evaluation_id == evaluation_id)
            .group_by(CALLS.c.purpose, CALLS.c.judge)
            .order_by(CALLS.c.purpose, CALLS.c.judge)
        )
        with self._reading.connect() as connection:
            return [SpentRow(*row) for row in connection.execute(query)]

    def spent(self, evaluation_id: str, purpose: Purpose) -> int:
        """Give what counts against a cap so far, nano-dollars: costs, and reservations of unknown cost."""
        with self._reading.connect() as connection:
            return _spent(connection, evaluation_id, purpose)

    def calls_of(self, evaluation_id: str, revision: int) -> Iterator[CallRow]:
        """Give the calls of one revision, ordered by case id, trial, judge, number and time."""
        order = (CALLS.c.case_id, CALLS.c.trial, CALLS.c.judge, CALLS.c.number, CALLS.c.call_id)
        query = (
            select(CALLS)
            .where(CALLS.c.evaluation_id == evaluation_id, CALLS.c.revision == revision)
            .order_by(*order)
        )
        with self._reading.connect() as connection:
            rows = connection.execution_options(yield_per=_READ_AT_ONCE).execute(query)
            for row in rows.mappings():
                yield _row(row)

    async def _end(
        self, call_id: int, state: CallState, cost_nanousd: int | None, payload: str, *, usable: bool | None
    ) -> None:
        values = {"state": state, "cost_nanousd": cost_nanousd, "usable": usable, "payload": payload}
        await self._done(lambda connection: connection.execute(_END, {"ended": call_id, **values}).close())

    async def _done(self, operation: Callable[[Connection], T]) -> T:
        future: Future[T] = self._writer.submit(operation)
        return await asyncio.shield(asyncio.wrap_future(future))


_COUNTED = func.coalesce(func.sum(func.coalesce(CALLS.c.cost_nanousd, CALLS.c.reserved_nanousd)), 0)


# Built once: they go with every call, and building costs more than the database needs to do them.
_SPENT = select(_COUNTED).where(
    CALLS.c.evaluation_id == bindparam("evaluation_id"), CALLS.c.purpose == bindparam("purpose")
)
_OWN = and_(
    CALLS.c.evaluation_id == bindparam("evaluation_id"),
    CALLS.c.revision == bindparam("revision"),
    CALLS.c.usable.is_not(None),
)
_FIND = (
    select(CALLS)
    .where(
        CALLS.c.cache_key == bindparam("cache_key"),
        CALLS.c.number == bindparam("number"),
        CALLS.c.state.in_(("settled", "unknown")),
        or_(_OWN, CALLS.c.usable),
    )
    .order_by(_OWN.desc(), CALLS.c.usable.desc(), CALLS.c.call_id)
    .limit(1)
)
_MADE = select(func.count(), _COUNTED).where(
    CALLS.c.state != "cached",
    *(
        CALLS.c[name].is_not_distinct_from(bindparam(name))
        for name in ("evaluation_id", "purpose", "case_id", "trial", "judge")
    ),
)
_ENTER = insert(CALLS).returning(CALLS.c.call_id)
_END = (
    update(CALLS)
    .where(CALLS.c.call_id == bindparam("ended"))
    .values({name: bindparam(name) for name in ("state", "cost_nanousd", "usable", "payload")})
)


def _spent(connection: Connection, evaluation_id: str, purpose: Purpose) -> int:
    values = {"evaluation_id": evaluation_id, "purpose": purpose}
    return connection.execute(_SPENT, values).scalar_one()


def _enter(connection: Connection, values: dict[str, Any]) -> int:
    return connection.execute(_ENTER, values).scalar_one()


def _release(connection: Connection, call_id: int) -> None:
    connection.execute(delete(CALLS).where(CALLS.c.call_id == call_id))


def _row(row: RowMapping) -> CallRow:
    values = dict(row)
    entry = CallEntry(**{name: values.pop(name) for name in CallEntry.__slots__})
    asked_at = values.pop("asked_at").replace(tzinfo=UTC)  # SQLite gives it back without its zone
    return CallRow(entry=entry, asked_at=asked_at, **values)
