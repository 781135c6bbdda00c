"""From typed values to the rows of the history's tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from regress_core.history.store import Row
from regress_core.history.tables import SCHEMA_VERSION
from regress_core.records.json_io import JsonObject
from regress_core.records.times import utc_time
from regress_core.stats.power import smallest_drop
from regress_core.suite.config import GateConfig
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import pass_rate
from regress_core.suite.outcome import CaseOutcome


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """What every row of one evaluation has in common, and what its own row says of it.

    `model` is the one that took the place of the agents' own; the last four are null for recorded candidates.
    """

    evaluation_id: str
    suite: str
    candidate_id: str
    candidate_label: str
    plan_key: str
    trigger: str
    candidate_kind: str
    model: str | None
    mode: str | None
    input_mode: str | None
    trials: int | None
    from_turn: int | None
    revision: int
    created_at: datetime
    expectation_json: str | None


def evaluation_row(
    facts: EvaluationFacts, summary: RunRegressionSummary, gate_config: GateConfig, finished_at: datetime
) -> Row:
    """Give the row of `evaluations`. The pass rate is the gate's; null where there is none."""
    totals = summary.totals
    gate, cost, axes = summary.gate, summary.cost, summary.axes
    passed = pass_rate(summary.cases)
    return {
        "evaluation_id": facts.evaluation_id,
        "suite": facts.suite,
        "candidate_id": facts.candidate_id,
        "revision": facts.revision,
        "schema_version": SCHEMA_VERSION,
        "candidate_label": facts.candidate_label,
        "plan_key": facts.plan_key,
        "trigger": facts.trigger,
        "candidate_kind": facts.candidate_kind,
        "model": facts.model,
        "mode": facts.mode,
        "input_mode": facts.input_mode,
        "trials": facts.trials,
        "from_turn": facts.from_turn,
        "status": summary.status,
        "gate_status": gate.status if gate else None,
        "gate_reasons": tuple(gate.reasons) if gate else (),
        "cases": totals.cases,
        "passed": totals.passed,
        "warned": totals.warned,
        "failed": totals.failed,
        "inconclusive": totals.inconclusive,
        "pass_rate": passed.value,
        "orphans": tuple(summary.orphans),
        "cost_usd": cost.candidate_usd + cost.judge_usd if cost else None,
        "created_at": facts.created_at,
        "finished_at": finished_at,
        "candidate_usd": cost.candidate_usd if cost else None,
        "judge_usd": cost.judge_usd if cost else None,
        "saved_by_cache_usd": cost.saved_by_cache_usd if cost else None,
        "skipped_by_cap": cost.skipped_by_cap if cost else None,
        "axes_judged": axes.total if axes else None,
        "composite_score": axes.composite_score if axes else None,
        "composite_warn": gate_config.composite_warn,
        "composite_block": gate_config.composite_block,
        "axis_minimum": gate_config.axis_minimum,
        "min_pass_rate": gate_config.min_pass_rate,
        "pass_rate_low": passed.interval.low if passed.interval else None,
        "pass_rate_high": passed.interval.high if passed.interval else None,
        "smallest_drop": smallest_drop(passed.of),
    }


def case_result_row(facts: EvaluationFacts, outcome: CaseOutcome, override_owner: str | None) -> Row:
    """Give the row of `case_results`; with an owner where an override takes the case out of the gate."""
    signals, trouble = outcome.signals, outcome.trouble
    return {
        **case_keys(facts, outcome),
        "candidate_label": facts.candidate_label,
        "status": outcome.status,
        "inconclusive": outcome.inconclusive,
        "reasons": outcome.reasons,
        "status_changed": signals.status_changed,
        "tools_changed": signals.tools_changed,
        "policy_changed": signals.policy_changed,
        "final_output_changed": signals.final_output_changed,
        "effects_changed": signals.effects_changed,
        "equal": outcome.equal,
        "baseline_run_id": outcome.baseline_run_id,
        "candidate_run_id": outcome.candidate_run_id or None,
        "baseline_sha256": outcome.baseline_sha256,
        "candidate_sha256": outcome.candidate_sha256,
        "replay_miss": outcome.replay_miss,
        "judge_verdict": outcome.judge.verdict if outcome.judge else None,
        "failed_checks": outcome.findings.failed_checks,
        "override_owner": override_owner,
        "trouble_kind": trouble.kind if trouble else None,
        "trouble_stage": trouble.stage if trouble else None,
        "trouble_code": trouble.code if trouble else None,
        "trouble_message": trouble.message if trouble else None,
        "trouble_retryable": trouble.retryable if trouble else None,
        "duration_s": outcome.duration_s,
        "cost_usd": outcome.cost_usd,
        "finished_at": outcome.finished_at,
    }


