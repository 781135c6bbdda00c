"""The edit script between two trajectories, step by step (C25)."""

from __future__ import annotations

from collections import Counter

import pytest

from regress_core.compare.alignment import Alignment, Step, StepKind, Trajectory, align
from regress_core.compare.tool_calls import GroupedCall, compared_calls, grouped_calls
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.compare.support import Call, Turns, decision, run_of, turns
from tests.support.records import message, record_json, tool_call, tool_output


def _calls_of(record: JsonObject) -> list[GroupedCall]:
    parsed = RunRecord.parse(record)
    return grouped_calls(parsed, compared_calls(parsed, ArgumentRules()))


def _aligned(left: Turns, right: Turns, *, decided: bool = True) -> Alignment:
    return align(_calls_of(run_of(left, decided=decided)), _calls_of(run_of(right, decided=decided)))


def _kept(tool: str, left: int, right: int) -> Step:
    return Step("kept", tool, left, right)


def _changed(tool: str, left: int, right: int) -> Step:
    return Step("changed", tool, left, right)


def _removed(tool: str, left: int) -> Step:
    return Step("removed", tool, left, None)


def _inserted(tool: str, right: int) -> Step:
    return Step("inserted", tool, None, right)


def _moved(tool: str, left: int, right: int) -> Step:
    return Step("moved", tool, left, right)


# Baseline and candidate, the steps, the trajectory, the first divergence, the progress.
CASES: list[tuple[str, str, list[Step], Trajectory, str | None, float | None]] = [
    ("", "", [], "same", None, None),
    ("a1 | b2", "a1 | b2", [_kept("a", 0, 0), _kept("b", 1, 1)], "same", None, 1.0),
    ("b2 a1", "a1 b2", [_kept("a", 1, 0), _kept("b", 0, 1)], "same", None, 1.0),
    ("a1 a1", "a1 a1", [_kept("a", 0, 0), _kept("a", 1, 1)], "same", None, 1.0),
    ("", "a1", [_inserted("a", 0)], "superset", "call 1 of the candidate (a) is new", None),
    ("a1", "", [_removed("a", 0)], "subset", "call 1 (a) is missing", 0.0),
    (
        "a1 | b2",
        "a1 | b3",
        [_kept("a", 0, 0), _changed("b", 1, 1)],
        "different",
        "call 2 (b) has other arguments",
        0.5,
    ),
    (
        "a1 | b2",
        "a1 | c3 | b2",
        [_kept("a", 0, 0), _inserted("c", 1), _kept("b", 1, 2)],
        "superset",
        "call 2 of the candidate (c) is new",
        1.0,
    ),
    (
        "a1 | c3 | b2 | d4",
        "a1 | b2 | d4",
        [_kept("a", 0, 0), _removed("c", 1), _kept("b", 2, 1), _kept("d", 3, 2)],
        "subset",
        "call 2 (c) is missing",
        0.25,
    ),
    # The same again: kept where it stands first, whether one more or one less follows.
    (
        "a1",
        "a1 | a1",
        [_kept("a", 0, 0), _inserted("a", 1)],
        "superset",
        "call 2 of the candidate (a) is new",
        1.0,
    ),
    ("a1 | a1", "a1", [_kept("a", 0, 0), _removed("a", 1)], "subset", "call 2 (a) is missing", 0.5),
    (
        "b1 | a1",
        "c1 | a1 | a1 | d1",
        [_removed("b", 0), _inserted("c", 0), _kept("a", 1, 1), _inserted("a", 2), _inserted("d", 3)],
        "different",
        "call 1 (b) is missing",
        0.0,
    ),
    # Another tool is no change: what is gone stands before what is new.
    (
        "a1 | b2",
        "a1 | c2",
        [_kept("a", 0, 0), _removed("b", 1), _inserted("c", 1)],
        "different",
        "call 2 (b) is missing",
        0.5,
    ),
    # An inserted call does not end the progress, a lost one does.
    (
        "a1 | b2 | c3 | d4",
        "e5 | a1 | b2 | c9 | d4",
        [_inserted("e", 0), _kept("a", 0, 1), _kept("b", 1, 2), _changed("c", 2, 3), _kept("d", 3, 4)],
        "different",
        "call 1 of the candidate (e) is new",
        0.5,
    ),
    # Moved to a later place, to an earlier one, past more calls than one; at the earlier of its places.
    (
        "a1 | b2 | c3",
        "b2 | c3 | a1",
        [_moved("a", 0, 2), _kept("b", 1, 0), _kept("c", 2, 1)],
        "reordered",
        "call 1 (a) moved: it is call 3 of the candidate",
        0.0,
    ),
    (
        "a1 | b2 | c3",
        "a1 | c3 | b2 | d4",
        [_kept("a", 0, 0), _moved("c", 2, 1), _kept("b", 1, 2), _inserted("d", 3)],
        "different",
        "call 3 (c) moved: it is call 2 of the candidate",
        1 / 3,
    ),
    # Two of one tool swapped: moved rather than changed, since that keeps one call at the same cost.
    (
        "a1 | a2",
        "a2 | a1",
        [_moved("a", 1, 0), _kept("a", 0, 1)],
        "reordered",
        "call 2 (a) moved: it is call 1 of the candidate",
        0.0,
    ),
    # Three of one tool turned round: two changes are shorter than two moves.
    (
        "a1 | a2 | a3",
        "a3 | a2 | a1",
        [_changed("a", 0, 0), _kept("a", 1, 1), _changed("a", 2, 2)],
        "reordered",
        "call 1 (a) has other arguments",
        0.0,
    ),
    # Regrouped: one turn became two, two became one.
    (
        "a1 b2",
        "a1 | b2",
        [_kept("a", 0, 0), _moved("b", 1, 1)],
        "reordered",
        "call 2 (b) moved to another turn",
        0.5,
    ),
    (
        "a1 | b2",
        "a1 b2",
        [_kept("a", 0, 0), _moved("b", 1, 1)],
        "reordered",
        "call 2 (b) moved to another turn",
        0.5,
    ),
    (
        "a1 b2 c3",
        "b2 | c3 a1",
        [_moved("b", 1, 0), _kept("a", 0, 2), _kept("c", 2, 1)],
        "reordered",
        "call 2 (b) moved: it is call 1 of the candidate",
        0.0,
    ),
    # In a turn: kept, changed, removed, inserted, each by tool and arguments.
    (
        "a1 a2",
        "a2 a3",
        [_kept("a", 1, 0), _changed("a", 0, 1)],
        "different",
        "call 1 (a) has other arguments",
        0.5,
    ),
    (
        "d9 c1 b2 a1 a2",
        "e7 a4 a3 b2 f1",
        [
            _kept("b", 2, 3),
            _changed("a", 3, 2),
            _changed("a", 4, 1),
            _removed("c", 1),
            _removed("d", 0),
            _inserted("e", 0),
            _inserted("f", 4),
        ],
        "different",
        "call 4 (a) has other arguments",
        0.2,
    ),
    # Turns are paired so that most is kept, not one after the other.
    (
        "a1 b1 | c1 d1",
        "c1 | c1 d1 e1",
        [
            _removed("a", 0),
            _removed("b", 1),
            _inserted("c", 0),
            _kept("c", 2, 1),
            _kept("d", 3, 2),
            _inserted("e", 3),
        ],
        "different",
        "call 1 (a) is missing",
        0.0,
    ),
]


