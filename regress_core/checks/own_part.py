"""The candidate's own part of a run: what it called and said after the input it was given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from regress_core.records.canonical import canonical_json
from regress_core.records.envelopes import is_blocked, unwrap_ok
from regress_core.records.json_io import JsonValue
from regress_core.records.model import RunRecord, ToolCallItem
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls
from regress_core.records.turn_groups import input_scope, turn_groups


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A tool call of the candidate.

    Attributes:
        index: Which of the record's items it is, from 0.
        group: Number of its turn group.
        user_messages: How many messages of the user come before it.
        name: The tool.
        arguments: As recorded; None where there are none.
        args_text: Canonical text of the arguments.
        output_text: Canonical text of the output, an ok envelope taken off; None without an output.
        failed: Whether the tool gave an error, or was kept from running.
    """

    index: int
    group: int
    user_messages: int
    name: str
    arguments: JsonValue
    args_text: str
    output_text: str | None
    failed: bool

    @property
    def where(self) -> str:
        """Its place in the record."""
        return f"items[{self.index}]"


class Said(NamedTuple):
    """A text of the candidate, and its place in the record."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What the candidate did in a run.

    Attributes:
        calls: Its tool calls, in order.
        response: Its answer.
        transcript: All that it said, in order: its messages, and the answer where that is none of them.
        known: Tool and output text of the calls that its input tells of.
    """

    calls: tuple[OwnCall, ...]
    response: Said
    transcript: tuple[Said, ...]
    known: frozenset[tuple[str, str]]


def own_part(record: RunRecord) -> OwnPart:
    """Take the candidate's own part out of the record of its run."""
    scope = input_scope(record).items
    calls = list(_calls(record))
    response = Said("response", record.response)
    messages = [
        Said(f"items[{index}].content", item["content"])
        for index, item in enumerate(record.items)
        if index >= scope and item["type"] == "message" and item["role"] == "assistant"
    ]
    answered = bool(messages) and messages[-1].text == response.text
    return OwnPart(
        calls=tuple(call for call in calls if call.index >= scope),
        response=response,
        transcript=tuple(messages if answered else [*messages, response]),
        known=frozenset(
            (call.name, call.output_text)
            for call in calls
            if call.index < scope and call.output_text is not None
        ),
    )


def _calls(record: RunRecord) -> Iterator[OwnCall]:
    """Give every call of the record; an output without a call is none."""
    extracted = extract_tool_calls(record)
    groups = turn_groups(record, extracted)
    made = [pair for pair in zip(extracted, groups, strict=True) if pair[0].turn is not None]
    asked = 0
    places: list[tuple[int, int, ToolCallItem]] = []
    for index, item in enumerate(record.items):
        asked += item["type"] == "message" and item["role"] == "user"
        if item["type"] == "tool_call_item":
            places.append((index, asked, item))
    for (call, group), (index, user_messages, item) in zip(made, places, strict=True):
        yield OwnCall(
            index=index,
            group=group,
            user_messages=user_messages,
            name=call.name,
            arguments=item.get("arguments"),
            args_text=call.args_canonical_json,
            output_text=_output_text(call),
            failed=call.is_error or is_blocked(call.output),
        )


def _output_text(call: ExtractedToolCall) -> str | None:
    return canonical_json(unwrap_ok(call.output)) if call.has_output else None
