"""A harness rebuilt from a record: it does again what the record says, so that a replay must come out equal.

The model repeats the recorded turns, tools accept anything and fail when they are run, policies and
guardrails answer the recorded decisions, agents and handoffs are those of the snapshots.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast

from regress_core.harness.agent import Agent, GuardrailInput, GuardrailResult, Handoff, OutputGuardrail
from regress_core.harness.policy import (
    HandoffPolicyInput,
    Policies,
    PolicyResult,
    ToolPolicyInput,
    allow_all,
)
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelReply, ModelToolCall
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text
from regress_core.records.model import GuardrailDecision, Item, PolicyDecision, RunRecord, ToolCallItem
from regress_core.records.turn_groups import input_scope
from tests.support.harness import MODEL, replay

_REBUILDABLE_ERRORS = (
    None,
    "ToolCallPolicyDeniedError",
    "ToolCallApprovalRequiredError",
    "HandoffPolicyDeniedError",
    "HandoffApprovalRequiredError",
    "OutputGuardrailTripwireTriggered",
    "MaxTurnsExceededError",
    "ToolCallError",
)


class NotRebuiltError(Exception):
    """The record does not say enough to do again what it tells of."""


@dataclass(frozen=True, slots=True)
class RebuiltHarness:
    """What repeats a record."""

    entry: Agent
    replies: Sequence[ModelReply]
    options: RunOptions


def rebuild(record: RunRecord, from_turn: int = 0) -> RebuiltHarness:
    """Rebuild the harness of a record, to go on from a turn of it.

    Raises:
        NotRebuiltError: If the record does not tell how.
    """
    if record.error_name not in _REBUILDABLE_ERRORS:
        raise NotRebuiltError(f"a failed run whose cause is not in the record: {record.error_name}")
    turns = _turns(record)
    decided = bool(record.policy_decisions) or record.status == "failed"
    return RebuiltHarness(
        entry=_agents(record, turns, from_turn),
        replies=_replies(record, turns)[from_turn:],
        options=RunOptions(
            policies=_policies(record) if decided else allow_all(),
            max_turns=max(len(turns), 1),
            record=RecordOptions(
                include_prompt_text=any("promptText" in prompt for prompt in record.data["promptSnapshots"])
            ),
        ),
    )


def replay_rebuilt(record: RunRecord, options: ReplayOptions | None = None) -> CandidateRun:
    """Replay a record on its rebuilt harness, strictly unless the options say otherwise."""
    harness = rebuild(record, options.from_turn if options else 0)
    return replay(record, harness.entry, harness.replies, options=options, run_options=harness.options)


def _turns(record: RunRecord) -> list[list[Item]]:
    """Part the items after the input: by the recorded message counts, else where outputs end."""
    starts = [request["messageCount"] for request in record.data["requestFingerprints"]]
    if starts:
        ends = [*starts[1:], len(record.items)]
        return [record.items[start:end] for start, end in zip(starts, ends, strict=True)]
    turns: list[list[Item]] = []
    after_output = True
    for item in record.items[input_scope(record).items :]:
        is_output = item["type"] == "tool_call_output_item"
        if after_output and not is_output:
            turns.append([])
        turns[-1].append(item)
        after_output = is_output
    return turns


def _replies(record: RunRecord, turns: Sequence[Sequence[Item]]) -> list[ModelReply]:
    replies = [ModelReply(text=_text(items), tool_calls=tuple(_calls(items))) for items in turns]
    if record.status == "completed":
        answered = bool(replies) and not replies[-1].tool_calls
        replies[len(replies) - answered :] = [ModelReply(text=record.response)]
    return replies


def _text(items: Sequence[Item]) -> str:
    return next((item["content"] for item in reversed(items) if item["type"] == "message"), "")


def _call_items(items: Sequence[Item]) -> list[ToolCallItem]:
    return [item for item in items if item["type"] == "tool_call_item"]


def _calls(items: Sequence[Item]) -> list[ModelToolCall]:
    return [ModelToolCall(item["callId"], item["name"], _arguments_text(item)) for item in _call_items(items)]


def _arguments_text(item: ToolCallItem) -> str:
    raw: JsonValue = item.get("rawItem")
    text = cast("JsonObject", raw).get("arguments") if isinstance(raw, dict) else None
    return text if isinstance(text, str) else dumps_text(item.get("arguments", {}))


def _policies(record: RunRecord) -> Policies:
    """Answer what was decided in the same turn about the same tool or agent, in order."""
    waiting: defaultdict[tuple[int, str, str], deque[PolicyResult]] = defaultdict(deque)
    for decision in record.policy_decisions:
        resource = decision["resource"]
        key = (decision["turn"], resource["kind"], resource["name"])
        waiting[key].append(_as_made(decision, record))

    def about_tool(call: ToolPolicyInput) -> PolicyResult:
        return waiting[call.turn, "tool", call.tool_name].popleft()

    def about_handoff(handoff: HandoffPolicyInput) -> PolicyResult:
        return waiting[handoff.turn, "handoff", handoff.to_agent_name].popleft()

    return Policies(about_tool, about_handoff)


def _as_made(decision: PolicyDecision, record: RunRecord) -> PolicyResult:
    """Give a decision as the policy made it; what old records leave out of it their outputs show."""
    shown: JsonValue = None
    mode = decision.get("resultMode")
    if decision["decision"] != "allow" and mode is None:
        outputs = {
            item["callId"]: item.get("output")
            for item in record.items
            if item["type"] == "tool_call_output_item"
        }
        shown = outputs.get(decision["callId"])
        mode = "tool_result" if decision["callId"] in outputs else "throw"
    return PolicyResult(
        decision=decision["decision"],
        reason=decision["reason"],
        public_reason=decision.get("publicReason", shown and shown["publicReason"]),
        result_mode=mode,
        policy_version=decision.get("policyVersion"),
        expires_at=decision.get("expiresAt"),
        metadata=decision.get("metadata"),
    )


def _agents(record: RunRecord, turns: Sequence[Sequence[Item]], from_turn: int) -> Agent:
    """Make the agents of the snapshots and of the handoffs, each with all the tools, and give the first."""
    prompts = record.data["promptSnapshots"]
    asking = {prompt["turn"]: prompt["agentName"] for prompt in prompts}
    first = asking.get(1, record.data["agentName"])
    calls = _decided_calls(record, turns)
    handoffs = [(item["name"], decision) for item, decision in calls if _is_handoff(decision)]
    names = dict.fromkeys([first, *asking.values(), *(d["resource"]["name"] for _, d in handoffs)])
    tools = _tools(record, calls)
    agents = {name: Agent(name, model=MODEL) for name in names}
    for prompt in prompts:
        agent = agents[prompt["agentName"]]
        agent.instructions = prompt.get("promptText")
        agent.prompt_version = prompt.get("promptVersion")
        agent.model = prompt.get("model") or MODEL
    offered: defaultdict[str, dict[str, Handoff]] = defaultdict(dict)
    for call_name, decision in handoffs:
        asked = asking.get(decision["turn"], first)
        offered[asked][call_name] = Handoff(agents[decision["resource"]["name"]])
    for name, agent in agents.items():
        # In the order that gives them the recorded names, those below a suffix taken.
        agent.handoffs = [
            offered[name][call] for call in sorted(offered[name], key=lambda call: (len(call), call))
        ]
        taken = {below for call in offered[name] for below in _below_suffix(call)} - set(offered[name])
        agent.tools = [*tools, *(Tool(below, "", _never) for below in sorted(taken))]
        agent.output_guardrails = _guardrails(
            decision
            for decision in record.data.get("guardrailDecisions") or ()
            if decision["turn"] > from_turn and asking.get(decision["turn"], first) == name
        )
    return agents[first]


def _decided_calls(
    record: RunRecord, turns: Sequence[Sequence[Item]]
) -> list[tuple[ToolCallItem, PolicyDecision | None]]:
    """Pair the calls with what was decided about them, by call id, first in, first out."""
    waiting: defaultdict[str, deque[PolicyDecision]] = defaultdict(deque)
    for decision in record.policy_decisions:
        waiting[decision["callId"]].append(decision)
    calls = [item for items in turns for item in _call_items(items)]
    return [(item, waiting[item["callId"]].popleft() if waiting[item["callId"]] else None) for item in calls]


def _is_handoff(decision: PolicyDecision | None) -> TypeGuard[PolicyDecision]:
    return decision is not None and decision["resource"]["kind"] == "handoff"


def _below_suffix(call_name: str) -> list[str]:
    """Give the names that a handoff's name with a numeric suffix was not free to have."""
    base, _, suffix = call_name.rpartition("_")
    return [base, *(f"{base}_{n}" for n in range(2, int(suffix)))] if suffix.isdecimal() else []


