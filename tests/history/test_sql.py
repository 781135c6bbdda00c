"""Questions over the history: the newest revision of each row, in fixed types, in UTC."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from regress_core.errors import InputError
from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.history.tables import TABLE_NAMES
from tests.history.support import arrow, asked, case_result, evaluation, file_of, write, write_foreign


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def test_views_show_the_highest_revision_of_each_case_and_trial(history: History) -> None:
    def result(case_id: str, revision: int, trial: int = 1, status: str = "pass") -> dict[str, object]:
        return {**case_result(case_id, revision), "trial": trial, "status": status}

    write(history, {"case_results": [result("a", 1), result("b", 1, 1, "warn"), result("b", 1, 2, "warn")]})
    write(history, {"case_results": [result("b", 2, 2, "fail")]}, number=2)
    write(history, {"case_results": [result("b", 3, 1, "pass")]}, number=3)
    others = [{**result("b", 1, 1, "fail"), "evaluation_id": "e2"}]
    write(history, {"case_results": others}, evaluation_id="e2")

    assert asked(
        history,
        "SELECT evaluation_id, case_id, trial, revision, status FROM case_results ORDER BY ALL",
    ) == [
        ("e1", "a", 1, 1, "pass"),
        ("e1", "b", 1, 3, "pass"),
        ("e1", "b", 2, 2, "fail"),
        ("e2", "b", 1, 1, "fail"),
    ]


def test_the_evaluations_view_shows_the_highest_revision(history: History) -> None:
    for number, status in ((1, "warn"), (2, "fail"), (10, "pass")):
        write(history, {"evaluations": [evaluation("e1", number, status=status)]}, number=number)
    write(history, {"evaluations": [evaluation("e2", status="fail")]}, evaluation_id="e2")

    assert asked(history, "SELECT evaluation_id, revision, status FROM evaluations ORDER BY 1") == [
        ("e1", 10, "pass"),
        ("e2", 1, "fail"),
    ]


@pytest.mark.parametrize("table", TABLE_NAMES)
def test_every_table_is_a_view(history: History, table: str) -> None:
    answer = asked(history, f"SELECT count(*) FROM {table}")  # noqa: S608 - our names
    assert answer == [(0,)]


def test_whole_numbers_first_then_a_fraction(history: History) -> None:
    """H67, with files of ours."""
    write(history, {"evaluations": [evaluation("e1", pass_rate=1)]}, evaluation_id="e1")
    write(history, {"evaluations": [evaluation("e2", pass_rate=0.75)]}, evaluation_id="e2")

    assert asked(history, "SELECT pass_rate, typeof(pass_rate) FROM evaluations ORDER BY evaluation_id") == [
        (1.0, "DOUBLE"),
        (0.75, "DOUBLE"),
    ]
    assert history.table("evaluations").column("pass_rate").to_pylist() == [1.0, 0.75]


def test_a_file_whose_whole_numbers_are_integers_does_not_round_the_next(history: History) -> None:
    """H67, with a first file that another program wrote without our schema."""
    first = arrow("evaluations", [evaluation("e1")], leave_out=["pass_rate"])
    first = first.append_column("pass_rate", pa.array([1], pa.int64()))
    write_foreign(file_of(history, "evaluations"), first)
    write(history, {"evaluations": [evaluation("e2", pass_rate=0.75)]}, evaluation_id="e2")

    assert asked(history, "SELECT pass_rate, typeof(pass_rate) FROM evaluations ORDER BY evaluation_id") == [
        (1.0, "DOUBLE"),
        (0.75, "DOUBLE"),
    ]


@pytest.mark.parametrize(
    "name", ["it's", "a''b", 'say "x"', "a b", "ünï😀", "a[b]*c?", "100%41", "a\\b", "$x"]
)
def test_any_store_name_will_do(tmp_path: Path, name: str) -> None:
    history = History.open(tmp_path / name)
    write(history, {"case_results": [case_result("a")]})
    write(history, {"case_results": [case_result("b", evaluation_id="e2")]}, evaluation_id="e2")

    assert asked(history, "SELECT case_id FROM case_results ORDER BY 1") == [("a",), ("b",)]


def test_a_name_that_reads_like_a_pattern_takes_no_other_file(tmp_path: Path) -> None:
    one, star = History.open(tmp_path / "ab"), History.open(tmp_path / "a*")
    write(one, {"case_results": [case_result("of ab")]})
    write(star, {"case_results": [case_result("of a*")]})

    assert asked(star, "SELECT case_id FROM case_results") == [("of a*",)]


@pytest.fixture(params=["America/New_York", "Asia/Kolkata"])
def _elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_elsewhere")
def test_times_are_utc_wherever_the_machine_is(history: History) -> None:
    write(history, {"evaluations": [evaluation()]})

    sql = (
        "SELECT created_at, created_at::VARCHAR, hour(created_at), created_at::DATE::VARCHAR FROM evaluations"
    )
    ((moment, text, hour, date),) = asked(history, sql)

    assert moment.isoformat() == "2026-03-31T21:30:00.123456+00:00"
    assert (text, hour, date) == ("2026-03-31 21:30:00.123456+00", 21, "2026-03-31")


def test_hostile_text_is_answered_as_stored(history: History) -> None:
    """H62."""
    write(history, {"case_results": [case_result("a", case_name="\x1b[31m \x00 \ud800")]})

    assert asked(history, "SELECT case_name FROM case_results") == [("\x1b[31m \x00 \ufffd",)]


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT * FROM nope", "nope"),
        ("SELECT nope FROM evaluations", "nope"),
        ("SELEKT 1", "SELEKT"),
        ("SELECT\n\n  1 +", "syntax error"),
        ("SELECT 'x'::INTEGER", "x"),
        ("SELECT case_id::INTEGER FROM case_results", "Conversion"),
        ("SELECT * FROM read_parquet('/no/such/file.parquet')", "/no/such/file.parquet"),
    ],
)
def test_bad_sql_is_one_line(history: History, sql: str, word: str) -> None:
    write(history, {"case_results": [case_result("a")]})

    with pytest.raises(InputError) as raised:
        query(history, sql)

    message = str(raised.value)
    assert message.startswith("SQL: ")
    assert word in message
    assert "\n" not in message
    assert all(table in message for table in TABLE_NAMES)


def test_a_statement_without_rows_is_an_empty_answer(history: History) -> None:
    assert query(history, "CREATE TEMP TABLE t (a INTEGER)").table.num_rows == 0
