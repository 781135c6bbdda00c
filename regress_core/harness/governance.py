"""Asking the policies, and what becomes of a call or handoff that they block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from regress_core.foreign import error_text, settled
from regress_core.harness.errors import (
    AgentError,
    HandoffApprovalRequiredError,
    HandoffPolicyDeniedError,
    ToolCallApprovalRequiredError,
    ToolCallPolicyDeniedError,
    name_in_record,
)
from regress_core.harness.policy import PolicyResult, deny
from regress_core.harness.tools import as_json
from regress_core.records.json_io import JsonObject

Asked = TypeVar("Asked")


def blocked_envelope(result: PolicyResult) -> JsonObject:
    """Give the tool result envelope that tells the model of a blocked call."""
    needs_approval = result.decision == "require_approval"
    default = "Action requires approval." if needs_approval else "Action not allowed."
    return {
        "status": "approval_required" if needs_approval else "denied",
        "code": result.reason,
        "publicReason": (result.public_reason or "").strip() or default,
        "data": None,
    }


async def decide(
    policy: Callable[[Asked], Awaitable[PolicyResult] | PolicyResult] | None, asked: Asked
) -> PolicyResult:
    """Ask a policy. No policy, one that raises, and one that answers anything but a decision deny."""
    if policy is None:
        return deny("policy_not_configured", result_mode="throw")
    try:
        result = await settled(policy(asked))
    except Exception as error:  # noqa: BLE001 - whatever a policy raises, the call must not happen
        facts: JsonObject = {"errorName": name_in_record(error), "errorMessage": error_text(error)}
        return deny("policy_error", result_mode="throw", metadata=facts)
    return _checked(result) or deny("invalid_policy_result", result_mode="throw")


def _checked(result: object) -> PolicyResult | None:
    """Give a decision as it is recorded; None for anything else, whatever an adapter may have annotated."""
    if (
        not isinstance(result, PolicyResult)
        or result.decision not in ("allow", "deny", "require_approval")
        or result.result_mode not in (None, "throw", "tool_result")
        or not (_is_text(result.reason) and result.reason.strip())
    ):
        return None
    texts = (result.public_reason, result.policy_version, result.expires_at)
    if not all(text is None or _is_text(text) for text in texts):
        return None
    if result.metadata is not None:
        try:
            result = replace(result, metadata=as_json(result.metadata))
        except TypeError:
            return None
    if result.decision != "allow" and result.result_mode is None:
        return replace(result, result_mode="throw")
    return result


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def blocked_call(tool_name: str, result: PolicyResult, suspended: JsonObject | None) -> AgentError:
    """Give the error that a blocked call ends the run with."""
    if suspended is None:
        return ToolCallPolicyDeniedError(tool_name, result.reason)
    return ToolCallApprovalRequiredError(tool_name, result.reason, suspended)


def blocked_handoff(
    from_agent: str, to_agent: str, result: PolicyResult, suspended: JsonObject | None
) -> AgentError:
    """Give the error that a blocked handoff ends the run with."""
    if suspended is None:
        return HandoffPolicyDeniedError(from_agent, to_agent, result.reason)
    return HandoffApprovalRequiredError(from_agent, to_agent, result.reason, suspended)
