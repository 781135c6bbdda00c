"""What two runs changed outside of the conversation: what is missing, extra, or changed and how."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.model import Comparison, EffectsComparison
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.support import changed, compare, found
from tests.support.json_compare import json_difference
from tests.support.records import record_json, tool_call, tool_output

Step = tuple[str, JsonValue, JsonValue] | tuple[str, JsonValue]
"""A call: the tool, its arguments and, if it is not `done`, its output."""


def _record(*steps: Step) -> JsonObject:
    """Give a record whose calls stand one after another."""
    items: list[JsonObject] = []
    for number, step in enumerate(steps, start=1):
        items.append(tool_call(f"c{number}", step[0], arguments=step[1]))
        items.append(tool_output(f"c{number}", output=step[2] if len(step) == 3 else "done"))
    return record_json(items=items)


def _compared(left: Sequence[Step], right: Sequence[Step], **effects: JsonValue) -> Comparison:
    options = {
        "include_sections": ["effects"],
        "effects": {"write": ["book", "cancel", "pay"]} | effects,
    }
    return compare(_record(*left), _record(*right), CompareOptions.from_json(options))


def _differences(left: Sequence[Step], right: Sequence[Step], **effects: JsonValue) -> list[JsonObject]:
    """Give the differences, calls shown by name and arguments."""
    differences = found(_compared(left, right, **effects).differences)
    return [{key: _brief(value) for key, value in one.items()} for one in differences]


def _brief(value: JsonValue) -> JsonValue:
    call = cast("JsonObject", value) if isinstance(value, dict) else {}
    return [call["name"], call["arguments"]] if "callId" in call else cast("JsonValue", value)


def _counts(effects: EffectsComparison | None) -> tuple[int, ...]:
    """Give writes, failed writes, changed, missing and extra."""
    assert effects is not None
    return (
        effects.writes_a,
        effects.writes_b,
        effects.failed_a,
        effects.failed_b,
        effects.changed,
        effects.missing,
        effects.extra,
    )


def _gone(index: int, tool: str, arguments: JsonValue) -> JsonObject:
    return {"path": f"effects[{index}]", "kind": "missing_right", "left": [tool, arguments]}


def _new(index: int, tool: str, arguments: JsonValue) -> JsonObject:
    return {"path": f"effects[{index}]", "kind": "missing_left", "right": [tool, arguments]}


def _other(index: int, left: JsonValue, right: JsonValue) -> JsonObject:
    return changed(f"effects[{index}].arguments", left, right)


def _outcome(index: int, left: JsonValue, right: JsonValue) -> JsonObject:
    return changed(f"effects[{index}].outcome", left, right)


NO_SEATS = "Error: no seats"

# What both runs did, what differs, and how much: writes, failed ones, changed, missing, extra.
CASES: list[tuple[str, list[Step], list[Step], list[JsonObject], tuple[int, ...]]] = [
    ("nothing done", [], [], [], (0, 0, 0, 0, 0, 0, 0)),
    ("the same", [("book", {"n": 1})], [("book", {"n": 1})], [], (1, 1, 0, 0, 0, 0, 0)),
    (
        "other reads",
        [("look", {"q": 1}), ("book", {"n": 1})],
        [("book", {"n": 1}), ("see", {}), ("look", {"q": 2})],
        [],
        (1, 1, 0, 0, 0, 0, 0),
    ),
    (
        "other order",
        [("book", {"n": 1}), ("pay", {"n": 2}), ("book", {"n": 3})],
        [("book", {"n": 3}), ("book", {"n": 1}), ("pay", {"n": 2})],
        [],
        (3, 3, 0, 0, 0, 0, 0),
    ),
    ("number form", [("book", {"n": 1})], [("book", {"n": 1.0})], [], (1, 1, 0, 0, 0, 0, 0)),
    ("another output", [("book", {"n": 1}, "a")], [("book", {"n": 1}, "b")], [], (1, 1, 0, 0, 0, 0, 0)),
    (
        "missing",
        [("look", {}), ("book", {"n": 1})],
        [("look", {})],
        [_gone(1, "book", {"n": 1})],
        (1, 0, 0, 0, 0, 1, 0),
    ),
    (
        "extra",
        [("look", {})],
        [("look", {}), ("book", {"n": 1})],
        [_new(1, "book", {"n": 1})],
        (0, 1, 0, 0, 0, 0, 1),
    ),
    (
        "done twice",
        [("book", {"n": 1})],
        [("book", {"n": 1}), ("book", {"n": 1})],
        [_new(1, "book", {"n": 1})],
        (1, 2, 0, 0, 0, 0, 1),
    ),
    (
        "done once less",
        [("book", {"n": 1}), ("look", {}), ("book", {"n": 1})],
        [("book", {"n": 1})],
        [_gone(2, "book", {"n": 1})],
        (2, 1, 0, 0, 0, 1, 0),
    ),
    (
        "changed",
        [("look", {}), ("pay", {"to": "ann", "amount": 25})],
        [("pay", {"to": "ann", "amount": 20})],
        [_other(1, {"to": "ann", "amount": 25}, {"to": "ann", "amount": 20})],
        (1, 1, 0, 0, 1, 0, 0),
    ),
    (
        "changed altogether",
        [("pay", {"to": "ann"})],
        [("pay", {"amount": 20})],
        [_other(0, {"to": "ann"}, {"amount": 20})],
        (1, 1, 0, 0, 1, 0, 0),
    ),
    (
        "another tool is no change",
        [("book", {"n": 1})],
        [("pay", {"n": 1})],
        [_gone(0, "book", {"n": 1}), _new(0, "pay", {"n": 1})],
        (1, 1, 0, 0, 0, 1, 1),
    ),
    (
        "1 is not true",
        [("book", {"n": 1})],
        [("book", {"n": True})],
        [_other(0, {"n": 1}, {"n": True})],
        (1, 1, 0, 0, 1, 0, 0),
    ),
    (
        "without arguments",
        [("book", {})],
        [("book", {"n": 1})],
        [_other(0, {}, {"n": 1})],
        (1, 1, 0, 0, 1, 0, 0),
    ),
    (
        "arguments that are text",
        [("book", '{"n":')],
        [("book", '{"n": 1')],
        [_other(0, '{"n":', '{"n": 1')],
        (1, 1, 0, 0, 1, 0, 0),
    ),
    # What failed has changed nothing, so that one who tries again has done the same.
    (
        "failed on the way",
        [("book", {"n": 1}, NO_SEATS), ("book", {"n": 2})],
        [("book", {"n": 2})],
        [],
        (1, 1, 1, 0, 0, 0, 0),
    ),
    (
        "failed here and there",
        [("book", {"n": 1}, NO_SEATS)],
        [("book", {"n": 2}, "Failed")],
        [],
        (0, 0, 1, 1, 0, 0, 0),
    ),
    (
        "failed instead of done",
        [("book", {"n": 1})],
        [("look", {}), ("book", {"n": 1}, NO_SEATS)],
        [_outcome(0, "done", {"failed": NO_SEATS})],
        (1, 0, 0, 1, 0, 1, 0),
    ),
    (
        "done instead of failed",
        [("book", {"n": 1}, NO_SEATS)],
        [("look", {}), ("book", {"n": 1})],
        [_outcome(0, {"failed": NO_SEATS}, "done")],
        (0, 1, 1, 0, 0, 0, 1),
    ),
    (
        "failed with other arguments is missing",
        [("book", {"n": 1})],
        [("book", {"n": 2}, NO_SEATS)],
        [_gone(0, "book", {"n": 1})],
        (1, 0, 0, 1, 0, 1, 0),
    ),
    # In the order of the baseline's calls, then the candidate's.
    (
        "some of each",
        [("book", {"n": 1}), ("cancel", {"n": 2}), ("pay", {"n": 3}), ("pay", {"n": 4})],
        [("pay", {"n": 4}), ("cancel", {"n": 5}), ("cancel", {"n": 2}), ("book", {"n": 6})],
        [_other(0, {"n": 1}, {"n": 6}), _gone(2, "pay", {"n": 3}), _new(1, "cancel", {"n": 5})],
        (4, 4, 0, 0, 1, 1, 1),
    ),
]


@pytest.mark.parametrize(
    ("left", "right", "differences", "counts"), [pytest.param(*case[1:], id=case[0]) for case in CASES]
)
def test_effects(
    left: list[Step], right: list[Step], differences: list[JsonObject], counts: tuple[int, ...]
) -> None:
    comparison = _compared(left, right)

    assert json_difference(differences, _differences(left, right), null_is_absent=False) is None
    assert _counts(comparison.effects) == counts
    assert comparison.signals.raised() == (("effectsChanged",) if differences else ())
    assert comparison.sections["effects"] == ("different" if differences else "same")


# Writes of one tool that all differ, and which of them belong together.
PAIRINGS: list[tuple[str, list[JsonValue], list[JsonValue], list[tuple[int, JsonValue, JsonValue]]]] = [
    (
        "the nearest, whatever the order",
        [{"to": "ann", "n": 1, "x": 1}, {"to": "bob", "n": 2, "x": 1}],
        [{"to": "bob", "n": 2, "x": 5}, {"to": "ann", "n": 1, "x": 6}],
        [
            (0, {"to": "ann", "n": 1, "x": 1}, {"to": "ann", "n": 1, "x": 6}),
            (1, {"to": "bob", "n": 2, "x": 1}, {"to": "bob", "n": 2, "x": 5}),
        ],
    ),
    (
        # Each first one is nearest to the other, by 1/4; but then the second would differ in all.
        # 2/4 + 2/4 is less.
        "the least in all",
        [{"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 9, "b": 9, "c": 1, "d": 2}],
        [{"a": 1, "b": 1, "c": 1, "d": 2}, {"a": 1, "b": 1, "c": 3, "d": 3}],
        [
            (0, {"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 1, "b": 1, "c": 3, "d": 3}),
            (1, {"a": 9, "b": 9, "c": 1, "d": 2}, {"a": 1, "b": 1, "c": 1, "d": 2}),
        ],
    ),
    (
        "what is the same goes first",
        [{"a": 1, "b": 1}, {"a": 1, "b": 2}],
        [{"a": 1, "b": 2}, {"a": 3, "b": 3}],
        [(0, {"a": 1, "b": 1}, {"a": 3, "b": 3})],
    ),
    (
        "by what is further in",
        [{"legs": [{"n": 1, "d": "x"}, {"n": 2, "d": "x"}]}, {"legs": [{"n": 3, "d": "y"}]}],
        [{"legs": [{"n": 4, "d": "y"}]}, {"legs": [{"n": 1, "d": "x"}, {"n": 2, "d": "z"}]}],
        [
            (
                0,
                {"legs": [{"n": 1, "d": "x"}, {"n": 2, "d": "x"}]},
                {"legs": [{"n": 1, "d": "x"}, {"n": 2, "d": "z"}]},
            ),
            (1, {"legs": [{"n": 3, "d": "y"}]}, {"legs": [{"n": 4, "d": "y"}]}),
        ],
    ),
]


@pytest.mark.parametrize(
    ("left", "right", "pairs"), [pytest.param(*case[1:], id=case[0]) for case in PAIRINGS]
)
def test_writes_of_one_tool_are_paired_so_that_the_least_differs(
    left: list[JsonValue], right: list[JsonValue], pairs: list[tuple[int, JsonValue, JsonValue]]
) -> None:
    one, other = [("book", arguments) for arguments in left], [("book", arguments) for arguments in right]

    assert _differences(one, other) == [_other(*pair) for pair in pairs]


def test_the_write_without_a_partner_is_the_one_that_is_furthest() -> None:
    left: list[Step] = [("book", {"to": who, "n": n}) for who, n in (("ann", 1), ("ann", 2), ("bob", 9))]
    right: list[Step] = [("book", {"to": "ann", "n": 3}), ("book", {"to": "ann", "n": 4})]

    assert _differences(left, right)[2:] == [_gone(2, "book", {"to": "bob", "n": 9})]
    assert _differences(right, left)[2:] == [_new(2, "book", {"to": "bob", "n": 9})]


# Tolerances of `pay`, what is paid, and whether that is the same.
BORDERS: list[tuple[JsonObject, JsonValue, JsonValue, bool]] = [
    ({}, {"n": 1}, {"n": 1.0000001}, False),
    ({"n": 0.5}, {"n": 1}, {"n": 1.5}, True),
    ({"n": 0.5}, {"n": 1}, {"n": 1.51}, False),
    ({"n": 0.5}, {"n": 1}, {"n": 0.5}, True),
    ({"n": 0.5}, {"n": 1}, {"n": 0.49}, False),
    ({"n": 1}, {"n": -1}, {"n": 0}, True),
    # As people reckon, whatever doubles make of it: 8.3 - 8.2 is 0.10000000000000142 there.
    ({"n": 0.1}, {"n": 8.2}, {"n": 8.3}, True),
    ({"n": 0.01}, {"n": 1.01}, {"n": 1.0}, True),
    ({"n": 0.1}, {"n": 1e9 + 0.2}, {"n": 1e9 + 0.3}, True),
    ({"n": 0.3}, {"n": 0}, {"n": 0.1 + 0.2}, True),
    ({"n": 0.1}, {"n": 8.2}, {"n": 8.3001}, False),
    ({"n": 1}, {"n": 10**400}, {"n": 10**400 + 1}, True),
    ({"n": 1}, {"n": 10**400}, {"n": 0.5}, False),
    ({"n": 1e308}, {"n": -1.5e308}, {"n": 1.5e308}, False),
    ({"n": 1}, {"n": 5e-324}, {"n": 0}, True),
    # Of several that meet a number the largest.
    ({"n": 0.1, "*": 2}, {"n": 1}, {"n": 3}, True),
    ({"legs[*].n": 1}, {"legs": [{"n": 1}, {"n": 5}]}, {"legs": [{"n": 2}, {"n": 4}]}, True),
    ({"legs[0].n": 1}, {"legs": [{"n": 1}, {"n": 5}]}, {"legs": [{"n": 2}, {"n": 4}]}, False),
    ({"m": 1}, {"n": 1}, {"n": 2}, False),
    ({"a": 1}, {"a": {"n": 1}}, {"a": {"n": 2}}, False),
    ({"['a.b']": 1}, {"a.b": 1}, {"a.b": 2}, True),
    # Of numbers only.
    ({"n": 1}, {"n": 1}, {"n": True}, False),
    ({"n": 1}, {"n": 1}, {"n": "1"}, False),
    ({"n": 1}, {"n": 1}, {"n": None}, False),
    ({"n": 1}, {"n": 1}, {}, False),
    ({"n": 1}, {"n": 1, "m": 1}, {"n": 2, "m": 2}, False),
]


@pytest.mark.parametrize(("tolerance", "left", "right", "same"), BORDERS, ids=repr)
def test_tolerance(tolerance: JsonObject, left: JsonValue, right: JsonValue, *, same: bool) -> None:
    for a, b in ((left, right), (right, left)):
        comparison = _compared([("pay", a)], [("pay", b)], tolerance={"pay": tolerance})

        assert comparison.equal is same
        assert comparison.effects is not None
        assert comparison.effects.changed == (not same)
        other = _compared([("book", a)], [("book", b)], tolerance={"pay": tolerance})
        assert not other.equal  # the tolerance is about another tool


@pytest.mark.parametrize("right", list(permutations([1, 2, 3])), ids=repr)
def test_with_a_tolerance_as_many_as_possible_are_the_same(right: tuple[int, ...]) -> None:
    # Equal first would take 1 and 2 for the same as 1 and 2, and leave 0 with 3.
    left: list[Step] = [("pay", {"n": n}) for n in (0, 1, 2)]

    assert _compared(left, [("pay", {"n": n}) for n in right], tolerance={"pay": {"n": 1}}).equal


def test_with_a_tolerance_one_pair_more_that_is_the_same_counts_most() -> None:
    # The same: a with a; then the rest shares nothing. Else both pairs would differ by a half.
    left: list[Step] = [("pay", {"n": 1, "to": "a"}), ("pay", {"n": 50, "to": "b"})]
    right: list[Step] = [("pay", {"n": 2, "to": "a"}), ("pay", {"n": 90, "to": "c"})]

    assert _differences(left, right, tolerance={"pay": {"n": 1}}) == [
        _other(1, {"n": 50, "to": "b"}, {"n": 90, "to": "c"})
    ]


# Rules on `book`, and two bookings that come to the same by them.
SAME_BY_RULES: list[tuple[str, JsonObject, JsonValue, JsonValue]] = [
    ("ignored", {"arguments": {"book": {"note": "ignore"}}}, {"n": 1, "note": "a"}, {"n": 1}),
    (
        "unordered",
        {"arguments": {"book": {"who": ["unordered"]}}},
        {"who": [{"name": "Ann"}, {"name": "Bob"}]},
        {"who": [{"name": "Bob"}, {"name": "Ann"}]},
    ),
    ("dates", {"arguments": {"book": {"on": ["dates"]}}}, {"on": "2024-05-20"}, {"on": "May 20th, 2024"}),
    (
        "times",
        {"arguments": {"book": {"at": ["dates"]}}},
        {"at": "2024-05-20T12:00:00+02:00"},
        {"at": "2024-05-20 10:00:00Z"},
    ),
    (
        "case and spaces",
        {"arguments": {"book": {"who": ["case", "spaces"]}}},
        {"who": "Ann Lee"},
        {"who": " ANN  lee"},
    ),
    ("Unicode", {"arguments": {"*": {"who": ["unicode"]}}}, {"who": "Jos\u00e9"}, {"who": "Jose\u0301"}),
    ("a default", {"defaults": {"book": {"insurance": "no"}}}, {"n": 1}, {"n": 1, "insurance": "no"}),
    ("a default in another form", {"defaults": {"book": {"bags": 0}}}, {"bags": 0.0}, {}),
    (
        "a default of an ignored argument",
        {"defaults": {"book": {"note": "a"}}, "arguments": {"book": {"note": "ignore"}}},
        {"note": "b"},
        {},
    ),
    (
        "a default within tolerance",
        {"defaults": {"book": {"n": 1}}, "tolerance": {"book": {"n": 1}}},
        {"n": 2},
        {},
    ),
    (
        "unordered within tolerance",
        {"arguments": {"book": {"prices": ["unordered"]}}, "tolerance": {"book": {"prices[*]": 0.01}}},
        {"prices": [2.5, 1]},
        {"prices": [1.01, 2.5]},
    ),
]


@pytest.mark.parametrize(
    ("rules", "left", "right"), [pytest.param(*case[1:], id=case[0]) for case in SAME_BY_RULES]
)
def test_rules_on_effects(rules: JsonObject, left: JsonValue, right: JsonValue) -> None:
    for a, b in ((left, right), (right, left)):
        assert not _compared([("book", a)], [("book", b)]).equal
        assert _compared([("book", a)], [("book", b)], **rules).equal


def test_rules_on_all_calls_hold_for_effects_too() -> None:
    options = CompareOptions.from_json(
        {"arguments": {"*": {"request_id": "ignore"}}, "effects": {"write": ["book"]}}
    )
    left, right = (
        _record(("book", {"n": 1, "request_id": "a"})),
        _record(("book", {"n": 1, "request_id": "b"})),
    )

    assert compare(left, right, options).equal
    assert not compare(left, right, CompareOptions.from_json({"effects": {"write": ["book"]}})).equal


def test_rules_on_effects_leave_the_comparison_of_calls_alone() -> None:
    options = CompareOptions.from_json(
        {"effects": {"write": ["book"], "arguments": {"book": {"note": "ignore"}}}}
    )

    comparison = compare(_record(("book", {"note": "a"})), _record(("book", {"note": "b"})), options)

    assert comparison.sections["effects"] == "same"
    assert comparison.sections["toolCalls"] == "different"


def _booked(trip: str, *later: Step) -> list[Step]:
    return [("book", {"to": "JFK"}, {"id": trip}), *later]


def test_ids_that_each_run_minted_for_the_same_thing_are_the_same() -> None:
    left, right = (
        _booked("HAT271", ("cancel", {"id": "HAT271"})),
        _booked("HAT904", ("cancel", {"id": "HAT904"})),
    )

    assert _compared(left, right).equal


def test_ids_that_both_runs_minted_for_other_things_differ_even_if_they_read_alike() -> None:
    left: list[Step] = [
        ("book", {"to": "JFK"}, {"id": "T-01"}),
        ("book", {"to": "SFO"}, {"id": "T-02"}),
        ("cancel", {"id": "T-01"}),
    ]
    right: list[Step] = [
        ("book", {"to": "SFO"}, {"id": "T-01"}),
        ("book", {"to": "JFK"}, {"id": "T-02"}),
        ("cancel", {"id": "T-01"}),
    ]

    assert _differences(left, right) == [
        _other(2, {"id": '$.id of book({"to":"JFK"})'}, {"id": '$.id of book({"to":"SFO"})'})
    ]
    # The other one cancelled, it is the same trip.
    assert _compared(left, [*right[:2], ("cancel", {"id": "T-02"})]).equal


def test_an_id_that_one_run_had_from_a_lookup_is_the_same_as_it_stands() -> None:
    # The address's output shows the whole order; the candidate looked at the order first.
    left: list[Step] = [("pay", {"order": "W1"}, {"item_id": "I-4711"}), ("cancel", {"item_id": "I-4711"})]
    right: list[Step] = [("look", {"order": "W1"}, {"item_id": "I-4711"}), *left]

    assert _compared(left, right).equal
    assert _compared(right, left).equal
    other: list[Step] = [*right[:2], ("cancel", {"item_id": "I-4712"})]
    assert not _compared(left, other).equal


@pytest.mark.parametrize(
    "tolerance", [{}, {"tolerance": {"put": {"n": 0.5}}}], ids=["exact", "with a tolerance"]
)
def test_of_very_many_writes_the_equal_ones_are_paired_and_the_others_in_their_order(
    tolerance: JsonObject,
) -> None:
    """600 on each side, of which 500 are equal, though in another order; 90 of the others have a partner."""
    left = [("put", {"n": number}) for number in range(600)]
    right = [("put", {"n": number}) for number in reversed(range(100, 600))]
    right += [("put", {"n": 1000 + number}) for number in range(90)]

    counts = _compared(left, right, write=["put"], **tolerance).effects

    assert counts is not None
    assert (counts.writes_a, counts.writes_b) == (600, 590)
    assert (counts.changed, counts.missing, counts.extra) == (90, 10, 0)


def test_a_repeat_that_does_nothing_is_no_effect() -> None:
    once: list[Step] = [("cancel", {"n": 1})]

    assert not _compared(once, once * 2).equal
    assert _compared(once, once * 2, idempotent=["cancel"]).equal
    assert _compared(once * 3, once, idempotent=["cancel"]).equal
    assert not _compared(once, [], idempotent=["cancel"]).equal


def test_a_missing_write_is_shown_whole() -> None:
    (difference,) = found(_compared([("look", {}), ("book", {"n": 1}, {"id": 5})], []).differences)

    # printf '{"n":1}' | sha256sum
    call = {
        "callId": "c2",
        "name": "book",
        "arguments": {"n": 1},
        "output": {"id": 5},
        "hasOutput": True,
        "turn": 2,
        "argsCanonicalJson": '{"n":1}',
        "argsHash": "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd",
    }
    assert json_difference({"path": "effects[1]", "kind": "missing_right", "left": call}, difference) is None


_BOOKINGS = st.lists(st.integers(0, 3).map(lambda n: ("book", {"n": n})), max_size=6)


@given(left=_BOOKINGS, right=_BOOKINGS)
def test_effects_are_the_same_exactly_when_the_multisets_are(left: list[Step], right: list[Step]) -> None:
    def counted(steps: list[Step]) -> list[int]:
        return sorted(step[1]["n"] for step in steps)

    assert _compared(left, right).equal is (counted(left) == counted(right))
