"""`--where` and `--limit` pick rows and change nothing of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.base import Imported, Rejected
from regress_core.records.importers.importing import Choice, Format, imported_cases
from regress_core.records.importers.qa_log import is_qa_log, read_qa_log
from regress_core.records.importers.selection import matching
from regress_core.records.importers.sources import file_source
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import write_lines

NESTED: list[JsonValue] = [
    {"id": "a", "info": {"task": {"user_id": "x"}}, "list": [1, 2]},
    {"id": "b", "info": {"task": {"user_id": "y", "more": [{"z": 1}]}}},
    {"id": "c", "info": None, "list": []},
    {"list": [3]},
    7,
]


def chosen(rows: list[JsonValue], where: str) -> list[int]:
    """Give the numbers, from 1, of the rows that meet a condition; a row that is no object has no columns."""
    objects: list[JsonObject] = [row if isinstance(row, dict) else {} for row in rows]
    return [number + 1 for number in sorted(matching(objects, where, Path("x.jsonl")))]


@pytest.mark.parametrize(
    ("rows", "where", "numbers"),
    [
        ([{"trial": 0}, {"trial": 1}, {"trial": 0}], "trial = 0", [1, 3]),
        (NESTED, "info.task.user_id = 'x'", [1]),
        (NESTED, "info.task.user_id in ('x', 'y') and len(list) = 2", [1]),
        (NESTED, "info.task.more[1].z = 1", [2]),
        (NESTED, "list[1] = 3", [4]),
        (NESTED, "id is null", [4, 5]),
        (NESTED, "true", [1, 2, 3, 4, 5]),
        (NESTED, "id = 'a' -- the first", [1]),
        ([{"a": 1}, {"a": "x"}, {"a": None}, {"a": True}], "a = 'x' or a = '1'", [1, 2]),
        ([{"a": 1}, {"a": {"b": 2}}, {"a": "x"}], "a.b = 2", [2]),
        ([{"a": 1}, {"a": 1.5}, {"a": 2**70}], "a > 1", [2, 3]),
        ([{"d": "2026-03-01"}, {"d": "2026-04-01"}], "d like '2026-03%' and d >= '2026-02'", [1]),
        ([{"u": "71fd3e8f-81c4-479f-b6c5-9486cb61dae6"}, {"u": "no uuid"}], "u like '71%'", [1]),
        ([{"t": "a\x00b"}, {"t": "\ud800"}, {"t": "\x1b[31m"}], "length(t) = 1", [2]),
        ([{"ID": 1, "id": 2}, {"id": 2}], "id = 2", [2]),
        ([{"x": {"A": 1, "a": 2}, "y": 1}, {"x": {"a": 3}, "y": 2}], "y = 2 and x is not null", [2]),
        ([{"odd key": 1, 'q"q': 1}, {"odd key": 2, 'q"q': 2}], '"odd key" = 2 and "q""q" = 2', [2]),
        ([{"": 1, "n": {"": 1}}, {"n": None}], "n is null", [2]),
        ([{"m": {f"key{i}": i}} for i in range(600)], "m.key5 = 5", [6]),
        ([], "true", []),
    ],
)
def test_where(rows: list[JsonValue], where: str, numbers: list[int]) -> None:
    assert chosen(rows, where) == numbers


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("nope = 1", ['"nope" not found', "the columns are: trial, info"]),
        ("trial = 1 and nope = 1", ["the columns are: trial BIGINT, info"]),
        ("trial = ", ["--where trial =", "Parser Error"]),
        ("", ["--where", "Parser Error"]),
        ("trial = 1) or (true", ["Parser Error"]),
        ("trial = 1; drop table x", ["Parser Error"]),
        ("trial = 'x'\nand info = 1", ["the columns are: trial BIGINT, info STRUCT"]),
        ("'x'", ["Could not convert"]),
    ],
)
def test_a_bad_condition_is_one_line_with_the_columns(where: str, words: list[str]) -> None:
    rows: list[JsonValue] = [{"trial": 0, "info": {"a": 1}}]
    with pytest.raises(InputError) as caught:
        chosen(rows, where)
    message = str(caught.value)
    assert message.startswith("x.jsonl: --where")
    assert "\n" not in message
    assert [word for word in [*words, "the columns are:"] if word not in message] == []


def test_a_long_list_of_columns_is_cut() -> None:
    row = {f"c{number}": number for number in range(60)} | {"wide": {f"field{n}": n for n in range(100)}}
    with pytest.raises(InputError) as caught:
        chosen([{"wide": row["wide"]}, row], "wide = 1")
    message = str(caught.value)
    assert message.endswith("c47, c48, and 11 more")
    assert len(message) < 1000


def test_a_long_row() -> None:
    rows: list[JsonValue] = [{"n": 1, "text": "x" * 40_000_000}, {"n": 2}]
    assert chosen(rows, "n = 1 and text is not null") == [1]


def imported(tmp_path: Path, rows: list[JsonObject], choice: Choice) -> list[str]:
    """Give the names of the cases, and `rejected` for each run that is."""
    file = write_lines(tmp_path / "x.jsonl", *rows)
    formats = [Format("qa-log", read_qa_log, is_qa_log)]
    outcomes = imported_cases([file_source(file)], formats, choice, file)
    return [one.name if isinstance(one, Imported) else "rejected" for one in outcomes]


@pytest.mark.parametrize(
    ("where", "limit", "names"),
    [
        (None, None, ["1", "2", "rejected", "4", "5", "6"]),
        ("n % 2 = 0", None, ["2", "4", "6"]),
        ("n % 2 = 0", 2, ["2", "4"]),
        ("n % 2 = 0", 9, ["2", "4", "6"]),
        ("n % 3 = 0", None, ["rejected", "6"]),
        (None, 3, ["1", "2", "rejected", "4"]),
        ("n = 7", None, []),
    ],
)
def test_what_is_chosen(tmp_path: Path, where: str | None, limit: int | None, names: list[str]) -> None:
    rows: list[JsonObject] = [{"id": n, "n": n, "query": "q", "response": "r"} for n in range(1, 7)]
    del rows[2]["query"]
    assert imported(tmp_path, rows, Choice(where=where, limit=limit)) == names


def test_the_values_are_those_of_the_file(tmp_path: Path) -> None:
    row: JsonObject = {
        "query": "\ud800\x00",
        "response": "r",
        "b": 1.0,
        "a": 2**70,
        "d": "2026-03-01",
        "B": [],
    }
    file = write_lines(tmp_path / "x.jsonl", {**row, "a": 0}, row)
    choice = Choice(where="a > 0 and b = 1 and d is not null and query is not null")
    formats = [Format("qa-log", read_qa_log, is_qa_log)]
    (got,) = imported_cases([file_source(file)], formats, choice, file)
    assert isinstance(got, Imported)
    assert (got.position, got.record.question) == ("row 2", "\ud800\x00")


def test_a_row_that_cannot_be_read_is_rejected_whatever_the_condition(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"query": "q", "response": "r", "n": 1}\n{"n": \n', encoding="utf-8")
    formats = [Format("qa-log", read_qa_log, is_qa_log)]
    (rejected,) = imported_cases([file_source(file)], formats, Choice(where="n = 2"), file)
    assert isinstance(rejected, Rejected)
    assert (rejected.file, rejected.position) == ("x.jsonl", "line 2")
