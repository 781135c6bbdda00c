"""Evaluations in the journal: entered once, found by their plan, reopened, finished."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from regress_core.journal.journal import Journal
from regress_core.journal.steps import Stage
from tests.journal.support import CREATED_AT, commit, row, step

LATER = CREATED_AT + timedelta(hours=1)
EVIDENCE: tuple[Stage, ...] = ("baseline", "candidate", "comparison")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal.open(path) as opened:
        yield opened


def test_an_evaluation_comes_back_as_it_was_entered(journal: Journal, path: Path) -> None:
    entered = row(plan='{"name":"ü \\ud800"}')

    assert journal.create_evaluation(entered) == entered
    assert journal.evaluation("e1") == entered
    with Journal.open(path) as other:
        assert other.evaluation("e1") == entered


def test_an_id_that_is_there_keeps_its_entry(journal: Journal) -> None:
    first = journal.create_evaluation(row(plan='{"first":1}'))

    assert journal.create_evaluation(row(plan='{"second":2}', suite="other")) == first
    assert journal.evaluation("e1") == first


def test_an_unknown_id_is_none(journal: Journal) -> None:
    journal.create_evaluation(row())

    assert journal.evaluation("e2") is None
    assert journal.latest_of_plan("plan-2") is None


@pytest.mark.parametrize(
    ("entered", "latest"),
    [
        ([("e1", CREATED_AT), ("e2", LATER)], "e2"),
        ([("e2", LATER), ("e1", CREATED_AT)], "e2"),
        ([("e1", LATER), ("e2", CREATED_AT)], "e1"),
        ([("e1", CREATED_AT), ("e2", CREATED_AT)], "e2"),  # ids sort by time
        ([("e2", CREATED_AT), ("e1", CREATED_AT + timedelta(microseconds=1))], "e1"),
    ],
)
def test_the_latest_of_a_plan(journal: Journal, entered: list[tuple[str, object]], latest: str) -> None:
    for evaluation_id, created_at in entered:
        journal.create_evaluation(row(evaluation_id, created_at=created_at))
    journal.create_evaluation(row("e9", plan_key="plan-2", created_at=LATER + timedelta(days=1)))

    found = journal.latest_of_plan("plan-1")

    assert found is not None
    assert found.evaluation_id == latest


def test_the_unfinished_are_listed_oldest_first(journal: Journal) -> None:
    for number, evaluation_id in enumerate(("e3", "e1", "e2")):
        journal.create_evaluation(row(evaluation_id, created_at=CREATED_AT + timedelta(days=number)))
    journal.finish("e1", 1)

    assert [entry.evaluation_id for entry in journal.unfinished()] == ["e3", "e2"]


def test_reopening_begins_the_next_revision(journal: Journal) -> None:
    journal.create_evaluation(row())
    journal.finish("e1", 1)

    for revision in (2, 3):
        reopened = journal.reopen("e1", "retryable" if revision == 2 else "inconclusive")
        assert reopened == journal.evaluation("e1")
        assert (reopened.state, reopened.revision) == ("running", revision)
        assert reopened.redo == ("retryable" if revision == 2 else "inconclusive")
        assert reopened.created_at == CREATED_AT
        journal.finish("e1", revision)


def test_reopening_an_unfinished_one_changes_nothing(journal: Journal) -> None:
    entered = journal.create_evaluation(row())

    assert journal.reopen("e1", "inconclusive") == entered


def test_finishing_drops_the_evidence_and_keeps_the_outcomes(journal: Journal, path: Path) -> None:
    for evaluation_id in ("e1", "e2"):
        journal.create_evaluation(row(evaluation_id))
        for case in ("a", "b"):
            outcome = step(case, payload=f'{{"of":"{case}"}}', evaluation_id=evaluation_id)
            commit(journal, [outcome, *(step(case, s, evaluation_id=evaluation_id) for s in EVIDENCE)])

    journal.finish("e1", 1)

    with Journal.open(path) as other:
        finished = other.evaluation("e1")
        assert finished is not None
        assert finished.state == "finished"
        assert [(s.case_id, s.stage, s.payload) for s in other.steps.of_revision("e1", 1)] == [
            ("a", "outcome", '{"of":"a"}'),
            ("b", "outcome", '{"of":"b"}'),
        ]
        assert len(list(other.steps.of_revision("e2", 1))) == 8


def test_finishing_a_revision_that_is_not_the_current_one_changes_nothing(journal: Journal) -> None:
    journal.create_evaluation(row())
    journal.finish("e1", 1)
    journal.reopen("e1", "inconclusive")
    commit(journal, [step("a", revision=2), step("a", "comparison", revision=2)])

    journal.finish("e1", 1)

    entry = journal.evaluation("e1")
    assert entry is not None
    assert (entry.state, entry.revision) == ("running", 2)
    assert [s.stage for s in journal.steps.of_revision("e1", 2)] == ["comparison", "outcome"]


def test_finishing_shrinks_the_file(path: Path) -> None:
    payload = '"' + "x" * 100_000 + '"'
    with Journal.open(path) as journal:
        journal.create_evaluation(row())
        for number in range(40):
            commit(journal, [step(f"c{number}"), step(f"c{number}", "baseline", payload)])
    before = path.stat().st_size
    assert before > 40 * 100_000

    with Journal.open(path) as journal:
        journal.finish("e1", 1)

    assert path.stat().st_size < before / 20
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
