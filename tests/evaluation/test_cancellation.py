"""An evaluation that another thread ends: what is committed stays, nothing is reserved that never left."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.cancellation import Cancellation
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import resume
from regress_core.evaluation.events import CaseDone, Event
from regress_core.evaluation.ports import Ports
from regress_core.ids import utc_now
from tests.evaluation.support import Log, Place, evaluated, plan_of, run, taken_up
from tests.support.suites import as_json, lasting


def test_before_it_has_begun(mixed: Place) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)
    cancellation, log = Cancellation(), Log()
    cancellation.cancel()

    with Ports.open(mixed.store) as ports, pytest.raises(asyncio.CancelledError):
        run_evaluation(plan, ports, log, cancellation=cancellation)

    assert log.events == []


def test_when_it_is_over_nothing_happens(mixed: Place) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)
    cancellation = Cancellation()

    with Ports.open(mixed.store) as ports:
        summary = run_evaluation(plan, ports, Log(), cancellation=cancellation)
    cancellation.cancel()

    assert summary.complete


def test_in_the_middle_by_another_thread(mixed: Place, tmp_path: Path) -> None:
    plan = taken_up(plan_of(mixed.root), mixed.store)
    cancellation, done = Cancellation(), list[str]()

    def emit(event: Event) -> None:
        if isinstance(event, CaseDone):
            done.append(event.outcome.case_id)
            if len(done) == 2:
                other = threading.Thread(target=cancellation.cancel)
                other.start()
                other.join()

    limits = CallLimits(concurrency=1)
    with Ports.open(mixed.store, limits=limits, clock=utc_now) as ports:
        with pytest.raises(asyncio.CancelledError):
            run_evaluation(plan, ports, emit, cancellation=cancellation)
        assert done == ["a-same", "b-reworded"]
        again = Log()
        summary = run(resume(plan.evaluation_id, ports.journal), mixed.store, again)

    assert again.resumed == done
    assert summary.complete
    assert lasting(as_json(summary)) == lasting(as_json(evaluated(mixed.root, tmp_path / "other")))
