"""Arguments that carry a fresh id or time in each run, and texts that differ in form only (C23, C24)."""

from __future__ import annotations

from itertools import count
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, dumps
from tests.compare.strategies import RUNS
from tests.compare.support import (
    REFERENCE,
    Turns,
    changed,
    compare,
    found,
    gone,
    new,
    places,
    proposal,
    run_of,
)
from tests.support.json_compare import json_difference
from tests.support.records import record_json, tool_call, tool_output

COMPOSED, DECOMPOSED = "Caf\u00e9 Nord", "Cafe\u0301 Nord"


def _options(**arguments: JsonValue) -> CompareOptions:
    """Give rules on the tool `search`, by path."""
    return CompareOptions.from_json({"arguments": {"search": arguments}})


def _calling(*calls: JsonValue, name: str = "search") -> JsonObject:
    """Give a record whose calls stand in one turn, each with these arguments."""
    ids = [f"c{number}" for number in range(len(calls))]
    return record_json(
        items=[
            *(tool_call(i, name, arguments=arguments) for i, arguments in zip(ids, calls, strict=True)),
            *(tool_output(i, output="found") for i in ids),
        ]
    )


# Rules, and arguments that differ without them and are equal with them.
EQUAL: list[tuple[str, JsonObject, JsonValue, JsonValue]] = [
    ("fresh id", {"id": "ignore"}, {"q": "x", "id": "7f3a"}, {"q": "x", "id": "b20c"}),
    ("fresh time", {"at": "ignore"}, {"q": "x", "at": 1767225600}, {"q": "x", "at": 1767225601}),
    ("id on one side only", {"id": "ignore"}, {"q": "x"}, {"q": "x", "id": "b20c"}),
    (
        "fresh times in a list",
        {"items[*].ts": "ignore"},
        {"items": [{"n": 1, "ts": 1}, {"n": 2, "ts": 2}]},
        {"items": [{"n": 1, "ts": 3}, {"n": 2, "ts": 4}]},
    ),
    ("Unicode form", {"q": ["unicode"]}, {"q": COMPOSED}, {"q": DECOMPOSED}),
    ("letter case", {"q": ["case"]}, {"q": "Nord"}, {"q": "NORD"}),
    ("spaces", {"q": ["spaces"]}, {"q": "a b"}, {"q": " a  b\n"}),
]


@pytest.mark.parametrize(("rules", "left", "right"), [pytest.param(*case[1:], id=case[0]) for case in EQUAL])
def test_what_does_not_count_is_no_difference(rules: JsonObject, left: JsonValue, right: JsonValue) -> None:
    for a, b in ((left, right), (right, left)):
        without = compare(_calling(a), _calling(b))
        ruled = compare(_calling(a), _calling(b), _options(**rules))

        assert places(without.differences) == ["toolCalls[0].arguments"]
        assert without.metrics.matched_tool_calls == 0
        assert found(ruled.differences) == []
        assert ruled.equal
        assert ruled.signals.raised() == ()
        assert ruled.sections["toolCalls"] == "same"
        assert ruled.metrics.matched_tool_calls == 1
        assert (ruled.metrics.missing_tool_calls, ruled.metrics.extra_tool_calls) == (0, 0)


def test_composed_and_decomposed_letters_differ_by_default() -> None:
    comparison = compare(_calling({"q": COMPOSED}), _calling({"q": DECOMPOSED}))

    assert found(comparison.differences) == [
        changed("toolCalls[0].arguments", {"q": COMPOSED}, {"q": DECOMPOSED})
    ]


def test_a_rule_is_about_its_tool_only() -> None:
    left, right = _calling({"id": 1}, name="refund"), _calling({"id": 2}, name="refund")

    assert places(compare(left, right, _options(id="ignore")).differences) == ["toolCalls[0].arguments"]


def test_a_difference_that_remains_shows_the_arguments_that_count() -> None:
    left, right = _calling({"q": " A ", "id": "7f3a", "n": 1}), _calling({"q": "A", "id": "b20c", "n": 2})

    comparison = compare(left, right, _options(id="ignore", q=["spaces"]))

    assert found(comparison.differences) == [
        changed("toolCalls[0].arguments", {"q": "A", "n": 1}, {"q": "A", "n": 2})
    ]


def test_arguments_that_no_rule_touches_are_shown_as_recorded() -> None:
    text = '{"id": 7'
    comparison = compare(_calling(text), _calling({"id": 7, "n": 1}), _options(id="ignore"))

    assert found(comparison.differences) == [changed("toolCalls[0].arguments", text, {"n": 1})]


