"""`regress override`: a case that runs and is shown, but does not gate for a while."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.support import Here, Result
from tests.support.suites import tree, write_suite

NEXT_WEEK = f"{datetime.now(UTC) + timedelta(days=7):%Y-%m-%d}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite", {"a": "same", "b": "failed"})


def _override(here: Here, *options: str) -> Result:
    whole = ("--suite", "suite", "--case", "b", "--reason", "a known bug", "--owner", "Ann")
    return here("override", *whole, "--expires", NEXT_WEEK, *options)


def test_a_line_is_appended(here: Here, root: Path) -> None:
    before = tree(root)

    result = _override(here)

    assert (result.code, result.err) == (0, "")
    assert f"until {NEXT_WEEK} 23:59Z" in result.out
    after = tree(root)
    line = json.loads(after.pop("overrides.jsonl"))
    assert datetime.fromisoformat(line.pop("createdAt")).utcoffset() == timedelta(0)
    assert line == {"caseId": "b", "reason": "a known bug", "owner": "Ann", "expires": NEXT_WEEK}
    assert after == before


def test_one_after_another(here: Here, root: Path) -> None:
    _override(here)
    first = (root / "overrides.jsonl").read_bytes()

    assert _override(here, "--case", "a", "--expires", "2999-12-31T10:00:00+01:00").code == 0

    after = (root / "overrides.jsonl").read_bytes()
    assert after.startswith(first)
    assert json.loads(after[len(first) :])["expires"] == "2999-12-31T10:00:00+01:00"


# What --expires says, and the end that is printed, in UTC.
ENDS = [
    ("2099-12-31", "2099-12-31 23:59Z"),
    ("2099-12-31T10:00", "2099-12-31 10:00Z"),
    ("2099-12-31T10:00:00Z", "2099-12-31 10:00Z"),
    ("2099-12-31T10:00:00+14:00", "2099-12-30 20:00Z"),
    ("2099-12-31T20:30:00-05:00", "2100-01-01 01:30Z"),
]


@pytest.mark.parametrize(("expires", "end"), ENDS)
@pytest.mark.usefixtures("root")
def test_the_end_is_told_in_utc(here: Here, expires: str, end: str) -> None:
    assert f"until {end}; owner: Ann" in _override(here, "--expires", expires).out


REFUSED: list[tuple[str, Sequence[str], str]] = [
    ("another case", ("--case", "zzz"), "case zzz: no such case; name a record there"),
    ("no reason", ("--reason", " "), "--reason: says nothing"),
    ("no owner", ("--owner", ""), "--owner: says nothing"),
    ("a day that has passed", ("--expires", "2026-01-01"), "--expires: 2026-01-01 has passed"),
    ("a day that is none", ("--expires", "soon"), "--expires: 'soon' is neither a date"),
    (
        "after all time",
        ("--expires", "9999-12-31T23:00:00-05:00"),
        "--expires: '9999-12-31T23:00:00-05:00' is",
    ),
    ("another suite", ("--suite", "nope"), "no suite 'nope'"),
]


@pytest.mark.parametrize(("options", "message"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_is_refused(here: Here, root: Path, options: Sequence[str], message: str) -> None:
    before = tree(root)

    assert message in _override(here, *options).fault
    assert tree(root) == before


def test_a_suite_that_allows_none(here: Here, root: Path) -> None:
    (root / "suite.yaml").write_text("name: shop\ngate: {allow_manual_override: false}\n", encoding="utf-8")

    assert "$.gate.allow_manual_override: is false" in _override(here).fault
    assert not (root / "overrides.jsonl").exists()


def test_a_line_that_is_at_fault_is_not_added_to(here: Here, root: Path) -> None:
    (root / "overrides.jsonl").write_bytes(b"{}\n")

    assert "overrides.jsonl: line 1, $." in _override(here).fault
    assert (root / "overrides.jsonl").read_bytes() == b"{}\n"
