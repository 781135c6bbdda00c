"""Identifiers of evaluations: UUID version 7 (RFC 9562, 5.7) and version 5 (5.5)."""

from __future__ import annotations

import hashlib
import re
import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest

from regress_core.ids import derived_evaluation_id, new_evaluation_id, utc_now

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Times and their Unix milliseconds.
TIMES: list[tuple[datetime, int]] = [
    (EPOCH, 0),
    (datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC), 0x017F22E279B0),  # RFC 9562, appendix A.6
    (datetime(2022, 2, 22, 14, 22, 22, tzinfo=timezone(timedelta(hours=-5))), 0x017F22E279B0),
    (datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), 1_000_000_000_000),
    (datetime(2033, 5, 18, 3, 33, 20, 1_999, tzinfo=UTC), 2_000_000_000_001),
    (datetime(2004, 7, 13, 0, 16, 55, 699_000, tzinfo=UTC), 1_089_677_815_699),
    (datetime(2039, 5, 14, 2, 43, 38, 127_000, tzinfo=UTC), 2_188_953_818_127),
]


@pytest.mark.parametrize(("now", "milliseconds"), TIMES, ids=[str(now) for now, _ in TIMES])
def test_the_first_48_bits_are_the_milliseconds(now: datetime, milliseconds: int) -> None:
    assert int(new_evaluation_id(now).replace("-", "")[:12], 16) == milliseconds


def test_the_layout_is_that_of_version_7() -> None:
    for _ in range(200):
        text = new_evaluation_id(utc_now())
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", text)
        assert (uuid.UUID(text).version, uuid.UUID(text).variant) == (7, uuid.RFC_4122)


def test_the_other_bits_are_random() -> None:
    numbers = [uuid.UUID(new_evaluation_id(EPOCH)).int for _ in range(500)]
    ones, either = 0, 0
    for number in numbers:
        ones |= number
        either |= ~number

    assert len(set(numbers)) == 500
    random_bits = (1 << 76) - 1 ^ 0b11 << 62  # all below the version, but for the variant
    assert ones & random_bits == random_bits
    assert either & random_bits == random_bits


def test_ids_sort_by_their_time() -> None:
    times = [EPOCH + timedelta(days=day, milliseconds=day) for day in range(0, 40_000, 97)]
    times += [times[-1] + timedelta(milliseconds=step) for step in range(1, 50)]

    ids = [new_evaluation_id(time) for time in times]

    assert ids == sorted(ids)


def test_the_present_time_is_in_utc() -> None:
    before = datetime.now(UTC)
    now = utc_now()

    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)


def _version_5(parts: tuple[str, ...]) -> str:
    """Follow RFC 9562, 5.5: SHA-1 of name space and name, then version and variant."""
    space = bytes.fromhex("6b1d0f582c3e5a9b9d6e0d5a4c1b7e42")
    digest = bytearray(hashlib.sha1(space + "\x1f".join(parts).encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@pytest.mark.parametrize(
    "parts", [("a",), ("a", "b"), ("ab",), ("b", "a"), ("",), ("caf\u00e9", "2026-01-01"), ()]
)
def test_a_derived_id_is_the_same_for_good(parts: tuple[str, ...]) -> None:
    assert derived_evaluation_id(*parts) == _version_5(parts)
    assert derived_evaluation_id(*parts) == derived_evaluation_id(*parts)
    assert uuid.UUID(derived_evaluation_id(*parts)).version == 5


def test_different_parts_have_different_derived_ids() -> None:
    parts = [("a",), ("a", "b"), ("ab",), ("b", "a"), ("a", "b", ""), ("", "a", "b"), ("",)]

    assert len({derived_evaluation_id(*each) for each in parts}) == len(parts)
