"""What is no JSON Schema, and where a value breaks one."""

from __future__ import annotations

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
    ({"properties": {"a b": {"pattern": "("}}}, "$.properties['a b'].pattern: '(' is not a 'regex'"),
    ({"$ref": 5}, "$['$ref']: 5 is not of type 'string'"),
    ({"$ref": "#/$defs/a"}, "'#/$defs/a' leads to no place in the schema"),
    ({"items": {"not": {"$ref": "#b"}}}, "'#b' leads to no place in the schema"),
    ({"$ref": "https://example.org/a"}, "'https://example.org/a' leads to no place in the schema"),
    ({"$dynamicRef": "other.json"}, "'other.json' leads to no place in the schema"),
]


@pytest.mark.parametrize("schema", GOOD, ids=repr)
def test_a_schema(schema: JsonObject) -> None:
    assert schema_fault(schema) is None


@pytest.mark.parametrize(("schema", "fault"), BAD, ids=repr)
def test_no_schema(schema: JsonObject, fault: str) -> None:
    assert schema_fault(schema) == fault


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
