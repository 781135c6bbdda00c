"""What importers read from the objects of a format: members that have to be there, and what may be."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path


def object_of(value: JsonValue) -> JsonObject:
    """Give an object; of anything else an empty one, where that is no fault."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def required_text(members: JsonObject, key: str, path: str) -> str:
    """Give the text of a member.

    Raises:
        JsonError: If it is not there, or no text; `path` is where the object stands.
    """
    value = members.get(key)
    if not isinstance(value, str):
        raise JsonError(child_path(path, key), "no text" if key in members else "the field is missing")
    return value


def call_id_of(members: JsonObject, key: str, path: str) -> str | None:
    """Give the id of a call; None where there is none, or an empty one.

    Raises:
        JsonError: If it is no text.
    """
    value = members.get(key)
    if value is not None and not isinstance(value, str):
        raise JsonError(child_path(path, key), "no call id: no text")
    return value or None


def has_more(value: JsonObject, mapped: AbstractSet[str]) -> bool:
    """Say whether an object holds more than the keys that are mapped; null and `[]` hold nothing."""
    return any(key not in mapped and child is not None and child != [] for key, child in value.items())


def texts_alone(output: JsonValue, types: Collection[str]) -> list[str] | None:
    """Give the texts of a tool's output that is nothing but parts of text; None of any other.

    Args:
        output: The output.
        types: What parts of text are called.
    """
    if not isinstance(output, list) or not output:
        return None
    texts: list[str] = []
    for value in cast("list[JsonValue]", output):
        part = object_of(value)
        text = part.get("text")
        if part.get("type") not in types or not isinstance(text, str):
            return None
        texts.append(text)
    return texts
