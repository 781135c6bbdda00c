"""Policies: what an agent may do. What no policy allows is denied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from regress_core.harness.tools import RunContext
from regress_core.records.json_io import JsonObject, JsonValue

Decision = Literal["allow", "deny", "require_approval"]
ResultMode = Literal["throw", "tool_result"]
"""What becomes of a blocked call: `throw` ends the run, `tool_result` tells the model and goes on."""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """A policy's decision.

    Attributes:
        decision: What it decided.
        reason: Why, for the record; not empty.
        public_reason: Why, for the model.
        result_mode: What becomes of a blocked call; `throw` when left out.
        policy_version: The policy's version, for the record.
        expires_at: Until when an approval may be given, an ISO time.
        metadata: More for the record, a JSON object.
    """

    decision: Decision
    reason: str
    public_reason: str | None = None
    result_mode: ResultMode | None = None
    policy_version: str | None = None
    expires_at: str | None = None
    metadata: JsonObject | None = None


def allow(
    reason: str, *, policy_version: str | None = None, metadata: JsonObject | None = None
) -> PolicyResult:
    """Let a call or handoff happen."""
    return PolicyResult("allow", reason, policy_version=policy_version, metadata=metadata)


def deny(
    reason: str,
    *,
    public_reason: str | None = None,
    result_mode: ResultMode | None = None,
    policy_version: str | None = None,
    metadata: JsonObject | None = None,
) -> PolicyResult:
    """Forbid a call or handoff."""
    return PolicyResult(
        "deny", reason, public_reason, result_mode, policy_version=policy_version, metadata=metadata
    )


def require_approval(
    reason: str,
    *,
    public_reason: str | None = None,
    result_mode: ResultMode | None = None,
    policy_version: str | None = None,
    expires_at: str | None = None,
    metadata: JsonObject | None = None,
) -> PolicyResult:
    """Let a person decide: the call is suspended as a proposal."""
    return PolicyResult(
        "require_approval", reason, public_reason, result_mode, policy_version, expires_at, metadata
    )


@dataclass(frozen=True, slots=True)
class ToolPolicyInput:
    """The call a tool policy decides about.

    Attributes:
        raw_arguments: The model's text.
        parsed_arguments: Its JSON value; `{"__raw": text}` where the text is no JSON.
        proposal_hash: SHA-256 that names agent, tool and arguments, equal to the reference's.
        args_canonical_json: Canonical text of the parsed arguments.
    """

    agent_name: str
    tool_name: str
    raw_arguments: str
    parsed_arguments: JsonValue
    proposal_hash: str
    args_canonical_json: str
    context: RunContext
    turn: int


@dataclass(frozen=True, slots=True)
class HandoffPolicyInput:
    """The handoff a policy decides about; hashes as in `ToolPolicyInput`."""

    from_agent_name: str
    to_agent_name: str
    handoff_payload: JsonValue
    proposal_hash: str
    payload_canonical_json: str
    context: RunContext
    turn: int


ToolPolicy = Callable[[ToolPolicyInput], Awaitable[PolicyResult] | PolicyResult]
HandoffPolicy = Callable[[HandoffPolicyInput], Awaitable[PolicyResult] | PolicyResult]


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a run. Without one, everything of its kind is denied."""

    tool: ToolPolicy | None = None
    handoff: HandoffPolicy | None = None


def allow_all() -> Policies:
    """Allow every call and every handoff."""
    return Policies(tool=lambda _: allow("allowed"), handoff=lambda _: allow("allowed"))


def compose_tool_policies(policies: Mapping[str, ToolPolicy]) -> ToolPolicy:
    """Choose a policy by the tool's name, else the one named `*`; deny what has neither."""

    def composed(call: ToolPolicyInput) -> Awaitable[PolicyResult] | PolicyResult:
        policy = policies.get(call.tool_name) or policies.get("*")
        return policy(call) if policy else deny(f"deny_unconfigured_tool_{call.tool_name}")

    return composed


def compose_handoff_policies(policies: Mapping[str, HandoffPolicy]) -> HandoffPolicy:
    """Choose a policy by the name of the agent that is to take over, else `*`; deny what has neither."""

    def composed(handoff: HandoffPolicyInput) -> Awaitable[PolicyResult] | PolicyResult:
        policy = policies.get(handoff.to_agent_name) or policies.get("*")
        return policy(handoff) if policy else deny(f"deny_unconfigured_handoff_{handoff.to_agent_name}")

    return composed
