"""How a candidate's calls follow the baseline's: the shortest edit script between two trajectories.

A trajectory is a sequence of turn groups, each a set of calls without an order. A script pairs groups in
order; inside a pair, calls of equal tool and arguments are kept, further calls of one tool have changed, and
what is left is removed or inserted, as is every call of a group without a partner. A kept call costs nothing,
any other step 1. Per tool, the cheapest pairing of two groups' calls keeps all it can and then changes all it
can, since keeping saves 2 and changing 1 of what removing and inserting cost. So the best script is the
order-preserving choice of pairs that saves most: a dynamic program over groups, as for a longest common
subsequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from operator import itemgetter
from typing import NamedTuple

from regress_core.compare.alignment_search import MOST_CELLS, Call, Group, best_pairs
from regress_core.compare.matching import match
from regress_core.compare.model import StepKind, Trajectory
from regress_core.compare.tool_calls import GroupedCall


class Step(NamedTuple):
    """One step of the script that makes the candidate's trajectory of the baseline's.

    Attributes:
        kind: `kept`; `changed` (same tool, other arguments); `removed`; `inserted`; `moved` (the same call,
            elsewhere or in another turn).
        tool: The tool's name; empty for an output without its call.
        left: The call's index in the baseline, from 0; None if inserted.
        right: The call's index in the candidate, from 0; None if removed.
    """

    kind: StepKind
    tool: str
    left: int | None
    right: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a candidate's calls follow the baseline's.

    Attributes:
        steps: The script. Between two pairs of turn groups, what is removed stands before what is inserted; a
            moved call stands at the earlier of its two places. In a turn group: kept, changed, removed,
            inserted, each by tool and arguments.
        trajectory: `same`; `reordered`: the same calls, in another order or in other turns; `superset`: the
            baseline's calls in order, and more; `subset`: the baseline's in order, but not all; `different`.
        first_divergence: The first step that is not kept, in words, with the number of the call from 1;
            None if all are kept.
        progress: Share of the baseline's calls that are kept before the first step that is changed, removed
            or moved: 1.0 where none is, since an inserted call loses nothing. None for a baseline without
            calls.
    """

    steps: tuple[Step, ...]
    trajectory: Trajectory
    first_divergence: str | None
    progress: float | None


def align(
    left_groups: Sequence[GroupedCall], right_groups: Sequence[GroupedCall], *, most_cells: int = MOST_CELLS
) -> Alignment:
    """Align a baseline's calls (left) with a candidate's by tool, arguments and turn group.

    The script is one of least cost, then of most kept calls, then one whose pairs stand earliest. It does not
    depend on the order of calls inside a turn group nor, but for the names of the steps, on which side is
    which. Outputs play no part.

    Args:
        left_groups: The baseline's calls, as `grouped_calls` gives them.
        right_groups: The candidate's.
        most_cells: Bounds time and memory. Where the search for the best script would need more (from about
            2800 calls on either side on, if nearly all differ), pairs are sought around the straight line
            from start to end only: the script is valid then, but a shorter one may exist.
    """
    left_calls, right_calls = _in_order(left_groups), _in_order(right_groups)
    if left_calls == right_calls:
        kept = tuple([Step("kept", tool, index, index) for _, tool, _, index in left_calls])
        return Alignment(kept, "same", None, 1.0 if kept else None)
    left, right = _groups(left_calls), _groups(right_calls)
    edits = _with_moves(_edits(left, right, best_pairs(left, right, most_cells)))
    steps = tuple([Step(kind, tool, i, j) for kind, (tool, _), i, j in edits])
    divergence = next((step for step in steps if step.kind != "kept"), None)
    return Alignment(
        steps,
        _trajectory({step.kind for step in steps}, left_calls, right_calls),
        _in_words(divergence) if divergence else None,
        _progress(steps, len(left_calls)),
    )


