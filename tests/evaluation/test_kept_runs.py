"""Invariants 3 and 6 for harnesses: a committed run is not made again; order and crashes change nothing."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from regress_core.evaluation.engine import evaluate
from regress_core.evaluation.events import CaseStarted, Event, StageDone
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.evaluation.support import Log, by_case, evaluated, plan_of, resumed, run, taken_up
from tests.support.candidates import Does, asked, write_candidate_suite, write_script
from tests.support.suites import as_json, lasting

SOME: dict[str, Does] = {"a": "same", "b": "reworded", "c": "raises", "d": "strays"}


def crash_at(case_id: str, stage: str, error: BaseException) -> Callable[[Event], None]:
    """Give an `emit` that raises when a step of a case has been committed."""

    def emit(event: Event) -> None:
        if isinstance(event, StageDone) and (event.case_id, event.stage) == (case_id, stage):
            raise error

    return emit


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("the screen is full")], ids=repr)
@pytest.mark.parametrize("stage", ["candidate", "run"])
@pytest.mark.parametrize("does", ["same", "raises", "strays"])
def test_a_committed_run_is_not_made_again(
    tmp_path: Path, stage: str, error: BaseException, does: Does
) -> None:
    """The crash is between the run and its comparison."""
    root, store = write_candidate_suite(tmp_path / "suite", {"a": does}), tmp_path / "store"
    undisturbed = evaluated(root, tmp_path / "other")
    once = asked(root)
    plan = taken_up(plan_of(root), store)
    with pytest.raises(type(error)):
        run(plan, store, crash_at("a", stage, error))
    with Ports.open(store) as ports:
        kept = {step.stage: step.payload for step in ports.journal.steps.begun(plan.evaluation_id, 1)}
    assert kept.keys() == {"candidate", "run"}
    write_script(root, {"a": "down"})  # were it asked again, it would not answer

    summary = run(resumed(plan.evaluation_id, store), store)

    assert asked(root) == sorted(once * 2)
    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))
    history = History.open(store)
    (record,) = history.table("candidate_records").to_pylist()
    assert record["record_json"] == kept["candidate"]
    assert record["run_id"] == by_case(summary)["a"]["candidateRunId"]
    (row,) = history.table("case_results").to_pylist()
    assert row["replay_miss"] == (does == "strays")
    assert (record["missing_tool_calls"], record["mode"]) == (int(does == "strays"), "strict")


def test_a_run_that_met_trouble_is_made_again(tmp_path: Path) -> None:
    root, store = write_candidate_suite(tmp_path / "suite", {"a": "down", "b": "same"}), tmp_path / "store"
    plan = taken_up(plan_of(root), store)
    with pytest.raises(KeyboardInterrupt):
        run(plan, store, crash_at("a", "outcome", KeyboardInterrupt()), concurrency=1)
    write_script(root, {"a": "same", "b": "same"})

    cases = by_case(run(taken_up(plan_of(root), store), store))

    assert asked(root) == ["a/1"] * 3 + ["b/1"] * 2
    assert {case: entry["status"] for case, entry in cases.items()} == {"a": "pass", "b": "pass"}


def test_of_two_processes_the_first_run_of_a_trial_counts(tmp_path: Path) -> None:
    """While this one is about to run the case, another does the whole evaluation."""
    root, store = write_candidate_suite(tmp_path / "suite", {"a": "same"}), tmp_path / "store"
    plan = taken_up(plan_of(root), store)

    def other_process() -> None:
        with Ports.open(store) as ports:
            asyncio.run(evaluate(plan, ports, Log()))

    def let_it_run(event: Event) -> None:
        if isinstance(event, CaseStarted):
            thread = threading.Thread(target=other_process)
            thread.start()
            thread.join()

    summary = run(plan, store, let_it_run)

    history = History.open(store)
    (record,) = history.table("candidate_records").to_pylist()
    (row,) = history.table("case_results").to_pylist()
    assert record["run_id"] == row["candidate_run_id"] == by_case(summary)["a"]["candidateRunId"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> JsonObject:
    folder = tmp_path_factory.mktemp("undisturbed")
    return lasting(as_json(evaluated(write_candidate_suite(folder / "suite", SOME), folder / "store")))


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_neither_order_nor_concurrency_changes_the_summary(
    tmp_path: Path, concurrency: int, undisturbed: JsonObject
) -> None:
    root = write_candidate_suite(tmp_path / "suite", SOME)

    for number, order in enumerate(permutations(SOME)):
        store = tmp_path / f"store-{number}"
        plan = taken_up(plan_of(root, cases=order), store)
        assert lasting(as_json(run(plan, store, concurrency=concurrency))) == undisturbed


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_crash_at_any_event_changes_nothing_and_no_run_is_paid_for_twice(
    tmp_path: Path, concurrency: int, undisturbed: JsonObject
) -> None:
    for at in range(len(SOME) * 7):  # a start, candidate, run, baseline, comparison, outcome, done
        root, store = write_candidate_suite(tmp_path / f"suite-{at}", SOME), tmp_path / f"store-{at}"
        plan = taken_up(plan_of(root), store)
        log = Log(interrupt_at=at, error=RuntimeError("the screen is full"))
        with pytest.raises(RuntimeError, match="the screen is full"):
            run(plan, store, log, concurrency=concurrency)
        told = {e.case_id for e in log.events if isinstance(e, StageDone) and e.stage == "run"}
        before = asked(root)

        summary = run(resumed(plan.evaluation_id, store), store, concurrency=concurrency)

        assert lasting(as_json(summary)) == undisturbed
        for case in told:
            assert asked(root).count(f"{case}/1") == before.count(f"{case}/1")
