"""What is seen of an agent of your own: its tool calls, laid out as a record's items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from regress_core.harness.replay.recorded_tools import Answer
from regress_core.records.json_io import JsonObject
from regress_core.records.model import Item, ToolCallItem, ToolCallOutputItem


@dataclass(slots=True)
class SeenCall:
    """A call that was made.

    Attributes:
        name: The tool.
        arguments: What it was asked.
        together: Whether an earlier call had no answer yet.
        group: The turn group of the recorded call that answered it, if one did.
        answer: What it got; None while it runs, and for one that the record has no output for.
    """

    name: str
    arguments: JsonObject
    together: bool
    group: int | None = None
    answer: Answer | None = None


def items_of(calls: Sequence[SeenCall], taken: Iterable[str] = ()) -> list[Item]:
    """Give calls as record items: turn by turn, the calls of a turn before their outputs.

    Nobody sees from outside which calls a model asked for together. Those that were made while an earlier one
    had no answer yet are taken for one turn, and so are calls in a row that were of one turn in the recorded
    run.

    Args:
        calls: The calls, in the order they were made.
        taken: Call ids that other items have.
    """
    ids = _free_ids(frozenset(taken))
    items: list[Item] = []
    for turn in _turns(calls):
        outputs: list[Item] = []
        for seen in turn:
            call_id = next(ids)
            call: ToolCallItem = {
                "type": "tool_call_item",
                "callId": call_id,
                "name": seen.name,
                "arguments": seen.arguments,
            }
            items.append(call)
            if seen.answer is not None:
                outputs.append(_output_item(call_id, seen.answer))
        items += outputs
    return items


def _turns(calls: Sequence[SeenCall]) -> list[list[SeenCall]]:
    turns: list[list[SeenCall]] = []
    for seen in calls:
        if turns and (seen.together or _same_group(turns[-1][-1], seen)):
            turns[-1].append(seen)
        else:
            turns.append([seen])
    return turns


def _same_group(a: SeenCall, b: SeenCall) -> bool:
    return a.group is not None and a.group == b.group


def _free_ids(taken: frozenset[str]) -> Iterator[str]:
    return (call_id for number in count(1) if (call_id := f"call-{number}") not in taken)


def _output_item(call_id: str, answer: Answer) -> ToolCallOutputItem:
    item: ToolCallOutputItem = {
        "type": "tool_call_output_item",
        "callId": call_id,
        "output": answer.output,
    }
    if answer.is_error:
        item["isError"] = True
    return item
