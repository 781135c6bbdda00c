"""The harness of a descriptor against the reference's: what is loaded, its hash, context, agents, errors."""

from __future__ import annotations

from typing import Any, cast

import pytest

from regress_core.errors import InputError
from regress_core.harness.agent import Agent
from regress_core.harness.descriptor.build import Harness, build_harness
from regress_core.harness.descriptor.descriptor import parse_descriptor
from regress_core.harness.descriptor.instruction_sources import with_instructions
from regress_core.harness.descriptor.prompt_files import PromptMap
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonObject
from regress_core.records.yaml_io import parse_yaml
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference


def _outcome(row: Row) -> str:
    return "refused" if "error" in row["expected"] else "built"


# Of these the reference tells what its loader made of them, even where its builder refuses that.
_LOADED = [param for param in row_params("descriptor", _outcome) if "loaded" in cast("Row", param.values[0])]


def _build(row: Row) -> Harness:
    # The rows list tools by the last part of their targets.
    tools = {
        target: Tool(target.rsplit("/", 1)[-1], "", lambda arguments, _: arguments)
        for target in row["registryTools"]
    }
    return build_harness(parse_descriptor(row["yaml"]), tools)


def _agent_json(agent: Agent, context: JsonObject) -> JsonObject:
    run = RunContext(context)
    return {
        "name": agent.name,
        "model": agent.model,
        "modelSettings": agent.model_settings,
        "tools": [tool.name for tool in agent.tools],
        "handoffs": [
            {"agent": rule.agent.name, "enabled": rule.enabled is None or rule.enabled(run)}
            for rule in agent.handoffs
        ],
        "instructions": agent.instructions(run) if callable(agent.instructions) else agent.instructions,
    }


@pytest.mark.parametrize("row", row_params("descriptor", _outcome))
def test_a_descriptor_gives_the_references_harness_or_error(row: Row) -> None:
    expected: dict[str, Any] = row["expected"]
    if "error" in expected:
        with pytest.raises(InputError) as raised:
            _build(row)
        assert raised.value.message == expected["error"]
        return

    harness = _build(row)

    given = row["contextInput"]
    context = harness.create_context(given["message"], now=given["now"], overrides=given.get("overrides"))
    got = {
        "descriptorHash": harness.descriptor_hash,
        "metadata": harness.metadata,
        "context": context,
        "agents": {agent_id: _agent_json(agent, context) for agent_id, agent in harness.agents.items()},
        "entryAgent": harness.entry_agent.name,
        "runOptions": {"maxTurns": harness.max_turns},
    }
    assert json_difference(expected, got) is None


@pytest.mark.parametrize("row", _LOADED)
def test_the_instructions_in_place_are_the_references(row: Row) -> None:
    loaded = with_instructions(parse_yaml(row["yaml"], source="row"), PromptMap(None))

    assert json_difference(row["loaded"], loaded, null_is_absent=False) is None
