"""Comparing effects: what two runs changed outside of the conversation, in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from regress_core.compare.assignment import cheapest_pairs
from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.matching import match
from regress_core.compare.model import (
    Difference,
    EffectsComparison,
    mismatch,
    missing_left,
    missing_right,
)
from regress_core.compare.writes import Write, Writes
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep

_Place = tuple[tuple[type, str | int], ...]
_Tolerances = Sequence[tuple[tuple[PathStep, ...], float]]


@dataclass(frozen=True, slots=True)
class EffectsFound:
    """What differs in effects, in the order of the baseline's calls, then the candidate's; and how much."""

    differences: Sequence[Difference]
    counts: EffectsComparison


def compare_effects(left: Writes, right: Writes, config: EffectsConfig) -> EffectsFound:
    """Compare the effective writes of two runs as multisets.

    Writes of one tool are paired so that as few arguments as possible differ in all; what is left over on the
    left is missing, on the right extra. A missing write that the candidate tried in vain is told as that, and
    the other way round.
    """
    pairs: list[tuple[Write, Write]] = []
    missing: list[Write] = []
    extra: list[Write] = []
    tools = dict.fromkeys(write.call.name for write in (*left.effective, *right.effective))
    for tool in tools:
        a = [write for write in left.effective if write.call.name == tool]
        b = [write for write in right.effective if write.call.name == tool]
        changed, gone, new = _paired(a, b, config.tolerances(tool))
        pairs += changed
        missing += gone
        extra += new
    found = [(a.index, mismatch(f"effects[{a.index}].arguments", a.arguments, b.arguments)) for a, b in pairs]
    found += [(a.index, _missing(a, right.failed)) for a in missing]
    found.sort(key=lambda entry: entry[0])
    differences = [difference for _, difference in found]
    differences += [_extra(b, left.failed) for b in sorted(extra, key=lambda write: write.index)]
    counts = EffectsComparison(
        writes_a=len(left.effective),
        writes_b=len(right.effective),
        failed_a=len(left.failed),
        failed_b=len(right.failed),
        changed=len(pairs),
        missing=len(missing),
        extra=len(extra),
    )
    return EffectsFound(differences, counts)


def _paired(
    left: Sequence[Write], right: Sequence[Write], tolerances: _Tolerances
) -> tuple[list[tuple[Write, Write]], list[Write], list[Write]]:
    """Pair writes of one tool; give the pairs that differ, and those without a partner on either side."""
    if not tolerances:  # equal ones can go first: no other pairing costs less
        equal = match(left, right, lambda write: write.key)
        left, right = equal.left, equal.right
    if not left or not right:
        return [], list(left), list(right)
    a_leaves = [_leaves(write.arguments) for write in left]
    b_leaves = [_leaves(write.arguments) for write in right]
    costs = [[_distance(a, b, tolerances) for b in b_leaves] for a in a_leaves]
    pairs = cheapest_pairs(costs)
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    return (
        [(left[row], right[column]) for row, column in pairs if costs[row][column]],
        [write for row, write in enumerate(left) if row not in rows],
        [write for column, write in enumerate(right) if column not in columns],
    )


def _leaves(value: JsonValue, place: _Place = ()) -> dict[_Place, JsonValue]:
    """Take a value apart: what is neither object nor list, or is an empty one, by where it stands."""
    children: Sequence[tuple[tuple[type, str | int], JsonValue]] = ()
    if isinstance(value, dict):
        children = [((dict, key), child) for key, child in cast("JsonObject", value).items()]
    elif isinstance(value, list):
        elements = cast("list[JsonValue]", value)
        children = [((list, index), child) for index, child in enumerate(elements)]
    if not children:
        return {place: value}
    found: dict[_Place, JsonValue] = {}
    for step, child in children:
        found.update(_leaves(child, (*place, step)))
    return found


def _distance(a: dict[_Place, JsonValue], b: dict[_Place, JsonValue], tolerances: _Tolerances) -> float:
    """Give the share of leaves that differ: 0 for the same arguments, 1 for those that share none."""
    places = a.keys() | b.keys()
    same = sum(_same(a[place], b[place], place, tolerances) for place in a.keys() & b.keys())
    return (len(places) - same) / len(places)


def _same(a: JsonValue, b: JsonValue, place: _Place, tolerances: _Tolerances) -> bool:
    if canonical_json(a) == canonical_json(b):
        return True
    if not _is_number(a) or not _is_number(b):
        return False
    # Times 1 plus a billionth, so that 0.1 + 0.2 is within 0.3 of 0 as people reckon it.
    most = max((most for path, most in tolerances if _leads_to(path, place)), default=0.0)
    return abs(a - b) <= most * (1 + 1e-9)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _leads_to(path: tuple[PathStep, ...], place: _Place) -> bool:
    return len(path) == len(place) and all(
        step.leads_to(container, key) for step, (container, key) in zip(path, place, strict=True)
    )


def _missing(write: Write, failed: Sequence[Write]) -> Difference:
    """Tell of a write that the candidate did not make, or not with success."""
    tried = _same_write(write, failed)
    if tried is None:
        return missing_right(f"effects[{write.index}]", write.call.to_json())
    return mismatch(f"effects[{write.index}].outcome", "done", _failure(tried))


def _extra(write: Write, failed: Sequence[Write]) -> Difference:
    tried = _same_write(write, failed)
    if tried is None:
        return missing_left(f"effects[{write.index}]", write.call.to_json())
    return mismatch(f"effects[{tried.index}].outcome", _failure(tried), "done")


def _same_write(write: Write, others: Sequence[Write]) -> Write | None:
    return next((one for one in others if (one.call.name, one.key) == (write.call.name, write.key)), None)


def _failure(write: Write) -> JsonObject:
    return {"failed": write.call.output}