@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
@pytest.mark.parametrize(
    ("left", "right", "steps", "trajectory", "divergence", "progress"),
    CASES,
    ids=[f"{case[0] or 'none'} to {case[1] or 'none'}" for case in CASES],
)
def test_alignments(
    left: str,
    right: str,
    steps: list[Step],
    trajectory: Trajectory,
    divergence: str | None,
    progress: float | None,
    *,
    decided: bool,
) -> None:
    found = _aligned(turns(left), turns(right), decided=decided)

    assert found == Alignment(tuple(steps), trajectory, divergence, progress)


@pytest.mark.parametrize(
    "right", [[[Call("a", 1, "gone")]], [[Call("a", 1, None)]], [[Call("a", 1, is_error=True)]]]
)
def test_outputs_play_no_part(right: Turns) -> None:
    assert _aligned(turns("a1"), right).trajectory == "same"


def test_numbers_and_keys_are_canonical() -> None:
    one = record_json(items=[tool_call("c1", "f", arguments={"x": 1.0, "y": 2})])
    other = record_json(items=[tool_call("c1", "f", arguments={"y": 2.0, "x": 1})])

    assert align(_calls_of(one), _calls_of(other)).trajectory == "same"


def test_turns_may_interleave() -> None:
    """The second of three calls side by side has no policy decision, so that it is a turn of its own."""
    calls = [tool_call("c1", "a", arguments={"n": 1}), tool_call("c2", "b"), tool_call("c3", "c")]
    record = record_json(
        items=[message("Hello"), *calls], policyDecisions=[decision("c1", 1, "a"), decision("c3", 1, "c")]
    )
    other = record_json(items=[message("Hello"), calls[0], calls[2], message("Well"), calls[1]])

    found = align(_calls_of(record), _calls_of(other))

    assert found.steps == (_kept("a", 0, 0), _kept("c", 2, 1), _kept("b", 1, 2))


def test_an_output_without_its_call_is_a_call_without_a_name() -> None:
    record = record_json(items=[message("Hello"), tool_output("c9")])

    found = align(_calls_of(record), [])

    assert found.steps == (Step("removed", "", 0, None),)
    assert found.first_divergence == "call 1 (an output without its call) is missing"


_LONG = [[Call("a", n)] for n in range(90)]

# Baseline and candidate of many turns of one call each, and the steps by kind.
LONG: dict[str, tuple[Turns, Turns, Counter[StepKind]]] = {
    "none like another": (
        _LONG,
        [[Call("b", n)] for n in range(90)],
        Counter({"inserted": 90, "removed": 90}),
    ),
    "all changed": (_LONG, [[Call("a", n)] for n in range(100, 190)], Counter({"changed": 90})),
    "the first third came last": (_LONG, [*_LONG[30:], *_LONG[:30]], Counter({"kept": 60, "moved": 30})),
    "the last third came first": (_LONG, [*_LONG[60:], *_LONG[:60]], Counter({"kept": 60, "moved": 30})),
    "every second call is missing": (_LONG, _LONG[::2], Counter({"kept": 45, "removed": 45})),
    "every third call stands alone": (_LONG[::3], _LONG, Counter({"inserted": 60, "kept": 30})),
    "all calls in one turn": (
        _LONG,
        [[call for turn in _LONG for call in turn]],
        Counter({"kept": 1, "moved": 89}),
    ),
}


@pytest.mark.parametrize(("left", "right", "counts"), list(LONG.values()), ids=list(LONG))
def test_long_trajectories(left: Turns, right: Turns, counts: Counter[StepKind]) -> None:
    assert Counter(step.kind for step in _aligned(left, right).steps) == counts
