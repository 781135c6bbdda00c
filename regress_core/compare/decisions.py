"""Comparing lists of recorded facts other than calls: decisions, proposals, snapshots, fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from regress_core.compare.matching import match
from regress_core.compare.model import Difference, mismatch, missing_left, missing_right
from regress_core.records.canonical import canonical_json, same_json
from regress_core.records.json_io import JsonObject

_VOLATILE_FIELDS = frozenset(("timestamp", "runId", "callId", "expiresAt"))
"""Fields of a decision, proposal or snapshot that differ between any two runs of one harness."""


def lasting(entries: Iterable[Mapping[str, object]]) -> list[JsonObject]:
    """Take away what differs between any two runs, and null fields, which are as good as absent."""
    return [
        {
            key: _without_nulls(cast("Mapping[str, object]", value)) if key == "resource" else value
            for key, value in _without_nulls(entry).items()
            if key not in _VOLATILE_FIELDS
        }
        for entry in entries
    ]


def _without_nulls(members: Mapping[str, object]) -> JsonObject:
    return {key: value for key, value in members.items() if value is not None}


def compare_in_order(
    path: str, left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]
) -> list[Difference]:
    """Compare entry by entry at the same position, as the reference does."""
    differences = _length(path, len(left), len(right))
    for index, (a, b) in enumerate(zip_longest(left, right)):
        here = f"{path}[{index}]"
        if a is None:
            differences.append(missing_left(here, b))
        elif b is None:
            differences.append(missing_right(here, a))
        elif not same_json(a, b):
            differences.append(mismatch(here, a, b))
    return differences


def compare_unordered(
    path: str,
    left: Sequence[JsonObject],
    right: Sequence[JsonObject],
    likeness: Callable[[JsonObject], Hashable],
) -> list[Difference]:
    """Compare as multisets; entries that differ are paired by `likeness`, so that a reader sees what changed.

    Each entry holds its turn, so only the order inside a turn is free.
    """
    if same_json(left, right):
        return []
    exact = match(enumerate(left), enumerate(right), lambda entry: canonical_json(entry[1]))
    alike = match(exact.left, exact.right, lambda entry: likeness(entry[1]))
    found = [(index, mismatch(f"{path}[{index}]", a, b)) for (index, a), (_, b) in alike.pairs]
    found += [(index, missing_right(f"{path}[{index}]", a)) for index, a in alike.left]
    found += [(index, missing_left(f"{path}[{index}]", b)) for index, b in alike.right]
    found.sort(key=lambda entry: entry[0])
    return _length(path, len(left), len(right)) + [difference for _, difference in found]


def decided_resource(decision: JsonObject) -> Hashable:
    """What a policy decision is about: kind and name of the resource."""
    resource = cast("Mapping[str, object]", decision["resource"])
    return (resource["kind"], resource["name"])


def proposed_action(proposal: JsonObject) -> Hashable:
    """What a suspended proposal is about: the tool, or the agent to hand over to."""
    return canonical_json([proposal["kind"], proposal.get("toolName"), proposal.get("toAgentName")])


def _length(path: str, left: int, right: int) -> list[Difference]:
    return [] if left == right else [mismatch(f"{path}.length", left, right)]
