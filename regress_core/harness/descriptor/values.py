"""Values of a descriptor, checked where they are read; the messages are the reference's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from regress_core.records.json_io import DEEPEST, JsonObject, JsonValue

_DEEPEST = DEEPEST // 2  # what is read here becomes part of records and reports, which nest further


class DescriptorError(ValueError):
    """A descriptor that cannot be used. Whoever knows the file turns it into an `InputError`.

    Attributes:
        remedy: What to do about it, without a full stop.
    """

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        self.remedy = remedy
        super().__init__(message)


def is_object(value: JsonValue) -> TypeGuard[JsonObject]:
    """Say whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: JsonValue) -> TypeGuard[list[JsonValue]]:
    """Say whether a value is a JSON array."""
    return isinstance(value, list)


def json_object(value: JsonValue, label: str) -> JsonObject:
    """Give a value that must be an object.

    Raises:
        DescriptorError: If it is none; as everywhere here, `label` begins the message.
    """
    if not is_object(value):
        raise DescriptorError(f"{label} must be an object.")
    return value


def json_array(value: JsonValue, label: str) -> list[JsonValue]:
    """Give a value that must be an array.

    Raises:
        DescriptorError: If it is none.
    """
    if not is_array(value):
        raise DescriptorError(f"{label} must be an array.")
    return value


def string(value: JsonValue, label: str) -> str:
    """Give a value that must be a string, perhaps an empty one.

    Raises:
        DescriptorError: If it is none.
    """
    if not isinstance(value, str):
        raise DescriptorError(f"{label} must be a string.")
    return value


def filled_string(value: JsonValue, label: str) -> str:
    """Give a value that must be a string with more than blanks.

    Raises:
        DescriptorError: If it is none.
    """
    if not isinstance(value, str) or not value.strip():
        raise DescriptorError(f"{label} must be a non-empty string.")
    return value


def object_member(owner: JsonObject, key: str, label: str) -> JsonObject:
    """Give a member that is an object, or an empty one where there is no such member; null is no object.

    Raises:
        DescriptorError: If it is there and no object.
    """
    return json_object(owner[key], label) if key in owner else {}


def children(value: JsonValue) -> Iterable[JsonValue]:
    """Give the values that stand directly in an object or array."""
    if is_object(value):
        return value.values()
    return value if is_array(value) else ()


def expect_shallow(value: JsonValue, label: str, *, depth: int = 0) -> None:
    """Refuse a value that nests too deeply to be kept.

    Raises:
        DescriptorError: If it does.
    """
    if depth > _DEEPEST:
        raise DescriptorError(f"{label} nests deeper than {_DEEPEST}.")
    for child in children(value):
        expect_shallow(child, label, depth=depth + 1)