def record_row(
    facts: EvaluationFacts, outcome: CaseOutcome, record: JsonObject, text: str, sha256: str | None
) -> Row:
    """Give the row of `baseline_records` or `candidate_records`; `text` is the record as its file had it."""
    return {
        **case_keys(facts, outcome),
        "run_id": record["runId"],
        "run_status": record["status"],
        "agent_name": record["agentName"],
        "model": record.get("model"),
        "question": record["question"],
        "response": record["response"],
        "started_at": utc_time(record["startedAt"]),
        "completed_at": utc_time(record["completedAt"]),
        "sha256": sha256,
        "record_json": text,
    }


def run_columns(facts: JsonObject) -> Row:
    """Give the columns of `candidate_records` that say how a run went; `facts` as the journal has them."""
    stats: JsonObject = facts["replayStats"]
    return {
        "mode": facts["mode"],
        "input_source": stats["inputSource"],
        "recorded_tool_calls": stats["recordedToolCalls"],
        "replayed_from_record": stats["replayedFromRecord"],
        "missing_tool_calls": stats["missingToolCalls"],
        "live_fallback_calls": stats["liveFallbackCalls"],
        **facts["usage"],
        "duration_s": facts["durationS"],
        "cost_usd": facts.get("costUsd", 0.0),
    }


def comparison_row(facts: EvaluationFacts, outcome: CaseOutcome, comparison: JsonObject, text: str) -> Row:
    """Give the row of `comparisons`; `text` is the comparison as JSON.

    `accepted_sha256` tells which accepted run the candidate was compared with.
    """
    summary: JsonObject = comparison["summary"]
    metrics: JsonObject = comparison["metrics"]
    sections = cast("dict[str, str]", comparison["sections"])
    return {
        **case_keys(facts, outcome),
        "equal": comparison["equal"],
        "same_final_response": summary["sameFinalResponse"],
        "same_tool_call_shape": summary["sameToolCallShape"],
        "same_policy_decisions": summary["samePolicyDecisions"],
        "same_guardrail_decisions": summary["sameGuardrailDecisions"],
        "response_length_a": metrics["responseLengthA"],
        "response_length_b": metrics["responseLengthB"],
        "tool_calls_a": metrics["toolCallsA"],
        "tool_calls_b": metrics["toolCallsB"],
        "matched_tool_calls": metrics["matchedToolCalls"],
        "missing_tool_calls": metrics["missingToolCalls"],
        "extra_tool_calls": metrics["extraToolCalls"],
        "differences": len(comparison["differences"]),
        "different_sections": tuple(name for name, state in sections.items() if state == "different"),
        "comparison_json": text,
        "accepted_sha256": outcome.accepted_sha256 or outcome.baseline_sha256,
        **explanation_columns(comparison),
    }


def explanation_columns(comparison: JsonObject) -> dict[str, Any]:
    """Give the columns of `comparisons` that explain; null, where the comparison says nothing of it."""
    trajectory: JsonObject = comparison.get("trajectory") or {}
    answer: JsonObject | None = comparison.get("answer")
    effects: JsonObject = comparison.get("effects") or {}
    return {
        "trajectory": trajectory.get("trajectory"),
        "first_divergence": trajectory.get("firstDivergence"),
        "progress": trajectory.get("progress"),
        "answer_change": answer["change"] if answer else None,
        "facts_lost": len(answer.get("lost", ())) if answer else None,
        "facts_added": len(answer.get("added", ())) if answer else None,
        "facts_altered": tuple(answer.get("altered", ())) if answer else None,
        "writes_a": effects.get("writesA"),
        "writes_b": effects.get("writesB"),
        "failed_writes_a": effects.get("failedA"),
        "failed_writes_b": effects.get("failedB"),
        "changed_writes": effects.get("changed"),
        "missing_writes": effects.get("missing"),
        "extra_writes": effects.get("extra"),
    }


def case_keys(facts: EvaluationFacts, outcome: CaseOutcome) -> dict[str, Any]:
    """Give the columns that every row about a case and trial has."""
    return {
        "evaluation_id": facts.evaluation_id,
        "suite": facts.suite,
        "case_id": outcome.case_id,
        "case_name": outcome.case_name,
        "candidate_id": facts.candidate_id,
        "trial": outcome.trial,
        "revision": outcome.revision,
        "schema_version": SCHEMA_VERSION,
    }
