"""Record items as the messages of a chat.

Chat models take calls as part of an assistant message, and refuse a request in which such a message is not
followed by an output for each of its calls. Records hold calls and outputs as items of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from regress_core.models.client import ModelError
from regress_core.records.json_io import JsonValue, clean_text, dumps_text
from regress_core.records.model import Item, ToolCallItem

NO_OUTPUT = "(no output was recorded)"
"""What the model is told where a record holds a call without its output, since it must be told something."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message without calls."""

    role: Literal["user", "assistant", "system"]
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; `arguments` is JSON text, or the text that the record kept."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Output:
    """What a call gave back: text, or JSON text of what is none."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """An assistant message with calls, and the outputs that follow it: one for each call.

    Attributes:
        text: What the assistant said along with the calls; None for nothing.
        calls: The calls, in the order of the record.
        outputs: Their outputs, in the order of the record.
    """

    text: str | None
    calls: tuple[Call, ...]
    outputs: tuple[Output, ...]


def conversation_of(items: Sequence[Item]) -> list[Said | Called]:
    """Group record items into messages.

    A call belongs to the message of the call before it as long as an output is missing there. Where each
    output follows its call, as the agent loop records even parallel calls, each call is a message of its own:
    an item does not tell its turn, and a call that needed an output must not be sent as if it had been made
    before that output. An assistant message directly before a call carries that call.

    Raises:
        ModelError: If an output has no call before it.
    """
    grouping = _Grouping()
    for item in items:
        if item["type"] == "message":
            grouping.close()
            grouping.done.append(Said(item["role"], clean_text(item["content"])))
        elif item["type"] == "tool_call_item":
            grouping.call(item)
        else:
            grouping.output(item["callId"], item.get("output"))
    grouping.close()
    return grouping.done


class _Grouping:
    """The messages so far, and the one whose outputs are still to come."""

    def __init__(self) -> None:
        self.done: list[Said | Called] = []
        self._text: str | None = None
        self._calls: list[Call] = []
        self._waiting: list[Call] = []
        self._outputs: list[Output] = []

    def call(self, item: ToolCallItem) -> None:
        """Take up a call."""
        if not self._waiting:
            self.close()
            self._text = self._said_just_before()
        arguments = item.get("arguments")
        call = Call(item["callId"], item["name"], _text_of({} if arguments is None else arguments))
        self._calls.append(call)
        self._waiting.append(call)

    def output(self, call_id: str, output: JsonValue) -> None:
        """Take up an output: of the first call of that id which has none."""
        call = next((call for call in self._waiting if call.call_id == call_id), None)
        if call is None:
            raise ModelError("refused request", f"the output of call {call_id} has no call before it")
        self._waiting.remove(call)
        self._outputs.append(Output(call.call_id, call.name, _text_of(output)))

    def close(self) -> None:
        """Finish the message that is open, if one is."""
        if not self._calls:
            return
        for call in self._waiting:
            self._outputs.append(Output(call.call_id, call.name, NO_OUTPUT))
        self.done.append(Called(self._text, tuple(self._calls), tuple(self._outputs)))
        self._calls, self._waiting, self._outputs = [], [], []

    def _said_just_before(self) -> str | None:
        if self.done and isinstance(self.done[-1], Said) and self.done[-1].role == "assistant":
            said = self.done[-1]
            del self.done[-1]
            return said.text
        return None


def _text_of(value: JsonValue) -> str:
    return clean_text(value) if isinstance(value, str) else dumps_text(value)
