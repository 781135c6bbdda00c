"""Proposals: hashes that name a call or handoff, and proposals that wait for a person's approval."""

from __future__ import annotations

from dataclasses import dataclass

from regress_core.harness.policy import PolicyResult
from regress_core.records.canonical import canonical_hash, canonical_json
from regress_core.records.json_io import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call or handoff that the model proposes.

    Attributes:
        facts: What the hash is over, and what a suspended proposal shows, besides arguments or payload.
        canonical_json: Canonical text of the arguments or payload.
        proposal_hash: SHA-256 over both, equal to the reference's.
    """

    facts: JsonObject
    canonical_json: str
    proposal_hash: str


def tool_proposal(agent_name: str, tool_name: str, arguments: JsonValue) -> Proposal:
    """Fingerprint a call."""
    text = canonical_json(arguments)
    facts: JsonObject = {"kind": "tool", "agentName": agent_name, "toolName": tool_name}
    return Proposal(facts, text, canonical_hash({**facts, "argsCanonicalJson": text}))


def handoff_proposal(from_agent: str, to_agent: str, payload: JsonValue) -> Proposal:
    """Fingerprint a handoff."""
    text = canonical_json(payload)
    facts: JsonObject = {"kind": "handoff", "fromAgentName": from_agent, "toAgentName": to_agent}
    return Proposal(facts, text, canonical_hash({**facts, "payloadCanonicalJson": text}))


def suspended(
    proposal: Proposal,
    result: PolicyResult,
    *,
    timestamp: str,
    run_id: str,
    turn: int,
    call_id: str,
    details: JsonObject,
) -> JsonObject:
    """Give the record's entry of a proposal that waits for approval.

    Args:
        proposal: The call or handoff.
        result: The policy's decision.
        timestamp: When, ISO, UTC.
        run_id: The run.
        turn: Its turn, from 1.
        call_id: The call.
        details: The arguments or payload, under the reference's names.
    """
    facts = proposal.facts
    entry: JsonObject = {
        "timestamp": timestamp,
        "kind": facts["kind"],
        "runId": run_id,
        "turn": turn,
        "callId": call_id,
        "agentName": facts.get("agentName") or facts["fromAgentName"],
        "proposalHash": proposal.proposal_hash,
        "reason": result.reason,
        "publicReason": result.public_reason,
        "policyVersion": result.policy_version,
        "expiresAt": result.expires_at,
        "metadata": result.metadata,
        **facts,
        **details,
    }
    canonical = "argsCanonicalJson" if facts["kind"] == "tool" else "payloadCanonicalJson"
    entry[canonical] = proposal.canonical_json
    return {key: value for key, value in entry.items() if value is not None}
