"""The tool calls of a run, each with its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord


@dataclass(slots=True)
class ExtractedToolCall:
    """One call as the record has it.

    Attributes:
        call_id: The id that pairs call and output.
        name: The tool; empty for an output whose call is missing.
        arguments: As recorded: an object, or text where a provider's text was kept; `{}` when absent.
        has_output: Whether an output item follows.
        output: The output, when there is one.
        is_error: Whether the source flagged the output as a tool error.
        turn: 1 for the first call, 2 for the second, and so on, as the reference counts; None for an orphan.
        args_canonical_json: Canonical text of the arguments.
        args_hash: SHA-256 of that text.
    """

    call_id: str
    name: str
    arguments: Any
    turn: int | None
    args_canonical_json: str
    args_hash: str
    has_output: bool = False
    output: Any = None
    is_error: bool = False

    def to_json(self) -> JsonObject:
        """Give the reference's JSON shape, absent fields left out."""
        value: JsonObject = {"callId": self.call_id, "name": self.name, "arguments": self.arguments}
        if self.has_output:
            value["output"] = self.output
        value["hasOutput"] = self.has_output
        if self.is_error:
            value["isError"] = True
        if self.turn is not None:
            value["turn"] = self.turn
        value["argsCanonicalJson"] = self.args_canonical_json
        value["argsHash"] = self.args_hash
        return value


def extract_tool_calls(source: RunRecord | Sequence[Item]) -> list[ExtractedToolCall]:
    """List the tool calls of a record or of its items, in order, outputs paired by call id.

    As in the reference: an output belongs to the latest call with its id; an output without a call is a
    call of its own with an empty name.
    """
    items = source.items if isinstance(source, RunRecord) else source
    calls: list[ExtractedToolCall] = []
    latest: dict[str, ExtractedToolCall] = {}
    turn = 0
    for item in items:
        if item["type"] == "tool_call_item":
            turn += 1
            call = _call(item["callId"], item["name"], item.get("arguments", {}), turn)
            calls.append(call)
            latest[item["callId"]] = call
        elif item["type"] == "tool_call_output_item":
            call = latest.get(item["callId"])
            if call is None:
                call = latest[item["callId"]] = _call(item["callId"], "", {}, None)
                calls.append(call)
            call.has_output = True
            call.output = item.get("output")
            call.is_error = item.get("isError") is True
    return calls


def _call(call_id: str, name: str, arguments: JsonValue, turn: int | None) -> ExtractedToolCall:
    text = canonical_json(arguments)
    return ExtractedToolCall(
        call_id=call_id,
        name=name,
        arguments=arguments,
        turn=turn,
        args_canonical_json=text,
        args_hash=hash_text(text),
    )