def _tools(record: RunRecord, calls: Sequence[tuple[ToolCallItem, PolicyDecision | None]]) -> list[Tool]:
    """Make a tool for every name that was called, but for handoffs and what was not registered."""
    names = dict.fromkeys(item["name"] for item, decision in calls if not _is_handoff(decision))
    if record.error_name == "ToolCallError":
        names.pop(calls[-1][0]["name"])
    return [Tool(name, f"Tool {name}.", _never, parameters={}) for name in names]


def _never(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise AssertionError("a strict replay never runs a tool")


def _guardrails(decisions: Iterable[GuardrailDecision]) -> list[OutputGuardrail]:
    """Make guardrails that answer, in order, what they decided."""
    answers: defaultdict[str, deque[GuardrailResult]] = defaultdict(deque)
    for decision in decisions:
        triggered = decision["decision"] == "triggered"
        answers[decision["guardrailName"]].append(
            GuardrailResult(triggered, decision.get("reason"), decision.get("metadata"))
        )

    def guardrail(name: str, waiting: deque[GuardrailResult]) -> OutputGuardrail:
        def execute(_: GuardrailInput) -> GuardrailResult:
            return waiting.popleft()

        return OutputGuardrail(name, execute)

    return [guardrail(name, waiting) for name, waiting in answers.items()]
