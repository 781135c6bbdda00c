"""Scripts against other algorithms, replayed, mirrored, and with turns shuffled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, permutations

from hypothesis import example, given
from hypothesis import strategies as st

from regress_core.compare.alignment import Alignment, Step, align
from regress_core.compare.tool_calls import GroupedCall
from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.tool_calls import ExtractedToolCall

_Call = tuple[str, int]
_Groups = list[list[_Call]]

_CALLS = st.tuples(st.sampled_from("ab"), st.integers(0, 2))
_SINGLES = st.lists(_CALLS, max_size=12).map(lambda calls: [[call] for call in calls])
_GROUPS = st.lists(st.lists(_CALLS, min_size=1, max_size=3), max_size=4)
_LONG = st.lists(st.lists(_CALLS, min_size=1, max_size=2), max_size=30)

_MIRRORED = {
    "kept": "kept",
    "changed": "changed",
    "moved": "moved",
    "removed": "inserted",
    "inserted": "removed",
}
_MIRRORED_TRAJECTORIES = {"superset": "subset", "subset": "superset"}


def _grouped(groups: _Groups) -> list[GroupedCall]:
    found: list[GroupedCall] = []
    for number, group in enumerate(groups, start=1):
        for tool, n in group:
            text, index = canonical_json({"n": n}), len(found)
            call = ExtractedToolCall(f"c{index}", tool, {"n": n}, index + 1, text, hash_text(text))
            found.append(GroupedCall(call, index, number, None, ""))
    return found


def _aligned(left: _Groups, right: _Groups) -> Alignment:
    return align(_grouped(left), _grouped(right))


def _flat(groups: _Groups) -> list[_Call]:
    return [call for group in groups for call in group]


def _turn_of(groups: _Groups) -> list[int]:
    return [number for number, group in enumerate(groups) for _ in group]


def _cost(steps: Sequence[Step]) -> int:
    costs = {"kept": 0, "changed": 1, "removed": 1, "inserted": 1, "moved": 2}
    return sum(costs[step.kind] for step in steps)


def _cost_and_kept(steps: Sequence[Step]) -> tuple[int, int]:
    return _cost(steps), sum(step.kind == "kept" for step in steps)


def _edit_distance(left: list[_Call], right: list[_Call]) -> tuple[int, int]:
    """Give the least cost and, at that, the most kept calls, of calls one after the other."""

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Of the calls from i and j on: the cost, and the kept calls as a negative number."""
        if i == len(left) or j == len(right):
            return len(left) - i + len(right) - j, 0
        (cost, kept), (a, b) = best(i + 1, j + 1), (left[i], right[j])
        ways = [
            (best(i + 1, j)[0] + 1, best(i + 1, j)[1]),
            (best(i, j + 1)[0] + 1, best(i, j + 1)[1]),
        ]
        if a[0] == b[0]:
            ways.append((cost, kept - 1) if a == b else (cost + 1, kept))
        return min(ways)

    cost, kept = best(0, 0)
    return cost, -kept


@given(_SINGLES, _SINGLES)
def test_the_cost_is_the_edit_distance(left: _Groups, right: _Groups) -> None:
    assert _cost_and_kept(_aligned(left, right).steps) == _edit_distance(_flat(left), _flat(right))


@cache
def _of_two_groups(left: tuple[_Call, ...], right: tuple[_Call, ...]) -> tuple[int, int]:
    """Try every way to pair the calls of two groups; give the least cost, and kept calls as a negative."""
    if len(left) > len(right):
        left, right = right, left
    ways: list[tuple[int, int]] = []
    for partners in permutations(right, len(left)):
        pairs = list(zip(left, partners, strict=True))
        kept = sum(a == b for a, b in pairs)
        changed = sum(a[0] == b[0] for a, b in pairs) - kept
        ways.append((len(left) + len(right) - 2 * kept - changed, -kept))
    return min(ways)


def _pairings(left: int, right: int) -> Iterator[list[tuple[int, int]]]:
    """Give every way to pair groups in order."""
    for count in range(min(left, right) + 1):
        for rows in combinations(range(left), count):
            for columns in combinations(range(right), count):
                yield list(zip(rows, columns, strict=True))


def _by_search(left: _Groups, right: _Groups) -> tuple[int, int]:
    """Try every way to pair groups in order; give the least cost and, at that, the most kept calls."""
    calls = len(_flat(left)) + len(_flat(right))
    ways: list[tuple[int, int]] = []
    for pairs in _pairings(len(left), len(right)):
        cost, kept = calls, 0
        for i, j in pairs:
            of_pair = _of_two_groups(tuple(left[i]), tuple(right[j]))
            cost += of_pair[0] - len(left[i]) - len(right[j])
            kept += of_pair[1]
        ways.append((cost, kept))
    cost, kept = min(ways)
    return cost, -kept


@given(_GROUPS, _GROUPS)
def test_the_cost_is_the_least_of_all_ways(left: _Groups, right: _Groups) -> None:
    assert _cost_and_kept(_aligned(left, right).steps) == _by_search(left, right)


