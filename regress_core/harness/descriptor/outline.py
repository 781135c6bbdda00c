"""The outline of a descriptor: every part there and of the right kind, whatever it names."""

from __future__ import annotations

from typing import Literal, TypeGuard

from regress_core.harness.descriptor.agent_specs import expect_handoff_entries
from regress_core.harness.descriptor.values import (
    DescriptorError,
    filled_string,
    json_object,
    object_member,
    string,
)
from regress_core.records.json_io import JsonObject, JsonValue

Effect = Literal["read", "write"]
"""What a call of a tool does to the world: look at it, or change it."""


def expect_outline(data: JsonObject) -> None:
    """Check the outline of a descriptor whose instructions are resolved.

    Raises:
        DescriptorError: If a part is missing or malformed.
    """
    runtime = json_object(data.get("runtime"), "Harness descriptor runtime")
    filled_string(runtime.get("entry_agent"), "Harness descriptor runtime.entry_agent")
    agents = json_object(data.get("agents"), "Harness descriptor agents")
    if not agents:
        raise DescriptorError("Harness descriptor agents must not be empty.")
    metadata = object_member(data, "metadata", "Harness descriptor metadata")
    tools = object_member(data, "tools", "Harness descriptor tools")
    object_member(data, "instruction_parts", "Harness descriptor instruction_parts")
    object_member(data, "agent_defaults", "Harness descriptor agent_defaults")
    context = object_member(data, "context", "Harness descriptor context")
    object_member(context, "fields", "Harness descriptor context.fields")
    object_member(context, "references", "Harness descriptor context.references")
    for agent_id, agent in agents.items():
        label = f'Harness descriptor agent "{agent_id}"'
        expect_handoff_entries(json_object(agent, label), label)
    for tool_id, tool in tools.items():
        _expect_tool(tool, f'Harness descriptor tool "{tool_id}"')
    _expect_facts(data, metadata, runtime)


def _expect_tool(value: JsonValue, label: str) -> None:
    tool = json_object(value, label)
    filled_string(tool.get("target"), f"{label}.target")
    if "effect" in tool and not _is_effect(tool["effect"]):
        raise DescriptorError(f"{label}.effect must be read or write.")


def _is_effect(value: JsonValue) -> TypeGuard[Effect]:
    return value in {"read", "write"} if isinstance(value, str) else False


def _expect_facts(data: JsonObject, metadata: JsonObject, runtime: JsonObject) -> None:
    """Check what the descriptor says about itself; null is as good as absent here."""
    if metadata.get("name") is not None:
        string(metadata["name"], "Harness descriptor metadata.name")
    for owner, key, label in (
        (metadata, "version", "metadata.version"),
        (data, "descriptor_version", "descriptor_version"),
    ):
        if isinstance(owner.get(key), bool) or not isinstance(owner.get(key), str | int | float | None):
            raise DescriptorError(f"Harness descriptor {label} must be a string or a number.")
    max_turns = runtime.get("max_turns")
    if max_turns is not None and not (_is_whole(max_turns) and max_turns > 0):
        raise DescriptorError("Harness descriptor runtime.max_turns must be a positive whole number.")


def _is_whole(value: JsonValue) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def tool_effects(data: JsonObject) -> dict[str, Effect]:
    """Give the effects a checked descriptor declares, by the tools' keys."""
    tools: JsonObject = data.get("tools", {})
    return {tool_id: tool["effect"] for tool_id, tool in tools.items() if "effect" in tool}


def without_effects(data: JsonObject) -> JsonObject:
    """Give the part of a checked descriptor that its hash is about: the reference knows no effects."""
    if "tools" not in data:
        return data
    tools: JsonObject = data["tools"]
    bare = {
        tool_id: {key: value for key, value in tool.items() if key != "effect"}
        for tool_id, tool in tools.items()
    }
    return data | {"tools": bare}
