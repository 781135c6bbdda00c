"""Calls are unordered inside a turn group and ordered across groups (C25, C35, C36)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from regress_core.records.json_io import JsonObject
from tests.compare.strategies import RUNS, shuffled_runs
from tests.compare.support import (
    Call,
    Turns,
    changed,
    compare,
    decision,
    found,
    gone,
    new,
    places,
    run_of,
    turns,
)
from tests.support.json_compare import json_difference
from tests.support.records import message, record_json, tool_call, tool_output

SWAPS = [
    ("a1 b2", "b2 a1"),
    ("a1 a2 a3", "a3 a1 a2"),
    ("a1 a1 b2", "a1 b2 a1"),
    ("a1 b2 | c3", "b2 a1 | c3"),
    ("a1 b2 | c3 d4 | e5", "b2 a1 | d4 c3 | e5"),
]

# Two runs, and the differences of their calls.
MOVES: list[tuple[str, str, list[JsonObject]]] = [
    (
        "a1 | b2",
        "b2 | a1",
        [changed("toolCalls[0].turnGroup", 1, 2), changed("toolCalls[1].turnGroup", 2, 1)],
    ),
    ("a1 b2", "a1 | b2", [changed("toolCalls[1].turnGroup", 1, 2)]),
    ("a1 | b2", "a1 b2", [changed("toolCalls[1].turnGroup", 2, 1)]),
    ("a1 | b2 c3", "a1 b2 | c3", [changed("toolCalls[1].turnGroup", 2, 1)]),
    (
        "a1 b2 | c3",
        "a1 c3 | b2",
        [changed("toolCalls[1].turnGroup", 1, 2), changed("toolCalls[2].turnGroup", 2, 1)],
    ),
    ("a1 | a1", "a1 a1", [changed("toolCalls[1].turnGroup", 2, 1)]),
    ("a1", "a2", [changed("toolCalls[0].arguments", {"n": 1}, {"n": 2})]),
    ("a1", "b1", [changed("toolCalls[0].name", "a", "b")]),
    # A call is told from another one of its turn by its tool.
    (
        "a1 b2",
        "b3 a4",
        [
            changed("toolCalls[0].arguments", {"n": 1}, {"n": 4}),
            changed("toolCalls[1].arguments", {"n": 2}, {"n": 3}),
        ],
    ),
    (
        "a1 | b2",
        "a1 | c3",
        [changed("toolCalls[1].name", "b", "c"), changed("toolCalls[1].arguments", {"n": 2}, {"n": 3})],
    ),
]


@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
@pytest.mark.parametrize(("left", "right"), SWAPS)
def test_a_swap_inside_a_turn_is_equal(left: str, right: str, *, decided: bool) -> None:
    for a, b in ((left, right), (right, left)):
        comparison = compare(run_of(turns(a), decided=decided), run_of(turns(b), decided=decided))
        assert places(comparison.differences) == []
        assert comparison.equal
        assert comparison.signals.raised() == ()


@pytest.mark.parametrize(("left", "right", "differences"), MOVES)
def test_another_call_or_another_turn_is_a_difference(
    left: str, right: str, differences: list[JsonObject]
) -> None:
    comparison = compare(run_of(turns(left), decided=False), run_of(turns(right), decided=False))

    assert json_difference(differences, found(comparison.differences), null_is_absent=False) is None
    assert comparison.signals.raised() == ("toolsChanged",)


@pytest.mark.parametrize(("left", "right"), [case[:2] for case in MOVES])
def test_another_call_or_another_turn_is_a_difference_where_policies_decided(left: str, right: str) -> None:
    comparison = compare(run_of(turns(left), decided=True), run_of(turns(right), decided=True))

    assert not comparison.equal
    assert comparison.sections["toolCalls"] == "different"
    assert "toolsChanged" in comparison.signals.raised()


@pytest.mark.parametrize(
    ("left", "right", "paths"),
    [
        ("a1", "", ["toolCalls.length", "toolCalls[0]"]),
        ("a1 b2", "b2", ["toolCalls.length", "toolCalls[0]"]),
        ("a1 a1", "a1", ["toolCalls.length", "toolCalls[1]"]),
        ("a1 | b2 | c3", "a1 | b2", ["toolCalls.length", "toolCalls[2]"]),
        # The second turn is missing, so that the third has moved up.
        ("a1 | b2 | c3", "a1 | c3", ["toolCalls.length", "toolCalls[1]", "toolCalls[2].turnGroup"]),
    ],
)
def test_missing_and_extra_calls(left: str, right: str, paths: list[str]) -> None:
    a, b = (run_of(turns(text), decided=False) for text in (left, right))

    missing, extra = compare(a, b), compare(b, a)

    assert places(missing.differences) == paths
    assert not missing.equal
    assert not extra.equal
    count = len(left.replace("|", "").split())
    assert found(missing.differences)[0] == changed("toolCalls.length", count, count - 1)
    assert found(extra.differences)[0] == changed("toolCalls.length", count - 1, count)


def test_the_same_call_in_its_own_turn_is_a_closer_match_than_one_elsewhere() -> None:
    left = [[Call("a", 1)], [Call("a", 1)]]
    right = [[Call("b", 1)], [Call("a", 1, "gone")]]

    comparison = compare(run_of(left, decided=False), run_of(right, decided=False))

    assert found(comparison.differences) == [
        changed("toolCalls[0].name", "a", "b"),
        changed("toolCalls[1].output", "done", "gone"),
    ]


def test_a_missing_call_is_shown_whole() -> None:
    # printf '{"n":1}' | sha256sum
    call = {
        "callId": "c1",
        "name": "a",
        "arguments": {"n": 1},
        "output": "done",
        "hasOutput": True,
        "turn": 1,
        "argsCanonicalJson": '{"n":1}',
        "argsHash": "2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd",
    }
    with_call, without = run_of(turns("a1"), decided=False), run_of([], decided=False)

    missing = [changed("toolCalls.length", 1, 0), gone("toolCalls[0]", call)]
    extra = [changed("toolCalls.length", 0, 1), new("toolCalls[0]", call)]
    assert json_difference(missing, found(compare(with_call, without).differences)) is None
    assert json_difference(extra, found(compare(without, with_call).differences)) is None


def test_decisions_of_one_turn_may_stand_in_any_order() -> None:
    record = run_of(turns("a1 b2 | c3"), decided=True)
    first, second, third = record["policyDecisions"]

    assert compare(record, record | {"policyDecisions": [second, first, third]}).equal


def test_one_turn_whose_outputs_stand_between_its_calls_is_one_group() -> None:
    def record(*names: str) -> JsonObject:
        items: list[JsonObject] = []
        for number, name in enumerate(names):
            items += [tool_call(f"c{number}", name), tool_output(f"c{number}", output=name)]
        decisions = [decision(f"c{number}", 1, name) for number, name in enumerate(names)]
        return record_json(items=items, policyDecisions=decisions)

    assert compare(record("f", "g"), record("g", "f")).equal


BREAKS: list[tuple[str, JsonObject]] = [
    ("user message", message("And?")),
    ("assistant message", message("One moment.", role="assistant")),
    ("system message", message("Be kind.", role="system")),
    ("output", tool_output("c0", output="done")),
]


@pytest.mark.parametrize("between", [item for _, item in BREAKS], ids=[name for name, _ in BREAKS])
def test_without_decisions_whatever_stands_between_two_calls_parts_them(between: JsonObject) -> None:
    def record(first: str, second: str) -> JsonObject:
        return record_json(
            items=[tool_call("c0", "start"), tool_call("c1", first), between, tool_call("c2", second)]
        )

    comparison = compare(record("f", "g"), record("g", "f"))

    assert places(comparison.differences) == ["toolCalls[1].turnGroup", "toolCalls[2].turnGroup"]


def test_a_call_without_a_decision_among_decided_ones_leaves_their_turn_whole() -> None:
    # A policy may not be asked about a tool that does not exist; f and g are one turn all the same.
    def record(*names: str) -> JsonObject:
        decided = [name for name in names if name != "unknown"]
        return record_json(
            items=[tool_call(f"call-{name}", name) for name in names],
            policyDecisions=[decision(f"call-{name}", 1, name) for name in decided],
        )

    comparison = compare(record("f", "unknown", "g"), record("g", "unknown", "f"))

    assert places(comparison.differences) == []


def test_a_decision_is_about_the_runs_own_call_not_about_one_of_its_input() -> None:
    # A provider that counts its call ids from c0 in every run: the input's call bears one of them too.
    history = [message("Hi"), tool_call("c0", "f"), tool_output("c0", output=1), message("And now?")]

    def record(*names: str) -> JsonObject:
        calls = [(f"c{number}", name) for number, name in enumerate(names)]
        return record_json(
            items=history + [tool_call(*call) for call in calls],
            inputItemCount=len(history),
            policyDecisions=[decision(call_id, 1, name) for call_id, name in calls],
        )

    comparison = compare(record("f", "g"), record("g", "f"))

    assert places(comparison.differences) == []


def _answered(*answers: tuple[str, str], ids: tuple[str, str] = ("c1", "c2")) -> JsonObject:
    """Two calls in one turn, then their outputs in this order."""
    return record_json(
        items=[
            tool_call(ids[0], "f", arguments={"n": 1}),
            tool_call(ids[1], "f", arguments={"n": 2}),
            *(tool_output(call_id, output=output) for call_id, output in answers),
        ]
    )


def test_outputs_belong_to_their_calls_in_whatever_order_they_arrive() -> None:
    in_order = _answered(("c1", "one"), ("c2", "two"))

    assert compare(in_order, _answered(("c2", "two"), ("c1", "one"))).equal
    comparison = compare(in_order, _answered(("c2", "one"), ("c1", "two")))
    assert found(comparison.differences) == [
        changed("toolCalls[0].output", "one", "two"),
        changed("toolCalls[1].output", "two", "one"),
    ]


def _one_by_one(*outputs: str, ids: tuple[str, str]) -> JsonObject:
    items: list[JsonObject] = []
    for number, (call_id, output) in enumerate(zip(ids, outputs, strict=True)):
        items += [tool_call(call_id, "f", arguments={"n": number}), tool_output(call_id, output=output)]
    return record_json(items=items)


@pytest.mark.parametrize("ids", [("c1", "c1"), ("", ""), ("c2", "c1")], ids=repr)
def test_ids_that_stand_twice_or_not_at_all_mix_nothing_up(ids: tuple[str, str]) -> None:
    plain = _one_by_one("one", "two", ids=("c1", "c2"))

    assert compare(plain, _one_by_one("one", "two", ids=ids)).equal
    assert compare(_one_by_one("one", "two", ids=ids), plain).equal
    assert places(compare(plain, _one_by_one("two", "one", ids=ids)).differences) == [
        "toolCalls[0].output",
        "toolCalls[1].output",
    ]


def test_decisions_about_ids_that_stand_twice_belong_to_the_calls_in_order() -> None:
    def record(ids: tuple[str, str], turn_of_second: int) -> JsonObject:
        decisions = [decision(ids[0], 1), decision(ids[1], turn_of_second)]
        return _one_by_one("one", "two", ids=ids) | {"policyDecisions": decisions}

    same, other = ("c1", "c1"), ("c1", "c2")
    assert compare(record(other, 2), record(same, 2)).equal
    assert compare(record(other, 1), record(same, 1)).equal
    assert "toolCalls[1].turnGroup" in places(compare(record(other, 2), record(same, 1)).differences)


def _meaning(calls: Turns) -> list[Counter[object]]:
    return [Counter((call.name, call.n, call.output, call.is_error) for call in turn) for turn in calls]


@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
@given(left=RUNS, right=RUNS)
def test_runs_are_equal_exactly_when_every_turn_has_the_same_calls(
    left: Turns, right: Turns, *, decided: bool
) -> None:
    comparison = compare(run_of(left, decided=decided), run_of(right, decided=decided))

    assert comparison.equal is (_meaning(left) == _meaning(right))


@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
@given(runs=shuffled_runs())
def test_the_order_of_calls_inside_a_turn_never_matters(runs: tuple[Turns, Turns], *, decided: bool) -> None:
    left, right = (run_of(calls, decided=decided) for calls in runs)

    comparison = compare(left, right)

    assert comparison.equal
    assert places(comparison.differences) == []


@given(runs=shuffled_runs(), other=RUNS)
def test_nor_does_it_matter_against_another_run(runs: tuple[Turns, Turns], other: Turns) -> None:
    one, shuffled = (compare(run_of(run, decided=True), run_of(other, decided=True)) for run in runs)

    assert one.equal is shuffled.equal
    assert one.metrics == shuffled.metrics
    assert one.signals == shuffled.signals
