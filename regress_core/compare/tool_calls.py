"""Comparing tool calls: by default unordered inside a turn group and ordered across groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from regress_core.compare.matching import match
from regress_core.compare.model import Difference, mismatch, missing_left, missing_right
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.canonical import canonical_json, hash_text, same_json
from regress_core.records.envelopes import unwrap_ok
from regress_core.records.json_io import JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall, extract_tool_calls
from regress_core.records.turn_groups import turn_groups

_OUTPUT_FIELDS = (".output", ".hasOutput", ".isError")


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


def compared_calls(record: RunRecord, rules: ArgumentRules) -> list[ExtractedToolCall]:
    """List a record's calls as they are compared: with those arguments that count.

    Differences show these arguments, so that they name nothing that a rule takes away; the record itself
    keeps what was called. Where no rule changes anything, a call is as recorded.
    """
    return [_with_rules(call, rules) for call in extract_tool_calls(record)]


def _with_rules(call: ExtractedToolCall, rules: ArgumentRules) -> ExtractedToolCall:
    arguments = rules.apply(call.name, call.arguments)
    if arguments is call.arguments:
        return call
    text = canonical_json(arguments)
    return replace(call, arguments=arguments, args_canonical_json=text, args_hash=hash_text(text))


def count_matches(
    left: Sequence[ExtractedToolCall], right: Sequence[ExtractedToolCall]
) -> tuple[int, int, int]:
    """Count calls by name and canonical arguments: matched, missing on the right, extra on the right."""
    left_counts = Counter((call.name, call.args_hash) for call in left)
    right_counts = Counter((call.name, call.args_hash) for call in right)
    matched = (left_counts & right_counts).total()
    return matched, left_counts.total() - matched, right_counts.total() - matched


def grouped_calls(record: RunRecord, calls: Sequence[ExtractedToolCall]) -> list[GroupedCall]:
    """Give a record's calls with their turn groups and bare outputs."""
    grouped: list[GroupedCall] = []
    for index, (call, group) in enumerate(zip(calls, turn_groups(record, calls), strict=True)):
        output = unwrap_ok(call.output)
        text = canonical_json(output) if call.has_output else ""
        grouped.append(GroupedCall(call, index, group, output, text))
    return grouped


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
    elif a.has_output and not same_json(a.output, b.output):
        yield mismatch(f"{path}.output", a.output, b.output)


def _length(left: int, right: int) -> list[Difference]:
    return [] if left == right else [mismatch("toolCalls.length", left, right)]
