"""The context a run starts with: the defaults of the descriptor's fields, and what is put over them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from regress_core.harness.descriptor.values import DescriptorError, expect_shallow, is_object, json_object
from regress_core.harness.recorder import iso_time
from regress_core.records.json_io import JsonObject, JsonValue

_MESSAGE = "{{input.message}}"
_NOW = "{{runtime.now_iso}}"


@dataclass(frozen=True, slots=True)
class ContextFields:
    """The fields of `context.fields` that have a default.

    Attributes:
        defaults: Path and default of each, in order; a later one lies over an earlier one.
    """

    defaults: tuple[tuple[tuple[str, ...], JsonValue], ...] = ()

    def create(self, message: str, now: datetime | str, overrides: JsonObject | None) -> JsonObject:
        """Make a context, apart from every other one.

        Args:
            message: Takes the place of a default `{{input.message}}`.
            now: Takes the place of a default `{{runtime.now_iso}}`; a timezone-aware time, or its ISO text.
            overrides: Put over the defaults; objects are merged, everything else is replaced.

        Raises:
            ValueError: If `now` is a time without a timezone.
        """
        inputs = {_MESSAGE: message, _NOW: now if isinstance(now, str) else _utc_text(now)}
        context: JsonObject = {}
        for path, default in self.defaults:
            is_input = isinstance(default, str) and default in inputs
            _set(context, path, inputs[default] if is_input else copy.deepcopy(default))
        _merge(context, overrides or {})
        return context


def read_fields(fields: JsonObject) -> ContextFields:
    """Read `context.fields`.

    Raises:
        DescriptorError: If a field is malformed, or lies inside a list that is another one's default.
    """
    defaults: list[tuple[tuple[str, ...], JsonValue]] = []
    for path, declaration in fields.items():
        field = json_object(declaration, f'Harness descriptor context field "{path}"')
        segments = tuple(segment for segment in path.split(".") if segment)
        if not segments:
            raise DescriptorError("Context field path cannot be empty.")
        if "default" in field:
            defaults.append((segments, field["default"]))
    read = ContextFields(tuple(defaults))
    expect_shallow(read.create("", "", None), "Context")  # a default that cannot be set is found here too
    return read


def _utc_text(now: datetime) -> str:
    if now.tzinfo is None:
        raise ValueError("the time has no timezone")
    return iso_time(now.astimezone(UTC))


def _set(context: JsonObject, path: tuple[str, ...], value: JsonValue) -> None:
    cursor = context
    for segment in path[:-1]:
        inner = cursor.get(segment)
        if isinstance(inner, list):
            raise DescriptorError(
                f'Context field "{".".join(path)}" lies inside a list, the default of another field.'
            )
        if not is_object(inner):
            inner = cast("JsonObject", {})
            cursor[segment] = inner
        cursor = inner
    cursor[path[-1]] = value


def _merge(target: JsonObject, source: JsonObject) -> None:
    for key, value in source.items():
        current = target.get(key)
        if is_object(current) and is_object(value):
            _merge(current, value)
        else:
            target[key] = copy.deepcopy(value)
