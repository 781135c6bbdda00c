"""What can change a verdict: all that both runs did and said, without what differs between equal runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from regress_core.compare.decisions import lasting
from regress_core.compare.model import Comparison
from regress_core.judge.contract import RunJudgeInput
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord

_VOLATILE = frozenset(("runId", "startedAt", "completedAt"))
_LISTS = (
    "promptSnapshots",
    "requestFingerprints",
    "policyDecisions",
    "suspendedProposals",
    "guardrailDecisions",
)
_ONLY_IN_FULL = frozenset(("contextSnapshot", "contextRedacted", "metadata"))
_HASHES_OF_IDS = frozenset(("requestHash", "messagesHash"))
"""Hashes over the messages with their call ids: other ones each run, of what the items say anyway."""


def evidence_of(asked: RunJudgeInput, *, whole: bool = False) -> JsonObject:
    """Give what can change a verdict, whatever a judge is shown of it.

    Two runs of one case that differ in ids and times only give the same; any other fact, such as another
    argument of a tool, gives something else.

    Args:
        asked: What a judge may look at.
        whole: Whether also what only the input mode `full` shows: context, metadata, providers' raw items.
    """
    expectation = asked.expectation
    return {
        "baseline": _run(asked.baseline, whole=whole),
        "candidate": _run(asked.candidate, whole=whole),
        "comparison": _found(asked.comparison),
        "expectation": None if expectation is None else expectation.to_json(),
        "baselineDescriptorHash": _hash(asked.baseline_descriptor),
        "candidateDescriptorHash": _hash(asked.candidate_descriptor),
    }


def _found(comparison: Comparison) -> JsonObject:
    """Give what a comparison adds to the two runs: what its rules made of them.

    The values that differ stand in the runs. Provenance follows from the runs alone, and differs by hashes
    over call ids even where nothing else does; what became of the answer follows from them too.
    """
    effects, trajectory = comparison.effects, comparison.trajectory
    return {
        "equal": comparison.equal,
        "summary": comparison.summary.to_json(),
        "metrics": comparison.metrics.to_json(),
        "signals": comparison.signals.to_json(),
        "notCompared": [name for name, state in comparison.sections.items() if state == "not compared"],
        "differences": [{"path": one.path, "kind": one.kind} for one in comparison.differences],
        "effects": None if effects is None else effects.to_json(),
        "trajectory": None if trajectory is None else trajectory.to_json(),
    }


def _hash(value: JsonValue) -> str | None:
    return None if value is None else canonical_hash(value)


def _run(record: RunRecord, *, whole: bool) -> JsonObject:
    left_out = _VOLATILE | ({"items", *_LISTS} if whole else {"items", *_LISTS, *_ONLY_IN_FULL})
    data: Mapping[str, Any] = record.data
    lists: dict[str, Sequence[Mapping[str, Any]] | None] = {name: data.get(name) for name in _LISTS}
    return {
        **{key: value for key, value in data.items() if key not in left_out},
        **{name: _without_hashes_of_ids(lasting(entries or ())) for name, entries in lists.items()},
        "items": _items(record.items, whole=whole),
    }


def _without_hashes_of_ids(entries: Iterable[JsonObject]) -> list[JsonObject]:
    return [{key: value for key, value in entry.items() if key not in _HASHES_OF_IDS} for entry in entries]


def _items(items: Sequence[Item], *, whole: bool) -> list[JsonObject]:
    """Give the items, the number of a call in place of its id: outputs stay with their calls."""
    numbers: dict[str, int] = {}
    calls = 0
    shown: list[JsonObject] = []
    for item in items:
        entry = {key: value for key, value in item.items() if key != "callId" and (whole or key != "rawItem")}
        if item["type"] != "message":
            if item["type"] == "tool_call_item" or item["callId"] not in numbers:
                calls += 1
                numbers[item["callId"]] = calls
            entry["call"] = numbers[item["callId"]]
        shown.append(entry)
    return shown
