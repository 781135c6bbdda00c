"""Comparing effects: what two runs changed outside of the conversation, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from regress_core.compare.assignment import cheapest_pairs
from regress_core.compare.effect_rules import EffectsConfig, Tolerances
from regress_core.compare.matching import match
from regress_core.compare.model import (
    Difference,
    EffectsComparison,
    mismatch,
    missing_left,
    missing_right,
)
from regress_core.compare.writes import Write, Writes
from regress_core.records.canonical import canonical_json, same_json
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep

_Place = tuple[tuple[type, str | int], ...]
_A_LITTLE_MORE = Decimal("1.000000001")
_MOST_WEIGHED = 250  # writes of one tool; the time grows with the third power of their number


@dataclass(frozen=True, slots=True)
class EffectsFound:
    """What differs in effects, in the order of the baseline's calls, then the candidate's; and how much."""

    differences: Sequence[Difference]
    counts: EffectsComparison


def compare_effects(left: Writes, right: Writes, config: EffectsConfig) -> EffectsFound:
    """Compare the effective writes of two runs as multisets.

    Writes of one tool are paired so that as many as possible are the same, and that as few arguments as
    possible differ in the others; what is left over on the left is missing, on the right extra. A missing
    write that the candidate tried in vain is told as that, and the other way round.
    """
    pairs: list[tuple[Write, Write]] = []
    missing: list[Write] = []
    extra: list[Write] = []
    a_writes, b_writes = _by_tool(left.effective), _by_tool(right.effective)
    for tool in a_writes | b_writes:
        changed, gone, new = _paired(a_writes.get(tool, []), b_writes.get(tool, []), config.tolerances(tool))
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


def _by_tool(writes: Iterable[Write]) -> dict[str, list[Write]]:
    found: dict[str, list[Write]] = {}
    for write in writes:
        found.setdefault(write.call.name, []).append(write)
    return found


def _paired(
    left: Sequence[Write], right: Sequence[Write], tolerances: Tolerances
) -> tuple[list[tuple[Write, Write]], list[Write], list[Write]]:
    """Pair writes of one tool; give the pairs that differ, and those without a partner on either side.

    Of several ways that cost the same, the one taken hangs neither on the order of writes nor on the sides.
    """
    if sorted(write.key for write in left) == sorted(write.key for write in right):
        return [], [], []
    left, right = sorted(left, key=_content), sorted(right, key=_content)
    if not tolerances:  # equal ones can go first: whatever else they are paired with, fewer are the same
        equal = match(left, right, lambda write: write.key)
        left, right = equal.left, equal.right
    if not left or not right:
        return [], left, right
    if list(map(_content, left)) > list(map(_content, right)):
        changed, new, gone = _cheapest(right, left, tolerances)
        return [(a, b) for b, a in changed], gone, new
    return _cheapest(left, right, tolerances)


def _content(write: Write) -> tuple[str, str, str]:
    """Give all that is shown of a write, but for its place."""
    return write.key, write.call.args_canonical_json, canonical_json(write.call.output)


def _cheapest(
    left: Sequence[Write], right: Sequence[Write], tolerances: Tolerances
) -> tuple[list[tuple[Write, Write]], list[Write], list[Write]]:
    if len(left) * len(right) > _MOST_WEIGHED**2:
        return _in_order(left, right, tolerances)
    most = len(left) + len(right)  # more than all shares: a pair more that is the same outweighs them
    costs = [[_distance(a, b, tolerances) for b in right] for a in left]
    pairs = cheapest_pairs([[most + share if share else 0 for share in row] for row in costs])
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    return (
        [(left[row], right[column]) for row, column in pairs if costs[row][column]],
        [write for row, write in enumerate(left) if row not in rows],
        [write for column, write in enumerate(right) if column not in columns],
    )


def _in_order(
    left: Sequence[Write], right: Sequence[Write], tolerances: Tolerances
) -> tuple[list[tuple[Write, Write]], list[Write], list[Write]]:
    """Pair the equal ones, then the others in their order, where to weigh each pair would take too long."""
    equal = match(left, right, lambda write: write.key)
    pairs = [(a, b) for a, b in zip(equal.left, equal.right, strict=False) if _distance(a, b, tolerances)]
    count = min(len(equal.left), len(equal.right))
    return pairs, equal.left[count:], equal.right[count:]


def _distance(a: Write, b: Write, tolerances: Tolerances) -> float:
    """Give the share of leaves that differ: 0 for the same arguments, 1 for those that share none.

    An id that only one of the runs minted is the same to both if it is the same as it stands: the other run
    had it from a lookup.
    """
    minted = a.arguments is not a.literal, b.arguments is not b.literal
    a_leaves, b_leaves = (_leaves(write.arguments if all(minted) else write.literal) for write in (a, b))
    shared = a_leaves.keys() & b_leaves.keys()
    same = sum(_same(a_leaves[place], b_leaves[place], place, tolerances) for place in shared)
    places = len(a_leaves) + len(b_leaves) - len(shared)
    return (places - same) / places


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


def _same(a: JsonValue, b: JsonValue, place: _Place, tolerances: Tolerances) -> bool:
    if same_json(a, b):
        return True
    if not tolerances or not _is_number(a) or not _is_number(b):
        return False
    most = max((most for path, most in tolerances if _leads_to(path, place)), default=0.0)
    # In decimals, as people reckon: 8.3 is within 0.1 of 8.2. A billionth more, so that 0.1 + 0.2, which
    # programs take for 0.30000000000000004, is within 0.3 of 0.
    return abs(_decimal(a) - _decimal(b)) <= _decimal(most) * _A_LITTLE_MORE


def _decimal(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


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
    """Of several, give one that does not hang on their order."""
    same = (one for one in others if (one.call.name, one.key) == (write.call.name, write.key))
    return min(same, key=_content, default=None)


def _failure(write: Write) -> JsonObject:
    return {"failed": write.call.output}
