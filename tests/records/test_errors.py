"""The one line that a user reads."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.errors import InputError, RegressError, os_error_text


class Facts(TypedDict, total=False):
    file: Path | str | None
    field: str | None
    case: str | None
    remedy: str | None


LINES: list[tuple[str, Facts, str]] = [
    ("wrong", {}, "wrong"),
    ("wrong", {"file": "a.json"}, "a.json: wrong"),
    ("wrong", {"file": Path("x/a.json")}, "x/a.json: wrong"),
    ("wrong", {"field": "$.a"}, "$.a: wrong"),
    ("wrong", {"case": "c1"}, "case c1: wrong"),
    ("wrong", {"remedy": "mend it"}, "wrong; mend it"),
    (
        "wrong",
        {"file": "a.json", "field": "$.items[3].callId", "case": "c1", "remedy": "mend it"},
        "a.json: $.items[3].callId: case c1: wrong; mend it",
    ),
    ("wrong", {"file": "a.json", "case": "c1"}, "a.json: case c1: wrong"),
    ("wrong", {"file": None, "field": None, "case": None, "remedy": None}, "wrong"),
    ("line one\nline two\r\n\tline three", {}, "line one line two line three"),
    ("a\u2028b\u0085c\x0bd\x1ce", {}, "a b c d e"),
    (
        "wrong",
        {"file": "odd\nname.json", "field": "$\n", "case": "c\n1", "remedy": "mend\nit"},
        "odd name.json: $ : case c 1: wrong; mend it",
    ),
]


@pytest.mark.parametrize(("message", "facts", "line"), LINES)
def test_the_line(message: str, facts: Facts, line: str) -> None:
    assert str(InputError(message, **facts)) == line


def test_the_facts_stay_at_hand() -> None:
    error = InputError("wrong", file=Path("a.json"), field="$.a", case="c1", remedy="mend it")

    assert (error.message, error.file, error.field, error.case, error.remedy) == (
        "wrong",
        "a.json",
        "$.a",
        "c1",
        "mend it",
    )
    assert isinstance(error, RegressError)


_ANY = st.text() | st.sampled_from(["a\nb", "\r", "\u2029", "\x1e"])


@given(_ANY, st.none() | _ANY, st.none() | _ANY, st.none() | _ANY, st.none() | _ANY)
def test_it_is_always_one_line(
    message: str, file: str | None, field: str | None, case: str | None, remedy: str | None
) -> None:
    line = str(InputError(message, file=file, field=field, case=case, remedy=remedy))

    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(2, "No such file or directory", "secret/path"), "No such file or directory"),
        (FileNotFoundError(2, "No such file or directory"), "No such file or directory"),
        (OSError("told by a library"), "OSError"),
        (PermissionError(), "PermissionError"),
    ],
    ids=repr,
)
def test_what_the_operating_system_refused(error: OSError, text: str) -> None:
    assert os_error_text(error) == text


def test_a_real_refusal_leaves_the_path_out(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as raised:
        (tmp_path / "gone").read_bytes()

    assert os_error_text(raised.value) == "No such file or directory"
