"""`regress sql`: the same rows as JSON, CSV and a table, and what is missing from them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command, Here
from tests.evaluation.support import evaluated, interrupted
from tests.support.suites import MIXED, write_suite


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one evaluation, shared by tests that only read it."""
    folder = tmp_path_factory.mktemp("sql")
    evaluated(write_suite(folder / "suite", MIXED), folder / "store")
    return folder / "store"


QUESTION = "SELECT case_id, status, inconclusive, candidate_run_id, reasons FROM case_results ORDER BY 1"
STATUSES = {
    "a-same": "pass",
    "b-reworded": "warn",
    "c-failed": "fail",
    "d-missing": "warn",
    "e-other-tool": "warn",
}


def test_json(regress: Command, store: Path) -> None:
    result = regress("sql", QUESTION, "--store", store, "--json")

    assert (result.code, result.err) == (0, "")
    rows = result.json
    assert {row["case_id"]: row["status"] for row in rows} == STATUSES
    assert list(rows[0]) == ["case_id", "status", "inconclusive", "candidate_run_id", "reasons"]
    missing = rows[3]
    assert missing == {
        "case_id": "d-missing",
        "status": "warn",
        "inconclusive": True,
        "candidate_run_id": None,
        "reasons": ["no candidate record"],
    }


def test_csv(regress: Command, store: Path) -> None:
    result = regress("sql", QUESTION, "--store", store, "--csv")

    assert (result.code, result.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(result.out, newline="")))
    assert {row["case_id"]: row["status"] for row in rows} == STATUSES
    assert rows[3]["candidate_run_id"] == ""
    assert rows[3]["reasons"] == '["no candidate record"]'


def test_table(regress: Command, store: Path) -> None:
    result = regress("sql", QUESTION, "--store", store)

    assert (result.code, result.err) == (0, "")
    for case, status in STATUSES.items():
        (line,) = [line for line in result.out.splitlines() if f" {case} " in line]
        assert f" {status} " in line


VALUES: dict[str, tuple[str, Any]] = {
    "a count": ("count(*)", 5),
    "a sum of whole numbers": ("sum(trial)", 5),
    "an average": ("avg(trial)", 1.0),
    "a fraction": ("0.75::DOUBLE", 0.75),
    "text": ("min(case_id)", "a-same"),
    "a list": ("list(status ORDER BY case_id)", ["pass", "warn", "fail", "warn", "warn"]),
    "a list of times": (
        "[TIMESTAMPTZ '2026-03-31 23:00:00+02', NULL]",
        ["2026-03-31T21:00:00+00:00", None],
    ),
    "a time": ("TIMESTAMPTZ '2026-03-31 23:00:00+02'", "2026-03-31T21:00:00+00:00"),
    "a day": ("DATE '2026-03-31'", "2026-03-31"),
    "no value": ("NULL", None),
    "not a number": ("'NaN'::DOUBLE", None),
    "nothing divided by nothing": ("0.0::DOUBLE / 0.0::DOUBLE", None),
}


def test_values_in_json(here: Here, store: Path) -> None:
    """A number is a number, and what JSON has no number for is null."""
    names = {f"v{number}": name for number, name in enumerate(VALUES)}
    columns = ", ".join(f"{VALUES[name][0]} AS {column}" for column, name in names.items())

    result = here("sql", f"SELECT {columns} FROM case_results", "--store", store, "--json")  # noqa: S608

    assert "Traceback" not in result.err
    (row,) = result.json
    got = {name: row[column] for column, name in names.items()}
    assert got == {name: expected for name, (_, expected) in VALUES.items()}
    assert type(got["a sum of whole numbers"]) is int


@pytest.mark.parametrize("option", ["--json", "--csv", None])
def test_two_columns_of_one_name_are_both_shown(here: Here, store: Path, option: str | None) -> None:
    """As a join of two tables has them."""
    question = (
        "SELECT e.status, c.status FROM evaluations e JOIN case_results c USING (evaluation_id) LIMIT 1"
    )
    options = [option] if option else []

    result = here(
        "sql", question.replace("LIMIT", "WHERE c.case_id = 'a-same' LIMIT"), *options, "--store", store
    )

    assert result.code == 0
    for status in ("fail", "pass"):
        assert status in result.out


