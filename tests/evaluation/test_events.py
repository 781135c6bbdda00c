"""What an evaluation tells while it runs."""

from __future__ import annotations

from pathlib import Path

from regress_core.evaluation.events import (
    CaseDone,
    CaseStarted,
    EvaluationDone,
    EvaluationStarted,
    Event,
    StageDone,
)
from regress_core.evaluation.ports import JOURNAL_FILE
from regress_core.journal.journal import Journal
from tests.evaluation.support import Log, Place, evaluated, interrupted, plan_of, run, taken_up
from tests.support.records import tool_call, tool_output
from tests.support.suites import baseline, write_record, write_suite


def shapes(events: list[Event]) -> list[tuple[str, ...]]:
    """Say of each event what it is and of which case; the stages of a case in the order of the alphabet."""
    found: list[tuple[str, ...]] = []
    for event in events:
        match event:
            case EvaluationStarted(cases=cases, settled=settled):
                found.append(("started", f"{settled} of {cases}"))
            case CaseStarted(case_id=case_id):
                found.append(("case", case_id))
            case StageDone(case_id=case_id, stage=stage):
                found.append(("stage", case_id, stage))
            case CaseDone(outcome=outcome, resumed=resumed):
                found.append(("resumed" if resumed else "done", outcome.case_id, outcome.status))
            case EvaluationDone(summary=summary):
                found.append(("end", summary.status))
    return found


def test_order(tmp_path: Path) -> None:
    log = Log()

    evaluated(write_suite(tmp_path / "suite", {"a": "failed", "b": "missing"}), tmp_path / "store", log)

    got = shapes(log.events)
    stages_of_a, stages_of_b = got[2:6], got[8:10]
    assert sorted(stages_of_a) == [
        ("stage", "a", stage) for stage in ("baseline", "candidate", "comparison", "outcome")
    ]
    assert sorted(stages_of_b) == [("stage", "b", stage) for stage in ("baseline", "outcome")]
    assert [*got[:2], *got[6:8], *got[10:]] == [
        ("started", "0 of 2"),
        ("case", "a"),
        ("done", "a", "fail"),
        ("case", "b"),
        ("done", "b", "warn"),
        ("end", "fail"),
    ]


def test_a_resumed_evaluation_tells_the_old_outcomes_first(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "failed", "b": "same", "c": "same"})
    interrupted(root, tmp_path / "store", at=6)  # CaseDone of a
    log = Log()

    evaluated(root, tmp_path / "store", log)

    got = [shape for shape in shapes(log.events) if shape[0] != "stage"]
    assert got == [
        ("started", "1 of 3"),
        ("resumed", "a", "fail"),
        ("case", "b"),
        ("done", "b", "pass"),
        ("case", "c"),
        ("done", "c", "pass"),
        ("end", "fail"),
    ]


def test_what_is_told_is_committed(mixed: Place) -> None:
    """Another process sees in the journal each stage and outcome at the moment it is told."""
    seen: list[bool] = []
    plan = taken_up(plan_of(mixed.root), mixed.store)

    def look(event: Event) -> None:
        if isinstance(event, StageDone | CaseDone):
            with Journal.open(mixed.store / JOURNAL_FILE) as journal:
                steps = list(journal.steps.of_revision(plan.evaluation_id, 1))
            if isinstance(event, StageDone):
                refs = {f"{s.evaluation_id}/{s.case_id}/{s.trial}/{s.stage}/{s.revision}" for s in steps}
                seen.append(event.ref in refs)
            else:
                seen.append((event.outcome.case_id, "outcome") in {(s.case_id, s.stage) for s in steps})

    run(plan, mixed.store, look)

    assert seen == [True] * 23  # four stages and a done for four cases, two stages and a done for one


def test_events_hold_no_records(tmp_path: Path) -> None:
    long = "confidential " * 8_000
    items = [tool_call("1", "find", arguments={"q": long}), tool_output("1", output=long)]
    record = baseline("a") | {"contextSnapshot": long, "items": items, "response": long, "question": long}
    root = write_suite(tmp_path / "suite", {"a": "same"})
    write_record(root / "records" / "a.json", record)
    write_record(root / "new" / "a.json", record | {"response": long + "!", "items": items[:1]})
    log = Log()

    evaluated(root, tmp_path / "store", log)

    assert len(log.events) == 8
    assert max(len(repr(event)) for event in log.events) < 3_000
