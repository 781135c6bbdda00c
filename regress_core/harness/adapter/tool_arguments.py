"""The arguments of a call of a function, as the model wrote them that asked for the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from regress_core.harness.tools import as_json
from regress_core.records.canonical import same_json
from regress_core.records.json_io import JsonObject, JsonValue


def _as_given(value: object) -> object:
    """Take from pydantic models the fields that were given, under their aliases: no others were written."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {key: _as_given(child) for key, child in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_as_given(child) for child in cast("Sequence[object]", value)]
    return value


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments that a function got.

    Frameworks fill in the defaults of what the model left out, so that an argument which equals its default
    may have been given or not.

    Attributes:
        values: All of them, by name.
        optional: Names of those that equal their default.
    """

    values: JsonObject
    optional: frozenset[str] = frozenset()

    def written(self, recorded: Iterable[JsonValue], key: Callable[[JsonValue], str]) -> JsonObject:
        """Give them as the model wrote them: as in a recorded call that is the same one, else the least.

        Args:
            recorded: The arguments of the recorded calls of the tool.
            key: Gives the text by which arguments count as the same.
        """
        if self.optional:
            for arguments in recorded:
                if isinstance(arguments, dict):
                    like = self._with(cast("JsonObject", arguments).keys())
                    if key(like) == key(arguments):
                        return like
        return self._with(())

    def _with(self, names: Iterable[str]) -> JsonObject:
        left_out = self.optional.difference(names)
        return {name: value for name, value in self.values.items() if name not in left_out}


class ToolParameters:
    """The parameters of a function that is a tool.

    Args:
        function: The function.
        leave_out: Parameters that are no arguments of the tool.

    Raises:
        TypeError: If it has no such parameters.
    """

    def __init__(self, function: Callable[..., Any], leave_out: Sequence[str] = ()) -> None:
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters
        for name in leave_out:
            if name not in parameters:
                raise TypeError(f"{function.__name__} has no parameter {name}")
        self._leave_out = frozenset(leave_out)
        self._defaults = {name: parameter.default for name, parameter in parameters.items()}
        kinds = {parameter.kind: name for name, parameter in parameters.items()}
        self._rest = kinds.get(inspect.Parameter.VAR_KEYWORD)

    def arguments(self, args: Sequence[Any], named: Mapping[str, Any]) -> CallArguments:
        """Give the arguments of a call.

        Raises:
            TypeError: If the function cannot be called so, or an argument has no JSON form.
        """
        bound: dict[str, Any] = self._signature.bind(*args, **named).arguments
        rest: dict[str, Any] = bound.pop(self._rest, {}) if self._rest else {}
        given = {**bound, **rest}
        values = {
            name: as_json(_as_given(value)) for name, value in given.items() if name not in self._leave_out
        }
        optional = (name for name in bound if name in values and self._is_default(name, values[name]))
        return CallArguments(values, frozenset(optional))

    def _is_default(self, name: str, value: JsonValue) -> bool:
        default = self._defaults[name]
        if default is inspect.Parameter.empty:
            return False
        try:
            return same_json(as_json(_as_given(default)), value)
        except TypeError:  # a default without a JSON form, such as a marker object
            return False
