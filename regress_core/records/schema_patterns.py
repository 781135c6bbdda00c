"""The patterns of a JSON Schema, searched for with an engine that no text can hold up.

jsonschema itself uses Python's `re`, which may search for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.patterns import Holds, holds_pattern

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

# jsonschema takes a while to import, and most runs meet no schema.

OUT_OF_REACH = frozenset({"patternProperties", "unevaluatedProperties"})
"""Keywords that must not meet: to find out what the second is about, jsonschema searches for the patterns of
the first in its own way."""

_Search = Callable[[str], Holds]
_Keyword = Callable[["Validator", Any, JsonValue, JsonObject], "Iterator[ValidationError]"]


@cache
def validator_type(*, any_pattern: bool) -> type[Validator]:
    """Give what makes validators of draft 2020-12.

    Args:
        any_pattern: Whether a pattern that `holds_pattern` does not have is one of Python's `re`.
    """
    import jsonschema.validators  # noqa: PLC0415 - see above

    draft = jsonschema.validators.Draft202012Validator
    search, members = _search_of(any_pattern=any_pattern), cast("_Keyword", draft.VALIDATORS["properties"])
    others = cast("_Keyword", draft.VALIDATORS["additionalProperties"])
    keywords = {
        "pattern": _matching(search),
        "patternProperties": _members_by_pattern(search, members),
        "additionalProperties": _other_members(search, others),
    }
    # The stub of jsonschema leaves open what this function takes and gives.
    extend = cast("Callable[..., type[Validator]]", vars(jsonschema.validators)["extend"])
    return extend(draft, keywords)


def check_form(schema: JsonObject, *, any_pattern: bool) -> None:
    """See whether a schema is one, its patterns included.

    Args:
        schema: The schema.
        any_pattern: As for `validator_type`.

    Raises:
        SchemaError: If it is none, with a `ValueError` as its cause where a pattern is at fault.
    """
    from jsonschema import FormatChecker  # noqa: PLC0415 - see above

    search = _search_of(any_pattern=any_pattern)

    def is_pattern(value: object) -> bool:
        return not isinstance(value, str) or bool(search(value))

    formats = FormatChecker(())
    formats.checks("regex", raises=ValueError)(is_pattern)
    # The stub of jsonschema does not know the second argument.
    cast("Any", validator_type(any_pattern=any_pattern)).check_schema(schema, formats)


def _search_of(*, any_pattern: bool) -> _Search:
    return _any_pattern if any_pattern else _pattern


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> Holds:
    return holds_pattern(pattern)


@lru_cache(maxsize=1024)
def _any_pattern(pattern: str) -> Holds:
    try:
        return holds_pattern(pattern)
    except ValueError:
        pass  # Python may know it
    try:
        search = re.compile(pattern).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"no regular expression: {error}") from error
    return lambda text: search(text) is not None


def _matching(search: _Search) -> _Keyword:
    def check(
        _validator: Validator, pattern: str, value: JsonValue, _schema: JsonObject
    ) -> Iterator[ValidationError]:
        from jsonschema import ValidationError  # noqa: PLC0415 - see above

        if isinstance(value, str) and not search(pattern)(value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    return check


def _members_by_pattern(search: _Search, members: _Keyword) -> _Keyword:
    """Apply the schema of a pattern as if all that it matches were named in `properties`."""

    def check(
        validator: Validator, patterns: JsonObject, value: JsonValue, schema: JsonObject
    ) -> Iterator[ValidationError]:
        for pattern, wanted in patterns.items() if isinstance(value, dict) else ():
            holds = search(pattern)
            matched = {name: wanted for name in cast("JsonObject", value) if holds(name)}
            yield from members(validator, matched, value, schema)

    return check


def _other_members(search: _Search, others: _Keyword) -> _Keyword:
    """Leave out what a pattern matches, and apply the keyword to the rest as if there were no patterns."""

    def check(
        validator: Validator, wanted: JsonValue, value: JsonValue, schema: JsonObject
    ) -> Iterator[ValidationError]:
        patterns = [search(pattern) for pattern in schema.get("patternProperties", {})]
        rest = value
        if patterns and isinstance(value, dict):
            members = cast("JsonObject", value)
            rest = {name: members[name] for name in members if not any(holds(name) for holds in patterns)}
        yield from others(validator, wanted, rest, {"properties": schema.get("properties", {})})

    return check
