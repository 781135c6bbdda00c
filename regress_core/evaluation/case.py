"""One case, from two record files to an outcome. Whatever goes wrong here stays in this case."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import NO_SIGNALS, Comparison
from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.ids import Clock
from regress_core.journal.journal import Stage
from regress_core.records.json_io import dumps_text
from regress_core.records.loading import LoadedRecord, RecordFile, load_record
from regress_core.suite.classification import classify
from regress_core.suite.loading import CaseRef, RecordRef
from regress_core.suite.outcome import CaseOutcome, Trouble

TRIAL = 1  # recorded candidates have one record a case


@dataclass(frozen=True, slots=True)
class CaseWork:
    """What evaluating a case made: JSON text by stage, and the outcome."""

    evidence: dict[Stage, str]
    outcome: CaseOutcome


class _TroubleError(Exception):
    """Ends a case as inconclusive."""

    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble
        super().__init__(trouble.message)


def evaluate_case(plan: EvaluationPlan, case: CaseRef, clock: Clock) -> CaseWork:
    """Load both records, compare and classify. Never raises: trouble is an inconclusive outcome."""
    started = time.perf_counter()
    candidate_ref = plan.candidate.records.get(case.case_id)
    evidence: dict[Stage, str] = {}
    outcome = CaseOutcome(
        case_id=case.case_id,
        case_name=case.name,
        trial=TRIAL,
        revision=plan.revision,
        status="warn",
        reasons=(),
        signals=NO_SIGNALS,
        equal=None,
        baseline_run_id=None,
        candidate_run_id="",
        baseline_sha256=case.baseline.sha256,
        candidate_sha256=candidate_ref.sha256 if candidate_ref else None,
        trouble=None,
        duration_s=0.0,
        cost_usd=0.0,
        finished_at=clock(),
    )
    try:
        baseline = _load(case.case_id, case.baseline)
        evidence["baseline"] = _text(baseline)
        outcome = replace(outcome, baseline_run_id=baseline.record.run_id)
        candidate = _load(case.case_id, candidate_ref)
        outcome, comparison = _decided(plan, outcome, baseline, candidate)
        evidence["comparison"] = dumps_text(comparison.to_json())
        evidence["candidate"] = _text(candidate)
    except _TroubleError as error:
        outcome = _inconclusive(outcome, error.trouble)
    except Exception as error:  # noqa: BLE001 - a fault of ours in one case may not take the others with it
        message = f"internal error: {type(error).__name__}: {error}"
        outcome = _inconclusive(outcome, Trouble("internal error", message, retryable=False))
    outcome = replace(outcome, duration_s=time.perf_counter() - started, finished_at=clock())
    return CaseWork(evidence, outcome)


def _decided(
    plan: EvaluationPlan, outcome: CaseOutcome, baseline: LoadedRecord, candidate: LoadedRecord
) -> tuple[CaseOutcome, Comparison]:
    config = plan.suite.config
    sections = config.compare.plan(baseline.record.unrecorded | candidate.record.unrecorded)
    if not sections.decides and candidate.record.status != "failed":
        message = "nothing can be compared: the records know none of the sections that decide"
        raise _TroubleError(Trouble("nothing to compare", message, retryable=False))
    comparison = compare_run_records(baseline.record, candidate.record, config.compare)
    verdict = classify(candidate.record, comparison, config.gate)
    decided = replace(
        outcome,
        status=verdict.status,
        reasons=verdict.reasons,
        signals=comparison.signals,
        equal=comparison.equal,
        candidate_run_id=candidate.record.run_id,
    )
    return decided, comparison


def _inconclusive(outcome: CaseOutcome, trouble: Trouble) -> CaseOutcome:
    return replace(
        outcome,
        status="warn",
        reasons=(trouble.message,),
        signals=NO_SIGNALS,
        equal=None,
        candidate_run_id="",
        trouble=trouble,
    )


def _load(case_id: str, ref: RecordRef | None) -> LoadedRecord:
    """Read a record again and make sure that it is the one that was planned."""
    if ref is None:
        raise _TroubleError(Trouble("no candidate record", "no candidate record", retryable=False))
    try:
        loaded = load_record(RecordFile(case_id, Path(ref.path)))
    except InputError as error:
        raise _TroubleError(Trouble("unreadable input", str(error), retryable=True)) from error
    if loaded.sha256 != ref.sha256:
        message = f"{ref.path}: changed since the evaluation was planned"
        raise _TroubleError(Trouble("input changed", message, retryable=False))
    return loaded


def _text(loaded: LoadedRecord) -> str:
    return loaded.text.decode("utf-8-sig")
