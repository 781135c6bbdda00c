"""The harness of a descriptor: its agents, with the application's tools bound to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from regress_core.errors import InputError
from regress_core.harness.agent import Agent, Handoff, Instructions
from regress_core.harness.descriptor.agent_specs import AgentSpec
from regress_core.harness.descriptor.context_fields import ContextFields
from regress_core.harness.descriptor.context_references import Condition
from regress_core.harness.descriptor.descriptor import HarnessDescriptor
from regress_core.harness.descriptor.instructions import InstructionTemplate
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonObject


@dataclass(frozen=True, slots=True)
class Harness:
    """Agents that can run.

    Attributes:
        entry_agent: Where a run begins.
        agents: All agents, by their ids in the descriptor.
        descriptor_hash: The descriptor's hash.
        metadata: What the harness notes about itself in records.
        max_turns: Turns before a run fails; None where the descriptor leaves it open.
        context_fields: The defaults of the context.
    """

    entry_agent: Agent
    agents: Mapping[str, Agent]
    descriptor_hash: str
    metadata: JsonObject
    max_turns: int | None
    context_fields: ContextFields = field(repr=False)

    def create_context(
        self, message: str = "", *, now: datetime | str, overrides: JsonObject | None = None
    ) -> JsonObject:
        """Make the context of a run from the descriptor's defaults.

        Args:
            message: The user's message, for a default `{{input.message}}`.
            now: The time of the run, timezone-aware or ISO text, for a default `{{runtime.now_iso}}`.
            overrides: Put over the defaults; objects are merged, everything else is replaced.

        Raises:
            ValueError: If `now` is a time without a timezone.
        """
        return self.context_fields.create(message, now, overrides)


def build_harness(descriptor: HarnessDescriptor, tools: Mapping[str, Tool]) -> Harness:
    """Make the agents of a descriptor.

    Args:
        descriptor: The descriptor.
        tools: The application's tools, by the targets that the descriptor names them by.

    Raises:
        InputError: If a target that an agent uses is missing, or an agent gets two tools of one name.
    """
    agents = {spec.agent_id: _agent(spec, descriptor, tools) for spec in descriptor.agents}
    for spec in descriptor.agents:
        agents[spec.agent_id].handoffs = tuple(
            Handoff(agents[handoff.agent_id], handoff.condition and _enabled(handoff.condition))
            for handoff in spec.handoffs
        )
    return Harness(
        entry_agent=agents[descriptor.entry_agent],
        agents=agents,
        descriptor_hash=descriptor.descriptor_hash,
        metadata=descriptor.metadata,
        max_turns=descriptor.max_turns,
        context_fields=descriptor.context_fields,
    )


def _agent(spec: AgentSpec, descriptor: HarnessDescriptor, tools: Mapping[str, Tool]) -> Agent:
    bound = tuple(_tool(tool_id, descriptor, tools) for tool_id in spec.tool_ids)
    names = [tool.name for tool in bound]
    for name in names:
        if names.count(name) > 1:  # no provider takes them
            raise InputError(
                f'Harness descriptor agent "{spec.agent_id}" has two tools named "{name}"',
                file=descriptor.source,
                remedy="give them different names, or take one away",
            )
    return Agent(
        name=spec.name,
        handoff_description=spec.handoff_description,
        instructions=_instructions(spec.instructions),
        model=spec.model,
        model_settings=spec.model_settings,
        tools=bound,
    )


def _tool(tool_id: str, descriptor: HarnessDescriptor, tools: Mapping[str, Tool]) -> Tool:
    target = descriptor.data["tools"][tool_id]["target"]
    if target not in tools:
        raise InputError(
            f'Harness registry is missing target "{target}" for tool "{tool_id}"',
            file=descriptor.source,
            remedy="have the adapter's create_tools give it",
        )
    return tools[target]


def _instructions(instructions: str | InstructionTemplate | None) -> Instructions:
    if isinstance(instructions, InstructionTemplate):
        return lambda run: instructions.render(run.context)
    return instructions


def _enabled(condition: Condition) -> Callable[[RunContext], bool]:
    return lambda run: condition.holds(run.context)
