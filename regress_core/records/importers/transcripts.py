"""What was said and done in a conversation, as the items of a run record, whatever format tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from regress_core.records.importers.arguments import parse_arguments
from regress_core.records.importers.pairing import CallEvent, pair_calls
from regress_core.records.json_io import JsonObject, JsonValue

Role = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation.

    Attributes:
        prompt: The text of the leading system messages; None where there are none.
        prompt_messages: Those messages, where the text is not all of them; else empty.
        items: Everything after them, as items of a run record.
        user_items: The indexes of the user's messages among the items.
    """

    prompt: str | None
    prompt_messages: list[JsonObject]
    items: list[JsonObject]
    user_items: list[int]


@dataclass(frozen=True, slots=True)
class _Draft:
    """An item whose call id is still open, and the object it came from."""

    item: JsonObject
    source: JsonObject
    event: CallEvent | None = None


@dataclass(slots=True)
class TranscriptBuilder:
    """Takes messages, calls and outputs in the order in which they came, and pairs calls with outputs.

    Each is given with the `source` object that tells it. With `keep` the item keeps that as its `rawItem`,
    since it holds more than the item does.
    """

    _drafts: list[_Draft] = field(default_factory=list[_Draft])
    _reasoning: list[JsonValue] = field(default_factory=list[JsonValue])

    def message(self, role: Role, content: str, source: JsonObject, *, keep: bool = False) -> None:
        """Take what somebody said; leading messages of the system are the prompt."""
        self._add({"type": "message", "role": role, "content": content}, source, keep=keep)

    def reasoning(self, source: JsonValue) -> None:
        """Take what the model thought: no answer, it stands in the agent's next item as `reasoning`."""
        self._reasoning.append(source)

    def call(
        self,
        source_id: str | None,
        name: str,
        source: JsonObject,
        *,
        arguments: JsonObject | None = None,
        keep: bool = False,
    ) -> None:
        """Take a call.

        Args:
            source_id: Its id in the source; None where it has none. Ids may repeat: see `pair_calls`.
            name: The tool.
            source: What tells it.
            arguments: `{"arguments": value or text}`, or empty where the source has none.
            keep: Whether the item keeps the source.
        """
        item: JsonObject = {"type": "tool_call_item", "callId": None, "name": name}
        if arguments:
            item["arguments"] = parse_arguments(arguments["arguments"])
        self._add(item, source, CallEvent(is_output=False, source_id=source_id, name=name), keep=keep)

    def output(
        self,
        source_id: str | None,
        output: JsonValue,
        source: JsonObject,
        *,
        name: str | None = None,
        is_error: bool = False,
        keep: bool = False,
    ) -> None:
        """Take what a tool gave back.

        Args:
            source_id: The id of the call it answers; None where the source does not say.
            output: The output, as it is.
            source: What tells it.
            name: The tool, where the source says so.
            is_error: Whether the source flags it as an error of the tool.
            keep: Whether the item keeps the source.
        """
        item: JsonObject = {"type": "tool_call_output_item", "callId": None, "output": output}
        if is_error:
            item["isError"] = True
        self._add(item, source, CallEvent(is_output=True, source_id=source_id, name=name), keep=keep)

    def _add(
        self, item: JsonObject, source: JsonObject, event: CallEvent | None = None, *, keep: bool
    ) -> None:
        if keep:
            item["rawItem"] = source
        is_agents = item.get("role") == "assistant" or (event is not None and not event.is_output)
        if self._reasoning and is_agents:
            item["reasoning"], self._reasoning = self._reasoning, []
        self._drafts.append(_Draft(item, source, event))

    def build(self) -> Transcript:
        """Give the conversation; every call has an id of its own then, and every output that of its call."""
        self._fill_call_ids()
        leading = list(takewhile(lambda draft: draft.item.get("role") == "system", self._drafts))
        items = [draft.item for draft in self._drafts[len(leading) :]]
        if self._reasoning and items:
            items[-1]["reasoning"] = [*items[-1].get("reasoning", []), *self._reasoning]
        texts_say_it_all = all("rawItem" not in draft.item for draft in leading)
        return Transcript(
            prompt="\n\n".join(draft.item["content"] for draft in leading) if leading else None,
            prompt_messages=[] if texts_say_it_all else [draft.source for draft in leading],
            items=items,
            user_items=[index for index, item in enumerate(items) if item.get("role") == "user"],
        )

    def _fill_call_ids(self) -> None:
        open_drafts = [(draft, draft.event) for draft in self._drafts if draft.event is not None]
        events = [event for _, event in open_drafts]
        for (draft, event), paired in zip(open_drafts, pair_calls(events), strict=True):
            draft.item["callId"] = paired.call_id
            answered = None if paired.call is None else events[paired.call].name
            if event.is_output and event.name not in (None, answered):
                draft.item["rawItem"] = draft.source  # the only place that keeps the name it came with
