"""A tool of an agent, and what the model is shown of its result."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_jsonable_python

from regress_core.errors import RegressError
from regress_core.harness.threads import call_apart
from regress_core.models.client import ToolSpec
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import DEEPEST, JsonObject, JsonValue
from regress_core.records.json_schema import schema_fault, schema_validator

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run carries along: the application's context, a JSON value that tools may read and change."""

    context: Any


Execute = Callable[[Any, RunContext], Awaitable[JsonValue] | JsonValue]
"""Takes the call's arguments and the run's context, gives the output. Sync or async."""


def _any_object() -> JsonObject:
    return {"type": "object"}


@dataclass(frozen=True)
class Tool:
    """Something an agent can call.

    Attributes:
        name: What the model calls it.
        description: What the model is told about it.
        execute: Does it. A `ToolError` it raises is shown to the model, any other exception ends the run.
        parameters: JSON Schema of the arguments; any object by default.
    """

    name: str
    description: str
    execute: Execute
    parameters: JsonObject = field(default_factory=_any_object)

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as the model is told of it."""
        return ToolSpec(self.name, self.description, self.parameters)

    @cached_property
    def validator(self) -> Validator:
        """Checks arguments against `parameters`."""
        return schema_validator(self.parameters, any_pattern=True)


def tool_fault(tool: Tool) -> str | None:
    """Say what is wrong with a tool that was made in code that nobody checked; None if nothing is."""
    name, description, parameters = cast("tuple[object, ...]", (tool.name, tool.description, tool.parameters))
    if not isinstance(name, str) or not name or not isinstance(description, str):
        return "its name and description are texts, the name not empty"
    if not callable(tool.execute):
        return "its execute cannot be called"
    if not isinstance(parameters, dict):
        return "its parameters are a JSON Schema, an object"
    fault = schema_fault(tool.parameters, any_pattern=True)
    return None if fault is None else f"its parameters are no JSON Schema: {fault}"


class ToolError(RegressError):
    """A tool's own error, meant for the model: recorded as an output with `isError`, and the run goes on.

    Attributes:
        output: What the model is shown.
    """

    def __init__(self, output: JsonValue) -> None:
        self.output = output
        super().__init__(str(output))


async def call_tool(execute: Execute, arguments: JsonValue, context: RunContext) -> JsonValue:
    """Run a tool on a copy of its arguments and make a JSON value of its output.

    One that is not async runs in a thread of its own: while it waits for something, other runs go on.

    Raises:
        TypeError: If the output has no JSON form.
    """
    own = as_json(arguments)
    try:
        output = await call_apart(execute, own, context)
    except ToolError as error:
        raise ToolError(as_json(error.output)) from error
    return as_json(output)


_DEEPEST = DEEPEST - 20  # for what a record has around a value
_MOST_BITS = 14_000  # fewer than 4,300 decimal digits, which is as many as Python writes and reads


def as_json(value: object) -> JsonValue:
    """Make a JSON value, a copy, of what an application gave: models, dataclasses, dates, sets and the like.

    Raises:
        TypeError: If something in it has no JSON form, NaN and infinities among them, or it nests too deeply.
    """
    return _copied(value, _DEEPEST)


def _copied(value: object, levels: int) -> JsonValue:  # noqa: PLR0911 - one return a JSON type
    # By hand: pydantic refuses keys with lone surrogates, and lets NaN pass.
    kind = value.__class__
    if kind is str or value is None or kind is bool:
        return value
    if kind is int:
        if cast("int", value).bit_length() > _MOST_BITS:
            raise TypeError("no JSON value: an integer of thousands of digits")
        return value
    if kind is float:
        if not math.isfinite(cast("float", value)):
            raise TypeError("no JSON value: NaN and infinities")
        return value
    if not levels:
        raise TypeError(f"no JSON value: it nests deeper than {_DEEPEST}")
    if kind is dict and all(key.__class__ is str for key in cast("JsonObject", value)):
        return {key: _copied(child, levels - 1) for key, child in cast("JsonObject", value).items()}
    if kind is list or kind is tuple:
        return [_copied(child, levels - 1) for child in cast("list[object]", value)]
    if kind is set or kind is frozenset:  # whose order is another one in each process
        members = (_copied(child, levels - 1) for child in cast("set[object]", value))
        return sorted(members, key=canonical_json)
    return _copied(_converted(value), levels)


def _converted(value: object) -> JsonValue:
    """Let pydantic make JSON values of models, dataclasses, dates and other types that it knows."""
    try:
        return to_jsonable_python(value)
    except ValueError as error:
        raise TypeError(f"no JSON value: {error}") from error
