"""Steps that are committed before the outcome of their trial, and trials that are taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from regress_core.journal.journal import Journal
from regress_core.journal.steps import Step
from tests.journal.support import commit, row, step


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal.sqlite") as opened:
        opened.create_evaluation(row())
        yield opened


def keep(journal: Journal, *steps: Step) -> list[Step]:
    return asyncio.run(journal.steps.keep(steps))


def all_steps(journal: Journal, revision: int = 1) -> list[Step]:
    return list(journal.steps.of_revision("e1", revision))


RUN = [step("a", "candidate", '"record"'), step("a", "run", '"facts"')]
ANOTHER = [step("a", "candidate", '"another record"'), step("a", "run", '"other facts"')]


def test_what_is_kept_stands(journal: Journal) -> None:
    assert keep(journal, *RUN) == RUN
    assert all_steps(journal) == RUN


def test_of_two_runs_of_a_trial_the_first_stands(journal: Journal) -> None:
    keep(journal, *RUN)

    assert keep(journal, *ANOTHER) == RUN
    assert all_steps(journal) == RUN


@pytest.mark.parametrize(
    "other",
    [
        step("b", "candidate", '"x"'),
        step("a", "candidate", '"x"', trial=2),
        step("a", "candidate", '"x"', revision=2),
        step("a", "candidate", '"x"', evaluation_id="e2"),
        step("a", "baseline", '"x"'),
    ],
    ids=["case", "trial", "revision", "evaluation", "stage"],
)
def test_another_trials_steps_are_its_own(journal: Journal, other: Step) -> None:
    keep(journal, other)

    assert keep(journal, *RUN) == RUN


def test_a_trial_is_begun_until_it_has_its_outcome(journal: Journal) -> None:
    keep(journal, *RUN)
    keep(journal, step("a", "candidate", trial=2))
    keep(journal, step("b", "candidate"))
    keep(journal, step("c", "candidate", revision=2))
    commit(journal, [step("b", "comparison"), step("b")])

    assert list(journal.steps.begun("e1", 1)) == [*RUN, step("a", "candidate", trial=2)]
    assert list(journal.steps.begun("e1", 2)) == [step("c", "candidate", revision=2)]
    commit(journal, [step("a")])
    assert list(journal.steps.begun("e1", 1)) == [step("a", "candidate", trial=2)]


OTHERS = [step("a", trial=2), step("b"), step("a", evaluation_id="e2")]


def test_a_trial_that_is_taken_back_has_no_step(journal: Journal) -> None:
    journal.create_evaluation(row("e2"))
    commit(journal, [*RUN, step("a", "comparison"), step("a")])
    for other in OTHERS:
        commit(journal, [other])

    journal.steps.take_back("e1", 1, [("a", 1)])

    assert all_steps(journal) == [step("a", trial=2), step("b")]
    assert list(journal.steps.of_revision("e2", 1)) == [step("a", evaluation_id="e2")]
    commit(journal, [step("a", payload='"again"')])
    assert next(journal.steps.outcomes("e1")) == step("a", payload='"again"')


@pytest.mark.parametrize("state", ["finished", "reopened"])
def test_nothing_is_taken_back_of_what_was_finished(journal: Journal, state: str) -> None:
    commit(journal, [step("a"), step("b")])
    journal.finish("e1", 1)
    if state == "reopened":
        journal.reopen("e1", "inconclusive")

    journal.steps.take_back("e1", 1, [("a", 1), ("b", 1)])

    assert all_steps(journal) == [step("a"), step("b")]


def test_an_older_revision_is_left_alone(journal: Journal) -> None:
    commit(journal, [step("a", payload='"1"')])
    journal.finish("e1", 1)
    journal.reopen("e1", "inconclusive")
    commit(journal, [step("a", payload='"2"', revision=2)])

    journal.steps.take_back("e1", 2, [("a", 1)])

    assert list(journal.steps.outcomes("e1")) == [step("a", payload='"1"')]