def _assert_valid(steps: Sequence[Step], left: _Groups, right: _Groups) -> None:
    """Replay a script on the baseline, and look at which turns it pairs."""
    calls, others = _flat(left), _flat(right)
    replayed: dict[int, _Call] = {}
    paired: set[tuple[int, int]] = set()
    for kind, tool, i, j in steps:
        assert tool == (calls[i] if i is not None else others[j or 0])[0]
        if j is not None:
            replayed[j] = calls[i] if i is not None and kind in ("kept", "moved") else others[j]
        if i is not None and j is not None:
            assert tool == others[j][0]
            assert (calls[i] == others[j]) is (kind != "changed")
            if kind != "moved":
                paired.add((_turn_of(left)[i], _turn_of(right)[j]))
        else:
            assert (kind, j) == ("removed", None) or (kind, i) == ("inserted", None)
    assert [replayed[j] for j in sorted(replayed)] == others
    assert sorted(step.left for step in steps if step.left is not None) == list(range(len(calls)))
    assert sorted(step.right for step in steps if step.right is not None) == list(range(len(others)))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(sorted(paired)))


@given(_LONG, _LONG)
def test_the_script_makes_the_candidate_of_the_baseline(left: _Groups, right: _Groups) -> None:
    _assert_valid(_aligned(left, right).steps, left, right)


@given(_LONG, _LONG, st.integers(0, 100))
def test_with_little_room_the_script_is_valid_still(left: _Groups, right: _Groups, cells: int) -> None:
    found = align(_grouped(left), _grouped(right), most_cells=cells)

    _assert_valid(found.steps, left, right)
    assert _cost(found.steps) >= _cost(_aligned(left, right).steps)


@given(_LONG, _LONG)
def test_steps_that_move_nothing_are_in_order(left: _Groups, right: _Groups) -> None:
    steps = [step for step in _aligned(left, right).steps if step.kind != "moved"]
    places = [_turn_of(left)[step.left] for step in steps if step.left is not None]
    others = [_turn_of(right)[step.right] for step in steps if step.right is not None]

    assert places == sorted(places)
    assert others == sorted(others)


def _in_contents(alignment: Alignment, left: _Groups, right: _Groups) -> list[object]:
    """Give the steps with turns and calls in place of indexes."""
    calls = list(zip(_turn_of(left), _flat(left), strict=True))
    others = list(zip(_turn_of(right), _flat(right), strict=True))
    return [
        (kind, tool, None if i is None else calls[i], None if j is None else others[j])
        for kind, tool, i, j in alignment.steps
    ]


@given(_LONG, _LONG, st.data())
def test_the_order_inside_turns_changes_nothing(left: _Groups, right: _Groups, data: st.DataObject) -> None:
    others = tuple([data.draw(st.permutations(group)) for group in side] for side in (left, right))

    one, other = _aligned(left, right), _aligned(*others)

    assert _in_contents(one, left, right) == _in_contents(other, *others)
    assert (one.trajectory, one.progress) == (other.trajectory, other.progress)


@example([[("a", 1)], [("b", 2)]], [[("b", 2)], [("a", 1)]])
@example([[("a", 1)], [("b", 2)], [("a", 3)]], [[("a", 3)], [("b", 1)], [("a", 1)]])
@given(_LONG, _LONG)
def test_the_other_way_round_the_same_calls_are_kept(left: _Groups, right: _Groups) -> None:
    one, other = _aligned(left, right), _aligned(right, left)

    mirrored = Counter((_MIRRORED[kind], tool, j, i) for kind, tool, i, j in other.steps)
    assert Counter(map(tuple[object, ...], one.steps)) == mirrored
    assert one.trajectory == _MIRRORED_TRAJECTORIES.get(other.trajectory, other.trajectory)


@given(_LONG)
def test_a_trajectory_is_the_same_as_itself(groups: _Groups) -> None:
    found = _aligned(groups, groups)

    assert {step.kind for step in found.steps} <= {"kept"}
    assert (found.trajectory, found.first_divergence) == ("same", None)
    assert found.progress == (1.0 if groups else None)


@given(_LONG, _LONG, st.data())
def test_more_turns_in_between_are_a_superset(left: _Groups, more: _Groups, data: st.DataObject) -> None:
    right = list(left)
    for group in more:
        right.insert(data.draw(st.integers(0, len(right))), group)

    found = _aligned(left, right)

    assert found.trajectory == ("superset" if more else "same")
    assert found.progress == (1.0 if left else None)


@given(_LONG, st.data())
def test_the_same_calls_elsewhere_are_reordered(left: _Groups, data: st.DataObject) -> None:
    right = [[call] for call in data.draw(st.permutations(_flat(left)))]

    assert _aligned(left, right).trajectory in {"same", "reordered"}


@given(_LONG, _LONG)
def test_progress_and_divergence_follow_from_the_steps(left: _Groups, right: _Groups) -> None:
    found = _aligned(left, right)

    lost = [n for n, step in enumerate(found.steps) if step.kind in {"changed", "removed", "moved"}]
    kept = [n for n, step in enumerate(found.steps) if step.kind == "kept" and n < min(lost, default=n + 1)]
    assert found.progress == (len(kept) / len(_flat(left)) if left else None)
    assert (found.first_divergence is None) is (found.trajectory == "same")
