"""Reading the history: bad files are named and left out, newer ones refused, older ones completed."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from regress_core.errors import InputError
from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.history.tables import SCHEMAS, TABLE_NAMES
from tests.history.support import arrow, asked, case_result, evaluation, file_of, write, write_foreign


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def test_files_are_listed_in_the_order_of_their_names(history: History) -> None:
    for evaluation_id in ("e2", "e1"):
        write(history, {"case_results": [case_result("a")]}, evaluation_id=evaluation_id)
    (file_of(history, "case_results").parent / ".tmp-0123").write_bytes(b"")
    (file_of(history, "case_results").parent / ".tmp-0123.parquet").write_bytes(b"")
    (file_of(history, "case_results").parent / "notes.txt").write_bytes(b"")

    listing = history.list("case_results")

    assert listing.files == (file_of(history, "case_results"), file_of(history, "case_results", "e2-1"))
    assert listing.bad == ()


def test_an_empty_history(history: History) -> None:
    for table in TABLE_NAMES:
        assert history.list(table).files == ()
        assert history.table(table).schema == SCHEMAS[table]
        assert asked(history, f"SELECT count(*) FROM {table}") == [(0,)]  # noqa: S608 - our names
        assert query(history, f"SELECT * FROM {table}").table.column_names == SCHEMAS[table].names  # noqa: S608
    assert not history.root.exists()


def test_a_table_holds_every_revision_in_the_columns_of_its_schema(history: History) -> None:
    write(history, {"case_results": [case_result("a", status="warn"), case_result("b")]})
    write(history, {"case_results": [case_result("a", 2)]}, number=2)

    table = history.table("case_results")

    assert table.schema.names == SCHEMAS["case_results"].names
    assert table.schema.types == SCHEMAS["case_results"].types
    rows = table.select(["case_id", "revision", "status"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("a", 1, "warn"), ("b", 1, "pass"), ("a", 2, "pass")]


def test_rows_of_an_evaluation_come_revision_after_revision(history: History) -> None:
    for number in (10, 2, 1, 9):
        write(history, {"case_results": [case_result("b", number), case_result("a", number)]}, number=number)
    write(history, {"case_results": [case_result("x")]}, evaluation_id="e2")

    rows = [(row["revision"], row["case_id"]) for row in history.rows_of("case_results", "e1")]

    assert rows == [(number, case) for number in (1, 2, 9, 10) for case in ("b", "a")]
    assert [row["case_id"] for row in history.rows_of("case_results", "e2")] == ["x"]
    assert list(history.rows_of("case_results", "unknown")) == []


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _all_but_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _magic_only(path: Path) -> None:
    path.write_bytes(b"PAR1")


def _text(path: Path) -> None:
    path.write_text("evaluation_id,suite\n", encoding="utf-8")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [_empty, _half, _all_but_a_byte, _magic_only, _text, _folder])
def test_a_bad_file_is_named_and_the_rest_is_readable(
    history: History, spoil: Callable[[Path], None]
) -> None:
    """H68."""
    for evaluation_id in ("e1", "e2", "e3"):
        rows = [case_result("a", evaluation_id=evaluation_id)]
        write(history, {"case_results": rows}, evaluation_id=evaluation_id)
    bad_path = file_of(history, "case_results", "e2-1")
    spoil(bad_path)

    answer = query(history, "SELECT evaluation_id FROM case_results ORDER BY 1")

    assert answer.table.to_pylist() == [{"evaluation_id": "e1"}, {"evaluation_id": "e3"}]
    (bad,) = answer.bad
    assert bad.path == bad_path
    assert bad.reason
    assert "\n" not in bad.reason
    assert history.list("case_results").bad == (bad,)
    assert history.table("case_results").num_rows == 2
    assert [row["case_id"] for row in history.rows_of("case_results", "e3")] == ["a"]


def test_all_files_bad_is_an_empty_table(history: History) -> None:
    write(history, {"case_results": [case_result("a")]})
    _empty(file_of(history, "case_results"))

    answer = query(history, "SELECT * FROM case_results")

    assert (answer.table.num_rows, answer.table.column_names) == (0, SCHEMAS["case_results"].names)
    assert [bad.path for bad in answer.bad] == [file_of(history, "case_results")]


def test_a_newer_schema_version_is_refused_by_name(history: History) -> None:
    write(history, {"case_results": [case_result("a")]})
    newer = file_of(history, "case_results", "e2-1")
    write_foreign(newer, arrow("case_results", [case_result("b")]), version="2")

    for read in (
        lambda: query(history, "SELECT 1"),
        lambda: history.table("case_results"),
        lambda: history.list("case_results"),
    ):
        with pytest.raises(InputError) as raised:
            read()
        message = str(raised.value)
        assert message.startswith(f"{newer}: ")
        assert message.endswith("upgrade regress")
        assert "schema 2" in message
        assert "\n" not in message


@pytest.mark.parametrize("version", ["1", None])
def test_a_file_with_fewer_columns_reads_as_nulls(history: History, version: str | None) -> None:
    """Columns are only ever added, so that an older file has fewer."""
    older = arrow(
        "evaluations", [evaluation(pass_rate=0.5)], leave_out=["orphans", "cost_usd", "gate_reasons"]
    )
    write_foreign(file_of(history, "evaluations"), older, version=version)
    write(history, {"evaluations": [evaluation("e2", cost_usd=0.25, orphans=("x",))]}, evaluation_id="e2")

    assert asked(
        history, "SELECT evaluation_id, pass_rate, orphans, cost_usd FROM evaluations ORDER BY 1"
    ) == [("e1", 0.5, None, None), ("e2", 1.0, ["x"], 0.25)]
    table = history.table("evaluations")
    assert table.schema.names == SCHEMAS["evaluations"].names
    assert table.column("cost_usd").to_pylist() == [None, 0.25]
    (row,) = history.rows_of("evaluations", "e1")
    assert (row["pass_rate"], row["cost_usd"], row["gate_reasons"]) == (0.5, None, None)


def test_a_file_with_a_column_more_keeps_the_others_readable(history: History) -> None:
    wider = arrow("evaluations", [evaluation()]).append_column("flaky", pa.array([3], pa.int64()))
    write_foreign(file_of(history, "evaluations"), wider)
    write(history, {"evaluations": [evaluation("e2")]}, evaluation_id="e2")

    assert asked(history, "SELECT evaluation_id, status FROM evaluations ORDER BY 1") == [
        ("e1", "warn"),
        ("e2", "warn"),
    ]


def test_columns_may_stand_in_another_order(history: History) -> None:
    names = list(reversed(SCHEMAS["evaluations"].names))
    write_foreign(file_of(history, "evaluations"), arrow("evaluations", [evaluation()]).select(names))
    write(history, {"evaluations": [evaluation("e2", suite="other")]}, evaluation_id="e2")

    assert asked(history, "SELECT evaluation_id, suite, cases FROM evaluations ORDER BY 1") == [
        ("e1", "shop", 3),
        ("e2", "other", 3),
    ]
    assert history.table("evaluations").column("suite").to_pylist() == ["shop", "other"]
