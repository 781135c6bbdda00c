"""When two recorded values are the same: by their canonical JSON (C18, C19, C22, C23)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.support import compare, decision, guardrail, places, proposal
from tests.support.records import record_json, tool_call, tool_output

EQUAL: list[tuple[JsonValue, JsonValue]] = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([{"a": {"x": 1, "y": [2]}}], [{"a": {"y": [2], "x": 1}}]),
    ({"n": 1}, {"n": 1.0}),
    (1, 1.0),
    (0, -0.0),
    ([10, {"n": 2}], [1e1, {"n": 2.0}]),
    (2**53, 2.0**53),
    (-(2**53), -(2.0**53)),
    ({"\ue000": 1, "\U00010000": 2}, {"\U00010000": 2, "\ue000": 1}),
    ("", ""),
    ([], []),
]

DIFFERENT: list[tuple[JsonValue, JsonValue]] = [
    (1, True),
    (0, False),
    ({"n": 1}, {"n": True}),
    (1, "1"),
    (1.5, "1.5"),
    (True, "true"),
    ({"a": None}, {"a": "null"}),
    (2**53 + 1, 2**53),
    (2**53 + 1, 2.0**53),
    (-(2**53) - 1, -(2**53)),
    (10**30, 10**30 + 1),
    (0.1 + 0.2, 0.3),
    (24.95, 124.85),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ({"a": 1}, {"A": 1}),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": None}, {"b": None}),
    ({}, []),
    ("a", "A"),
    ("a", "a "),
    ("\u00e9", "e\u0301"),
    ("\ud800", "\ufffd"),
    ('{"a": 1}', {"a": 1}),
]

PLACES: dict[str, tuple[Callable[[JsonValue], JsonObject], str]] = {
    "arguments": (
        lambda value: record_json(items=[tool_call("c1", "f", arguments=value)]),
        "toolCalls[0].arguments",
    ),
    "output": (
        lambda value: record_json(items=[tool_call("c1", "f"), tool_output("c1", output=value)]),
        "toolCalls[0].output",
    ),
    "decision": (
        lambda value: record_json(policyDecisions=[decision(metadata=[value])]),
        "policyDecisions[0]",
    ),
    "proposal": (
        lambda value: record_json(suspendedProposals=[proposal(parsedArguments=[value])]),
        "suspendedProposals[0]",
    ),
    "guardrail": (
        lambda value: record_json(guardrailDecisions=[guardrail(metadata=[value])]),
        "guardrailDecisions[0]",
    ),
    "metadata": (lambda value: record_json(metadata={"team": value}), "metadata"),
    "descriptor": (lambda value: record_json(metadata={"harness": [value]}), "metadata.harness"),
}

ALL_DECIDE = CompareOptions(deciding=("metadata", "descriptor"))


@pytest.mark.parametrize(("left", "right"), EQUAL, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_equal_values(place: str, left: JsonValue, right: JsonValue) -> None:
    record, _ = PLACES[place]

    for a, b in ((left, right), (right, left)):
        comparison = compare(record(a), record(b), ALL_DECIDE)
        assert comparison.equal
        assert places(comparison.differences) == []


@pytest.mark.parametrize(("left", "right"), DIFFERENT, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_different_values(place: str, left: JsonValue, right: JsonValue) -> None:
    record, path = PLACES[place]

    for a, b in ((left, right), (right, left)):
        comparison = compare(record(a), record(b), ALL_DECIDE)
        assert not comparison.equal
        assert places(comparison.differences) == [path]


@pytest.mark.parametrize(
    ("left", "right"), [("a", "A"), ("a", "a "), ("\u00e9", "e\u0301"), ("1", "1.0"), ("", " ")]
)
def test_an_answer_is_compared_to_the_letter(left: str, right: str) -> None:
    comparison = compare(record_json(response=left), record_json(response=right))

    assert places(comparison.differences) == ["response"]


def test_arguments_that_are_absent_are_an_empty_object() -> None:
    absent = record_json(items=[tool_call("c1", "f")])

    assert compare(absent, record_json(items=[tool_call("c1", "f", arguments={})])).equal
