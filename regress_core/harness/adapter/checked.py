"""Checks of what an adapter's functions give, before anything is built on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from regress_core.errors import InputError
from regress_core.foreign import settled
from regress_core.harness.replay.recorded_tools import (
    MissingToolCall,
    MissingToolCallResolution,
    OnMissingToolCall,
)
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import Tool, as_json, tool_fault

T = TypeVar("T")


def expected(kind: type[T], value: object, function: str) -> T:
    """Check what an adapter's function gave.

    Raises:
        TypeError: If it is of another kind.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{function} gave {type(value).__name__} in place of {kind.__name__}")
    return value


def checked_options(value: object) -> RunOptions:
    """Check the adapter's options of a run; nothing means the defaults.

    Raises:
        TypeError: If they, or what they say of the record, are of another kind, or the context is no JSON.
    """
    if value is None:
        return RunOptions()
    options = expected(RunOptions, value, "create_run_options")
    expected(RecordOptions, options.record, "create_run_options, for record,")
    as_json(options.context)
    return options


def checked_resolution(function: Callable[[MissingToolCall], Any]) -> OnMissingToolCall:
    """Check what the adapter makes of a missing call, each time it is asked."""

    async def checked(missing: MissingToolCall) -> MissingToolCallResolution:
        return expected(MissingToolCallResolution, await settled(function(missing)), "on_missing_tool_call")

    return checked


def checked_tools(tools: object, adapter: str) -> Mapping[str, Tool]:
    """Check the adapter's tools by target; nothing means none.

    Args:
        tools: What `create_tools` gave.
        adapter: Where the adapter is, for messages.

    Raises:
        InputError: If they are no mapping of texts to tools.
    """
    if tools is None:
        return {}
    if not isinstance(tools, Mapping):
        raise InputError("gave no mapping of targets to tools", file=adapter, field="create_tools")
    for target, tool in cast("Mapping[Any, Any]", tools).items():
        if not isinstance(target, str) or not isinstance(tool, Tool):
            raise InputError(f"{target!r} is no Tool", file=adapter, field="create_tools")
        fault = tool_fault(tool)
        if fault is not None:
            raise InputError(f"{target!r}: {fault}", file=adapter, field="create_tools")
    return cast("Mapping[str, Tool]", tools)
