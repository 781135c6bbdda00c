"""What instructions and conditions may read of the run's context: declared paths, and where they lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from regress_core.harness.descriptor.values import (
    DescriptorError,
    filled_string,
    is_array,
    is_object,
    json_object,
)
from regress_core.harness.errors import HarnessError
from regress_core.records.json_io import JsonObject, JsonValue

_SEGMENT = re.compile(r"[A-Za-z0-9_-]+")
_LIST_INDEX = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)

MISSING: Final = object()
"""Stands for a value that is not there, since None is a value."""


@dataclass(frozen=True, slots=True)
class ContextReference:
    """A path of the run's context that instructions and conditions may read.

    Attributes:
        path: The path, such as `customer.email`: keys of objects, in lists an index or `length`.
        optional: Whether instructions read nothing, instead of failing, where the context has no such path.
        type: The type the descriptor declares; only `boolean` means anything here.
    """

    path: str
    optional: bool = False
    type: str | None = None

    def find(self, context: JsonValue) -> JsonValue:
        """Give what the path leads to, `MISSING` where it leads nowhere."""
        value = context
        for segment in self.path.split("."):
            value = _member(value, segment)
        return value


References = Mapping[str, ContextReference]
"""What a descriptor declares under `context.references`, by path."""


def _member(value: JsonValue, segment: str) -> JsonValue:
    if is_object(value):
        return value.get(segment, MISSING)
    if is_array(value):
        if segment == "length":
            return len(value)
        if _LIST_INDEX.fullmatch(segment) and int(segment) < len(value):
            return value[int(segment)]
    return MISSING


def declared_references(references: JsonObject) -> References:
    """Read `context.references`; a path declared `false` is not declared.

    Raises:
        DescriptorError: If a path or its declaration is malformed.
    """
    declared: dict[str, ContextReference] = {}
    for raw_path, reference in references.items():
        if reference is False:
            continue
        path = normal_path(raw_path, "Context reference path")
        if reference is True:
            declared[path] = ContextReference(path)
        elif is_object(reference):
            declared[path] = _reference(path, reference, raw_path)
        else:
            raise DescriptorError(f'Context reference "{raw_path}" must be true, false, or an object.')
    return declared


def _reference(path: str, declaration: JsonObject, raw_path: str) -> ContextReference:
    optional = declaration.get("optional")
    if not isinstance(optional, bool | None):  # the reference takes the text "no" for true
        raise DescriptorError(f'Context reference "{raw_path}".optional must be true or false.')
    kind = declaration.get("type")
    return ContextReference(path, bool(optional), kind if isinstance(kind, str) else None)


def normal_path(path: str, label: str) -> str:
    """Give a context path without blanks and empty segments around its dots.

    Raises:
        DescriptorError: If nothing is left, or a segment has characters that no path has.
    """
    segments = [segment.strip() for segment in path.split(".") if segment.strip()]
    if not segments:
        raise DescriptorError(f"{label} cannot be empty.")
    for segment in segments:
        if not _SEGMENT.fullmatch(segment):
            raise DescriptorError(f'{label} contains invalid segment "{segment}".')
    return ".".join(segments)


@dataclass(frozen=True, slots=True)
class Condition:
    """A `where`: whether a boolean of the run's context is true.

    Attributes:
        reference: The boolean.
        label: What it decides about, for messages.
    """

    reference: ContextReference
    label: str

    def holds(self, context: JsonValue) -> bool:
        """Read the boolean.

        Raises:
            HarnessError: If it is not there, or is no boolean.
        """
        value = self.reference.find(context)
        if value is MISSING:
            raise HarnessError(f'{self.label} could not resolve context path "{self.reference.path}".')
        if not isinstance(value, bool):
            raise HarnessError(
                f'{self.label} context path "{self.reference.path}" must resolve to a boolean.'
            )
        return value


def declared_boolean(path: str, references: References, *, path_label: str, label: str) -> ContextReference:
    """Give the reference that a condition reads.

    Raises:
        DescriptorError: If the path is malformed, not declared, or not declared as boolean.
    """
    path = normal_path(path, path_label)
    if path not in references:
        raise DescriptorError(f'{label} references undeclared context path "{path}".')
    if references[path].type != "boolean":
        raise DescriptorError(f'{label} context path "{path}" must be declared with type "boolean".')
    return references[path]


def where_path(owner: JsonObject, label: str) -> str | None:
    """Give the context path of an owner's `where`, None where it has no condition.

    Raises:
        DescriptorError: If the condition is malformed.
    """
    if "where" not in owner:
        return None
    where = json_object(owner["where"], f"{label}.where")
    return filled_string(where.get("context"), f"{label}.where.context")
