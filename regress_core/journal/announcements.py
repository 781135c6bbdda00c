"""Which finished evaluations the world has been told of: each revision once, whoever finishes it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, select, update
from sqlalchemy.dialects.sqlite import insert

from regress_core.journal.schema import ANNOUNCEMENTS
from regress_core.journal.writer import Writer

CLAIM_LASTS = timedelta(minutes=10)
"""So long nobody else announces what a process has claimed; it may have died."""


class Announcements:
    """Claims in a journal file, safe across processes."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def claim(self, evaluation_id: str, revision: int, now: datetime) -> bool:
        """Claim the announcement of a revision; False if it has been made, or somebody is about to."""
        own = _of(evaluation_id, revision)
        old = and_(ANNOUNCEMENTS.c.announced_at.is_(None), ANNOUNCEMENTS.c.claimed_at <= now - CLAIM_LASTS)

        def operation(connection: Connection) -> bool:
            values = {"evaluation_id": evaluation_id, "revision": revision, "claimed_at": now}
            entered = connection.execute(insert(ANNOUNCEMENTS).values(values).on_conflict_do_nothing())
            if entered.rowcount:
                return True
            taken = connection.execute(update(ANNOUNCEMENTS).where(own, old).values(claimed_at=now))
            return bool(taken.rowcount)

        return self._writer.submit(operation).result()

    def announced(self, evaluation_id: str, revision: int, now: datetime) -> None:
        """Note that a claimed announcement has been made."""
        statement = update(ANNOUNCEMENTS).where(_of(evaluation_id, revision)).values(announced_at=now)
        self._writer.submit(lambda connection: connection.execute(statement).close()).result()

    def give_back(self, evaluation_id: str, revision: int, now: datetime) -> None:
        """Give a claim back whose announcement could not be made; it waits for somebody who claims it."""
        statement = update(ANNOUNCEMENTS).where(_of(evaluation_id, revision))
        lapsed = statement.values(claimed_at=now - CLAIM_LASTS)
        self._writer.submit(lambda connection: connection.execute(lapsed).close()).result()

    def waiting(self, now: datetime) -> list[tuple[str, int]]:
        """Give evaluation and revision of what was claimed and not announced, the oldest claim first."""
        old = and_(ANNOUNCEMENTS.c.announced_at.is_(None), ANNOUNCEMENTS.c.claimed_at <= now - CLAIM_LASTS)
        columns = (ANNOUNCEMENTS.c.evaluation_id, ANNOUNCEMENTS.c.revision)
        statement = select(*columns).where(old).order_by(ANNOUNCEMENTS.c.claimed_at, *columns)

        def operation(connection: Connection) -> list[tuple[str, int]]:
            return [(one, revision) for one, revision in connection.execute(statement)]

        return self._writer.submit(operation).result()


def _of(evaluation_id: str, revision: int) -> ColumnElement[bool]:
    return and_(ANNOUNCEMENTS.c.evaluation_id == evaluation_id, ANNOUNCEMENTS.c.revision == revision)
