"""Tool contracts: what of a candidate's tools is not as it was, told before anything runs.

A change of a contract never decides by itself. It explains: a case whose calls differ may have been given
another tool, and one whose calls are the same is as good as before, whatever the contract says now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from regress_core.harness.agent import Agent
from regress_core.harness.descriptor.descriptor import HarnessDescriptor
from regress_core.harness.descriptor.outline import Effect
from regress_core.harness.descriptor.values import is_object
from regress_core.harness.fingerprints import SCHEMA_VERSION
from regress_core.harness.toolbox import toolboxes_of
from regress_core.harness.tools import Tool
from regress_core.records.json_io import JsonObject, dumps_text
from regress_core.records.json_schema import schema_fault
from regress_core.records.model import RunRecord
from regress_core.records.schema_changes import schema_changes
from regress_core.records.wire import WireModel

ContractPart = Literal["added", "removed", "name", "target", "effect", "schema", "description", "fingerprint"]
"""What may change of a contract. `fingerprint` is the hash of all that a model is told of its tools."""


class ContractChange(WireModel):
    """One change between the baseline's tools and the candidate's.

    Attributes:
        tool: The tool, by its key in the descriptors; None for a fingerprint, which is of all of them.
        agent: The agent whose list of tools it is about; None where the tool changed for all that have it.
        change: What changed.
        detail: How, in words.
        breaking: Whether a call as the baseline makes it may now be refused, go nowhere or do something
            else; None where that cannot be told.
    """

    tool: str | None
    agent: str | None
    change: ContractPart
    detail: str
    breaking: bool | None

    def __str__(self) -> str:
        """Say it in one line."""
        owners = (("tool", self.tool), ("agent", self.agent))
        whose = " of ".join(f"{kind} {name}" for kind, name in owners if name is not None)
        mark = {True: ", breaking", False: "", None: ", perhaps breaking"}[self.breaking]
        return ": ".join(filter(None, (whose, self.change + mark, self.detail)))


@dataclass(frozen=True, slots=True)
class ToolContract:
    """What is known of one tool; None where it is not.

    Attributes:
        target: The name under which the adapter gives it.
        effect: What a call does to the world.
        name: What models call it.
        description: What models are told about it.
        parameters: JSON Schema of its arguments.
    """

    target: str
    effect: Effect | None = None
    name: str | None = None
    description: str | None = None
    parameters: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class HarnessContract:
    """The tools of a harness.

    Attributes:
        tools: By their keys in the descriptor.
        agents: The keys of each agent's tools.
    """

    tools: Mapping[str, ToolContract]
    agents: Mapping[str, tuple[str, ...]]


def baseline_contract(descriptor: HarnessDescriptor, tools: Mapping[str, Tool]) -> HarnessContract:
    """Give the baseline's contract.

    What its descriptor says of a tool, under `description` and `parameters`, comes first: the adapter at hand
    is the candidate's, and knows the tools as they are now.

    Args:
        descriptor: The baseline's descriptor.
        tools: The tools of the candidate's adapter, by target; empty where it has not been opened.
    """
    return _contract(descriptor, tools, declared_first=True)


def candidate_contract(descriptor: HarnessDescriptor, tools: Mapping[str, Tool]) -> HarnessContract:
    """Give the candidate's contract: the adapter's tools as they are, else what the descriptor says of them.

    Args:
        descriptor: The candidate's descriptor.
        tools: The adapter's tools, by target; empty where it has not been opened.
    """
    return _contract(descriptor, tools, declared_first=False)


def _contract(
    descriptor: HarnessDescriptor, tools: Mapping[str, Tool], *, declared_first: bool
) -> HarnessContract:
    contracts: dict[str, ToolContract] = {}
    for tool_id, entry in descriptor.data.get("tools", {}).items():
        declared, opened = _declared(entry), _opened(tools.get(entry["target"]))
        facts = opened | declared if declared_first else declared | opened
        contracts[tool_id] = ToolContract(entry["target"], entry.get("effect"), **facts)
    return HarnessContract(contracts, {agent.agent_id: agent.tool_ids for agent in descriptor.agents})


def _declared(entry: JsonObject) -> JsonObject:
    """Give what a descriptor says of a tool beyond what it has to; keys of other kinds are not ours."""
    facts: JsonObject = {}
    if isinstance(entry.get("description"), str):
        facts["description"] = entry["description"]
    parameters = entry.get("parameters")
    if is_object(parameters) and schema_fault(parameters, any_pattern=True) is None:
        facts["parameters"] = parameters
    return facts


def _opened(tool: Tool | None) -> JsonObject:
    if tool is None:
        return {}
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def compare_contracts(before: HarnessContract, after: HarnessContract) -> list[ContractChange]:
    """Compare the baseline's tools with the candidate's, agent by agent and then tool by tool.

    A tool is the same if it has the same key, or a new key for a target whose old key is gone. Of name,
    effect, schema and description a change is told where both sides know them.
    """
    after = _with_old_keys(before, after)
    return [*_lists(before, after), *_tools(before, after)]


def _with_old_keys(before: HarnessContract, after: HarnessContract) -> HarnessContract:
    """Give tools that have only another key now the key that they had: no model sees it."""
    free = {tool.target: key for key, tool in before.tools.items() if key not in after.tools}
    old = {key: free.pop(tool.target, key) for key, tool in after.tools.items() if key not in before.tools}
    return HarnessContract(
        {old.get(key, key): tool for key, tool in after.tools.items()},
        {agent: tuple(old.get(key, key) for key in keys) for agent, keys in after.agents.items()},
    )


def _lists(before: HarnessContract, after: HarnessContract) -> Iterator[ContractChange]:
    for agent in dict.fromkeys((*before.agents, *after.agents)):
        old, new = before.agents.get(agent, ()), after.agents.get(agent, ())
        for tool in old:
            if tool not in new:
                yield _change(tool, agent, "removed", _effect(before.tools[tool]), breaking=True)
        for tool in new:
            if tool not in old:
                yield _change(tool, agent, "added", _effect(after.tools[tool]), breaking=False)


def _effect(tool: ToolContract) -> str:
    return "" if tool.effect is None else f"effect {tool.effect}"


def _tools(before: HarnessContract, after: HarnessContract) -> Iterator[ContractChange]:
    used, uses = ({tool for tools in side.agents.values() for tool in tools} for side in (before, after))
    for key, old in before.tools.items():
        if key in used and key in uses:
            yield from _of_tool(key, old, after.tools[key])


def _of_tool(key: str, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    if old.target != new.target:
        yield _change(key, None, "target", f"{old.target} → {new.target}", breaking=False)
    if old.name is not None and new.name is not None and old.name != new.name:
        yield _change(key, None, "name", f"{old.name} → {new.name}", breaking=True)
    if old.effect is not None and new.effect is not None and old.effect != new.effect:
        yield _change(key, None, "effect", f"{old.effect} → {new.effect}", breaking=True)
    if old.parameters is not None and new.parameters is not None:
        for change in schema_changes(old.parameters, new.parameters):
            detail = f"{change.path or 'arguments'}: {change.detail}"
            yield _change(key, None, change.part, detail, breaking=change.breaking)
    if old.description is not None and new.description is not None and old.description != new.description:
        texts = (_shown(text) for text in (old.description, new.description))
        yield _change(key, None, "description", " → ".join(texts), breaking=False)


_MOST_CHARACTERS = 60


def _shown(text: str) -> str:
    return dumps_text(text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…")


def _change(
    tool: str | None, agent: str | None, part: ContractPart, detail: str, *, breaking: bool | None
) -> ContractChange:
    return ContractChange(tool=tool, agent=agent, change=part, detail=detail, breaking=breaking)


Told = Mapping[str, frozenset[tuple[str, int]]]
"""What models are told of their tools and handoffs, by agent name: each hash, with how many there are."""


def told_in(records: Iterable[RunRecord]) -> Told:
    """Give what the models of recorded runs were told, by the fingerprints of their requests."""
    return _by_name(
        (request["agentName"], request["toolsHash"], request["toolCount"])
        for record in records
        for request in record.data["requestFingerprints"]
        if request["fingerprintSchemaVersion"] == SCHEMA_VERSION
    )


def told_by(entry: Agent) -> Told:
    """Give what models may be told in runs that begin with an agent, whichever handoffs are offered."""
    agents = [entry]
    for agent in agents:  # which grows meanwhile
        agents += {rule.agent for rule in agent.handoffs}.difference(agents)
    return _by_name(
        (agent.name, toolbox.hashed.sha256, len(toolbox.specs))
        for agent in agents
        for toolbox in toolboxes_of(agent)
    )


def _by_name(facts: Iterable[tuple[str, str, int]]) -> Told:
    told: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for name, sha256, count in facts:
        told[name].add((sha256, count))
    return {name: frozenset(hashes) for name, hashes in told.items()}


def compare_told(recorded: Told, candidate: Told, explained: Told | None = None) -> list[ContractChange]:
    """Compare what models were told of their tools in recorded runs with what the candidate's are told.

    A hash tells that something changed, not what: schema, description or name of a tool, or which there are.

    Args:
        recorded: Of the baseline's runs.
        candidate: Of the candidate.
        explained: What the baseline's agents would be told of the tools as they are now. Where it is
            what they were told, the tools are the same, and comparing the descriptors has told all.
    """
    changes: list[ContractChange] = []
    for agent, was in recorded.items():
        now = candidate.get(agent, frozenset())
        if now and was.isdisjoint(now | (explained or {}).get(agent, frozenset())):
            changes.append(_change(None, agent, "fingerprint", _difference(was, now), breaking=None))
    return changes


def _difference(was: frozenset[tuple[str, int]], now: frozenset[tuple[str, int]]) -> str:
    old, new = ({count for _, count in told} for told in (was, now))
    if old.isdisjoint(new):
        counts = (" or ".join(map(str, sorted(count))) for count in (old, new))
        return f"{' → '.join(counts)} tools and handoffs"
    return "its model is told other names, descriptions or schemas than the recorded runs' was"
