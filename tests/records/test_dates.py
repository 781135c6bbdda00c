"""Dates as people and programs write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.dates import DATE, is_month, iso_date, iso_text


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-05-20", "2024-05-20"),
        ("2024-5-2", "2024-05-02"),
        ("2024/05/20", "2024-05-20"),
        ("2024.5.20", "2024-05-20"),
        ("May 20, 2024", "2024-05-20"),
        ("may 20th 2024", "2024-05-20"),
        ("MAY  2nd,  2024", "2024-05-02"),
        ("Sept. 1, 2024", "2024-09-01"),
        ("20 May 2024", "2024-05-20"),
        ("1st of June 2024", "2024-06-01"),
        ("03-Dec-2024", "2024-12-03"),
        ("May 20", "05-20"),
        ("20 May", "05-20"),
        ("February 29", "02-29"),
        ("May 2024", "2024-05"),
        ("Jan., 1999", "1999-01"),
        ("2024-02-29", "2024-02-29"),
        # No day of the calendar.
        ("2024-02-30", None),
        ("2023-02-29", None),
        ("April 31", None),
        # Not one date, or a date of either order.
        ("05/06/2024", None),
        ("2024-05/20", None),
        ("2024", None),
        ("May", None),
        ("May 20 or 21", None),
        ("", None),
    ],
)
def test_a_date(text: str, iso: str | None) -> None:
    found = re.fullmatch(DATE, text, re.IGNORECASE)
    assert (iso_date(text) if found else None) == iso


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("From May 20 to June 3, 2024.", ["May 20", "June 3, 2024"]),
        ("on 2024-05-20T10:00", ["2024-05-20"]),
        ("2024-05-203", []),
        ("maybe 20 mayors", []),
        ("He may 5 times", ["may 5"]),
        ("March of 2024", []),
        ("in May,\n20 people", []),
    ],
)
def test_dates_in_a_line(text: str, found: list[str]) -> None:
    assert [one.group() for one in re.finditer(rf"\b{DATE}", text, re.IGNORECASE)] == found


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("May", True),
        ("sept", True),
        ("JULY", True),
        ("Mays", False),
        ("Ma", False),
        ("", False),
        ("May 2", False),
    ],
)
def test_a_month(text: str, is_one: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_month(text) is is_one


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        (" May 20, 2024 ", "2024-05-20"),
        ("2024-05-20T12:00:00+02:00", "2024-05-20T10:00:00+00:00"),
        ("2024-05-20T10:00:00Z", "2024-05-20T10:00:00+00:00"),
        ("2024-05-20 10:00", "2024-05-20T10:00:00"),
        ("20240520T100000Z", "2024-05-20T10:00:00+00:00"),
        # What is none of these stays as it is.
        ("2024-05-20T25:00", "2024-05-20T25:00"),
        ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00+01:00"),
        ("2024-02-30", "2024-02-30"),
        ("20240520", "20240520"),
        (" soon ", " soon "),
        ("by May 20", "by May 20"),
    ],
)
def test_a_text_that_is_a_date(text: str, iso: str) -> None:
    assert iso_text(text) == iso


_DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))
_FORMS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%B %d, %Y",
    "%b %d %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d of %B, %Y",
    "%b. %d, %Y",
]


@given(_DAYS, st.sampled_from(_FORMS))
def test_every_day_in_every_form(day: date, form: str) -> None:
    assert iso_date(day.strftime(form)) == iso_text(day.strftime(form)) == day.isoformat()


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - the zone comes next
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_is_the_same_in_any_zone(moment: datetime, minutes: int) -> None:
    there = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert iso_text(there.isoformat()) == iso_text(there.astimezone(UTC).isoformat())
    assert datetime.fromisoformat(iso_text(there.isoformat())) == there


@given(st.text(max_size=30) | _DAYS.map(date.isoformat) | st.datetimes().map(datetime.isoformat))
def test_once_is_enough(text: str) -> None:
    assert iso_text(iso_text(text)) == iso_text(text)
