"""A run that ends in the middle: the engine stops, and what is finished stays."""

from __future__ import annotations

import threading
from collections.abc import Generator
from datetime import datetime
from typing import cast

import pytest

from regress_core.evaluation.entering import resume
from regress_core.evaluation.events import CaseDone, Event
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.ids import utc_now
from regress_pipeline.evaluate import CaseEvent, Selection, Telling, run_plan
from tests.pipeline.bench import CASE_ASSETS, Bench, Run, everything_of
from tests.pipeline.builders import (
    OutcomeRow,
    alike,
    evaluation_states,
    outcome_rows,
    revisions,
    write_suite,
)

CASES = [f"case-{number:02}" for number in range(12)]


class Gate:
    """A clock that lets so many cases begin and holds the next one until it is opened."""

    def __init__(self, cases: int) -> None:
        self._calls_left = 2 * cases  # one when a case begins, one when it ends
        self._opened = threading.Event()

    def __call__(self) -> datetime:
        if self._calls_left:
            self._calls_left -= 1
        else:
            self._opened.wait(timeout=60)
        return utc_now()

    def open(self) -> None:
        self._opened.set()


class Watch:
    """Notes the cases that an evaluation tells of, and raises an error after so many.

    The gate, if there is one, is opened just before.
    """

    def __init__(self, fail_after: int | None = None, gate: Gate | None = None) -> None:
        self.done: list[str] = []
        self._fail_after = fail_after
        self._gate = gate

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseDone):
            self.done.append(event.outcome.case_id)
            if len(self.done) == self._fail_after:
                if self._gate:
                    self._gate.open()
                raise RuntimeError("nobody is watching any more")


@pytest.fixture
def evaluation_id(bench: Bench) -> str:
    """Give a planned evaluation of all cases."""
    write_suite(bench.suites_root, "s", alike("old", CASES), alike("new", CASES))
    bench.register("s", CASES)
    return bench.enter_plan("s")


def _events(bench: Bench, plan: EvaluationPlan, ports: Ports, watch: Watch) -> Generator[CaseEvent]:
    assets = frozenset(bench.key("s", asset) for asset in (*CASE_ASSETS, "suite_summary"))
    events = run_plan(plan, ports, Selection("s", assets, frozenset()), Telling(watch, None, print))
    return cast("Generator[CaseEvent]", events)


def _run(bench: Bench, evaluation_id: str, watch: Watch | None = None) -> Run:
    config = {"evaluation_id": evaluation_id}
    return bench.run("s", CASES[0], CASES[-1], config=config, observe=watch or Watch())


def _the_rest_is_evaluated_by(run: Run, bench: Bench, evaluation_id: str, kept: list[OutcomeRow]) -> None:
    assert run.status == "SUCCESS"
    assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
    assert revisions(bench.store, evaluation_id) == {case: [1] for case in CASES}
    assert outcome_rows(bench.store)[: len(kept)] == kept
    resumed = {case for case, event in run.of("comparisons").items() if event.metadata["resumed"]}
    assert resumed == {row.case_id for row in kept}
    for asset in CASE_ASSETS:
        assert bench.materialized("s", asset) == set(CASES), asset


def test_closing_the_generator_stops_the_engine_and_keeps_the_finished_cases(
    bench: Bench, evaluation_id: str
) -> None:
    gate, watch = Gate(cases=3), Watch()
    with Ports.open(bench.store, clock=gate) as ports:
        plan = resume(evaluation_id, ports.journal)
        threads = set(threading.enumerate())
        events = _events(bench, plan, ports, watch)
        while len(watch.done) < 3:
            next(events)
        assert len(set(threading.enumerate()) - threads) == 1
        gate.open()
        events.close()
        assert set(threading.enumerate()) - threads == set()

    kept = outcome_rows(bench.store)
    assert watch.done == CASES[:3]
    assert [row.case_id for row in kept] == CASES[: len(kept)]
    assert 3 <= len(kept) < len(CASES)
    assert evaluation_states(bench.store) == {evaluation_id: ("running", 1)}
    _the_rest_is_evaluated_by(_run(bench, evaluation_id), bench, evaluation_id, kept)


def test_an_error_of_the_observer_stops_the_engine_and_keeps_the_finished_cases(
    bench: Bench, evaluation_id: str
) -> None:
    gate = Gate(cases=3)
    watch = Watch(fail_after=3, gate=gate)
    with Ports.open(bench.store, clock=gate) as ports:
        threads = set(threading.enumerate())
        events = _events(bench, resume(evaluation_id, ports.journal), ports, watch)
        with pytest.raises(RuntimeError, match="nobody is watching any more"):
            list(events)
        assert set(threading.enumerate()) - threads == set()

    kept = outcome_rows(bench.store)
    assert [row.case_id for row in kept[:3]] == CASES[:3]
    assert len(kept) < len(CASES)
    _the_rest_is_evaluated_by(_run(bench, evaluation_id), bench, evaluation_id, kept)


def test_a_run_that_is_stopped_by_its_observer_shows_what_it_finished(
    bench: Bench, evaluation_id: str
) -> None:
    threads = set(threading.enumerate())
    run = _run(bench, evaluation_id, Watch(fail_after=3))

    assert run.status == "FAILURE"
    assert set(threading.enumerate()) - threads == set()
    assert run.of("case_summaries").keys() == set(CASES[:2])  # the third was told to the observer first
    kept = outcome_rows(bench.store)
    assert [row.case_id for row in kept[:3]] == CASES[:3]
    again = bench.reexecute("s", run.run_id)
    assert again.of("comparisons").keys() == set(CASES)
    assert revisions(bench.store, evaluation_id) == {case: [1] for case in CASES}


def test_trouble_at_the_end_loses_no_case(bench: Bench, evaluation_id: str) -> None:
    """The history cannot be written: every case is shown, the evaluation is not finished."""
    (bench.store / "history").write_text("in the way", encoding="utf-8")

    run = _run(bench, evaluation_id)

    assert run.status == "FAILURE"
    assert run.failure != ""
    expected = everything_of(CASES)
    del expected["suite_summary"]
    assert run.partitions() == expected
    assert evaluation_states(bench.store) == {evaluation_id: ("running", 1)}
    kept = outcome_rows(bench.store)
    (bench.store / "history").unlink()
    _the_rest_is_evaluated_by(bench.reexecute("s", run.run_id), bench, evaluation_id, kept)
