"""Descriptors by hand: a small one, with the changes a test asks for."""

from __future__ import annotations

import json

from regress_core.harness.descriptor.descriptor import HarnessDescriptor, parse_descriptor
from regress_core.harness.tools import Tool
from regress_core.records.json_io import JsonObject, JsonValue

SMALL: JsonObject = {"runtime": {"entry_agent": "router"}, "agents": {"router": {}}}
"""The least that is a descriptor."""

FULL: JsonObject = {
    "descriptor_version": "v0",
    "metadata": {"name": "support", "version": "3", "owner": "team"},
    "runtime": {"entry_agent": "router", "max_turns": 4},
    "context": {
        "fields": {
            "customer": {"type": "object", "default": {"name": "Ada"}},
            "customer.verified": {"type": "boolean", "default": True},
            "turn.message": {"type": "string", "default": "{{input.message}}"},
            "turn.at": {"type": "string", "default": "{{runtime.now_iso}}"},
            "note": {"type": "string", "optional": True},
        },
        "references": {
            "customer.name": True,
            "customer.verified": {"type": "boolean"},
            "note": {"type": "string", "optional": True},
            "hidden": False,
        },
    },
    "instruction_parts": {"style": "Be brief."},
    "tools": {
        "lookup": {"target": "app://lookup", "effect": "read"},
        "refund": {"target": "app://refund", "effect": "write"},
        "unused": {"target": "app://unused"},
    },
    "agent_defaults": {"model": "p:small", "modelSettings": {"temperature": 0}, "instructions": "Help."},
    "agents": {
        "router": {
            "name": "Router",
            "handoffDescription": "Routes.",
            "instructions_sequence": [
                {"ref": "style"},
                {"text": "Hello {{context.customer.name}}."},
                {"text": "Verified.", "where": {"context": "customer.verified"}},
                {"file": "prompts/router.md"},
            ],
            "tools": ["lookup"],
            "handoffs": ["refunds", {"agent": "billing", "where": {"context": "customer.verified"}}],
        },
        "refunds": {"instructions": "Refund{{context.note}}.", "tools": ["lookup", "refund"]},
        "billing": {"model": "p:large", "modelSettings": {}, "handoffs": [{"agent": "router"}]},
    },
}
"""A descriptor that has one of everything."""

PROMPTS = {"prompts/router.md": "Route."}
"""The prompt files that `FULL` names."""

TOOLS = {
    target: Tool(name, name, lambda arguments, _: arguments)
    for target, name in (("app://lookup", "look_up"), ("app://refund", "refund"))
}
"""The tools that the agents of `FULL` use."""


def small(**changes: JsonValue) -> JsonObject:
    """Give `SMALL` with other top-level members."""
    return SMALL | changes


def router(**members: JsonValue) -> JsonObject:
    """Give `SMALL` with members of its agent."""
    return small(agents={"router": members})


def parse(data: JsonValue, prompts: dict[str, str] | None = None) -> HarnessDescriptor:
    """Read a descriptor that is given as a value; JSON is YAML."""
    return parse_descriptor(json.dumps(data), prompts=prompts, source="d.yaml")
