"""Times as logs have them: ISO text, or seconds or milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from regress_core.records.json_io import JsonValue

UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"
"""Stands where the source has no time: the time of the import would make every import different."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MILLISECONDS = 10**11  # as seconds this is the year 5138, as milliseconds 1973


def iso_time(value: JsonValue) -> str | None:
    """Write a time as ISO text in UTC with milliseconds and `Z`; None if the value is no time.

    Text without an offset is taken as UTC.
    """
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        elif isinstance(value, int | float):
            seconds = value / 1000 if abs(value) >= _FIRST_MILLISECONDS else value
            moment = _EPOCH + timedelta(seconds=seconds)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
