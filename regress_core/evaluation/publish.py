"""Publishing a finished evaluation: into the history, to the outputs, and out of the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby, islice
from typing import Any

from regress_core.checks.outcome import CheckResult
from regress_core.evaluation.outputs import write_outputs
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.history.judge_rows import call_row, check_row, dimension_rows, judge_row
from regress_core.history.rows import (
    EvaluationFacts,
    case_result_row,
    comparison_row,
    evaluation_row,
    record_row,
    run_columns,
)
from regress_core.history.store import RevisionWriter, Row
from regress_core.history.tables import EVALUATION_TABLES, TableName
from regress_core.journal.steps import Stage, Step
from regress_core.judge.outcome import JudgeOutcome
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome

_CALLS_AT_ONCE = 500
_TEXT_AT_ONCE = 4_000_000  # characters of records in memory before a row group is written


def publish(plan: EvaluationPlan, ports: Ports, summary: RunRegressionSummary) -> None:
    """Write a complete evaluation's revision to the history, write its outputs, and mark it finished.

    Safe to repeat after a crash at any point: file names are fixed by evaluation and revision, and the
    journal keeps the evidence until the end. Processes that finish the same evaluation take turns.
    """
    with ports.history.lock():
        row = ports.journal.evaluation(plan.evaluation_id)
        pending = row is not None and row.state == "running" and row.revision == plan.revision
        if pending:
            _write_history(plan, ports, summary)
        write_outputs(ports.outputs_of(plan.evaluation_id), ports.history, plan, summary)
        if pending:
            ports.journal.finish(plan.evaluation_id, plan.revision)


def _write_history(plan: EvaluationPlan, ports: Ports, summary: RunRegressionSummary) -> None:
    facts = EvaluationFacts(
        evaluation_id=plan.evaluation_id,
        suite=plan.suite.name,
        candidate_id=plan.candidate.candidate_id,
        candidate_label=plan.candidate.label,
        plan_key=plan.plan_key,
        trigger=plan.trigger,
        candidate_kind=plan.candidate.kind,
        model=plan.candidate.harness.model if plan.candidate.harness else None,
        **_how(plan),
        revision=plan.revision,
        created_at=plan.created_at,
        expectation_json=dumps_text(plan.suite.expectation.to_json()) if plan.suite.expectation else None,
    )
    owners = {case.case_id: case.override.owner for case in summary.cases if case.override}
    month = f"{plan.created_at:%Y-%m}"
    with ports.history.writer(plan.suite.name, month, plan.evaluation_id, plan.revision) as writer:
        _write_cases(
            writer, facts, ports.journal.steps.of_revision(plan.evaluation_id, plan.revision), owners
        )
        _write_calls(writer, facts, plan, ports)
        writer.write("evaluations", [evaluation_row(facts, summary, plan.suite.config.gate, ports.clock())])


def _how(plan: EvaluationPlan) -> dict[str, Any]:
    """Say how the candidate was run; of records made elsewhere nothing."""
    how = asdict(plan.how)
    return how if plan.candidate.kind != "records" else dict.fromkeys(how)


def _write_calls(writer: RevisionWriter, facts: EvaluationFacts, plan: EvaluationPlan, ports: Ports) -> None:
    names = {case.case_id: case.name for case in plan.suite.cases}
    calls = ports.journal.ledger(ports.clock).calls_of(plan.evaluation_id, plan.revision)
    judged = (call for call in calls if call.entry.purpose == "judge")
    while part := list(islice(judged, _CALLS_AT_ONCE)):
        writer.write("judge_calls", [call_row(facts, names[call.entry.case_id], call) for call in part])


def _write_cases(
    writer: RevisionWriter, facts: EvaluationFacts, steps: Iterator[Step], owners: Mapping[str | None, str]
) -> None:
    rows: dict[TableName, list[Row]] = {table: [] for table in EVALUATION_TABLES}
    waiting = 0
    for _, group in groupby(steps, key=lambda step: (step.case_id, step.trial)):
        payloads: dict[Stage, str] = {step.stage: step.payload for step in group}
        for table, row in _rows(facts, payloads, owners):
            rows[table].append(row)
        waiting += sum(map(len, payloads.values()))
        if waiting >= _TEXT_AT_ONCE:
            _flush(writer, rows)
            waiting = 0
    _flush(writer, rows)


def _rows(
    facts: EvaluationFacts, payloads: dict[Stage, str], owners: Mapping[str | None, str]
) -> Iterator[tuple[TableName, Row]]:
    outcome = CaseOutcome.from_json(loads_own(payloads["outcome"]))
    yield "case_results", case_result_row(facts, outcome, owners.get(outcome.case_id))
    sides: tuple[tuple[Stage, TableName, str | None], ...] = (
        ("baseline", "baseline_records", outcome.baseline_sha256),
        ("candidate", "candidate_records", outcome.candidate_sha256),
    )
    for stage, table, sha256 in sides:
        text = payloads.get(stage)
        if text is not None:
            row = record_row(facts, outcome, loads_own(text), text, sha256)
            run = payloads.get("run") if stage == "candidate" else None
            yield table, row if run is None else {**row, **run_columns(loads_own(run))}
    for number, one in enumerate(loads_own(payloads.get("accepted", "[]")), start=2):
        row = record_row(facts, outcome, loads_own(one["text"]), one["text"], one["sha256"])
        yield "accepted_records", {**row, "number": number}
    text = payloads.get("comparison")
    if text is not None:
        yield "comparisons", comparison_row(facts, outcome, loads_own(text), text)
    for value in loads_own(payloads.get("checks", "[]")):
        yield "check_results", check_row(facts, outcome, CheckResult.from_json(value))
    for value in loads_own(payloads.get("judge", "[]")):
        judged = JudgeOutcome.from_json(value)
        yield "judge_results", judge_row(facts, outcome, judged)
        for row in dimension_rows(facts, outcome, judged):
            yield "judge_dimensions", row


def _flush(writer: RevisionWriter, rows: dict[TableName, list[Row]]) -> None:
    for table, waiting in rows.items():
        writer.write(table, waiting)
        waiting.clear()
