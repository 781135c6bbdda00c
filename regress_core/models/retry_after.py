"""How long a provider asks to wait before the next attempt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read the wait out of a response's headers; names in any letter case.

    `retry-after-ms` (milliseconds, as OpenAI and Azure send it) is the more exact one and wins over
    `Retry-After`, which holds seconds or a date (RFC 9110, section 10.2.3); fractions of a second are
    understood too.

    Args:
        headers: The response's headers.
        now: The present time, which a date is counted from.

    Returns:
        Seconds from now, not below zero; None if the headers do not say.
    """
    values = {name.lower(): value for name, value in headers.items()}
    milliseconds = _amount(values.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = values.get("retry-after", "")
    seconds = _amount(text)
    return _seconds_until(text, now) if seconds is None else seconds


def _amount(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _seconds_until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:  # the old asctime form says no zone; HTTP dates are all in UTC
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
