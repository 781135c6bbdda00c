"""What never changes a result: the order of calls inside a turn, key order, the form of numbers.

Runs here read, write, fail, mint ids and use them, so that every part of the comparison has something to do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.model import Comparison, Difference, EffectsComparison
from regress_core.compare.options import CompareOptions
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.support import compare, decision
from tests.support.records import message, record_json, tool_call, tool_output


@dataclass(frozen=True)
class _Call:
    tool: str
    arguments: JsonValue
    output: JsonValue


_Run = Sequence[Sequence[_Call]]
"""The calls of a run, turn by turn."""

_IDS = st.sampled_from(["T-01", "T-02", "T-03"])
_NUMBERS = st.integers(0, 2)
_ARGUMENTS: st.SearchStrategy[JsonValue] = st.fixed_dictionaries(
    {},
    optional={
        "n": _NUMBERS,
        "m": _NUMBERS,
        "trip_id": _IDS | _NUMBERS,
        "who": st.lists(st.sampled_from(["Ann", "Bob"]), max_size=2),
        "by": st.fixed_dictionaries({"card": _NUMBERS, "fee": _NUMBERS}),
    },
)
_OUTPUTS: st.SearchStrategy[JsonValue] = st.one_of(
    st.just("done"),
    st.just("Error: no seats"),
    st.fixed_dictionaries({"status": st.sampled_from([200, 404]), "n": _NUMBERS}),
    st.fixed_dictionaries({"trip_id": _IDS | _NUMBERS, "code": _IDS}),
    _IDS.map("Booked as {}.".format),
)
_CALLS = st.builds(_Call, st.sampled_from(["book", "book", "cancel", "look"]), _ARGUMENTS, _OUTPUTS)
_RUNS: st.SearchStrategy[_Run] = st.lists(st.lists(_CALLS, min_size=1, max_size=3), max_size=4)
_FORMS = st.sampled_from([False, True])


def _record(run: _Run, *, decided: bool) -> JsonObject:
    """Give a run's record; where decisions tell the turns, outputs stand right after their calls."""
    items, decisions = [message("Two seats, please.")], list[JsonObject]()
    number = 0
    for turn, calls in enumerate(run, start=1):
        outputs: list[JsonObject] = []
        for call in calls:
            number += 1
            call_id = f"call_{number}x"
            output = tool_output(call_id, output=call.output)
            items.append(tool_call(call_id, call.tool, arguments=call.arguments))
            if decided:
                decisions.append(decision(call_id, turn, call.tool))
                items.append(output)
            else:
                outputs.append(output)
        items += [*outputs, message("One moment.", role="assistant")]
    response = "You are booked for 2 May 2024."
    return record_json(items=items, policyDecisions=decisions, response=response)


@st.composite
def _rewritten(draw: st.DrawFn, run: _Run) -> _Run:
    """Give the same run in another form."""
    return [
        [
            _Call(call.tool, draw(_in_other_form(call.arguments)), draw(_in_other_form(call.output)))
            for call in draw(st.permutations(calls))
        ]
        for calls in run
    ]


@st.composite
def _in_other_form(draw: st.DrawFn, value: JsonValue) -> JsonValue:
    """Give the same JSON value with other key orders and number forms."""
    if isinstance(value, dict):
        members = draw(st.permutations(list(cast("JsonObject", value).items())))
        return {key: draw(_in_other_form(child)) for key, child in members}
    if isinstance(value, list):
        return [draw(_in_other_form(child)) for child in cast("list[JsonValue]", value)]
    return float(value) if type(value) is int and draw(_FORMS) else value


_WRITES: JsonObject = {"write": ["book", "cancel"]}
_OPTIONS: Mapping[str, CompareOptions] = {
    name: CompareOptions.from_json({"effects": _WRITES | effects})
    for name, effects in {
        "writes": {},
        "idempotent": {"idempotent": ["cancel"]},
        "tolerance": {"tolerance": {"book": {"n": 1, "by.fee": 1.5}}},
        "rules": {
            "arguments": {"*": {"m": "ignore", "who": ["unordered", "case"]}},
            "defaults": {"book": {"n": 0}},
        },
    }.items()
}
_with_options = pytest.mark.parametrize("options", _OPTIONS.values(), ids=_OPTIONS)


def _told(differences: Iterable[Difference]) -> Counter[str]:
    """Count differences without indexes, and calls that they show without their places."""
    return Counter(canonical_json(_without_places(difference.to_json())) for difference in differences)


