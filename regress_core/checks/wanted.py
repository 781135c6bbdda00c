"""What the keys about checks are made of: ids, schemas, and evidence to look for in a text."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from regress_core.checks.texts import holds_text, quoted
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_schema import schema_fault
from regress_core.records.patterns import Holds, holds_pattern
from regress_core.records.wire import ConfigModel

_CHECK_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _checked_id(text: str) -> str:
    if not _CHECK_ID.fullmatch(text):
        raise ValueError(f"{text!r} is no id; use a-z and 0-9, with single hyphens in between")
    return text


def _checked_pattern(text: str) -> str:
    holds_pattern(text)
    return text


def _checked_schema(schema: JsonObject) -> JsonObject:
    fault = schema_fault(schema)
    if fault is not None:
        raise ValueError(f"no JSON Schema: {fault}")
    return schema


CheckId = Annotated[str, Field(max_length=80), AfterValidator(_checked_id)]
"""Kebab-case."""

Schema = Annotated[JsonObject, AfterValidator(_checked_schema)]
"""A JSON Schema, draft 2020-12; its references stay inside it, and for its patterns see `holds_pattern`."""

Pattern = Annotated[str, Field(min_length=1), AfterValidator(_checked_pattern)]
"""A regular expression; see `holds_pattern`."""

Words = Annotated[str, Field(min_length=1)]


class ContainedText(ConfigModel):
    """A text that is looked for.

    Attributes:
        text: The text, to the letter.
        ignore_case: Whether upper and lower case are the same.
    """

    text: Words
    ignore_case: bool = False

    @cached_property
    def holds(self) -> Holds:
        """Tells whether a text contains this one."""
        return holds_text(self.text, ignore_case=self.ignore_case)

    @property
    def wording(self) -> str:
        """What is looked for, in words."""
        return quoted(self.text)


class MatchedPattern(ConfigModel):
    """A regular expression that is looked for.

    Attributes:
        pattern: The expression; found anywhere in a text, unless it says otherwise.
        ignore_case: Whether upper and lower case are the same.
    """

    pattern: Pattern
    ignore_case: bool = False

    @cached_property
    def holds(self) -> Holds:
        """Tells whether a text matches the expression."""
        return holds_pattern(self.pattern, ignore_case=self.ignore_case)

    @property
    def wording(self) -> str:
        """What is looked for, in words."""
        return f"the pattern {quoted(self.pattern)}"


def _as_mapping(value: JsonValue) -> JsonValue:
    return {"text": value} if isinstance(value, str) else value


def _sort_of_evidence(value: JsonValue) -> str:
    given = cast("JsonObject", value) if isinstance(value, dict) else {}
    return "matched" if "pattern" in given or isinstance(value, MatchedPattern) else "contained"


Evidence = Annotated[
    Annotated[ContainedText, Tag("contained")] | Annotated[MatchedPattern, Tag("matched")],
    Discriminator(_sort_of_evidence),
    BeforeValidator(_as_mapping),
]
"""A text, `{text, ignore_case}` or `{pattern, ignore_case}`."""
