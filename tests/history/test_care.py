"""Compacting, verifying and exporting: no answer changes, and what is wrong is told."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.history.compact import compact
from regress_core.history.export import ExportFormat, export
from regress_core.history.sql import query
from regress_core.history.store import History, RevisionWriter, Row
from regress_core.history.tables import TableName
from regress_core.history.verify import verify
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import loads
from tests.history.support import case_result, evaluation

BEGIN = datetime(2026, 1, 1, 2, tzinfo=UTC)
TABLES = ("evaluations", "case_results", "baseline_records", "comparisons")


def _counts(cases: int) -> dict[str, int]:
    return {"cases": cases, "passed": cases, "warned": 0, "inconclusive": 0}


def _record(case_id: str, evaluation_id: str, revision: int) -> Row:
    text = json.dumps({"runId": f"{evaluation_id}-{case_id}"})
    row = case_result(
        case_id, revision, evaluation_id=evaluation_id, record_json=text, sha256=hash_text(text)
    )
    return {name: value for name, value in row.items() if name != "status"}


def publish(
    history: History, number: int, cases: Sequence[str], *, revision: int = 1, said: int | None = None
) -> None:
    """Write one revision of an evaluation, one a day."""
    evaluation_id, when = f"e-{number:03}", BEGIN + timedelta(days=number)
    count = len(cases) if said is None else said
    with history.writer("shop", f"{when:%Y-%m}", evaluation_id, revision) as writer:
        writer.write("case_results", [case_result(c, revision, evaluation_id=evaluation_id) for c in cases])
        writer.write("baseline_records", [_record(case, evaluation_id, revision) for case in cases])
        writer.write("evaluations", [evaluation(evaluation_id, revision, created_at=when, **_counts(count))])


def _night(history: History, number: int, cases: Sequence[str]) -> None:
    """Write what counts of a night, of the tables that are looked at."""
    evaluation_id, when = f"e-{number:03}", BEGIN + timedelta(days=number)
    folder = f"suite=shop/month={when:%Y-%m}/{evaluation_id}-1.parquet"
    tables: tuple[TableName, ...] = ("evaluations", "case_results")
    with RevisionWriter({table: history.root / table / folder for table in tables}) as writer:
        writer.write("case_results", [case_result(case, evaluation_id=evaluation_id) for case in cases])
        writer.write("evaluations", [evaluation(evaluation_id, created_at=when, **_counts(len(cases)))])


def answers(history: History) -> dict[str, Counter[str]]:
    """Give every row of every view, in whatever order."""
    return {
        table: Counter(map(repr, query(history, f"SELECT * FROM {table}").table.to_pylist()))  # noqa: S608 - a table of ours
        for table in TABLES
    }


def files(history: History) -> list[str]:
    return sorted(path.relative_to(history.root).as_posix() for path in history.root.rglob("*.parquet"))


def test_a_year_of_nights_is_twelve_files_a_table(tmp_path: Path) -> None:
    """H69: 365 nights of 20 rows."""
    history = History.open(tmp_path)
    cases = [f"case-{number:02}" for number in range(20)]
    for number in range(365):
        _night(history, number, cases)
    before, rows = answers(history), list(history.rows_of("case_results", "e-200"))
    assert len(history.list("case_results").files) == 365

    done = compact(history)

    assert sum(one.files for one in done if one.folder.parent.parent.name == "case_results") == 365
    assert len(history.list("case_results").files) == 12
    assert len(list((history.root / "case_results").rglob("*.parquet"))) == 12
    assert answers(history) == before
    assert list(history.rows_of("case_results", "e-200")) == rows
    assert [row["case_id"] for row in rows] == cases
    assert query(history, "SELECT count(*) AS n FROM case_results").table.to_pylist() == [{"n": 7300}]
    assert verify(history).findings == ()
    assert compact(history) == []


def test_an_evaluation_under_way_is_left_alone(tmp_path: Path) -> None:
    """A revision that is published again after a crash goes by its old name, which must not be replaced."""
    history = History.open(tmp_path)
    for number in range(3):
        _night(history, number, ["a"])

    compact(history, {"e-001"})

    kept = [path for path in files(history) if path.startswith("case_results")]
    assert [path.rpartition("/")[2] for path in kept if "e-" in path] == ["e-001-1.parquet"]
    assert len(kept) == 2
    compact(history)
    assert len([path for path in files(history) if path.startswith("case_results")]) == 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(0, 40), st.integers(1, 3)),
        st.tuples(st.just("compact"), st.just(0), st.just(0)),
        st.tuples(st.just("compact, killed before it deletes"), st.just(0), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_no_answer_changes_whatever_happens_in_between(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("care")
    history, plain = History.open(folder / "one"), History.open(folder / "other")
    newest = Counter[int]()
    for what, number, wanted in steps:
        if what == "publish":
            revision = min(wanted, newest[number] + 1)  # one after the other, or an earlier one again
            newest[number] = max(newest[number], revision)
            for one in (history, plain):  # publishing again writes what was there
                publish(one, number, ["a", "b"] if revision == 1 else ["a"], revision=revision)
            continue
        kept = {path: path.read_bytes() for path in history.root.rglob("*.parquet")}
        compact(history)
        if what != "compact":
            for path, data in kept.items():
                path.write_bytes(data)

    assert answers(history) == answers(plain)
    for evaluation_id in {f"e-{number:03}" for _, number, _ in steps}:
        for table in ("case_results", "baseline_records"):
            assert list(history.rows_of(table, evaluation_id)) == list(plain.rows_of(table, evaluation_id))
    compact(history)
    assert answers(history) == answers(plain)
    shutil.rmtree(folder)


def test_a_bad_file_stays_and_the_rest_of_its_folder_is_compacted(tmp_path: Path) -> None:
    """H68."""
    history = History.open(tmp_path)
    for number in range(3):
        publish(history, number, ["a"])
    bad = history.root / "case_results/suite=shop/month=2026-01/e-009-1.parquet"
    bad.write_bytes(b"")

    compact(history)

    assert [path for path in files(history) if path.startswith("case_results")] == [
        "case_results/suite=shop/month=2026-01/compacted-000001.parquet",
        "case_results/suite=shop/month=2026-01/e-009-1.parquet",
    ]
    assert [one.path for one in history.list("case_results").bad] == [bad]
    assert history.table("case_results").num_rows == 3


def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    for number in range(2):
        publish(history, number, ["a"])
    (path, _) = history.list("case_results").files
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.append_column("mood", pa.array(["good"] * table.num_rows)), path)
    before = files(history)

    (told,) = [one for one in compact(history) if one.left_alone]

    assert told.left_alone == "e-000-1.parquet: columns of a newer program: mood"
    assert [name for name in files(history) if "case_results" in name] == [
        name for name in before if "case_results" in name
    ]


def test_records_of_an_older_program_get_the_new_columns(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    for number in range(2):
        publish(history, number, ["a"])
    (path, _) = history.list("case_results").files
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["failed_checks"]), path)
    before = answers(history)

    compact(history)

    assert answers(history) == before


def _damage(history: History, what: str) -> Path:
    folder = history.root / "case_results/suite=shop/month=2026-01"
    path = folder / "e-001-1.parquet"
    if what == "truncated":
        path.write_bytes(path.read_bytes()[:-20])
    elif what == "another name":
        path = path.rename(folder / "e-005-1.parquet")
    elif what == "another suite":
        other = folder.parents[1] / "suite=bank/month=2026-01"
        other.mkdir(parents=True)
        path = path.rename(other / path.name)
    elif what == "twice":
        table = pq.read_table(path, partitioning=None)
        pq.write_table(pa.concat_tables([table, table]), path)
    elif what == "no evaluation":
        (history.root / "evaluations/suite=shop/month=2026-01/e-001-1.parquet").unlink()
    elif what == "no cases":
        path.unlink()
        path = history.root / "evaluations/suite=shop/month=2026-01/e-001-1.parquet"
    elif what == "leftover":
        path = folder / ".tmp-1"
        path.write_bytes(b"")
    elif what == "another record":
        path = history.root / "baseline_records/suite=shop/month=2026-01/e-001-1.parquet"
        rows = pq.read_table(path, partitioning=None).to_pylist()
        schema = pq.read_schema(path)
        pq.write_table(
            pa.Table.from_pylist([{**row, "record_json": "{}"} for row in rows], schema=schema), path
        )
    return path


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("truncated", "Parquet magic bytes not found"),
        ("another name", "a row of evaluation e-001, revision 1 (2 times)"),
        ("another suite", "a row of suite shop (2 times)"),
        ("twice", "a row that is there twice: e-001, a, 1, 1"),
        ("no evaluation", "evaluation e-001 has cases in revision 1 and no row of its own"),
        ("no cases", "evaluation e-001 says 2 cases, there is none of revision 1"),
        ("leftover", "a process left it unfinished"),
        ("another record", "a record with another hash: case a, trial 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_file(tmp_path: Path, what: str, told: str) -> None:
    history = History.open(tmp_path)
    for number in range(3):
        publish(history, number, ["a", "b"])
    assert verify(history).findings == ()

    path = _damage(history, what)
    found = verify(history).findings

    assert any(told in one.message and one.path == path and one.remedy for one in found), found


def test_a_count_that_does_not_agree_is_told(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    publish(history, 0, ["a", "b"], said=3)

    assert [found.message for found in verify(history).findings] == [
        "evaluation e-000 says 3 cases, there are 2",
        "evaluation e-000 says 3 passed, there are 2",
    ]


def test_a_revision_of_some_cases_is_counted_with_those_before(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    publish(history, 0, ["a", "b"])
    publish(history, 0, ["b"], revision=2, said=2)

    assert verify(history).findings == ()
    compact(history)
    found = verify(history)
    assert (found.findings, found.rows) == ((), 8)


def _read(path: Path, file_format: ExportFormat) -> list[dict[str, Any]]:
    if file_format == "parquet":
        return pq.read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    if file_format == "csv":
        return list(csv.DictReader(text.splitlines()))
    return [loads(line.encode()) for line in text.splitlines()]


@pytest.mark.parametrize("file_format", ["parquet", "csv", "jsonl"])
def test_an_export_has_the_newest_rows(tmp_path: Path, file_format: ExportFormat) -> None:
    history = History.open(tmp_path / "store")
    publish(history, 0, ["a", "b"])
    publish(history, 0, ["b"], revision=2, said=2)
    publish(history, 40, ["c"])
    out = tmp_path / "it's out"

    counts = export(history, out, file_format)

    assert (counts["case_results"], counts["evaluations"], counts["calibrations"]) == (3, 2, 0)
    rows = _read(out / f"case_results.{file_format}", file_format)
    assert sorted((row["case_id"], str(row["revision"])) for row in rows) == [
        ("a", "1"),
        ("b", "2"),
        ("c", "1"),
    ]
    reasons = _read(out / f"evaluations.{file_format}", file_format)[0]["gate_reasons"]
    expected = ["1 of 3 cases warned", "1 of 3 cases inconclusive"]
    assert (loads(reasons.encode()) if file_format == "csv" else reasons) == expected
    assert export(history, out, file_format, since=BEGIN + timedelta(days=30))["case_results"] == 1
    assert export(history, out, file_format, suites=["shop"])["case_results"] == 3
    with pytest.raises(InputError, match="no suite 'bank' in the history; suites there: shop"):
        export(history, out, file_format, suites=["shop", "bank"])


def test_an_export_replaces_nothing_of_others(tmp_path: Path) -> None:
    history = History.open(tmp_path / "store")
    publish(history, 0, ["a"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(InputError, match="not empty and no earlier export"):
        export(history, tmp_path / "mine", "csv")

    (history.root / "case_results/suite=shop/month=2026-01/bad-1.parquet").write_bytes(b"x")
    with pytest.raises(InputError, match=r"bad-1\.parquet: cannot be read"):
        export(history, tmp_path / "new", "csv")
    assert not (tmp_path / "new").exists()
