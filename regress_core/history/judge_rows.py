"""The rows of checks and judges."""

from __future__ import annotations

from collections.abc import Iterator

from regress_core.calls.prices import NANOUSD
from regress_core.calls.purse import CallPayload
from regress_core.checks.outcome import CheckResult
from regress_core.history.rows import EvaluationFacts, case_keys
from regress_core.history.store import Row
from regress_core.history.tables import SCHEMA_VERSION
from regress_core.journal.ledger import CallRow
from regress_core.judge.outcome import JudgeOutcome
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.suite.outcome import CaseOutcome


def check_row(facts: EvaluationFacts, outcome: CaseOutcome, check: CheckResult) -> Row:
    """Give the row of `check_results`."""
    return {
        **case_keys(facts, outcome),
        "check_id": check.check_id,
        "kind": check.kind,
        "outcome": check.outcome,
        "looked_for": check.looked_for,
        "found": check.found,
        "where": check.where,
    }


def judge_row(facts: EvaluationFacts, outcome: CaseOutcome, judged: JudgeOutcome) -> Row:
    """Give the row of `judge_results`.

    Of a model that was configured the row tells the configured name, whatever the reply claims; of an
    application's judge what the judge says of itself.
    """
    result = judged.result
    own = result if judged.model is None else None
    return {
        **case_keys(facts, outcome),
        "judge": judged.judge,
        "state": judged.state,
        "reason": judged.reason,
        "verdict": result.verdict if result else None,
        "summary": result.summary if result else judged.reasoning,
        "score": result.score if result else None,
        "findings": len(result.findings) if result else None,
        "judge_model": own.judge_model if own else judged.model,
        "judge_prompt_version": own.judge_prompt_version if own else judged.prompt_version,
        "advisory": judged.advisory,
        "result_json": dumps_text(judged.to_json()),
        "input_mode": judged.input_mode,
        "expectation_json": facts.expectation_json,
        "expectation_sha256": None if facts.expectation_json is None else hash_text(facts.expectation_json),
        "evidence_sha256": judged.evidence_hash,
        "flags": tuple(judged.flags),
        "cached": judged.cached,
        "calls": judged.calls,
        "cost_usd": judged.cost_usd,
        "trouble_kind": judged.trouble,
    }


def call_row(facts: EvaluationFacts, case_name: str, call: CallRow) -> Row:
    """Give the row of `judge_calls`: a request that left, or an earlier verdict that was used again."""
    entry = call.entry
    payload = CallPayload.from_json(loads_own(call.payload))
    usage = payload.usage
    cost = call.reserved_nanousd if call.cost_nanousd is None else call.cost_nanousd
    return {
        "evaluation_id": facts.evaluation_id,
        "suite": facts.suite,
        "case_id": entry.case_id,
        "case_name": case_name,
        "candidate_id": facts.candidate_id,
        "trial": entry.trial,
        "revision": entry.revision,
        "schema_version": SCHEMA_VERSION,
        "call_id": call.call_id,
        "judge": entry.judge,
        "number": entry.number,
        "state": call.state,
        "model": payload.model,
        "prompt_version": payload.prompt_version,
        "error": payload.error,
        "reply": payload.text,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cache_read_tokens": usage.cache_read_tokens if usage else None,
        "cache_write_tokens": usage.cache_write_tokens if usage else None,
        "reserved_usd": call.reserved_nanousd / NANOUSD,
        "cost_usd": cost / NANOUSD,
        "saved_usd": call.saved_nanousd / NANOUSD,
        "asked_at": call.asked_at,
    }


def dimension_rows(facts: EvaluationFacts, outcome: CaseOutcome, judged: JudgeOutcome) -> Iterator[Row]:
    """Give the rows of `judge_dimensions`: the questions of a rubric, or the axes."""
    decisions = {one.dimension_id: one.decision for one in outcome.findings.rubric or ()}
    common = {
        **case_keys(facts, outcome),
        "judge": judged.judge,
        "judge_model": judged.model,
        "judge_prompt_version": judged.prompt_version,
        "evidence_sha256": judged.evidence_hash,
    }
    for verdict in judged.dimensions or ():
        yield {
            **common,
            "dimension": verdict.dimension_id,
            "passed": verdict.passed,
            "score": None,
            "judged_score": None,
            "reason": verdict.reason,
            "decision": decisions.get(verdict.dimension_id),
        }
    for axis in judged.axes or ():
        yield {
            **common,
            "dimension": axis.axis,
            "passed": None,
            "score": axis.score,
            "judged_score": axis.score if axis.judged is None else axis.judged,
            "reason": judged.reasoning,
            "decision": None,
        }
