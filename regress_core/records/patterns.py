"""Regular expressions that say whether a text matches, in time in proportion to the text."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

from regress_core.records.json_io import clean_text

Holds = Callable[[str], bool]
"""Tells whether a text holds what is wanted."""


def holds_pattern(pattern: str, *, ignore_case: bool = False) -> Holds:
    """Look for a regular expression anywhere in a text.

    It is one of Rust's `regex`, which pydantic brings: its search takes time in proportion to the text,
    whatever the pattern, so that no answer can hold a check up; for that it has no look-around and no
    backreferences.

    Raises:
        ValueError: If it is none.
    """
    try:
        schema = core_schema.str_schema(
            pattern=f"(?i){pattern}" if ignore_case else pattern, regex_engine="rust-regex"
        )
        validator = SchemaValidator(schema)
    except SchemaError as error:
        reason = str(error).splitlines()[-1].rpartition("rror: ")[2]
        remedy = "; say it without" if reason.endswith("not supported") else ""
        raise ValueError(f"no regular expression: {reason}{remedy}") from error
    return lambda text: validator.isinstance_python(clean_text(text))
