"""Writing the history: whole files of fixed types, or none."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from regress_core.history.store import History
from regress_core.history.tables import EVALUATION_TABLES, SCHEMAS
from tests.history.support import AT, case_result, evaluation, file_of, write


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def read(path: Path) -> list[dict[str, Any]]:
    """Read with pyarrow alone; a path object of the open file, so that no folder name becomes a column."""
    with pq.ParquetFile(path) as file:
        return file.read().to_pylist()


def test_rows_come_back_from_the_file_that_the_design_names(history: History, tmp_path: Path) -> None:
    row = evaluation(gate_reasons=("x", "y"), pass_rate=0.75, cost_usd=1.25)

    write(history, {"evaluations": [row]})

    path = tmp_path / "history" / "evaluations" / "suite=shop" / "month=2026-03" / "e1-1.parquet"
    assert read(path) == [{**row, "gate_reasons": ["x", "y"], "orphans": []}]
    with pq.ParquetFile(path) as file:
        assert file.schema_arrow.remove_metadata() == SCHEMAS["evaluations"]
        assert (file.metadata.metadata or {})[b"regress.schema_version"] == b"1"
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_the_types_of_numbers_times_and_lists_are_the_ones_written_down(history: History) -> None:
    write(history, {"evaluations": [evaluation(pass_rate=1, cost_usd=0)]})

    with pq.ParquetFile(file_of(history, "evaluations")) as file:
        types = dict(zip(file.schema_arrow.names, map(str, file.schema_arrow.types), strict=True))
    assert {name: types[name] for name in ("pass_rate", "cost_usd", "created_at", "cases", "revision")} == {
        "pass_rate": "double",
        "cost_usd": "double",
        "created_at": "timestamp[us, tz=UTC]",
        "cases": "int64",
        "revision": "int32",
    }
    assert types["orphans"].startswith("list<")


def test_a_column_that_is_left_out_is_null(history: History) -> None:
    write(history, {"case_results": [case_result("a")]})

    (row,) = read(file_of(history, "case_results"))
    assert list(row) == SCHEMAS["case_results"].names
    assert {name for name, value in row.items() if value is not None} == case_result("a").keys()


def test_every_table_gets_its_file(history: History) -> None:
    write(history, {"case_results": [case_result("a"), case_result("b")]})

    assert {table: len(read(file_of(history, table))) for table in EVALUATION_TABLES} == {
        "evaluations": 0,
        "baseline_records": 0,
        "accepted_records": 0,
        "candidate_records": 0,
        "comparisons": 0,
        "check_results": 0,
        "judge_calls": 0,
        "judge_results": 0,
        "judge_dimensions": 0,
        "case_results": 2,
    }


def test_rows_keep_their_order_over_several_writes(history: History) -> None:
    with history.writer("shop", "2026-03", "e1", 1) as writer:
        writer.write("case_results", [case_result("b"), case_result("a")])
        writer.write("case_results", [])
        writer.write("case_results", [case_result("c")])

    assert [row["case_id"] for row in read(file_of(history, "case_results"))] == ["b", "a", "c"]


def test_writing_a_revision_again_replaces_it(history: History) -> None:
    write(history, {"case_results": [case_result("a"), case_result("b")]})

    write(history, {"case_results": [case_result("c")]})

    assert [row["case_id"] for row in read(file_of(history, "case_results"))] == ["c"]
    assert len(list(history.root.rglob("*.parquet"))) == len(EVALUATION_TABLES)


def write_and_raise(history: History, case_id: str, error: BaseException) -> None:
    with history.writer("shop", "2026-03", "e1", 1) as writer:
        writer.write("case_results", [case_result(case_id)])
        raise error


@pytest.mark.parametrize("error", [LookupError("half way"), KeyboardInterrupt()])
def test_an_exception_leaves_no_file(history: History, error: BaseException) -> None:
    with pytest.raises(type(error)):
        write_and_raise(history, "a", error)

    assert [path for path in history.root.rglob("*") if path.is_file()] == []


def test_an_exception_leaves_the_earlier_file(history: History) -> None:
    write(history, {"case_results": [case_result("a")]})
    before = file_of(history, "case_results").read_bytes()

    with pytest.raises(LookupError):
        write_and_raise(history, "b", LookupError("half way"))

    assert file_of(history, "case_results").read_bytes() == before
    assert len([path for path in history.root.rglob("*") if path.is_file()]) == len(EVALUATION_TABLES)


def test_nothing_is_seen_before_the_end(history: History) -> None:
    with history.writer("shop", "2026-03", "e1", 1) as writer:
        writer.write("case_results", [case_result("a")])
        assert history.list("case_results").files == ()
        assert history.table("case_results").num_rows == 0
    assert history.list("case_results").files == (file_of(history, "case_results"),)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("nul \x00 inside", "nul \x00 inside"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("\udfff\ud800", "\ufffd\ufffd"),
        ("a pair stays: 😀, \u202e and \u2028", "a pair stays: 😀, \u202e and \u2028"),
        ("", ""),
    ],
)
def test_hostile_text(history: History, text: str, stored: str) -> None:
    """H62. A Parquet string is UTF-8, which has no bytes for a lone surrogate."""
    write(history, {"case_results": [case_result("a", case_name=text, reasons=(text, "plain", text))]})

    (row,) = read(file_of(history, "case_results"))
    assert (row["case_name"], row["reasons"]) == (stored, [stored, "plain", stored])


def test_times_of_any_zone_are_stored_as_utc(history: History) -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))

    write(history, {"evaluations": [evaluation(created_at=elsewhere)]})

    (row,) = read(file_of(history, "evaluations"))
    assert row["created_at"].isoformat() == "2026-03-31T21:30:00.123456+00:00"
