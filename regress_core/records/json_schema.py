"""JSON Schema, draft 2020-12: what a value has to look like. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path
from regress_core.records.schema_patterns import OUT_OF_REACH, check_form, validator_type

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver  # it has no public name

# jsonschema takes a while to import, and most runs meet no schema.


def schema_validator(schema: JsonObject, *, any_pattern: bool = False) -> Validator:
    """Give what checks values against a schema; references lead to places in the schema itself only.

    Args:
        schema: The schema.
        any_pattern: Whether a pattern that `holds_pattern` does not have is one of Python's `re`, which a
            text can hold up without end; for schemas that others wrote.
    """
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415 - see above

    return validator_type(any_pattern=any_pattern)(schema, registry=EMPTY_REGISTRY)


def schema_fault(schema: JsonObject, *, any_pattern: bool = False) -> str | None:
    """Say what is wrong with a schema, and where; None if nothing is.

    Args:
        schema: The schema.
        any_pattern: As for `schema_validator`.
    """
    from jsonschema import SchemaError  # noqa: PLC0415 - see above
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY  # noqa: PLC0415 - see above

    try:
        check_form(schema, any_pattern=any_pattern)
    except SchemaError as error:
        fault = error.message if error.cause is None else f"{error.instance!r} is {error.cause}"
        return f"{error.json_path}: {fault}"
    resource = DRAFT202012.create_resource(cast("Any", schema))
    schemas = list(_schemas(resource, EMPTY_REGISTRY.resolver_with_root(resource)))
    lost = next(_lost_references(schemas), None)
    if lost is not None or any_pattern:
        return lost
    if {keyword for contents, _ in schemas for keyword in contents} >= OUT_OF_REACH:
        return "has both patternProperties and unevaluatedProperties; use additionalProperties instead"
    return next(_references_elsewhere(schemas), None)


def _schemas(resource: Resource[Any], resolver: Resolver[Any]) -> Iterator[tuple[JsonObject, Resolver[Any]]]:
    """Give a schema and those inside it, each with what its references start from."""
    contents: JsonValue = resource.contents
    if isinstance(contents, dict):
        yield cast("JsonObject", contents), resolver
    for inner in resource.subresources():
        yield from _schemas(inner, resolver.in_subresource(inner))


def _lost_references(schemas: list[tuple[JsonObject, Resolver[Any]]]) -> Iterator[str]:
    """Find references that lead nowhere."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - see above

    for contents, resolver in schemas:
        for reference in _references(contents):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                yield f"{reference!r} leads to no place in the schema"


def _references_elsewhere(schemas: list[tuple[JsonObject, Resolver[Any]]]) -> Iterator[str]:
    """Find references to places where no schema is looked for, so that what stands there is unchecked."""
    known = {id(contents) for contents, _ in schemas}
    for contents, resolver in schemas:
        for reference in _references(contents):
            found: JsonValue = resolver.lookup(reference).contents
            if not isinstance(found, bool) and id(found) not in known:
                yield f"{reference!r} leads to a place for no schema; move what stands there to $defs"


def _references(contents: JsonObject) -> list[str]:
    return [contents[name] for name in ("$ref", "$dynamicRef") if name in contents]


def schema_violation(validator: Validator, value: JsonValue) -> JsonError | None:
    """Say where and how a value breaks a schema, by the fault that tells most; None if it does not."""
    # The stub of jsonschema leaves open what this function gives.
    from jsonschema.exceptions import (  # noqa: PLC0415 - see above
        best_match,  # pyright: ignore[reportUnknownVariableType]
    )

    try:
        error = cast("ValidationError | None", best_match(validator.iter_errors(value)))
    except RecursionError:
        return JsonError("$", "nests too deeply for the schema, or the schema refers to itself without end")
    except ArithmeticError as error:  # jsonschema divides integers of any size as floats
        return JsonError("$", f"holds a number that the schema cannot be applied to: {error}")
    if error is None:
        return None
    path = "$"
    for step in error.absolute_path:
        path = child_path(path, step)
    return JsonError(path, error.message)
