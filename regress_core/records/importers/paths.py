"""Dotted paths inside a row, such as `info.task.user_id` or `choices.0.message`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path


@dataclass(frozen=True, slots=True)
class Found:
    """A value with the JSON path it was found at."""

    path: str
    value: JsonValue


def find(row: JsonValue, dotted_path: str) -> Found | None:
    """Give what stands at a dotted path, or None where nothing does."""
    try:
        return require(row, dotted_path)
    except JsonError:
        return None


def require(row: JsonValue, dotted_path: str) -> Found:
    """Give what stands at a dotted path.

    Raises:
        JsonError: If nothing does; it names the first step that is missing.
    """
    path = "$"
    here = row
    for step in dotted_path.split("."):
        if isinstance(here, list) and step.isascii() and step.isdecimal():
            elements = cast("list[JsonValue]", here)
            path = child_path(path, int(step))
            if int(step) >= len(elements):
                raise JsonError(path, "the list is too short")
            here = elements[int(step)]
            continue
        path = child_path(path, step)
        if not isinstance(here, dict) or step not in here:
            raise JsonError(path, "the field is missing")
        here = cast("JsonObject", here)[step]
    return Found(path, here)
