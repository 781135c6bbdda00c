"""What of a candidate's tools is not as it was: by two descriptors, by opened tools, by fingerprints."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.contracts import (
    ContractChange,
    Told,
    baseline_contract,
    candidate_contract,
    compare_contracts,
    compare_told,
    told_by,
    told_in,
)
from regress_core.harness.descriptor.descriptor import HarnessDescriptor, descriptor_of, parse_descriptor
from regress_core.harness.tools import Tool
from regress_core.records.json_io import JsonObject
from tests.harness.descriptor.descriptors import FULL, PROMPTS, parse
from tests.harness.support import run
from tests.support.harness import agent, says, tool

ORDER: JsonObject = {"order": {"type": "integer"}}
ONE: JsonObject = {"type": "object", "properties": ORDER, "required": ["order"]}
TWO: JsonObject = ONE | {"properties": ORDER | {"at": {"type": "string"}}, "required": ["order", "at"]}
"""The schemas of one argument and of two."""

NO_TOOLS: Mapping[str, Tool] = {}


def descriptor(tools: JsonObject, **agents: list[str]) -> HarnessDescriptor:
    """Give a descriptor with these tools, and these agents that have them."""
    data: JsonObject = {
        "runtime": {"entry_agent": next(iter(agents))},
        "tools": {key: {"target": f"app://{key}", **entry} for key, entry in tools.items()},
        "agents": {name: {"tools": keys} for name, keys in agents.items()},
    }
    return parse_descriptor(json.dumps(data))


def told(
    before: HarnessDescriptor, after: HarnessDescriptor, tools: Mapping[str, Tool] = NO_TOOLS
) -> list[str]:
    """Give what is said of the changes between two descriptors, with the tools of the candidate's adapter."""
    changes = compare_contracts(baseline_contract(before, tools), candidate_contract(after, tools))
    assert [ContractChange.from_json(change.to_json()) for change in changes] == changes
    return list(map(str, changes))


def noted(**entry: object) -> HarnessDescriptor:
    """Give a descriptor of one tool that says this of it."""
    return descriptor({"find": entry}, clerk=["find"])


BY_DESCRIPTORS: dict[str, tuple[HarnessDescriptor, HarnessDescriptor, list[str]]] = {
    "nothing": (noted(effect="read"), noted(effect="read"), []),
    "a new tool": (
        noted(),
        descriptor({"find": {}, "cancel": {"effect": "write"}}, clerk=["find", "cancel"]),
        ["tool cancel of agent clerk: added: effect write"],
    ),
    "a removed tool": (
        descriptor({"find": {}, "cancel": {}}, clerk=["find", "cancel"]),
        noted(),
        ["tool cancel of agent clerk: removed, breaking"],
    ),
    "a tool for another agent too": (
        descriptor({"find": {}}, clerk=["find"], cashier=[]),
        descriptor({"find": {}}, clerk=["find"], cashier=["find"]),
        ["tool find of agent cashier: added"],
    ),
    "another agent": (
        descriptor({"find": {}}, clerk=["find"]),
        descriptor({"find": {}}, cashier=["find"]),
        ["tool find of agent clerk: removed, breaking", "tool find of agent cashier: added"],
    ),
    "tools in another order": (
        descriptor({"a": {}, "b": {}}, clerk=["a", "b"]),
        descriptor({"b": {}, "a": {}}, clerk=["b", "a"]),
        [],
    ),
    "a tool that no agent has": (noted(), descriptor({"find": {}, "cancel": {}}, clerk=["find"]), []),
    "another target": (noted(), noted(target="v2"), ["tool find: target: app://find → v2"]),
    "another key": (noted(), descriptor({"look_up": {"target": "app://find"}}, clerk=["look_up"]), []),
    "another key, its old one taken": (
        noted(target="x"),
        descriptor({"find": {"target": "y"}, "search": {"target": "x"}}, clerk=["find", "search"]),
        ["tool search of agent clerk: added", "tool find: target: x → y"],
    ),
    "it writes": (
        noted(effect="read"),
        noted(effect="write"),
        ["tool find: effect, breaking: read → write"],
    ),
    "an effect that was not said": (noted(), noted(effect="write"), []),
    "a description": (
        noted(description="Finds an order."),
        noted(description="Finds an order by its number."),
        ['tool find: description: "Finds an order." → "Finds an order by its number."'],
    ),
    "a description that was not said": (noted(), noted(description="Finds an order."), []),
    "a schema": (
        noted(parameters=ONE),
        noted(parameters=TWO),
        ["tool find: schema, breaking: at: new and required"],
    ),
    "the schema as a whole": (
        noted(parameters=ONE),
        noted(parameters=ONE | {"minProperties": 2}),
        ["tool find: schema, breaking: arguments: minProperties none → 2"],
    ),
    "the schema in doubt": (
        noted(parameters=ONE | {"patternProperties": {"^x": True}}),
        noted(parameters=ONE),
        ["tool find: schema, perhaps breaking: arguments: patternProperties dropped"],
    ),
    "keys of another kind": (noted(parameters=["order"], description=1), noted(parameters={"type": 7}), []),
}


