"""What is no JSON Schema, and where a value breaks one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_schema import schema_fault, schema_validator, schema_violation

DRAFT_07 = "http://json-schema.org/draft-07/schema#"

GOOD: list[JsonObject] = [
    {},
    {"type": ["string", "null"]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {}}},
    {"$ref": "#named", "$defs": {"a": {"$anchor": "named"}}},
    {"$id": "https://example.org/a", "$ref": "b", "$defs": {"b": {"$id": "b", "type": "string"}}},
    {"$schema": DRAFT_07, "$ref": "#/definitions/a", "definitions": {"a": {}}},
    {"properties": {"$ref": {"type": "string"}}, "const": {"$ref": "nowhere"}},
    {"properties": {"children": {"items": {"$ref": "#"}}}},
]

BAD: list[tuple[JsonObject, str]] = [
    ({"type": "strin"}, "$.type: 'strin' is not valid under any of the given schemas"),
    ({"minimum": "5"}, "$.minimum: '5' is not of type 'number'"),
    (
        {"properties": {"a b": {"pattern": "("}}},
        "$.properties['a b'].pattern: '(' is no regular expression: unclosed group",
    ),
    ({"patternProperties": {"(": {}}}, "$.patternProperties: '(' is no regular expression: unclosed group"),
    ({"$ref": 5}, "$['$ref']: 5 is not of type 'string'"),
    ({"$ref": "#/$defs/a"}, "'#/$defs/a' leads to no place in the schema"),
    ({"items": {"not": {"$ref": "#b"}}}, "'#b' leads to no place in the schema"),
    ({"$ref": "https://example.org/a"}, "'https://example.org/a' leads to no place in the schema"),
    ({"$dynamicRef": "other.json"}, "'other.json' leads to no place in the schema"),
]

_LOOKS_AROUND = "look-around, including look-ahead and look-behind, is not supported; say it without"
# What Python has and a search in bounded time has not, or what would lead past it.
BAD_OF_CHECKS: list[tuple[JsonObject, str]] = [
    ({"pattern": "(?=a)"}, f"$.pattern: '(?=a)' is no regular expression: {_LOOKS_AROUND}"),
    (
        {"not": {"pattern": r"(a)\1"}},
        r"$.not.pattern: '(a)\\1' is no regular expression: backreferences are not supported; say it without",
    ),
    (
        {"patternProperties": {"(?!a)": {}}},
        f"$.patternProperties: '(?!a)' is no regular expression: {_LOOKS_AROUND}",
    ),
    (
        {"patternProperties": {"a": {}}, "allOf": [{"unevaluatedProperties": False}]},
        "has both patternProperties and unevaluatedProperties; use additionalProperties instead",
    ),
    (
        {"$ref": "#/components/a", "components": {"a": {"pattern": "(?=a)"}}},
        "'#/components/a' leads to a place for no schema; move what stands there to $defs",
    ),
]


@pytest.mark.parametrize("schema", GOOD, ids=repr)
def test_a_schema(schema: JsonObject) -> None:
    assert schema_fault(schema) is None


@pytest.mark.parametrize(("schema", "fault"), BAD, ids=repr)
def test_no_schema(schema: JsonObject, fault: str) -> None:
    assert schema_fault(schema) == fault


@pytest.mark.parametrize(("schema", "fault"), BAD_OF_CHECKS, ids=repr)
def test_no_schema_for_a_check_but_one_for_a_tool(schema: JsonObject, fault: str) -> None:
    assert schema_fault(schema) == fault
    assert schema_fault(schema, any_pattern=True) is None


LINES: JsonObject = {
    "type": "object",
    "properties": {"odd key": {"type": "array", "items": {"type": "number", "multipleOf": 0.5}}},
}

# A value, and where and how it breaks the schema above.
VALUES: list[tuple[JsonValue, str | None]] = [
    ({}, None),
    ({"odd key": [1, 1.5]}, None),
    ([], "$: [] is not of type 'object'"),
    ({"odd key": [1, "x"]}, "$['odd key'][1]: 'x' is not of type 'number'"),
    ({"odd key": [0.3]}, "$['odd key'][0]: 0.3 is not a multiple of 0.5"),
]


@pytest.mark.parametrize(("value", "violation"), VALUES)
def test_values(value: JsonValue, violation: str | None) -> None:
    found = schema_violation(schema_validator(LINES), value)

    assert (found and str(found)) == violation


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"$ref": "#"}, 1, "refers to itself without end"),
        (LINES, {"odd key": [10**400]}, "holds a number that the schema cannot be applied to"),
    ],
)
def test_what_a_schema_cannot_be_applied_to(schema: JsonObject, value: JsonValue, reason: str) -> None:
    found = schema_violation(schema_validator(schema), value)

    assert found is not None
    assert reason in found.reason


# A schema with patterns, a value, and where and how it breaks the schema.
BY_PATTERN: list[tuple[JsonObject, JsonValue, str | None]] = [
    ({"pattern": "a+$"}, "bba", None),
    ({"pattern": "^a"}, "ba", "$: 'ba' does not match '^a'"),
    ({"pattern": r"^\w$"}, "é", None),
    ({"pattern": "a"}, 5, None),
    ({"pattern": "^.$"}, "\ud800", None),
    ({"propertyNames": {"pattern": "a"}}, {"b": 1}, "$: 'b' does not match 'a'"),
    ({"patternProperties": {"^a": {"type": "string"}}}, {"a": "x", "b": 1}, None),
    ({"patternProperties": {"^a": {"type": "string"}}}, {"a": {}}, "$.a: {} is not of type 'string'"),
    ({"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}}}, {"ab": 3}, None),
    (
        {"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}}},
        {"ab": 5},
        "$.ab: 5 is greater than the maximum of 4",
    ),
    ({"patternProperties": {"a": False}}, ["a"], None),
    ({"patternProperties": {"a|b": {}}, "additionalProperties": False}, {"a": 1, "xb": 2}, None),
    (
        {"properties": {"c": {}}, "patternProperties": {"a": {}, "b": {}}, "additionalProperties": False},
        {"a": 1, "b": 2, "c": 3, "d": 4},
        "$: Additional properties are not allowed ('d' was unexpected)",
    ),
    (
        {"patternProperties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"a": 1, "d": 4},
        "$.d: 4 is not of type 'string'",
    ),
    ({"patternProperties": {"a": {}}, "additionalProperties": False}, 5, None),
]


@pytest.mark.parametrize("any_pattern", [False, True])
@pytest.mark.parametrize(("schema", "value", "violation"), BY_PATTERN)
def test_patterns(schema: JsonObject, value: JsonValue, violation: str | None, *, any_pattern: bool) -> None:
    assert schema_fault(schema, any_pattern=any_pattern) is None
    found = schema_violation(schema_validator(schema, any_pattern=any_pattern), value)

    assert (found and str(found)) == violation


def test_a_tool_has_the_patterns_of_python() -> None:
    validator = schema_validator({"pattern": "^(?!a)"}, any_pattern=True)

    assert schema_violation(validator, "b") is None
    assert schema_violation(validator, "a") is not None


NEVER_ENDING = "(a+)+$"
# Wherever a pattern of a schema meets a text of the candidate; each with `SLOW`, which does not match.
SLOW = "a" * 60 + "!"
PLACES: list[tuple[JsonObject, JsonValue]] = [
    ({"pattern": NEVER_ENDING}, SLOW),
    ({"items": {"anyOf": [{"pattern": NEVER_ENDING}, {"not": {"pattern": NEVER_ENDING}}]}}, [SLOW]),
    ({"propertyNames": {"pattern": NEVER_ENDING}}, {SLOW: 1}),
    ({"patternProperties": {NEVER_ENDING: False}}, {SLOW: 1}),
    ({"patternProperties": {NEVER_ENDING: False}, "additionalProperties": False}, {SLOW: 1}),
    ({"patternProperties": {NEVER_ENDING: False}, "additionalProperties": {"type": "number"}}, {SLOW: 1}),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": NEVER_ENDING}}}, SLOW),
]

SEARCH = """
import ast, sys
from regress_core.records.json_schema import schema_fault, schema_validator, schema_violation

schema, value, any_pattern = ast.literal_eval(sys.argv[1])
assert schema_fault(schema, any_pattern=any_pattern) is None
schema_violation(schema_validator(schema, any_pattern=any_pattern), value)
"""


@pytest.mark.parametrize("any_pattern", [False, True])
@pytest.mark.parametrize(("schema", "value"), PLACES, ids=repr)
def test_no_text_holds_a_search_up(schema: JsonObject, value: JsonValue, *, any_pattern: bool) -> None:
    """In a process of its own: a search by Python's `re` could not be stopped."""
    command = [sys.executable, "-c", SEARCH, repr((schema, value, any_pattern))]

    subprocess.run(command, check=True, timeout=60)
