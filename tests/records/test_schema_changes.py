"""What changed between two schemas, and whether arguments that did fit still do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.json_io import JsonObject
from regress_core.records.json_schema import schema_validator, schema_violation
from regress_core.records.schema_changes import SchemaChange, schema_changes

TEXT: JsonObject = {"type": "string"}
WHOLE: JsonObject = {"type": "integer"}


def a_tree(name: str, label: str) -> JsonObject:
    """Give a schema that holds itself, under a name of its own."""
    properties = {"child": {"$ref": f"#/$defs/{name}"}, "label": {"type": label}}
    return {"$defs": {name: {"type": "object", "properties": properties}}, "$ref": f"#/$defs/{name}"}


def an_object(*required: str, **properties: JsonObject) -> JsonObject:
    """Give the schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


def choices(*values: object) -> JsonObject:
    """Give the schema of some values."""
    return {"enum": list(values)}


CASES: dict[str, tuple[JsonObject, JsonObject, list[tuple[str, str, bool | None]]]] = {
    "nothing": (an_object("a", a=TEXT), an_object("a", a=TEXT), []),
    "keys in another order": ({"type": "string", "minLength": 1}, {"minLength": 1.0, "type": "string"}, []),
    "any object": ({"type": "object"}, {"type": "object", "properties": {}}, []),
    "a new argument": (an_object(), an_object(a=TEXT), [("a", "new, optional", False)]),
    "a new required one": (an_object(), an_object("a", a=TEXT), [("a", "new and required", True)]),
    "required without a schema": (
        an_object(),
        {"required": ["a"], "type": "object"},
        [("a", "new and required", True)],
    ),
    "a removed one": (an_object(a=TEXT), an_object(), [("a", "removed", True)]),
    "now required": (an_object(a=TEXT), an_object("a", a=TEXT), [("a", "now required", True)]),
    "now optional": (an_object("a", a=TEXT), an_object(a=TEXT), [("a", "now optional", False)]),
    "an odd name": (an_object(**{"a b": TEXT}), an_object(), [("['a b']", "removed", True)]),
    "another type": (an_object(a=TEXT), an_object(a=WHOLE), [("a", "type string → integer", True)]),
    "any type": (an_object(a=TEXT), an_object(a={}), [("a", "type string → any", False)]),
    "no longer any type": (an_object(a={}), an_object(a=TEXT), [("a", "type any → string", True)]),
    "whole to any number": (WHOLE, {"type": "number"}, [("", "type integer → number", False)]),
    "any to whole number": ({"type": "number"}, WHOLE, [("", "type number → integer", True)]),
    "or nothing": (WHOLE, {"type": ["integer", "null"]}, [("", "also takes null", False)]),
    "no longer nothing": ({"type": ["integer", "null"]}, WHOLE, [("", "no longer takes null", True)]),
    "a type in a list": (WHOLE, {"type": ["integer"]}, []),
    "anyOf in place of types": ({"anyOf": [WHOLE, {"type": "null"}]}, {"type": ["null", "integer"]}, []),
    "one of two anyOf": (
        {"anyOf": [an_object(a=TEXT), {"type": "null"}]},
        {"anyOf": [an_object("a", a=TEXT), {"type": "null"}]},
        [("a", "now required", True)],
    ),
    "whole numbers among numbers": (
        WHOLE,
        {"oneOf": [{"type": "number"}, TEXT]},
        [
            ("", "also takes number", False),
            ("", "also takes string", False),
        ],
    ),
    "another choice": (
        choices("a", "b"),
        choices("a", "c"),
        [
            ("", 'no longer takes "b"', True),
            ("", 'also takes "c"', False),
        ],
    ),
    "choices in another order": (choices("a", "b"), choices("b", "a"), []),
    "one choice": (choices("a", "b"), {"const": "a"}, [("", 'no longer takes "b"', True)]),
    "choices at all": (TEXT, {"type": "string", **choices("a")}, [("", 'takes only "a"', True)]),
    "no choices any more": ({"type": "string", **choices("a")}, TEXT, [("", 'no longer only "a"', False)]),
    "a narrower bound": ({"maximum": 10}, {"maximum": 5}, [("", "maximum 10 → 5", True)]),
    "a wider bound": ({"minLength": 3}, {"minLength": 1}, [("", "minLength 3 → 1", False)]),
    "a new bound": ({}, {"minItems": 1}, [("", "minItems none → 1", True)]),
    "a bound that is none": ({}, {"minLength": 0}, []),
    "no bound any more": ({"exclusiveMaximum": 3}, {}, [("", "exclusiveMaximum 3 → none", False)]),
    "elements": (
        an_object(a={"type": "array", "items": an_object(b=TEXT)}),
        an_object(a={"type": "array", "items": an_object(b=WHOLE)}),
        [("a[*].b", "type string → integer", True)],
    ),
    "elements at all": (
        {"type": "array"},
        {"type": "array", "items": TEXT},
        [("[*]", "type any → string", True)],
    ),
    "no other arguments": (
        an_object(),
        an_object() | {"additionalProperties": False},
        [("", "takes no others any more", True)],
    ),
    "other arguments": (
        an_object() | {"additionalProperties": False},
        an_object() | {"additionalProperties": True},
        [("", "takes others too", False)],
    ),
    "others of a type": (
        an_object(),
        an_object() | {"additionalProperties": TEXT},
        [("*", "type any → string", True)],
    ),
    "another default": ({"default": 1}, {"default": 2}, [("", "default 1 → 2", True)]),
    "a default": ({}, {"default": None}, [("", "default none → null", False)]),
    "no default any more": ({"default": 1}, {}, [("", "default 1 → none", True)]),
    "a pattern": ({}, {"pattern": "^a"}, [("", "pattern added", True)]),
    "no pattern any more": ({"pattern": "^a"}, {}, [("", "pattern dropped", False)]),
    "another pattern": ({"pattern": "^a"}, {"pattern": "^b"}, [("", "pattern changed", None)]),
    "a format": ({}, {"format": "date"}, [("", "format added", None)]),
    "a description": (
        an_object(a=TEXT),
        an_object(a={"type": "string", "description": "The name."}),
        [("a", 'description none → "The name."', False)],
    ),
    "the same under another name": (
        an_object(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": TEXT}},
        an_object(a={"$ref": "#/$defs/B"}) | {"$defs": {"B": TEXT}},
        [],
    ),
    "behind a reference": (
        an_object(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": TEXT}},
        an_object(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": WHOLE}},
        [("a", "type string → integer", True)],
    ),
    "a schema in itself": (
        a_tree("Node", "string"),
        a_tree("Leaf", "number"),
        [("label", "type string → number", True)],
    ),
    "a loop": (
        {"anyOf": [{"$ref": "#"}, TEXT]},
        {"anyOf": [{"$ref": "#"}, WHOLE]},
        [("", "changed; it nests too deeply, or refers to itself without end", None)],
    ),
}


@pytest.mark.parametrize(("before", "after", "changes"), CASES.values(), ids=CASES.keys())
def test_what_changed(
    before: JsonObject, after: JsonObject, changes: list[tuple[str, str, bool | None]]
) -> None:
    found = schema_changes(before, after)

    assert [(change.path, change.detail, change.breaking) for change in found] == changes
    assert [change.part for change in found] == [
        "description" if change.detail.startswith("description") else "schema" for change in found
    ]


@pytest.mark.parametrize("schema", [one for case in CASES.values() for one in case[:2]])
def test_a_schema_has_not_changed_from_itself(schema: JsonObject) -> None:
    assert schema_changes(schema, schema | {"$comment": "another text"}) in ([], _of_the_loop(schema))


def _of_the_loop(schema: JsonObject) -> list[SchemaChange] | None:
    """Give what is said of a schema that has no end, also where it is compared with itself."""
    loops = {"$ref": "#"} in schema.get("anyOf", [])
    return schema_changes(*CASES["a loop"][:2]) if loops else None


_SCALARS = st.sampled_from([None, True, 0, 1, 2.5, 7, "", "a", "abc"])
_PARTS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["string", "integer", "number", "null", "object", ["integer", "null"]]),
    "enum": st.lists(_SCALARS, min_size=1, max_size=3),
    "minimum": st.integers(0, 3),
    "maxLength": st.integers(0, 3),
    "pattern": st.sampled_from(["a", "b"]),
    "required": st.lists(st.sampled_from("xy"), max_size=2, unique=True),
    "additionalProperties": st.booleans(),
}


def _any_of(schemas: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({"anyOf": st.lists(schemas, min_size=1, max_size=3)})


def _with_arguments(schemas: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    arguments = st.dictionaries(st.sampled_from("xy"), schemas, max_size=2)
    return st.fixed_dictionaries({"properties": arguments}, optional=_PARTS)


SCHEMAS: st.SearchStrategy[JsonObject] = st.recursive(
    st.fixed_dictionaries({}, optional=_PARTS),
    lambda inner: st.one_of(_any_of(inner), _with_arguments(inner)),
    max_leaves=4,
)
VALUES = st.one_of(_SCALARS, st.dictionaries(st.sampled_from("xyz"), _SCALARS, max_size=3))


@given(SCHEMAS, SCHEMAS, VALUES)
def test_what_did_fit_still_does_where_nothing_is_breaking(
    before: JsonObject, after: JsonObject, value: object
) -> None:
    # An argument that is new may have another schema than none: no call of before is about it.
    safe = all(
        change.breaking is False and change.detail != "new, optional"
        for change in schema_changes(before, after)
    )
    fitted = schema_violation(schema_validator(before), value) is None

    if safe and fitted:
        assert schema_violation(schema_validator(after), value) is None
