"""The agents of a descriptor, read once: what `build_harness` makes agents of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regress_core.harness.descriptor.context_references import (
    Condition,
    References,
    declared_boolean,
    where_path,
)
from regress_core.harness.descriptor.instructions import InstructionTemplate, read_instructions
from regress_core.harness.descriptor.values import (
    DescriptorError,
    filled_string,
    is_object,
    json_array,
    json_object,
    string,
)
from regress_core.records.json_io import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class HandoffSpec:
    """An agent that may take over, by its id, and when; always, where there is no condition."""

    agent_id: str
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent as the descriptor has it, with the defaults of `agent_defaults` filled in.

    Attributes:
        agent_id: Its key under `agents`.
        name: Its name in records.
        handoff_description: What other agents' models are told about it.
        instructions: Its system prompt, or the template of one.
        model: The model's name.
        model_settings: The model's settings.
        tool_ids: Its tools, by their keys under `tools`.
        handoffs: Whom it may hand over to.
    """

    agent_id: str
    name: str
    handoff_description: str
    instructions: str | InstructionTemplate | None
    model: str | None
    model_settings: JsonObject | None
    tool_ids: tuple[str, ...]
    handoffs: tuple[HandoffSpec, ...]


def read_agents(data: JsonObject, references: References) -> tuple[AgentSpec, ...]:
    """Read the agents of a descriptor whose outline has been checked.

    Raises:
        DescriptorError: If an agent is malformed, or names a tool, agent or context path that is not there.
    """
    agents: JsonObject = data["agents"]
    defaults: JsonObject = data.get("agent_defaults", {})
    _expect_settings(defaults, "Harness descriptor agent_defaults")
    tools: JsonObject = data.get("tools", {})
    specs = [_agent(agent_id, agent, defaults, tools, references) for agent_id, agent in agents.items()]
    return tuple(
        replace(spec, handoffs=_handoffs(agents[spec.agent_id], spec.agent_id, agents, references))
        for spec in specs
    )


def _agent(
    agent_id: str, agent: JsonObject, defaults: JsonObject, tools: JsonObject, references: References
) -> AgentSpec:
    label = f'Harness descriptor agent "{agent_id}"'
    _expect_settings(agent, label)
    own = {key: value for key, value in agent.items() if value is not None}  # null is as good as absent
    instructions = own.get("instructions", defaults.get("instructions"))
    return AgentSpec(
        agent_id=agent_id,
        name=filled_string(own.get("name", agent_id), f"{label}.name"),
        handoff_description=string(own.get("handoffDescription", ""), f"{label}.handoffDescription"),
        instructions=read_instructions(instructions, agent_id, references),
        model=own.get("model", defaults.get("model")),
        model_settings=own.get("modelSettings", defaults.get("modelSettings")),
        tool_ids=_tool_ids(own.get("tools", []), f"{label}.tools", tools),
        handoffs=(),  # read after all agents, as the reference does: so its message comes first
    )


def _expect_settings(owner: JsonObject, label: str) -> None:
    """Check what agents and `agent_defaults` both have."""
    if owner.get("model") is not None:
        filled_string(owner["model"], f"{label}.model")
    if owner.get("modelSettings") is not None:
        json_object(owner["modelSettings"], f"{label}.modelSettings")
    if not isinstance(owner.get("instructions"), str | list | None):
        raise DescriptorError(f"{label}.instructions must be a string or an array.")


def _tool_ids(value: JsonValue, label: str, tools: JsonObject) -> tuple[str, ...]:
    ids: list[str] = []
    for index, item in enumerate(json_array(value, label)):
        tool_id = filled_string(item, f"{label}[{index}]")
        if tool_id not in tools:
            raise DescriptorError(f'Harness descriptor references unknown tool "{tool_id}".')
        if tool_id in ids:
            raise DescriptorError(f'{label} names the tool "{tool_id}" twice.')
        ids.append(tool_id)
    return tuple(ids)


def _handoffs(
    agent: JsonObject, agent_id: str, agents: JsonObject, references: References
) -> tuple[HandoffSpec, ...]:
    handoffs: list[HandoffSpec] = []
    for entry in agent.get("handoffs", []):
        target: str = entry["agent"] if is_object(entry) else entry
        if target not in agents:
            raise DescriptorError(
                f'Harness descriptor references unknown handoff agent "{target}" from "{agent_id}".'
            )
        condition = None
        if is_object(entry) and "where" in entry:
            condition = _condition(entry["where"]["context"], agent_id, target, references)
        handoffs.append(HandoffSpec(target, condition))
    return tuple(handoffs)


def _condition(path: str, agent_id: str, target: str, references: References) -> Condition:
    label = f'Agent "{agent_id}" handoff "{target}" where'
    reference = declared_boolean(path, references, path_label=f"{label}.context path", label=label)
    return Condition(reference, f'Harness descriptor handoff "{agent_id}" to "{target}" where')


def expect_handoff_entries(agent: JsonObject, label: str) -> None:
    """Check the form of an agent's handoffs.

    Raises:
        DescriptorError: If it is malformed.
    """
    if "handoffs" not in agent:
        return
    for index, entry in enumerate(json_array(agent["handoffs"], f"{label}.handoffs")):
        place = f"{label}.handoffs[{index}]"
        if is_object(entry):
            filled_string(entry.get("agent"), f"{place}.agent")
            where_path(entry, place)
        elif isinstance(entry, str):
            filled_string(entry, place)
        else:
            raise DescriptorError(f"{place} must be a non-empty string or an object.")
