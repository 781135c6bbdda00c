"""Comparing tool calls: by default unordered inside a turn group and ordered across groups."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

from regress_core.compare.matching import match
from regress_core.compare.model import Difference, mismatch, missing_left, missing_right
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item, RunRecord
from regress_core.records.tool_calls import ExtractedToolCall

_OUTPUT_FIELDS = (".output", ".hasOutput", ".isError")
_ENVELOPE_KEYS = {"status", "code", "publicReason", "data"}


@dataclass(frozen=True, slots=True)
class GroupedCall:
    """A call, where it stands in its record, and what is compared of it.

    Attributes:
        index: Position among all calls of the record, from 0.
        group: Number of its turn group, from 1.
        output: The output, an ok envelope taken off.
        output_text: Canonical text of `output`; empty when there is none.
    """

    call: ExtractedToolCall
    index: int
    group: int
    output: JsonValue
    output_text: str

    @property
    def path(self) -> str:
        """The path of a difference about this call."""
        return f"toolCalls[{self.index}]"


def is_about_shape(difference: Difference) -> bool:
    """Tell whether a difference is about which calls were made, not about what they gave back."""
    return not difference.path.endswith(_OUTPUT_FIELDS)


def count_matches(
    left: Sequence[ExtractedToolCall], right: Sequence[ExtractedToolCall]
) -> tuple[int, int, int]:
    """Count calls by name and canonical arguments: matched, missing on the right, extra on the right."""
    left_counts = Counter((call.name, call.args_hash) for call in left)
    right_counts = Counter((call.name, call.args_hash) for call in right)
    matched = (left_counts & right_counts).total()
    return matched, left_counts.total() - matched, right_counts.total() - matched


def grouped_calls(record: RunRecord, calls: Sequence[ExtractedToolCall]) -> list[GroupedCall]:
    """Number the turn groups of a record's calls.

    A call's group is its policy decision's `turn`; without a decision, an unbroken run of tool call items.
    Decisions are about the run's own calls, not about those of its input.
    """
    turns_by_call: defaultdict[str, deque[int]] = defaultdict(deque)
    for decision in record.policy_decisions:
        turns_by_call[decision["callId"]].append(decision["turn"])
    runs = _runs_of_call_items(record.items)
    input_items = record.items[: record.data.get("inputItemCount") or 0]
    calls_of_input = sum(item["type"] == "tool_call_item" for item in input_items)
    # By kind of place: the last place of that kind, and its group.
    group_of_last: dict[str, tuple[int, int]] = {}
    groups = 0
    grouped: list[GroupedCall] = []
    for index, call in enumerate(calls):
        kind, place = ("orphan output", index) if call.turn is None else ("run of items", next(runs))
        turns = turns_by_call.get(call.call_id)
        if turns and call.turn is not None and call.turn > calls_of_input:
            kind, place = "turn", turns.popleft()
        last_place, group = group_of_last.get(kind, (None, 0))
        if place != last_place:
            group = groups = groups + 1
            group_of_last[kind] = (place, group)
        output = unwrap_ok(call.output)
        text = canonical_json(output) if call.has_output else ""
        grouped.append(GroupedCall(call, index, group, output, text))
    return grouped


def _runs_of_call_items(items: Sequence[Item]) -> Iterator[int]:
    """For each tool call item, give the number of the unbroken run it stands in."""
    run, in_run = 0, False
    for item in items:
        is_call = item["type"] == "tool_call_item"
        run += is_call and not in_run
        in_run = is_call
        if is_call:
            yield run


def unwrap_ok(output: JsonValue) -> JsonValue:
    """Take the envelope of a successful tool result off; an ok envelope equals its bare data."""
    if not isinstance(output, dict):
        return output
    envelope = cast("JsonObject", output)
    bare = (
        envelope.get("status") == "ok"
        and envelope.keys() == _ENVELOPE_KEYS
        and envelope["code"] is None
        and envelope["publicReason"] is None
    )
    return envelope["data"] if bare else envelope


def compare_in_groups(left: Sequence[GroupedCall], right: Sequence[GroupedCall]) -> list[Difference]:
    """Compare by turn groups: a swap inside a group is equal, a move to another group is not.

    Calls are paired by the closest likeness that is left: all equal in the same group; same call in the same
    group; same call elsewhere; same tool in the same group; anything in the same group. What stays alone is
    missing.
    """
    found: list[tuple[int, Difference]] = []
    alike = match(left, right, _everything)
    for likeness in (_call_in_group, _call_anywhere, _tool_in_group, _group):
        alike = match(alike.left, alike.right, likeness)
        for a, b in alike.pairs:
            found += [(a.index, difference) for difference in _pair_differences(a, b)]
    found += [(a.index, missing_right(a.path, a.call.to_json())) for a in alike.left]
    found += [(b.index, missing_left(b.path, b.call.to_json())) for b in alike.right]
    found.sort(key=lambda entry: entry[0])
    return _length(len(left), len(right)) + [difference for _, difference in found]


def _call_in_group(entry: GroupedCall) -> Hashable:
    return (entry.group, entry.call.name, entry.call.args_hash)


def _everything(entry: GroupedCall) -> Hashable:
    return (_call_in_group(entry), entry.output_text, entry.call.is_error)


def _call_anywhere(entry: GroupedCall) -> Hashable:
    return (entry.call.name, entry.call.args_hash)


def _tool_in_group(entry: GroupedCall) -> Hashable:
    return (entry.group, entry.call.name)


def _group(entry: GroupedCall) -> Hashable:
    return entry.group


def _pair_differences(a: GroupedCall, b: GroupedCall) -> Iterator[Difference]:
    if a.call.name != b.call.name:
        yield mismatch(f"{a.path}.name", a.call.name, b.call.name)
    if a.call.args_hash != b.call.args_hash:
        yield mismatch(f"{a.path}.arguments", a.call.arguments, b.call.arguments)
    if a.group != b.group:
        yield mismatch(f"{a.path}.turnGroup", a.group, b.group)
    if a.call.has_output != b.call.has_output:
        yield mismatch(f"{a.path}.hasOutput", a.call.has_output, b.call.has_output)
    elif a.output_text != b.output_text:
        yield mismatch(f"{a.path}.output", a.output, b.output)
    if a.call.is_error != b.call.is_error:
        yield mismatch(f"{a.path}.isError", a.call.is_error, b.call.is_error)


def compare_in_order(
    left: Sequence[ExtractedToolCall], right: Sequence[ExtractedToolCall]
) -> list[Difference]:
    """Compare call by call at the same position, as the reference does."""
    differences = _length(len(left), len(right))
    for index, (a, b) in enumerate(zip_longest(left, right)):
        path = f"toolCalls[{index}]"
        if a is None:
            differences.append(missing_left(path, b.to_json()))
        elif b is None:
            differences.append(missing_right(path, a.to_json()))
        else:
            differences += _positional_differences(path, a, b)
    return differences


def _positional_differences(path: str, a: ExtractedToolCall, b: ExtractedToolCall) -> Iterator[Difference]:
    if a.name != b.name:
        yield mismatch(f"{path}.name", a.name, b.name)
    if a.args_hash != b.args_hash:
        yield mismatch(f"{path}.argsHash", a.args_hash, b.args_hash)
    if a.has_output != b.has_output:
        yield mismatch(f"{path}.hasOutput", a.has_output, b.has_output)
    elif a.has_output and canonical_json(a.output) != canonical_json(b.output):
        yield mismatch(f"{path}.output", a.output, b.output)


def _length(left: int, right: int) -> list[Difference]:
    return [] if left == right else [mismatch("toolCalls.length", left, right)]
