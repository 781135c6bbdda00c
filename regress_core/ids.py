"""Time and identifiers, passed in wherever a test needs to fix them."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Gives the present time, timezone-aware, in UTC."""

IdFactory = Callable[[datetime], str]
"""Gives a new evaluation id for something that starts at that time."""


def utc_now() -> datetime:
    """Give the present time in UTC."""
    return datetime.now(UTC)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_evaluation_id(now: datetime) -> str:
    """Make a UUID version 7: 48 bits of Unix milliseconds, then 74 random bits.

    Ids sort by their time of creation. Layout: RFC 9562, section 5.7.
    """
    milliseconds = (now - _EPOCH) // timedelta(milliseconds=1)
    random_a = secrets.randbits(12)
    random_b = secrets.randbits(62)
    value = milliseconds << 80 | 0x7 << 76 | random_a << 64 | 0b10 << 62 | random_b
    return str(uuid.UUID(int=value))


def new_run_id() -> str:
    """Make the id of a candidate's run: 128 random bits."""
    return f"run_{secrets.token_hex(16)}"


_DERIVED_IDS = uuid.UUID("6b1d0f58-2c3e-5a9b-9d6e-0d5a4c1b7e42")


def derived_evaluation_id(*parts: str) -> str:
    """Make the id that the same parts always give: UUID version 5, RFC 9562, section 5.5."""
    return str(uuid.uuid5(_DERIVED_IDS, "\x1f".join(parts)))