def test_no_rows(here: Here, store: Path) -> None:
    question = "SELECT case_id, status FROM case_results WHERE false"

    assert here("sql", question, "--store", store, "--json").json == []
    assert here("sql", question, "--store", store, "--csv").out.split() == ["case_id,status"]
    assert "case_id" in here("sql", question, "--store", store).out


@pytest.mark.parametrize(
    ("question", "word"),
    [("SELECT * FROM nope", "nope"), ("SELEKT\n1", "SELEKT"), ("SELECT 'x'::INTEGER", "'x'")],
)
def test_bad_sql(regress: Command, store: Path, question: str, word: str) -> None:
    fault = regress("sql", question, "--store", store).fault

    assert fault.startswith("regress: SQL: ")
    assert word in fault
    assert "evaluations" in fault


def test_a_missing_store_is_not_made(regress: Command, tmp_path: Path) -> None:
    assert "nowhere: no such store; " in regress("sql", "SELECT 1", "--store", "nowhere").fault
    assert list(tmp_path.iterdir()) == []


def test_json_or_csv(here: Here, store: Path) -> None:
    assert "--csv" in here("sql", "SELECT 1", "--store", store, "--json", "--csv").fault


def test_unfinished_evaluations_are_mentioned(regress: Command, tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", MIXED)
    evaluated(root, tmp_path / ".regress")
    begun = interrupted(root, tmp_path / ".regress", 8)

    result = regress("sql", "SELECT count(*) n FROM evaluations", "--json")

    assert result.json == [{"n": 1}]
    (line,) = result.err.splitlines()
    assert begun.evaluation_id in line
    assert "shop" in line
    assert f"regress run --resume {begun.evaluation_id}" in line


def test_a_bad_file_is_named(here: Here, tmp_path: Path) -> None:
    """H68."""
    root = write_suite(tmp_path / "suite", MIXED)
    evaluated(root, tmp_path / ".regress")
    lost = str(evaluated(root, tmp_path / ".regress").evaluation_id)
    (path,) = (tmp_path / ".regress" / "history" / "case_results").rglob(f"{lost}-1.parquet")
    path.write_bytes(b"")

    result = here("sql", "SELECT count(*) n FROM case_results", "--json")

    assert result.json == [{"n": 5}]
    (line,) = result.err.splitlines()
    assert line.startswith("warning: ")
    assert str(path) in line


def test_a_bad_file_of_an_evaluation_that_is_resumed_is_named(regress: Command, tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    evaluation_id = str(evaluated(root, tmp_path / ".regress").evaluation_id)
    (path,) = (tmp_path / ".regress" / "history" / "comparisons").rglob("*.parquet")
    path.write_bytes(path.read_bytes()[:-10])

    result = regress("run", "--resume", evaluation_id)

    assert result.code == 2
    assert "Traceback" not in result.err
    assert str(path) in result.err.splitlines()[-1]


def test_a_newer_history_is_refused_by_name(here: Here, tmp_path: Path) -> None:
    evaluated(write_suite(tmp_path / "suite", {"a": "same"}), tmp_path / ".regress")
    (path,) = (tmp_path / ".regress" / "history" / "evaluations").rglob("*.parquet")
    path.write_bytes(
        path.read_bytes().replace(b"regress.schema_version\x18\x011", b"regress.schema_version\x18\x012")
    )

    fault = here("sql", "SELECT 1").fault

    assert str(path) in fault
    assert "upgrade regress" in fault


def test_a_journal_that_cannot_be_read_keeps_no_answer_back(here: Here) -> None:
    here("run", write_suite(here.folder / "suite", {"a": "same"}), "--store", "store")
    (here.folder / "store" / "journal.sqlite").write_bytes(b"no journal at all" * 100)

    result = here("sql", "SELECT count(*) AS n FROM evaluations", "--store", "store", "--csv")

    assert (result.code, result.out.splitlines()) == (0, ["n", "1"])
    assert "warning: whether any evaluation is unfinished cannot be told" in result.err
