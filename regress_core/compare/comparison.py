"""`compare_run_records`: the deterministic comparison, section by section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from regress_core.compare import decisions, tool_calls
from regress_core.compare.alignment import align
from regress_core.compare.answers import compare_answers
from regress_core.compare.effects import EffectsFound, compare_effects
from regress_core.compare.model import (
    Comparison,
    ComparisonMetrics,
    ComparisonSummary,
    Difference,
    SectionState,
    Signals,
    TrajectoryComparison,
    TrajectoryStep,
    mismatch,
    missing_left,
    missing_right,
)
from regress_core.compare.options import CompareOptions
from regress_core.compare.sections import SECTION_NAMES, SectionName, SectionPlan
from regress_core.compare.tool_calls import GroupedCall
from regress_core.compare.writes import writes_of
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.canonical import same_json
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall

_MADE_OF_ARGUMENTS = frozenset(("rawArguments", "argsCanonicalJson", "proposalHash"))
"""Fields of a proposed tool call that say no more than its parsed arguments, tool and agent do."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both records with their calls as compared, and how they are to be compared.

    Attributes:
        groups: The calls of both in their turn groups; None where calls are not compared so.
        effects: What became of the effective writes; None where effects are not compared.
    """

    left: RunRecord
    right: RunRecord
    left_calls: list[ExtractedToolCall]
    right_calls: list[ExtractedToolCall]
    rules: ArgumentRules
    groups: tuple[list[GroupedCall], list[GroupedCall]] | None
    effects: EffectsFound | None
    as_reference: bool


def compare_run_records(
    left: RunRecord, right: RunRecord, options: CompareOptions | None = None
) -> Comparison:
    """Compare a baseline (left) with a candidate (right).

    Sections that either record lists as `unrecorded` are not compared.
    """
    options = options or CompareOptions()
    plan = options.plan(left.unrecorded | right.unrecorded)
    sides = _sides(left, right, options, plan)
    found = {name: _SECTIONS[name](sides) for name in plan.compared}
    deciding = [d for name, differences in found.items() if name in plan.deciding for d in differences]
    summary = ComparisonSummary(
        same_final_response=not found.get("response"),
        same_tool_call_shape=not any(map(tool_calls.is_about_shape, found.get("toolCalls", ()))),
        same_policy_decisions=not found.get("policy"),
        same_guardrail_decisions=not found.get("guardrails"),
    )
    return Comparison(
        equal=not deciding,
        summary=summary,
        metrics=_metrics(sides),
        differences=deciding,
        provenance=[d for name, diffs in found.items() if name not in plan.deciding for d in diffs],
        sections={name: _state(found.get(name)) for name in SECTION_NAMES},
        signals=_signals(sides, summary, options, plan),
        **_explanations(sides, plan),
    )


def _sides(left: RunRecord, right: RunRecord, options: CompareOptions, plan: SectionPlan) -> _Sides:
    left_calls = tool_calls.compared_calls(left, options.arguments)
    right_calls = tool_calls.compared_calls(right, options.arguments)
    groups = None
    if options.ignore_volatile and "toolCalls" in plan.compared:
        groups = tool_calls.grouped_calls(left, left_calls), tool_calls.grouped_calls(right, right_calls)
    effects = None
    if options.effects is not None and "effects" in plan.compared:
        effects = compare_effects(
            writes_of(left, left_calls, options.effects),
            writes_of(right, right_calls, options.effects),
            options.effects,
        )
    return _Sides(
        left,
        right,
        left_calls,
        right_calls,
        options.arguments,
        groups,
        effects,
        as_reference=not options.ignore_volatile,
    )


def _explanations(sides: _Sides, plan: SectionPlan) -> dict[str, Any]:
    """Give what tells more of how two runs differ; the reference's rule knows no such."""
    found: dict[str, Any] = {}
    if sides.effects is not None:
        found["effects"] = sides.effects.counts
    if sides.groups is not None:
        found["trajectory"] = _trajectory(*sides.groups)
    if "response" in plan.compared and not sides.as_reference:
        found["answer"] = compare_answers(sides.left, sides.right)
    return found


def _trajectory(left: Sequence[GroupedCall], right: Sequence[GroupedCall]) -> TrajectoryComparison:
    alignment = align(left, right)
    return TrajectoryComparison(
        trajectory=alignment.trajectory,
        first_divergence=alignment.first_divergence,
        progress=alignment.progress,
        steps=[
            TrajectoryStep(kind=step.kind, tool=step.tool, left=step.left, right=step.right)
            for step in alignment.steps
            if step.kind != "kept"
        ],
    )


def _signals(
    sides: _Sides, summary: ComparisonSummary, options: CompareOptions, plan: SectionPlan
) -> Signals:
    """Raise the signals of sections that decide.

    The reference raises statusChanged although none of its sections is the status, so here only what names
    the status (an exclusion, a move to provenance, `unrecorded`) silences it.
    """
    silent = {*options.exclude_sections, *options.provenance, *sides.left.unrecorded, *sides.right.unrecorded}
    signals = Signals(
        status_changed="status" not in silent and sides.left.status != sides.right.status,
        tools_changed="toolCalls" in plan.deciding and not summary.same_tool_call_shape,
        policy_changed="policy" in plan.deciding and not summary.same_policy_decisions,
        final_output_changed="response" in plan.deciding and not summary.same_final_response,
    )
    if sides.effects is None or "effects" not in plan.deciding or not sides.effects.differences:
        return signals
    return signals.model_copy(update={"effects_changed": True})


