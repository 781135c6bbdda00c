"""Publishing once, whatever happens in between."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.engine import evaluate
from regress_core.evaluation.events import CaseStarted, Event
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.publish import publish
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.history.store import History
from regress_core.history.tables import EVALUATION_TABLES
from tests.evaluation.support import Log, Place, evaluated, ignore, plan_of, run, taken_up
from tests.support.suites import MIXED, as_json, lasting, tree

ROWS = {
    "evaluations": 1,
    "baseline_records": 5,
    "accepted_records": 0,
    "candidate_records": 4,
    "comparisons": 4,
    "check_results": 0,
    "judge_calls": 0,
    "judge_results": 0,
    "judge_dimensions": 0,
    "case_results": 5,
}


def rows(store: Path) -> dict[str, int]:
    history = History.open(store)
    return {table: history.table(table).num_rows for table in EVALUATION_TABLES}


def stages_in_journal(store: Path, evaluation_id: str) -> set[str]:
    with Ports.open(store) as ports:
        return {step.stage for step in ports.journal.steps.of_revision(evaluation_id, 1)}


def state(store: Path, evaluation_id: str) -> str:
    with Ports.open(store) as ports:
        row = ports.journal.evaluation(evaluation_id)
    assert row is not None
    return row.state


def test_publishing_twice_changes_nothing(mixed: Place) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)
    summary = run(plan, mixed.store)
    before = tree(mixed.store / "history") | tree(mixed.store / "outputs")

    with Ports.open(mixed.store) as ports:
        publish(plan, ports, summary)

    assert rows(mixed.store) == ROWS
    assert tree(mixed.store / "history") | tree(mixed.store / "outputs") == before
    assert state(mixed.store, plan.evaluation_id) == "finished"


def test_what_is_published_leaves_the_journal(mixed: Place) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)

    run(plan, mixed.store)

    assert stages_in_journal(mixed.store, plan.evaluation_id) == {"outcome"}


@pytest.mark.parametrize("again", ["publish", "the same command"])
def test_a_crash_between_history_and_the_end(mixed: Place, tmp_path: Path, again: str) -> None:
    """The outputs cannot be written, so that publishing breaks off after the history."""
    plan = taken_up(plan_of(mixed.root), mixed.store)
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises((OSError, InputError), match="file"):
        run(plan, mixed.store, out=tmp_path / "file" / "out")
    assert rows(mixed.store) == ROWS
    assert state(mixed.store, plan.evaluation_id) == "running"
    assert stages_in_journal(mixed.store, plan.evaluation_id) > {"outcome", "baseline"}

    log = Log()
    if again == "publish":
        with Ports.open(mixed.store) as ports:
            publish(plan, ports, summarize_evaluation(plan, ports))
    else:
        summary = evaluated(mixed.root, mixed.store, log)
        assert summary.evaluation_id == plan.evaluation_id
    assert log.started == []
    assert rows(mixed.store) == ROWS
    assert len(list((mixed.store / "history").rglob("*.parquet"))) == len(EVALUATION_TABLES)
    assert state(mixed.store, plan.evaluation_id) == "finished"
    assert (mixed.store / "outputs" / plan.evaluation_id / "summary.json").is_file()


def test_a_crash_in_the_history(mixed: Place) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)
    mixed.store.joinpath("history").write_text("in the way", encoding="utf-8")
    with pytest.raises((OSError, InputError), match="history"):
        run(plan, mixed.store)
    assert state(mixed.store, plan.evaluation_id) == "running"
    mixed.store.joinpath("history").unlink()
    log = Log()

    evaluated(mixed.root, mixed.store, log)

    assert (log.started, log.resumed) == ([], list(MIXED))
    assert rows(mixed.store) == ROWS


def test_half_a_history_is_completed(mixed: Place) -> None:
    """A crash between the renames of two tables: one is there, another is not."""
    plan = taken_up(plan_of(mixed.root), mixed.store)
    (mixed.store / "outputs").write_text("in the way", encoding="utf-8")
    with pytest.raises((OSError, InputError), match="outputs"):
        run(plan, mixed.store)
    (mixed.store / "outputs").unlink()
    next((mixed.store / "history" / "comparisons").rglob("*.parquet")).unlink()

    evaluated(mixed.root, mixed.store)

    assert rows(mixed.store) == ROWS


def test_a_second_process_that_comes_in_between(mixed: Place, tmp_path: Path) -> None:
    """While the first evaluates its second case, another does the whole evaluation and publishes it."""
    undisturbed = evaluated(mixed.root, tmp_path / "other")
    plan = taken_up(plan_of(mixed.root), mixed.store)

    def other_process() -> None:
        with Ports.open(mixed.store) as ports:
            asyncio.run(evaluate(plan, ports, ignore))

    def let_it_run(event: Event) -> None:
        if isinstance(event, CaseStarted) and event.case_id == "b-reworded":
            thread = threading.Thread(target=other_process)
            thread.start()
            thread.join()

    summary = run(plan, mixed.store, let_it_run)

    assert lasting(as_json(summary)) == lasting(as_json(undisturbed))
    assert rows(mixed.store) == ROWS
    assert state(mixed.store, plan.evaluation_id) == "finished"
    assert stages_in_journal(mixed.store, plan.evaluation_id) == {"outcome"}
