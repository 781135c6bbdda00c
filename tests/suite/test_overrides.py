"""Overrides: which one counts, and until when."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.suite.overrides import Override, active, append_override, load_overrides
from tests.suite.support import refusal


def _line(**changes: JsonValue) -> JsonObject:
    line: JsonObject = {
        "caseId": "a",
        "reason": "the provider changes its prices",
        "owner": "Ann",
        "expires": "2026-03-31",
        "createdAt": "2026-03-01T08:00:00+00:00",
    }
    return line | changes


def _overrides(*expires: str, case: str = "a") -> list[Override]:
    return [Override.from_json(_line(caseId=case, expires=text)) for text in expires]


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


# Ends of the overrides of a case, oldest first; the time; the end of the one that is active.
ACTIVE: list[tuple[str, list[str], str, str | None]] = [
    ("none", [], "2026-03-01T00:00:00Z", None),
    ("before its day", ["2026-03-31"], "2026-03-30T12:00:00Z", "2026-03-31"),
    ("at the end of its day", ["2026-03-31"], "2026-03-31T23:59:59.999999Z", "2026-03-31"),
    ("after its day", ["2026-03-31"], "2026-04-01T00:00:00Z", None),
    ("a day ends in UTC", ["2026-03-31"], "2026-04-01T01:00:00+02:00", "2026-03-31"),
    ("before its time", ["2026-03-31T10:00:00Z"], "2026-03-31T09:59:59Z", "2026-03-31T10:00:00Z"),
    ("after its time", ["2026-03-31T10:00:00Z"], "2026-03-31T10:00:01Z", None),
    ("a time of another zone", ["2026-03-31T10:00:00+02:00"], "2026-03-31T09:00:00Z", None),
    ("a time without a zone", ["2026-03-31T10:00"], "2026-03-31T09:00:00Z", "2026-03-31T10:00"),
    ("made longer", ["2026-03-31", "2026-04-30"], "2026-04-15T00:00:00Z", "2026-04-30"),
    ("made shorter", ["2026-04-30", "2026-03-31"], "2026-04-15T00:00:00Z", None),
    ("ahead of UTC", ["2026-03-31T10:00:00+14:00"], "2026-03-30T20:00:00Z", "2026-03-31T10:00:00+14:00"),
    ("ahead of UTC, after it", ["2026-03-31T10:00:00+14:00"], "2026-03-30T20:00:01Z", None),
    ("for ever", ["9999-12-31"], "2026-04-15T00:00:00Z", "9999-12-31"),
]


@pytest.mark.parametrize(
    ("ends", "now", "expected"), [pytest.param(*case[1:], id=case[0]) for case in ACTIVE]
)
def test_the_last_one_counts_until_it_expires(ends: list[str], now: str, expected: str | None) -> None:
    found = active(_overrides(*ends), "a", _at(now))

    assert (found.expires if found else None) == expected


def test_other_cases_gate() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert active(_overrides("2026-03-31", case="b"), "a", now) is None
    both = [*_overrides("2026-03-31"), *_overrides("2026-02-01", case="b")]
    assert active(both, "a", now) is both[0]


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "overrides.jsonl"
    before = dumps(_line(ticket="T-1")) + b"\r\n" + dumps(_line(caseId="b"))
    path.write_bytes(before)

    append_override(path, _overrides("2026-04-30")[0])

    assert path.read_bytes() == before + b"\r\n" + dumps(_line(expires="2026-04-30")) + b"\r\n"
    assert [(one.case_id, one.expires) for one in load_overrides(path)] == [
        ("a", "2026-03-31"),
        ("b", "2026-03-31"),
        ("a", "2026-04-30"),
    ]


def test_no_file_is_no_override(tmp_path: Path) -> None:
    assert load_overrides(tmp_path / "overrides.jsonl") == ()


FAULTS: list[tuple[str, JsonObject, str, str]] = [
    ("no owner", _line(owner=""), "line 1, $.owner", "is empty"),
    ("no reason", _line(reason="\t"), "line 1, $.reason", "is empty"),
    ("no end", {key: value for key, value in _line().items() if key != "expires"}, "line 1, $.expires", ""),
    ("an end in words", _line(expires="next week"), "line 1, $.expires", "neither a date such as"),
    ("a day that is none", _line(expires="2026-02-30"), "line 1, $.expires", "neither a date such as"),
    (
        "after all time",
        _line(expires="9999-12-31T23:00:00-05:00"),
        "line 1, $.expires",
        "not within the years",
    ),
    (
        "before all time",
        _line(expires="0001-01-01T00:00:00+14:00"),
        "line 1, $.expires",
        "not within the years",
    ),
    ("a number", _line(expires=20260331), "line 1, $.expires", ""),
    ("no time of its making", _line(createdAt="2026-03-01"), "line 1, $.createdAt", "no time zone"),
]


@pytest.mark.parametrize(
    ("line", "field", "message"), [pytest.param(*case[1:], id=case[0]) for case in FAULTS]
)
def test_a_line_that_is_at_fault(tmp_path: Path, line: JsonObject, field: str, message: str) -> None:
    path = tmp_path / "overrides.jsonl"
    path.write_bytes(dumps(line) + b"\n")

    with pytest.raises(InputError) as error:
        load_overrides(path)

    fault = refusal(error)
    assert (fault.file, fault.field) == (str(path), field)
    assert message in fault.message