def _state(differences: list[Difference] | None) -> SectionState:
    if differences is None:
        return "not compared"
    return "different" if differences else "same"


def _metrics(sides: _Sides) -> ComparisonMetrics:
    matched, missing, extra = tool_calls.count_matches(sides.left_calls, sides.right_calls)
    return ComparisonMetrics(
        response_length_a=len(sides.left.response),
        response_length_b=len(sides.right.response),
        tool_calls_a=len(sides.left_calls),
        tool_calls_b=len(sides.right_calls),
        matched_tool_calls=matched,
        missing_tool_calls=missing,
        extra_tool_calls=extra,
    )


def _status(sides: _Sides) -> list[Difference]:
    return _values("status", sides.left.status, sides.right.status)


def _response(sides: _Sides) -> list[Difference]:
    return _values("response", sides.left.response, sides.right.response)


def _tool_calls(sides: _Sides) -> list[Difference]:
    if sides.groups is None:
        return tool_calls.compare_in_order(sides.left_calls, sides.right_calls)
    return tool_calls.compare_in_groups(*sides.groups)


def _effects(sides: _Sides) -> list[Difference]:
    return list(sides.effects.differences) if sides.effects is not None else []


def _policy(sides: _Sides) -> list[Difference]:
    left, right = sides.left.policy_decisions, sides.right.policy_decisions
    if sides.as_reference:
        return decisions.compare_in_order("policyDecisions", left, right)
    return decisions.compare_unordered(
        "policyDecisions", decisions.lasting(left), decisions.lasting(right), decisions.decided_resource
    )


def _suspended_proposals(sides: _Sides) -> list[Difference]:
    left, right = (
        [_with_rules(proposal, sides.rules) for proposal in proposals]
        for proposals in _entries(sides, "suspendedProposals")
    )
    return decisions.compare_unordered("suspendedProposals", left, right, decisions.proposed_action)


def _with_rules(proposal: JsonObject, rules: ArgumentRules) -> JsonObject:
    """Take off a proposed call what a rule takes off one that was made, and what else is made of it."""
    tool = proposal.get("toolName")
    if not isinstance(tool, str) or not rules.covers(tool):
        return proposal
    return {
        key: rules.apply(tool, value) if key == "parsedArguments" else value
        for key, value in proposal.items()
        if key not in _MADE_OF_ARGUMENTS
    }


def _guardrails(sides: _Sides) -> list[Difference]:
    return decisions.compare_in_order("guardrailDecisions", *_entries(sides, "guardrailDecisions"))


def _errors(sides: _Sides) -> list[Difference]:
    return [
        difference
        for field in ("errorName", "errorMessage")
        for difference in _values(field, sides.left.data.get(field), sides.right.data.get(field))
    ]


def _prompts(sides: _Sides) -> list[Difference]:
    return decisions.compare_in_order("promptSnapshots", *_entries(sides, "promptSnapshots"))


def _fingerprints(sides: _Sides) -> list[Difference]:
    return decisions.compare_in_order("requestFingerprints", *_entries(sides, "requestFingerprints"))


def _descriptor(sides: _Sides) -> list[Difference]:
    return _values(
        "metadata.harness", sides.left.metadata.get("harness"), sides.right.metadata.get("harness")
    )


def _metadata(sides: _Sides) -> list[Difference]:
    """Application metadata; `regress` is ours and never compared, `harness` is a section of its own."""
    ours = {"regress"} if sides.as_reference else {"regress", "harness"}
    left, right = (
        None
        if record.data.get("metadata") is None
        else {key: value for key, value in record.metadata.items() if key not in ours}
        for record in (sides.left, sides.right)
    )
    if same_json(left or {}, right or {}):
        return []
    return [mismatch("metadata", left, right)]


_SECTIONS: Mapping[SectionName, Callable[[_Sides], list[Difference]]] = {
    "status": _status,
    "response": _response,
    "toolCalls": _tool_calls,
    "effects": _effects,
    "policy": _policy,
    "suspendedProposals": _suspended_proposals,
    "guardrails": _guardrails,
    "errors": _errors,
    "prompts": _prompts,
    "fingerprints": _fingerprints,
    "descriptor": _descriptor,
    "metadata": _metadata,
}


def _values(path: str, left: object, right: object) -> list[Difference]:
    """Compare two values, where None is a value that is not there."""
    if same_json(left, right):
        return []
    if left is None:
        return [missing_left(path, right)]
    return [missing_right(path, left)] if right is None else [mismatch(path, left, right)]


def _entries(sides: _Sides, field: str) -> tuple[list[JsonObject], list[JsonObject]]:
    """Give both records' list of that name, volatile fields off unless the reference's rule is asked for."""
    left, right = (
        cast("list[JsonObject]", cast("Mapping[str, Any]", record.data).get(field) or [])
        for record in (sides.left, sides.right)
    )
    return (left, right) if sides.as_reference else (decisions.lasting(left), decisions.lasting(right))
