"""Dates as people and programs write them, in one form: ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"

DATE = (
    rf"(?:\d{{4}}(?P<mark>[-/.])(?:0?[1-9]|1[0-2])(?P=mark){_DAY}(?!\d)"
    rf"|{_MONTH}\.?\ {_DAY}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?\b"
    rf"|{_DAY}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH}\.?(?:,?\ \d{{4}})?\b)"
)
"""A pattern of dates in text: the year first, or the month by its English name; one group of it has a name.
Figures alone with the year last are none, since what comes first there differs between countries."""

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d\d?)[-/.](\d\d?)")
_MONTH_FIRST = re.compile(rf"({_MONTH})\.? (\d\d?)(?:st|nd|rd|th)?(?:,? (\d{{4}}))?", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"(\d\d?)(?:st|nd|rd|th)? (?:of )?({_MONTH})\.?(?:,? (\d{{4}}))?", re.IGNORECASE)
_WHOLE_DATE = re.compile(DATE, re.IGNORECASE | re.VERBOSE)
_LEAP_YEAR = 2000


def iso_date(text: str) -> str | None:
    """Give a date that `DATE` matches as `2024-05-20`, or `05-20` if it names no year; None if there is none.

    `2024-02-30` is no date, and `02-29` is one.
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = (int(part) for part in found.groups())
        return _checked(year, month, day)
    if found := _MONTH_FIRST.fullmatch(text):
        name, day_text, year_text = found.groups()
    elif found := _DAY_FIRST.fullmatch(text):
        day_text, name, year_text = found.groups()
    else:
        return None
    month = _MONTHS.index(name[:3].lower()) + 1
    return _checked(int(year_text) if year_text else None, month, int(day_text))


def _checked(year: int | None, month: int, day: int) -> str | None:
    try:
        text = date(_LEAP_YEAR if year is None else year, month, day).isoformat()
    except ValueError:
        return None
    return text[5:] if year is None else text


def iso_text(text: str) -> str:
    """Give a text that is a date or a time of a date, and nothing else, as ISO 8601 has it; else the text.

    A time with a zone comes out in UTC; one without stays without.
    """
    bare = text.strip()
    if _WHOLE_DATE.fullmatch(bare):
        return iso_date(bare) or text
    if len(bare) < len("2024-05-20T10") or not bare[:4].isdigit():
        return text
    try:
        moment = datetime.fromisoformat(bare)
    except ValueError:
        return text
    return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()
