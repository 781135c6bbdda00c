"""Steps in the journal: committed together, once, and for every reader."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import IntegrityError

from regress_core.errors import InputError
from regress_core.journal.journal import Journal
from regress_core.journal.steps import Stage, Step
from regress_core.journal.writer import Writer
from tests.journal.support import commit, row, step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal.open(path) as opened:
        opened.create_evaluation(row())
        yield opened


def test_a_committed_step_is_there_for_another_journal_at_once(journal: Journal, path: Path) -> None:
    texts = [step("a", payload='{"x":"ü \\ud800 \x7f"}'), step("a", "baseline", "1"), step("b", payload="")]

    commit(journal, texts)

    with Journal.open(path) as other:
        assert list(other.steps.of_revision("e1", 1)) == [texts[1], texts[0], texts[2]]
        assert list(other.steps.outcomes("e1")) == [texts[0], texts[2]]


def test_a_case_that_has_its_outcome_takes_no_more_steps(journal: Journal) -> None:
    first = step("a", payload='"first"')
    commit(journal, [first])

    commit(journal, [step("a", payload='"second"'), step("a", "comparison", '"new"')])

    assert list(journal.steps.of_revision("e1", 1)) == [first]


def test_steps_are_told_apart_by_every_part_of_their_key(journal: Journal) -> None:
    steps = [
        step("a"),
        step("A"),
        step("a", trial=2),
        step("a", revision=2),
        step("a", "comparison"),
        step("a", evaluation_id="e2"),
    ]

    commit(journal, [dataclasses.replace(s, payload=str(number)) for number, s in enumerate(steps)])

    def payloads(found: Iterator[Step]) -> list[str]:
        return [s.payload for s in found]

    assert payloads(journal.steps.of_revision("e1", 1)) == ["1", "4", "0", "2"]
    assert payloads(journal.steps.of_revision("e1", 2)) == ["3"]
    assert payloads(journal.steps.of_revision("e2", 1)) == ["5"]


def test_outcomes_are_those_of_the_highest_revision_that_has_one(journal: Journal) -> None:
    newest = [
        step("a", payload='"a3"', revision=3),
        step("b", payload='"b1"'),
        step("b", payload='"b1 of trial 2"', trial=2, revision=2),
        step("c", payload='"c2"', revision=2),
    ]
    older = [
        step("a", payload='"a1"'),
        step("a", payload='"a2"', revision=2),
        step("b", payload='"b1 of trial 2, first"', trial=2),
        step("c", payload='"c1"'),
        step("c", "comparison", revision=3),
        step("d", "baseline"),
        step("a", payload='"of another evaluation"', evaluation_id="e2", revision=9),
    ]

    commit(journal, [*newest, *older])

    assert list(journal.steps.outcomes("e1")) == newest


@pytest.mark.parametrize(
    ("case_id", "trial", "stage", "payload"),
    [
        pytest.param("a", 1, "candidate", '"second"', id="of the newest revision"),
        pytest.param("a", 1, "baseline", '"old"', id="of the revision that has it"),
        pytest.param("a", 2, "candidate", '"other trial"', id="of another trial"),
        pytest.param("a", 2, "baseline", None, id="a stage that is not there"),
        pytest.param("b", 1, "candidate", None, id="a case that is not there"),
    ],
)
def test_the_evidence_of_one_trial(
    journal: Journal, case_id: str, trial: int, stage: Stage, payload: str | None
) -> None:
    commit(journal, [step("a", "candidate", '"first"'), step("a", "baseline", '"old"'), step("a")])
    commit(journal, [step("a", "candidate", '"other trial"', trial=2), step("a", trial=2)])
    commit(journal, [step("a", "candidate", '"second"', revision=2), step("a", revision=2)])

    assert journal.steps.evidence_of("e1", case_id, trial, stage) == payload


def test_a_finished_evaluation_has_no_evidence(journal: Journal) -> None:
    commit(journal, [step("a", "candidate", '"first"'), step("a")])

    journal.finish("e1", 1)

    assert journal.steps.evidence_of("e1", "a", 1, "candidate") is None


def test_a_failing_commit_fails_alone(journal: Journal) -> None:
    broken = step("bad", payload=cast("str", None))

    async def all_at_once() -> list[BaseException | None]:
        groups = [[step("a")], [step("bad", "baseline"), broken], [step("b")]]
        return await asyncio.gather(*map(journal.steps.commit, groups), return_exceptions=True)

    results = asyncio.run(all_at_once())

    assert [result is None for result in results] == [True, False, True]
    assert [s.case_id for s in journal.steps.of_revision("e1", 1)] == ["a", "b"]


def test_closing_commits_what_waits(path: Path) -> None:
    async def close_with_commits_waiting(journal: Journal) -> None:
        waiting = [asyncio.ensure_future(journal.steps.commit([step(f"c{n:03}")])) for n in range(300)]
        await asyncio.sleep(0)  # each has queued its steps
        journal.close()
        await asyncio.gather(*waiting)

    asyncio.run(close_with_commits_waiting(Journal.open(path)))

    with Journal.open(path) as other:
        assert [s.case_id for s in other.steps.outcomes("e1")] == [f"c{n:03}" for n in range(300)]


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    made = create_engine(f"sqlite:///{path}")
    with made.begin() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
    yield made
    made.dispose()


def _insert(connection: Connection, number: int) -> int:
    connection.execute(text("INSERT INTO t VALUES (:n)"), {"n": number})
    return number


def test_operations_that_wait_together_succeed_and_fail_one_by_one(engine: Engine, path: Path) -> None:
    """The first operation holds the writer until the others wait, so that they share a transaction."""
    writer = Writer(engine, path)
    all_wait = threading.Event()

    def first(_: Connection) -> None:
        assert all_wait.wait(timeout=30)

    def fails_half_way(connection: Connection) -> None:
        _insert(connection, 2)
        raise LookupError("half way")

    writer.submit(first)
    good = writer.submit(lambda connection: _insert(connection, 1))
    bad = writer.submit(fails_half_way)
    twin = writer.submit(lambda connection: _insert(connection, 1))
    last = writer.submit(lambda connection: _insert(connection, 3))
    all_wait.set()
    writer.close()

    assert (good.result(), last.result()) == (1, 3)
    with pytest.raises(LookupError, match="half way"):
        bad.result()
    with pytest.raises((IntegrityError, InputError)):
        twin.result()
    assert _numbers(engine) == [1, 3]


def test_giving_up_waiting_harms_nobody(engine: Engine, path: Path) -> None:
    """As an interrupt does, which cancels the commit that is under way."""
    writer = Writer(engine, path)
    may_go_on = threading.Event()

    def first(connection: Connection) -> int:
        assert may_go_on.wait(timeout=30)
        return _insert(connection, 1)

    given_up = writer.submit(first)
    neighbour = writer.submit(lambda connection: _insert(connection, 2))
    given_up.cancel()
    may_go_on.set()

    assert neighbour.result(timeout=10) == 2
    assert writer.submit(lambda connection: _insert(connection, 3)).result(timeout=10) == 3
    writer.close()


def test_a_cancelled_commit_harms_no_later_one(journal: Journal) -> None:
    async def cancel_one() -> None:
        for number in range(50):
            given_up = asyncio.ensure_future(journal.steps.commit([step(f"given-up{number}")]))
            await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.wait_for(journal.steps.commit([step(f"c{number:02}")]), timeout=10)

    asyncio.run(cancel_one())

    kept = [s.case_id for s in journal.steps.outcomes("e1") if not s.case_id.startswith("given-up")]
    assert kept == [f"c{number:02}" for number in range(50)]


def test_a_result_is_given_only_after_its_commit(engine: Engine, path: Path) -> None:
    writer = Writer(engine, path)

    for number in range(5):
        writer.submit(lambda connection, n=number: _insert(connection, n)).result()
        assert _numbers(engine) == list(range(number + 1))

    writer.close()


def _numbers(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text("SELECT n FROM t ORDER BY n")).scalars())
