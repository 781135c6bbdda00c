"""How long a provider asks to wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from regress_core.models.retry_after import retry_after_s

NOW = datetime(2026, 1, 1, 0, 0, 0, tzinfo=UTC)

CASES: list[tuple[str, Mapping[str, str], float | None]] = [
    ("nothing", {}, None),
    ("seconds", {"Retry-After": "7"}, 7),
    ("no wait", {"Retry-After": "0"}, 0),
    ("a fraction", {"Retry-After": "1.5"}, 1.5),
    ("small letters", {"retry-after": " 20 "}, 20),
    ("milliseconds", {"retry-after-ms": "1250"}, 1.25),
    ("milliseconds first", {"Retry-After": "2", "Retry-After-Ms": "1250"}, 1.25),
    ("milliseconds that say nothing", {"Retry-After": "2", "retry-after-ms": "soon"}, 2),
    ("a date", {"Retry-After": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30),
    ("a date of another zone", {"Retry-After": "Thu, 01 Jan 2026 01:01:00 +0100"}, 60),
    ("an asctime date", {"Retry-After": "Thu Jan  1 00:02:00 2026"}, 120),
    ("a past date", {"Retry-After": "Wed, 31 Dec 2025 23:59:00 GMT"}, 0),
    ("no number and no date", {"Retry-After": "later"}, None),
    ("empty", {"Retry-After": ""}, None),
    ("negative", {"Retry-After": "-1"}, None),
    ("endless", {"Retry-After": "inf"}, None),
    ("not a number", {"Retry-After": "nan"}, None),
    ("an impossible date", {"Retry-After": "Thu, 99 Jan 2026 00:00:30 GMT"}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_the_wait_that_headers_ask_for(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds
