"""Times as logs have them."""

from __future__ import annotations

import pytest

from regress_core.records.importers.times import iso_time
from regress_core.records.json_io import JsonValue


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00.1239+02:00", "2026-03-01T08:00:00.123Z"),
        ("2026-03-01 10:00:00", "2026-03-01T10:00:00.000Z"),
        ("2025-08-01T15:53:41.684372", "2025-08-01T15:53:41.684Z"),
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_700_000_000, "2023-11-14T22:13:20.000Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500Z"),
        (-1, "1969-12-31T23:59:59.000Z"),
        ("yesterday", None),
        ("", None),
        ("0001-01-01T00:00:00+23:59", None),
        (True, None),
        (None, None),
        ([1], None),
        (10**30, None),
        (10**400, None),
        (1e300, None),
    ],
)
def test_iso_time(value: JsonValue, time: str | None) -> None:
    assert iso_time(value) == time
