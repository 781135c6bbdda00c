"""Reading the times that records and people write."""

from __future__ import annotations

from datetime import UTC, datetime

from regress_core.records.json_io import JsonValue


def utc_time(value: JsonValue) -> datetime | None:
    """Read an ISO 8601 time or date; no zone means UTC. None for anything else."""
    try:
        moment = datetime.fromisoformat(str(value))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # no ISO time, or beyond the years 1 to 9999 in UTC
        return None
