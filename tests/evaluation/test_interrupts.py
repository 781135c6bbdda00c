"""Invariant 3: neither order nor interrupts change what an evaluation comes to."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.evaluation.entering import begin, resume
from regress_core.evaluation.events import CaseDone
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.evaluation.support import Log, Place, evaluated, interrupted, plan_of, run, taken_up
from tests.support.suites import MIXED, as_json, lasting, tree, write_suite

EVENTS = 30
"""Of the mixed suite: start, end, a start and a done for each of five cases, four stages for four of them,
two for the one without candidate."""

CONFIG = """\
name: shop
expectation: {intent: shorter answers, shouldPreserve: [facts]}
compare: {exclude_sections: [metadata], provenance: [guardrails]}
gate: {signals: {toolsChanged: fail, finalOutputChanged: pass}, min_pass_rate: 0.5}
"""


def test_the_number_of_events(mixed: Place) -> None:
    log = Log()

    evaluated(mixed.root, mixed.store, log)

    assert len(log.events) == EVENTS


@dataclass(frozen=True)
class Undisturbed:
    """What the mixed suite comes to without interrupts."""

    summary: JsonObject
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    root = write_suite(folder / "suite", MIXED, config=CONFIG)
    summary = as_json(evaluated(root, folder / "store", out=folder / "out"))
    return Undisturbed(lasting(summary), _but_summary(folder / "out"))


def _but_summary(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(out).items() if name != "summary.json"}


@pytest.mark.parametrize("at", range(EVENTS - 1))
def test_an_interrupt_at_any_event_changes_nothing(tmp_path: Path, at: int, undisturbed: Undisturbed) -> None:
    root, store = write_suite(tmp_path / "suite", MIXED, config=CONFIG), tmp_path / "store"
    begun = taken_up(plan_of(root), store)
    log = Log(interrupt_at=at)
    with pytest.raises(KeyboardInterrupt):
        run(begun, store, log)
    told = [e.outcome.case_id for e in log.events if isinstance(e, CaseDone) and not e.outcome.inconclusive]

    with Ports.open(store) as ports:
        plan = resume(begun.evaluation_id, ports.journal)
    again = Log()
    summary = run(plan, store, again, out=tmp_path / "out")

    assert lasting(as_json(summary)) == undisturbed.summary
    assert summary.evaluation_id == begun.evaluation_id
    assert again.started == sorted(set(MIXED) - set(again.resumed))
    assert again.resumed[: len(told)] == told
    assert _but_summary(tmp_path / "out") == undisturbed.files
    history = History.open(store)
    assert [row["case_id"] for row in history.table("case_results").to_pylist()] == list(MIXED)
    assert history.table("evaluations").num_rows == 1


def test_an_interrupt_at_the_last_event_finds_everything_published(mixed: Place) -> None:
    begun = interrupted(mixed.root, mixed.store, EVENTS - 1)

    with Ports.open(mixed.store) as ports:
        assert ports.journal.unfinished() == []
        assert ports.history.table("evaluations").num_rows == 1
        assert (ports.outputs_of(begun.evaluation_id) / "summary.json").is_file()


@settings(max_examples=15)
@given(
    order=st.permutations(list(MIXED)),
    interrupts=st.lists(st.integers(0, EVENTS - 1), max_size=3),
)
def test_any_order_and_any_interrupts(
    undisturbed: Undisturbed, order: list[str], interrupts: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, store = write_suite(Path(folder) / "suite", MIXED, config=CONFIG), Path(folder) / "store"

        for at in interrupts:
            interrupted(root, store, at, plan=plan_of(root, cases=order))
        summary = run(taken_up(plan_of(root, cases=order), store), store)

    assert lasting(as_json(summary)) == undisturbed.summary


@pytest.mark.parametrize("by_id", [False, True])
def test_interrupt_at_case_3_of_10(tmp_path: Path, *, by_id: bool) -> None:
    """R36."""
    cases = [f"case-{number:02}" for number in range(1, 11)]
    root, store = write_suite(tmp_path / "suite", dict.fromkeys(cases, "same")), tmp_path / "store"
    third_is_done = 3 * 6  # a start, four stages and a done for each case, after the start of the whole
    begun = interrupted(root, store, third_is_done)
    with Ports.open(store) as ports:
        kept = list(ports.journal.steps.outcomes(begun.evaluation_id))
        plan = resume(begun.evaluation_id, ports.journal) if by_id else begin(plan_of(root), ports.journal)
    log = Log()

    summary = run(plan, store, log)

    assert [step.case_id for step in kept] == cases[:3]
    assert (log.opening.cases, log.opening.settled) == (10, 3)
    assert log.resumed == cases[:3]
    assert log.started == cases[3:]
    assert summary.evaluation_id == begun.evaluation_id
    assert as_json(summary)["totals"]["passed"] == 10
    with Ports.open(store) as ports:
        assert list(ports.journal.steps.outcomes(begun.evaluation_id))[:3] == kept


def test_an_unfinished_evaluation_is_in_no_table_and_has_no_outputs(mixed: Place) -> None:
    begun = interrupted(mixed.root, mixed.store, 20)

    with Ports.open(mixed.store) as ports:
        assert [row.evaluation_id for row in ports.journal.unfinished()] == [begun.evaluation_id]
        assert ports.history.table("evaluations").num_rows == 0
        assert not ports.outputs_of(begun.evaluation_id).exists()
