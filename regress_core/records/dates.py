"""Dates as people and programs write them, in one form: ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# The first letter is looked at first: where text is searched, most of it fails there.
_MONTH = (
    r"(?=[JFMASOND])(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_ORDINAL = r"(?:st|nd|rd|th)?"
_SPACE = r"[^\S\n]+"

DATE = (
    rf"(?:\d{{4}}(?P<mark>[-/.])(?:0?[1-9]|1[0-2])(?P=mark){_DAY}(?!\d)"
    rf"|{_MONTH}\.?{_SPACE}{_DAY}{_ORDINAL}(?:,?{_SPACE}\d{{4}})?\b"
    rf"|{_DAY}{_ORDINAL}(?:-|{_SPACE}(?:of{_SPACE})?){_MONTH}\.?(?:(?:-|,?{_SPACE})\d{{4}})?\b"
    rf"|{_MONTH}\.?,?{_SPACE}(?:19|20)\d\d\b)"
)
"""A pattern of dates in a line of text, without regard to letter case: the year first, or the month by its
English name, where the day or the year may be missing; one group of it has a name. Figures alone with the
year last are none, since what comes first there differs between countries."""

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d\d?)[-/.](\d\d?)")
_MONTH_FIRST = re.compile(rf"({_MONTH})\.? (\d\d?){_ORDINAL}(?:,? (\d{{4}}))?", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"(\d\d?){_ORDINAL}[ -](?:of )?({_MONTH})\.?(?:,?[ -](\d{{4}}))?", re.IGNORECASE)
_MONTH_OF_YEAR = re.compile(rf"({_MONTH})\.?,? (\d{{4}})", re.IGNORECASE)
_WHOLE_MONTH = re.compile(_MONTH, re.IGNORECASE)
_WHOLE_DATE = re.compile(DATE, re.IGNORECASE)
_MOMENT = re.compile(r"\d{4}(-?)\d\d\1\d\d[Tt ]\d\d.*", re.ASCII)
_LEAP_YEAR = 2000


def iso_date(text: str) -> str | None:
    """Give a date that `DATE` matches as `2024-05-20`, or `05-20` or `2024-05` if it names no more.

    None if there is no such date: `2024-02-30` is none, and `02-29` is one.
    """
    line = " ".join(text.split())
    if found := _YEAR_FIRST.fullmatch(line):
        year, month, day = (int(part) for part in found.groups())
        return _checked(year, month, day)
    if found := _MONTH_OF_YEAR.fullmatch(line):
        return f"{int(found[2]):04}-{_month(found[1]):02}"
    if found := _MONTH_FIRST.fullmatch(line):
        name, day_text, year_text = found.groups()
    elif found := _DAY_FIRST.fullmatch(line):
        day_text, name, year_text = found.groups()
    else:
        return None
    return _checked(int(year_text) if year_text else None, _month(name), int(day_text))


def is_month(text: str) -> bool:
    """Tell whether a text is the English name of a month, or what it is shortened to."""
    return _WHOLE_MONTH.fullmatch(text) is not None


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].casefold()) + 1


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
    if not _MOMENT.fullmatch(bare):
        return text
    try:
        moment = datetime.fromisoformat(bare)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()
    except (ValueError, OverflowError):  # no such time, or none in UTC: the calendar has the years 1 to 9999
        return text
