"""JSON Schema, draft 2020-12: what a value has to look like. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver  # it has no public name

# jsonschema takes a while to import, and most runs meet no schema.


def schema_validator(schema: JsonObject) -> Validator:
    """Give what checks values against a schema; references lead to places in the schema itself only."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415 - see above

    return Draft202012Validator(schema, registry=EMPTY_REGISTRY)


def schema_fault(schema: JsonObject) -> str | None:
    """Say what is wrong with a schema, and where; None if nothing is."""
    from jsonschema import SchemaError  # noqa: PLC0415 - see above
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY  # noqa: PLC0415 - see above

    try:
        schema_validator(schema).check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {error.message}"
    resource = DRAFT202012.create_resource(cast("Any", schema))
    dangling = next(_dangling(resource, EMPTY_REGISTRY.resolver_with_root(resource)), None)
    return None if dangling is None else f"{dangling!r} leads to no place in the schema"


def _dangling(resource: Resource[Any], resolver: Resolver[Any]) -> Iterator[str]:
    """Find references that lead nowhere, in a schema and in those inside it."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - see above

    contents = resource.contents
    if isinstance(contents, dict):
        keywords = cast("JsonObject", contents)
        for reference in (keywords[name] for name in ("$ref", "$dynamicRef") if name in keywords):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                yield reference
    for inner in resource.subresources():
        yield from _dangling(inner, resolver.in_subresource(inner))


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
