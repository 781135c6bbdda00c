"""Turns of a run: which calls the model asked for together, and where each turn starts."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from regress_core.records.model import Item, RunRecord
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls


class InputScope(NamedTuple):
    """How many of a record's items the run was given; the rest it made.

    Attributes:
        items: How many.
        source: What says so, as the reference's replay names it; `questionFallback` if nothing does, so that
            the question is the input: one item if the first is a message.
    """

    items: int
    source: Literal["inputItemCount", "requestFingerprint", "questionFallback"]


def input_scope(record: RunRecord) -> InputScope:
    """Find a record's input, as the reference's replay does: a count is good if there are that many items."""
    items = record.items
    count = record.data.get("inputItemCount")
    if count is not None and 0 <= count <= len(items):
        return InputScope(count, "inputItemCount")
    requests = record.data["requestFingerprints"]
    if requests and 0 <= requests[0]["messageCount"] <= len(items):
        return InputScope(requests[0]["messageCount"], "requestFingerprint")
    return InputScope(1 if items and items[0]["type"] == "message" else 0, "questionFallback")


def turn_groups(record: RunRecord, calls: Sequence[ExtractedToolCall]) -> list[int]:
    """Number the turn groups of a record's calls, from 1.

    A call's group is its policy decision's `turn`; without a decision, an unbroken run of tool call items.
    Decisions are about the run's own calls, not about those of its input.

    Args:
        record: The record.
        calls: All its calls, as `extract_tool_calls` gives them.

    Returns:
        The number of each call's group. Groups are numbered as they first appear, and may interleave: a call
        without a decision amid those of one turn is a group of its own.
    """
    turns_by_call: defaultdict[str, deque[int]] = defaultdict(deque)
    for decision in record.policy_decisions:
        turns_by_call[decision["callId"]].append(decision["turn"])
    runs = _runs_of_call_items(record.items)
    calls_of_input = sum(
        item["type"] == "tool_call_item" for item in record.items[: input_scope(record).items]
    )
    # By kind of place: the last place of that kind, and its group.
    group_of_last: dict[str, tuple[int, int]] = {}
    numbers: list[int] = []
    groups = 0
    for index, call in enumerate(calls):
        kind, place = ("orphan output", index) if call.turn is None else ("run of items", next(runs))
        turns = turns_by_call.get(call.call_id)
        if turns and call.turn is not None and call.turn > calls_of_input:
            kind, place = "turn", turns.popleft()
        last_place, group = group_of_last.get(kind, (None, 0))
        if place != last_place:
            group = groups = groups + 1
            group_of_last[kind] = (place, group)
        numbers.append(group)
    return numbers


def _runs_of_call_items(items: Sequence[Item]) -> Iterator[int]:
    """For each tool call item, give the number of the unbroken run it stands in."""
    run, in_run = 0, False
    for item in items:
        is_call = item["type"] == "tool_call_item"
        run += is_call and not in_run
        in_run = is_call
        if is_call:
            yield run


def turn_starts(record: RunRecord) -> list[int]:
    """Give the index into `record.items` at which each turn of the model starts.

    The first entry is the input scope. The last is where the final turn starts: the one that answered or, in
    a run that broke off, the last one known; that is the number of items where it left none.

    The requests' own message counts say it, if every turn has one (some records keep the first request only)
    and they fit the items. Else the turn groups do: a turn ends with the outputs that follow its last call.
    A record whose user speaks again after the input scope has more turns than this tells.
    """
    scope = input_scope(record).items
    counts = _message_counts(record)
    return counts if counts[:1] == [scope] else _starts_by_groups(record, scope)


def _message_counts(record: RunRecord) -> list[int]:
    """Give each turn's message count; none at all where they cannot be the turns' places in the items."""
    requests = record.data["requestFingerprints"]
    turns = [request["turn"] for request in requests]
    named = [
        entry["turn"]
        for entries in (
            record.data["promptSnapshots"],
            record.policy_decisions,
            record.data.get("guardrailDecisions") or (),
        )
        for entry in entries
    ]
    if turns != list(range(1, len(turns) + 1)) or max(named, default=0) > len(turns):
        return []
    counts = [request["messageCount"] for request in requests]
    if not counts or any(a > b for a, b in pairwise((*counts, len(record.items)))):
        return []
    return counts if _is_one_turn(record.items[counts[-1] :], ended=record.status == "completed") else []


def _is_one_turn(items: Sequence[Item], *, ended: bool) -> bool:
    """Tell whether items can be a run's last turn: an answer, or calls after which the run broke off."""
    called = False
    for item in items:
        if called and item["type"] == "message":
            return False
        called = called or item["type"] == "tool_call_item"
    return not (called and ended)


def _starts_by_groups(record: RunRecord, scope: int) -> list[int]:
    items = record.items
    calls = extract_tool_calls(record)
    groups = [
        group
        for call, group in zip(calls, turn_groups(record, calls), strict=True)
        if call.turn is not None  # an orphan output is no item of a call
    ]
    positions = [index for index, item in enumerate(items) if item["type"] == "tool_call_item"]
    own = [entry for entry in zip(positions, groups, strict=True) if entry[0] >= scope]
    last_of_group = {group: position for position, group in own}
    starts = [scope]
    reach = 0
    for (position, group), (following, _) in pairwise((*own, (len(items), 0))):
        reach = max(reach, last_of_group[group])
        # Between two calls side by side nothing came back, so that the model cannot have spoken again.
        side_by_side = following == position + 1 and following < len(items)
        if reach == position and not side_by_side:
            starts.append(_after_outputs(items, position, following))
    broke_off = record.status == "failed" and starts[-1] == len(items)
    return starts[:-1] if broke_off and own else starts


def _after_outputs(items: Sequence[Item], call: int, following: int) -> int:
    """Give the index after the last output between a call and the next one, or after the call if none is."""
    outputs = (i for i in range(following - 1, call, -1) if items[i]["type"] == "tool_call_output_item")
    return next(outputs, call) + 1