def _in_order(entries: Sequence[GroupedCall]) -> list[Call]:
    return sorted(
        [(entry.group, entry.call.name, entry.call.args_canonical_json, entry.index) for entry in entries]
    )


def _what(call: Call) -> tuple[str, str]:
    return call[1:3]


def _groups(calls: list[Call]) -> list[Group]:
    groups = [list(group) for _, group in groupby(calls, itemgetter(0))]
    return [Group(group, [call[1:3] for call in group]) for group in groups]


class _Edit(NamedTuple):
    """A step, with the tool and arguments of its call (where they have changed, the baseline's)."""

    kind: StepKind
    what: tuple[str, str]
    left: int | None
    right: int | None


def _edits(left: list[Group], right: list[Group], pairs: list[tuple[int, int]]) -> list[_Edit]:
    edits: list[_Edit] = []
    i = j = 0
    for a, b in [*pairs, (len(left), len(right))]:
        edits += [_removed(call) for group in left[i:a] for call in group.calls]
        edits += [_inserted(call) for group in right[j:b] for call in group.calls]
        if a < len(left):
            edits += _edits_of_pair(left[a], right[b])
        i, j = a + 1, b + 1
    return edits


def _edits_of_pair(left: Group, right: Group) -> list[_Edit]:
    if left.what == right.what:
        return [_Edit("kept", a[1:3], a[3], b[3]) for a, b in zip(left.calls, right.calls, strict=True)]
    kept = match(left.calls, right.calls, _what)
    changed = match(kept.left, kept.right, itemgetter(1))
    return [
        *[_Edit("kept", a[1:3], a[3], b[3]) for a, b in kept.pairs],
        *[_Edit("changed", a[1:3], a[3], b[3]) for a, b in changed.pairs],
        *map(_removed, changed.left),
        *map(_inserted, changed.right),
    ]


def _removed(call: Call) -> _Edit:
    return _Edit("removed", call[1:3], call[3], None)


def _inserted(call: Call) -> _Edit:
    return _Edit("inserted", call[1:3], None, call[3])


def _with_moves(edits: list[_Edit]) -> list[_Edit]:
    """Make one step of each removed and inserted call that are equal, at the earlier place."""
    removed = [place for place, edit in enumerate(edits) if edit.kind == "removed"]
    inserted = [place for place, edit in enumerate(edits) if edit.kind == "inserted"]
    moves = match(removed, inserted, lambda place: edits[place].what).pairs
    moved = {min(a, b): _Edit("moved", edits[a].what, edits[a].left, edits[b].right) for a, b in moves}
    gone = {max(a, b) for a, b in moves}
    return [moved.get(place, edit) for place, edit in enumerate(edits) if place not in gone]


def _trajectory(kinds: set[StepKind], left: list[Call], right: list[Call]) -> Trajectory:
    """Name the relation; a script without losses costs as little as the numbers of calls allow."""
    if kinds <= {"kept"}:
        return "same"
    if kinds <= {"kept", "inserted"}:
        return "superset"
    if kinds <= {"kept", "removed"}:
        return "subset"
    same_calls = len(left) == len(right) and Counter(map(_what, left)) == Counter(map(_what, right))
    return "reordered" if same_calls else "different"


def _progress(steps: Sequence[Step], calls: int) -> float | None:
    followed = takewhile(lambda step: step.kind in ("kept", "inserted"), steps)
    return sum(step.kind == "kept" for step in followed) / calls if calls else None


def _in_words(step: Step) -> str:
    tool = step.tool or "an output without its call"
    if step.left is None:
        return f"call {(step.right or 0) + 1} of the candidate ({tool}) is new"
    call = f"call {step.left + 1} ({tool})"
    if step.kind == "changed":
        return f"{call} has other arguments"
    if step.right is None:
        return f"{call} is missing"
    if step.right == step.left:
        return f"{call} moved to another turn"
    return f"{call} moved: it is call {step.right + 1} of the candidate"
