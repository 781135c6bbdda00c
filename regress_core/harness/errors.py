"""The errors that end an agent's run, under the names that the reference gives them in records."""

from __future__ import annotations

from typing import ClassVar

from regress_core.errors import RegressError
from regress_core.foreign import error_text
from regress_core.records.json_io import JsonObject


class AgentError(RegressError):
    """Base of the errors of the agent loop."""

    record_name: ClassVar[str | None] = None
    """The `errorName` of the record, where it is not the class's name."""


class HarnessError(AgentError):
    """The harness asks for something that is not there: a model, a context value."""

    record_name = "Error"  # the reference raises a plain Error


class MaxTurnsExceededError(AgentError):
    """The agent did not come to an answer in the turns it had."""

    def __init__(self, max_turns: int) -> None:
        super().__init__(f"Max turns exceeded: {max_turns}")


class OutputGuardrailTripwireTriggered(AgentError):  # noqa: N818 - the reference's name, which records hold
    """An output guardrail refused the answer."""

    def __init__(self, guardrail: str, reason: str | None) -> None:
        super().__init__(
            f'Output guardrail "{guardrail}" triggered.' + (f" Reason: {reason}" if reason else "")
        )


class ToolCallError(AgentError):
    """A call that cannot be made."""


class ToolArgumentsError(AgentError):
    """Arguments that the tool's schema refuses."""

    record_name = "ZodError"  # what the reference's validator raises


class ToolCallPolicyDeniedError(ToolCallError):
    """A policy denied a call, and its result mode is `throw`."""

    def __init__(self, tool_name: str, reason: str) -> None:
        super().__init__(f'Tool "{tool_name}" denied by policy: {reason}')


class ToolCallApprovalRequiredError(ToolCallError):
    """A policy wants a person's approval of a call, and its result mode is `throw`."""

    def __init__(self, tool_name: str, reason: str, suspended_proposal: JsonObject) -> None:
        self.suspended_proposal = suspended_proposal
        super().__init__(f'Tool "{tool_name}" requires approval: {reason}')


class HandoffPolicyDeniedError(AgentError):
    """A policy denied a handoff, and its result mode is `throw`."""

    def __init__(self, from_agent: str, to_agent: str, reason: str) -> None:
        super().__init__(f'Handoff "{from_agent}" -> "{to_agent}" denied by policy: {reason}')


class HandoffApprovalRequiredError(AgentError):
    """A policy wants a person's approval of a handoff, and its result mode is `throw`."""

    def __init__(self, from_agent: str, to_agent: str, reason: str, suspended_proposal: JsonObject) -> None:
        self.suspended_proposal = suspended_proposal
        super().__init__(f'Handoff "{from_agent}" -> "{to_agent}" requires approval: {reason}')


class BrokenOffError(AgentError):
    """The candidate's code exited the program, or was cancelled although nobody cancelled the run."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__(f"{type(raised).__name__}: {error_text(raised)}")


def failure_of(raised: BaseException) -> Exception:
    """Give the error that a run fails with for what its code raised; SystemExit and the like broke it off."""
    return raised if isinstance(raised, Exception) else BrokenOffError(raised)


class MissingToolOutputError(AgentError):
    """A replayed run asked for a tool output that the record does not have."""

    record_name = "Error"  # the reference raises a plain Error


def name_in_record(error: BaseException) -> str:
    """Give the `errorName` that a record gets for an error."""
    named = error.record_name if isinstance(error, AgentError) else None
    return named or type(error).__name__
