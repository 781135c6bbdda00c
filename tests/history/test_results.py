"""A candidate's newest results, and cases that a suite no longer has."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.history.results import Only, OrphanedCase, lacking, orphaned
from regress_core.history.store import History, Row
from regress_core.suite.loading import CaseRef, RecordRef


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def _case(case_id: str, sha256: str = "s1") -> CaseRef:
    return CaseRef(case_id, case_id, RecordRef(f"{case_id}.json", sha256))


def _row(
    case_id: str,
    status: str = "pass",
    *,
    day: int = 1,
    candidate: str = "c1",
    baseline: str = "s1",
    trial: int = 1,
    revision: int = 1,
    finished: int | None = None,
) -> Row:
    return {
        "evaluation_id": f"e{day}",
        "suite": "shop",
        "case_id": case_id,
        "case_name": case_id,
        "candidate_id": candidate,
        "trial": trial,
        "revision": revision,
        "schema_version": 1,
        "status": "warn" if status == "inconclusive" else status,
        "inconclusive": status == "inconclusive",
        "baseline_sha256": baseline,
        "finished_at": datetime(2026, 3, finished or day, revision, tzinfo=UTC),
    }


def _write(history: History, *rows: Row, suite: str = "shop") -> None:
    for name in sorted({(row["evaluation_id"], row["revision"]) for row in rows}):
        with history.writer(suite, "2026-03", *name) as writer:
            own = [row for row in rows if (row["evaluation_id"], row["revision"]) == name]
            writer.write("case_results", own)
            writer.write("evaluations", [_evaluation(own[0])])


def _evaluation(row: Row) -> Row:
    day = int(row["evaluation_id"].removeprefix("e"))
    return {
        "evaluation_id": row["evaluation_id"],
        "suite": row["suite"],
        "candidate_id": row["candidate_id"],
        "revision": row["revision"],
        "schema_version": 1,
        "created_at": datetime(2026, 3, day, tzinfo=UTC),
    }


TABLE: dict[str, tuple[list[Row], str]] = {
    "no result": ([], "missing"),
    "passed": ([_row("a")], ""),
    "warned": ([_row("a", "warn")], ""),
    "failed": ([_row("a", "fail")], "failed"),
    "inconclusive": ([_row("a", "inconclusive")], "inconclusive"),
    "another candidate's": ([_row("a", candidate="c2")], "missing"),
    "another case's": ([_row("b")], "missing"),
    "on another baseline": ([_row("a", baseline="s0")], "missing"),
    "failed, then passed": ([_row("a", "fail"), _row("a", day=2)], ""),
    "passed, then failed": ([_row("a"), _row("a", "fail", day=2)], "failed"),
    "written in another order": ([_row("a", "fail", day=2), _row("a", day=1)], "failed"),
    "inconclusive, then redone": ([_row("a", "inconclusive"), _row("a", "warn", revision=2)], ""),
    "failed, then an older evaluation's redone": (
        [_row("a", "inconclusive"), _row("a", "fail", day=2), _row("a", revision=2, finished=3)],
        "failed",
    ),
    "one trial of two failed": ([_row("a"), _row("a", "fail", trial=2)], "failed"),
    "a failed trial beside one without end": (
        [_row("a", "inconclusive"), _row("a", "fail", trial=2)],
        "failed",
    ),
    "one trial of two redone": (
        [_row("a", "inconclusive"), _row("a", trial=2), _row("a", revision=2)],
        "",
    ),
    "on this baseline, later on another": ([_row("a", "fail"), _row("a", baseline="s0", day=2)], "failed"),
}


@pytest.mark.parametrize(("rows", "expected"), TABLE.values(), ids=TABLE.keys())
def test_what_a_candidate_lacks_on_a_case(history: History, rows: list[Row], expected: str) -> None:
    _write(history, *rows)
    kinds: tuple[Only, ...] = ("missing", "failed", "inconclusive")

    found = [only for only in kinds if lacking(history, "shop", "c1", [_case("a")], only)]

    assert found == ([expected] if expected else [])


def test_cases_keep_their_order_and_other_suites_do_not_count(history: History) -> None:
    _write(history, _row("b"))
    _write(history, _row("c"), suite="bank")
    cases = [_case("c"), _case("b"), _case("a")]

    assert lacking(history, "shop", "c1", cases, "missing") == (cases[0], cases[2])


def test_an_evaluation_whose_own_row_is_not_there_yet_counts(history: History) -> None:
    _write(history, _row("a"))
    with history.writer("shop", "2026-03", "e2", 1) as writer:
        writer.write("case_results", [_row("a", "fail", day=2)])

    assert lacking(history, "shop", "c1", [_case("a")], "failed") == (_case("a"),)


def test_a_renamed_case_is_missing_and_its_old_name_orphaned(history: History) -> None:
    """H57."""
    _write(history, _row("old-name"), _row("stays"))
    now = [_case("new-name"), _case("stays")]

    assert lacking(history, "shop", "c1", now, "missing") == (now[0],)
    assert [one.case_id for one in orphaned(history, "shop", ["new-name", "stays"])] == ["old-name"]


def test_orphaned_cases_are_listed_with_their_last_result(history: History) -> None:
    _write(history, _row("a"), _row("b"), _row("b", day=3), _row("c", day=2))

    assert orphaned(history, "shop", ["a"]) == (
        OrphanedCase("b", "e3", datetime(2026, 3, 3, 1, tzinfo=UTC)),
        OrphanedCase("c", "e2", datetime(2026, 3, 2, 1, tzinfo=UTC)),
    )
    assert orphaned(history, "shop", ["a", "b", "c"]) == ()
    assert orphaned(history, "bank", []) == ()
