"""Records of a few calls, the tools that replay them, and tools that must not run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from regress_core.harness.errors import MissingToolOutputError
from regress_core.harness.replay.recorded_tools import Answer, ReplayingTools
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from tests.support.records import message, record_json, tool_call, tool_output

Ask = tuple[str, JsonValue]
"""A tool and the arguments that it is asked with."""

A, B = {"q": "a"}, {"q": "b"}


def recorded(*calls: tuple[str, JsonValue, JsonValue], **more: Any) -> list[Any]:  # noqa: ANN401 - any field of an output
    """Give the items of calls: name, arguments, output."""
    return [
        item
        for number, (name, arguments, output) in enumerate(calls, start=1)
        for item in (
            tool_call(f"c{number}", name, arguments=arguments),
            tool_output(f"c{number}", output=output, **more),
        )
    ]


def replaying(items: Sequence[Item], **options: Any) -> ReplayingTools:  # noqa: ANN401 - any option
    """Give the tools that replay these items, strictly unless the options say otherwise."""
    all_options: dict[str, Any] = {
        "input_calls": 0,
        "mode": "strict",
        "input_source": "inputItemCount",
        "rules": ArgumentRules(),
        **options,
    }
    return ReplayingTools(extract_tool_calls(items), **all_options)


async def never() -> JsonValue:
    raise AssertionError("the tool was run")


def answers(tools: ReplayingTools, *asked: Ask) -> list[Answer]:
    """Make calls that must not run any tool."""

    async def main() -> list[Answer]:
        return [await tools.call(name, arguments, never) for name, arguments in asked]

    return asyncio.run(main())


def outputs_for(tools: ReplayingTools, *asked: Ask) -> list[JsonValue]:
    return [answer.output for answer in answers(tools, *asked)]


def missing(tools: ReplayingTools, *asked: Ask) -> str:
    """Make calls of which one must be missing, and give what is said then."""
    with pytest.raises(MissingToolOutputError) as raised:
        answers(tools, *asked)
    return str(raised.value)


BLOCKED: list[JsonObject] = [
    {"status": status, "code": "c", "publicReason": "p", "data": None}
    for status in ("denied", "approval_required")
]


def baseline(*calls: tuple[str, JsonValue, JsonValue], **changes: JsonValue) -> RunRecord:
    """Give a record of one question and these calls: tool, arguments, output."""
    items = [message("Where is my order?"), *recorded(*calls), message("On its way.", "assistant")]
    return RunRecord.parse(record_json(items=items, inputItemCount=1, **changes))


def forbidden(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise AssertionError("a strict replay never runs a tool")


DANGEROUS = Tool("f", "Would do harm.", forbidden)
LIVE = Tool("f", "Does it.", lambda arguments, _: {"live": arguments})
