"""A harness with one tool and one handoff, for what holds of both alike."""

from __future__ import annotations

import pytest

from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelReply
from regress_core.records.json_io import JsonValue
from tests.support.harness import agent, asks, call, says

both_kinds = pytest.mark.parametrize("kind", ["tool", "handoff"])

CALLS = {"tool": call("ping", a=1), "handoff": call("handoff_to_target", a=1)}
RESOURCES = {"tool": "ping", "handoff": "Target"}
PLACES = {"tool": 'Tool "ping"', "handoff": 'Handoff "Source" -> "Target"'}
DENIED = {"tool": "ToolCallPolicyDeniedError", "handoff": "HandoffPolicyDeniedError"}


def never(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise AssertionError("a blocked call never runs its tool")


def harness() -> Agent:
    """Give an agent with a tool that must not run and a handoff."""
    return agent([Tool("ping", "", never)], name="Source", handoffs=[Handoff(Agent("Target", model="m"))])


def replies(kind: str) -> list[ModelReply]:
    return [asks(CALLS[kind]), says("Done.")]