@pytest.mark.parametrize(("before", "after", "lines"), BY_DESCRIPTORS.values(), ids=BY_DESCRIPTORS.keys())
def test_two_descriptors(before: HarnessDescriptor, after: HarnessDescriptor, lines: list[str]) -> None:
    assert told(before, after) == lines


TOOLS = {
    "app://find": Tool("find", "Finds an order.", lambda _arguments, _run: None, ONE),
    "app://search": Tool("search", "Finds orders.", lambda _arguments, _run: None, TWO),
}
"""What the candidate's adapter gives, by target."""

OPENED: dict[str, tuple[HarnessDescriptor, HarnessDescriptor, list[str]]] = {
    "the same target": (noted(), noted(), []),
    "another target": (
        noted(),
        noted(target="app://search"),
        [
            "tool find: target: app://find → app://search",
            "tool find: name, breaking: find → search",
            "tool find: schema, breaking: at: new and required",
            'tool find: description: "Finds an order." → "Finds orders."',
        ],
    ),
    "a target that is gone": (noted(target="old"), noted(), ["tool find: target: old → app://find"]),
    "noted of the baseline": (
        noted(parameters=TWO, description="Finds an order."),
        noted(),
        ["tool find: schema, breaking: at: removed"],
    ),
    "noted wrongly of the candidate": (noted(), noted(parameters=TWO, description="Finds it."), []),
}


@pytest.mark.parametrize(("before", "after", "lines"), OPENED.values(), ids=OPENED.keys())
def test_opened_tools(before: HarnessDescriptor, after: HarnessDescriptor, lines: list[str]) -> None:
    assert told(before, after, TOOLS) == lines


def test_a_descriptor_is_made_of_its_content() -> None:
    made = parse(FULL, PROMPTS)

    assert descriptor_of(made.data, source=made.source) == made


def a_clerk(*names: str, hands_over: int = 0, description: str = "") -> Agent:
    """Give an agent with tools, and as many agents to hand over to on conditions that never hold."""
    others = [Agent(f"other {number}", handoff_description=description) for number in range(hands_over)]
    handoffs = [Handoff(other, lambda _: False) for other in others]
    return agent([tool(name) for name in names], name="clerk", handoffs=handoffs)


def recorded(entry: Agent) -> Told:
    """Give what a model was told in a run of an agent."""
    return told_in([run(entry, [says("hello")]).record])


ANOTHER = "agent clerk: fingerprint, perhaps breaking: its model is told other names, descriptions or schemas"

FINGERPRINTS: dict[str, tuple[Told, Told, Told | None, list[str]]] = {
    "the same": (recorded(a_clerk("find")), told_by(a_clerk("find")), None, []),
    "another tool": (recorded(a_clerk("find")), told_by(a_clerk("search")), None, [ANOTHER]),
    "one more": (
        recorded(a_clerk("find")),
        told_by(a_clerk("find", "search")),
        None,
        ["agent clerk: fingerprint, perhaps breaking: 1 → 2 tools and handoffs"],
    ),
    "one more, as the descriptors say": (
        recorded(a_clerk("find")),
        told_by(a_clerk("find", "search")),
        told_by(a_clerk("find")),
        [],
    ),
    "a handoff that was not offered": (
        recorded(a_clerk("find", hands_over=2)),
        told_by(a_clerk("find", hands_over=2)),
        None,
        [],
    ),
    "too many handoffs to know": (recorded(a_clerk("find")), told_by(a_clerk("x", hands_over=9)), None, []),
    "another agent": (recorded(a_clerk("find")), told_by(agent(name="cashier")), None, []),
    "no fingerprints": ({}, told_by(a_clerk("find")), None, []),
    "of two records": (recorded(a_clerk("find")), recorded(a_clerk("search")), None, [ANOTHER]),
}


@pytest.mark.parametrize(("was", "now", "explained", "lines"), FINGERPRINTS.values(), ids=FINGERPRINTS.keys())
def test_fingerprints(was: Told, now: Told, explained: Told | None, lines: list[str]) -> None:
    found = list(map(str, compare_told(was, now, explained)))

    assert [line.startswith(start) for line, start in zip(found, lines, strict=True)] == [True] * len(lines)


def test_agents_that_hand_over_in_circles_are_all_seen() -> None:
    first, second = a_clerk("find"), agent(name="cashier")
    first.handoffs, second.handoffs = (Handoff(second),), (Handoff(first),)

    assert {name: {count for _, count in hashes} for name, hashes in told_by(first).items()} == {
        "clerk": {2},
        "cashier": {1},
    }


def test_fingerprints_of_another_version_are_not_compared() -> None:
    record = run(a_clerk("find"), [says("hello")]).record
    record.data["requestFingerprints"][0]["fingerprintSchemaVersion"] = "request-fingerprint.v2"

    assert told_in([record]) == {}