def _without_places(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    members = cast("JsonObject", value)
    kept = {key: _without_places(child) for key, child in members.items() if key not in ("callId", "turn")}
    return kept | ({"path": re.sub(r"\d+", "", kept["path"])} if "path" in kept else {})


def _not_of_calls(comparison: Comparison) -> list[Difference]:
    """Leave out differences of calls: in a turn where several differ, their order pairs them to be shown."""
    return [one for one in comparison.differences if not one.path.startswith("toolCalls")]


def _assert_same_result(one: Comparison, other: Comparison) -> None:
    assert one.signals == other.signals
    assert one.equal is other.equal
    assert one.summary == other.summary
    assert one.sections == other.sections
    assert one.metrics == other.metrics
    assert one.effects == other.effects
    assert one.answer == other.answer
    assert one.trajectory is not None
    assert other.trajectory is not None
    assert one.trajectory.trajectory == other.trajectory.trajectory
    assert one.trajectory.progress == other.trajectory.progress
    assert _told(_not_of_calls(one)) == _told(_not_of_calls(other))
    assert _told(one.provenance) == _told(other.provenance)


@_with_options
@given(left=_RUNS, right=_RUNS, data=st.data(), decided=st.booleans())
def test_order_inside_turns_key_order_and_number_form_change_nothing(
    options: CompareOptions, left: _Run, right: _Run, data: st.DataObject, *, decided: bool
) -> None:
    other_left, other_right = data.draw(_rewritten(left)), data.draw(_rewritten(right))

    one = compare(_record(left, decided=decided), _record(right, decided=decided), options)
    other = compare(_record(other_left, decided=decided), _record(other_right, decided=decided), options)

    _assert_same_result(one, other)


@_with_options
@given(run=_RUNS, data=st.data(), decided=st.booleans())
def test_a_run_in_another_form_is_the_same_run(
    options: CompareOptions, run: _Run, data: st.DataObject, *, decided: bool
) -> None:
    other = data.draw(_rewritten(run))

    comparison = compare(_record(run, decided=decided), _record(other, decided=decided), options)

    assert _told(comparison.differences) == Counter()
    assert comparison.signals.raised() == ()
    assert comparison.trajectory is not None
    assert comparison.trajectory.trajectory == "same"


_MIRRORED = {"mismatch": "mismatch", "missing_left": "missing_right", "missing_right": "missing_left"}


def _mirrored(difference: Difference) -> Difference:
    """Give a difference as it is from the other side."""
    sides: JsonObject = {}
    if difference.kind != "missing_right":
        sides["left"] = difference.right
    if difference.kind != "missing_left":
        sides["right"] = difference.left
    return Difference.from_json({"path": difference.path, "kind": _MIRRORED[difference.kind]} | sides)


def _effects(left: _Run, right: _Run, options: CompareOptions) -> tuple[EffectsComparison, list[Difference]]:
    """Compare effects; give the counts and the differences."""
    comparison = compare(_record(left, decided=False), _record(right, decided=False), options)
    assert comparison.effects is not None
    return comparison.effects, [one for one in comparison.differences if one.path.startswith("effects")]


@_with_options
@given(left=_RUNS, right=_RUNS)
def test_swapping_sides_swaps_missing_and_extra(options: CompareOptions, left: _Run, right: _Run) -> None:
    one, differences = _effects(left, right, options)
    other, mirrored = _effects(right, left, options)

    assert (one.changed, one.missing, one.extra) == (other.changed, other.extra, other.missing)
    assert (one.writes_a, one.writes_b) == (other.writes_b, other.writes_a)
    assert (one.failed_a, one.failed_b) == (other.failed_b, other.failed_a)
    assert _told(differences) == _told(map(_mirrored, mirrored))


@_with_options
@given(left=_RUNS, right=_RUNS)
def test_counts_add_up(options: CompareOptions, left: _Run, right: _Run) -> None:
    counts, differences = _effects(left, right, options)

    same = counts.writes_a - counts.changed - counts.missing
    assert same == counts.writes_b - counts.changed - counts.extra
    assert same >= 0
    assert (
        not (counts.missing and counts.extra)
        or len({call.tool for turn in (*left, *right) for call in turn}) > 1
    )
    assert len(differences) == counts.changed + counts.missing + counts.extra
    for run, writes, failed in (
        (left, counts.writes_a, counts.failed_a),
        (right, counts.writes_b, counts.failed_b),
    ):
        made = sum(call.tool != "look" for turn in run for call in turn)
        assert made >= writes + failed
        assert made == writes + failed or (options.effects is not None and options.effects.idempotent)


@st.composite
def _with_lookups(draw: st.DrawFn, run: _Run) -> _Run:
    """Give the run with lookups in its turns, and between them, that name no ids."""
    lookups = st.lists(st.just(_Call("look", {"q": "seats"}, "there are some")), max_size=2)
    turns = [turn for calls in run for turn in (draw(lookups), [*calls, *draw(lookups)])]
    return [turn for turn in turns if turn]


@_with_options
@given(left=_RUNS, right=_RUNS, data=st.data())
def test_lookups_change_no_effect(
    options: CompareOptions, left: _Run, right: _Run, data: st.DataObject
) -> None:
    one, differences = _effects(left, right, options)
    other, with_lookups = _effects(data.draw(_with_lookups(left)), data.draw(_with_lookups(right)), options)

    assert one == other
    assert _told(differences) == _told(with_lookups)
