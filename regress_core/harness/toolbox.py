"""What an agent's model may call in a turn: its tools, and a handoff to each agent that is offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.fingerprints import Hashed, hashed_settings, hashed_tools
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ToolSpec
from regress_core.records.json_io import JsonObject

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_ANY_PAYLOAD: JsonObject = {"type": "object", "additionalProperties": True}


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What the model may call in a turn of one agent.

    Attributes:
        specs: What the model is told, tools before handoffs.
        tools: The tools by name.
        handoffs: The agents to hand over to, by the name of the call.
        hashed: The specs' hash.
        settings: The hash of the agent's model settings.
    """

    specs: tuple[ToolSpec, ...]
    tools: dict[str, Tool]
    handoffs: dict[str, Agent]
    hashed: Hashed
    settings: Hashed


class Toolboxes:
    """Makes toolboxes, each once: the same handoffs offered, the same toolbox in every turn and run."""

    def __init__(self) -> None:
        self._made: dict[tuple[Agent, tuple[Agent, ...]], Toolbox] = {}

    def of(self, agent: Agent, context: RunContext) -> Toolbox:
        """Give an agent's toolbox for a turn.

        Raises:
            HarnessError: If a handoff's condition cannot be decided.
        """
        offered = tuple(rule.agent for rule in agent.handoffs if _is_offered(rule, context))
        toolbox = self._made.get((agent, offered))
        if toolbox is None:
            toolbox = self._made[agent, offered] = _toolbox(agent, offered)
        return toolbox


_MOST_CONDITIONS = 8


def toolboxes_of(agent: Agent) -> list[Toolbox]:
    """Give each toolbox that an agent may come to have, whichever of its conditional handoffs are offered.

    None are given of an agent with more than 8 such handoffs, since each doubles their number.
    """
    conditional = [rule for rule in agent.handoffs if rule.enabled is not None]
    if len(conditional) > _MOST_CONDITIONS:
        return []
    return [
        _toolbox(agent, [rule.agent for rule in agent.handoffs if rule.enabled is None or rule in offered])
        for count in range(len(conditional) + 1)
        for offered in combinations(conditional, count)
    ]


def _is_offered(rule: Handoff, context: RunContext) -> bool:
    return rule.enabled is None or rule.enabled(context)


def _toolbox(agent: Agent, offered: Sequence[Agent]) -> Toolbox:
    tools = {tool.name: tool for tool in reversed(agent.tools)}  # of two with one name the first is called
    handoffs: dict[str, Agent] = {}
    specs = [tool.spec for tool in agent.tools]
    for target in offered:
        name = _free_name(target.name, {*tools, *handoffs})
        handoffs[name] = target
        description = f'Handoff to agent "{target.name}".'
        if target.handoff_description:
            description += f" {target.handoff_description}"
        specs.append(ToolSpec(name, description, _ANY_PAYLOAD))
    return Toolbox(tuple(specs), tools, handoffs, hashed_tools(specs), hashed_settings(agent.model_settings))


def _free_name(agent_name: str, taken: set[str]) -> str:
    base = "handoff_to_" + (_NOT_IN_NAMES.sub("_", agent_name.strip().lower()).strip("_") or "agent")
    name, suffix = base, 2
    while name in taken:
        name, suffix = f"{base}_{suffix}", suffix + 1
    return name