def test_a_call_alone_is_shown_with_the_arguments_that_count() -> None:
    call = {
        "callId": "c1",
        "name": "search",
        "arguments": {"n": 2},
        "output": "found",
        "hasOutput": True,
        "turn": 2,
        "argsCanonicalJson": '{"n":2}',
        # printf '{"n":2}' | sha256sum
        "argsHash": "363379742f80b51bdb9206579af7754911543079b9399cb3fc315fb199f476e8",
    }
    both, one = _calling({"id": 1, "n": 1}, {"id": 2, "n": 2}), _calling({"id": 3, "n": 1})
    rules = _options(id="ignore")

    missing, extra = (
        found(compare(both, one, rules).differences),
        found(compare(one, both, rules).differences),
    )

    assert json_difference([changed("toolCalls.length", 2, 1), gone("toolCalls[1]", call)], missing) is None
    assert json_difference([changed("toolCalls.length", 1, 2), new("toolCalls[1]", call)], extra) is None


def test_calls_of_a_turn_are_told_apart_by_what_counts() -> None:
    left = _calling({"q": "a", "id": 1}, {"q": "b", "id": 2})
    right = _calling({"q": "b", "id": 1}, {"q": "a", "id": 2})

    assert not compare(left, right).equal
    assert compare(left, right, _options(id="ignore")).equal
    assert compare(left, right, _options(q="ignore")).equal


def _proposed(arguments: JsonObject, **more: JsonValue) -> JsonObject:
    """Give a record with a proposed call of `search`, then `more` of the proposal."""
    text = dumps(arguments).decode("utf-8")
    whole: JsonObject = {
        "toolName": "search",
        "rawArguments": text,
        "parsedArguments": arguments,
        "argsCanonicalJson": text,
        "proposalHash": f"hash of {text}",
    }
    return record_json(suspendedProposals=[proposal(**whole | more)])


def test_a_proposed_call_is_compared_by_the_same_rule_as_one_that_was_made() -> None:
    left, right = _proposed({"n": 1, "id": "7f3a"}), _proposed({"n": 1, "id": "b20c"})
    other = _proposed({"n": 2, "id": "b20c"})
    rules = _options(id="ignore")

    assert not compare(left, right).equal
    assert found(compare(left, right, rules).differences) == []
    (difference,) = compare(left, other, rules).differences
    assert difference.path == "suspendedProposals[0]"
    assert (difference.left["parsedArguments"], difference.right["parsedArguments"]) == ({"n": 1}, {"n": 2})
    assert not {"rawArguments", "argsCanonicalJson", "proposalHash"} & difference.left.keys()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (_proposed({"id": 1}), _proposed({"id": 2}, reason="too dear")),
        (_proposed({"id": 1}, toolName="refund"), _proposed({"id": 2}, toolName="refund")),
        (_proposed({"id": 1}), _proposed({"id": 1}, toolName="refund")),
        (_proposed({}, rawArguments="a", toolName=None), _proposed({}, rawArguments="b", toolName=None)),
    ],
    ids=["reason", "a tool without rules", "another tool", "no tool"],
)
def test_everything_else_of_a_proposal_counts(left: JsonObject, right: JsonObject) -> None:
    assert not compare(left, right, _options(id="ignore")).equal


def test_the_references_rule_has_no_rules_on_arguments() -> None:
    assert not CompareOptions.from_json({"ignore_volatile": False, "arguments": {}}).arguments
    assert not CompareOptions.from_json({"ignore_volatile": False, "arguments": {"search": {}}}).arguments
    with pytest.raises(JsonError) as raised:
        CompareOptions.from_json({"ignore_volatile": False, "arguments": {"*": {"id": "ignore"}}})

    assert raised.value.path == "$.arguments"
    assert "ignore_volatile" in raised.value.reason
    assert not REFERENCE.arguments


def _with_fresh_ids(record: JsonObject, ids: count[int]) -> JsonObject:
    items = cast("list[JsonObject]", record["items"])
    fresh = [
        item | {"arguments": cast("dict[str, Any]", item["arguments"]) | {"id": next(ids)}}
        if item["type"] == "tool_call_item"
        else item
        for item in items
    ]
    return record | {"items": fresh}


@given(left=RUNS, right=RUNS, decided=st.booleans())
def test_fresh_ids_that_are_ignored_change_nothing(left: Turns, right: Turns, *, decided: bool) -> None:
    a, b = run_of(left, decided=decided), run_of(right, decided=decided)
    ids = count()
    rules = CompareOptions.from_json({"arguments": {"*": {"id": "ignore"}}})

    assert compare(_with_fresh_ids(a, ids), _with_fresh_ids(b, ids), rules) == compare(a, b)
