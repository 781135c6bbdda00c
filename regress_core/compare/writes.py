"""The effective writes of a run: the calls that changed something outside of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.records.canonical import canonical_json
from regress_core.records.envelopes import read_output
from regress_core.records.json_io import JsonObject, JsonValue, child_path
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall

_ID_KEY = re.compile(
    r"(?i:(?:^|[_\W])(?:id|uuid|key|code|number|reference|ref)$)|(?<=[a-z])(?:Id|ID|Uuid|UUID|Number)$"
)
_WORD = re.compile(r"\w+(?:-\w+)*")
_ID = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\S{4,}")


@dataclass(frozen=True, slots=True)
class Write:
    """A call of a writing tool.

    Attributes:
        index: Position among all calls of the record, from 0.
        call: The call, its arguments as the comparison of calls has them.
        arguments: What counts of the arguments as an effect.
        key: Canonical text of that.
    """

    index: int
    call: ExtractedToolCall
    arguments: JsonValue
    key: str


@dataclass(frozen=True, slots=True)
class Writes:
    """The writes of a run, in their order.

    Attributes:
        effective: Those that changed something.
        failed: Those that came to nothing.
    """

    effective: Sequence[Write]
    failed: Sequence[Write]


def writes_of(record: RunRecord, calls: Sequence[ExtractedToolCall], config: EffectsConfig) -> Writes:
    """Pick a run's writes.

    An id that a write has minted, that is one that its output is the first to name, stands in later writes'
    arguments as what it is: an output of that call. Runs mint different ids for the same thing.

    Args:
        record: The record.
        calls: All its calls, as they are compared.
        config: What the suite says of effects.
    """
    effective: list[Write] = []
    failed: list[Write] = []
    seen: set[tuple[str, str]] = set()
    made = [(index, call) for index, call in enumerate(calls) if config.writes(call.name)]
    # Most runs have no id in a write's arguments that an earlier write could have minted.
    wanted = _ids_in_arguments(call.arguments for _, call in made[1:])
    minted: dict[str | int, str] = {}
    for index, call in made:
        given = _with_origins(call.arguments, minted) if minted else call.arguments
        arguments = config.counting(call.name, given)
        unchanged = arguments is call.arguments
        key = call.args_canonical_json if unchanged else canonical_json(arguments)
        write = Write(index, call, arguments, key)
        if config.has_failed(call):
            failed.append(write)
            continue
        effect = (call.name, key)
        if effect not in seen or not config.repeats_do_nothing(call.name):
            effective.append(write)
        seen.add(effect)
        if wanted and call.has_output:
            minted = _minted(record, write, wanted) | minted
    return Writes(effective, failed)


def _ids_in_arguments(arguments: Iterable[JsonValue]) -> frozenset[str | int]:
    return frozenset(value for one in arguments for value in _ids(one, ""))


def _ids(value: JsonValue, key: str) -> Iterator[str | int]:
    """Give what may be an id: told by its form, or by the key it stands under."""
    if isinstance(value, dict):
        for name, child in cast("JsonObject", value).items():
            yield from _ids(child, name)
    elif isinstance(value, list):
        for child in cast("list[JsonValue]", value):
            yield from _ids(child, key)
    elif isinstance(value, str):
        if _ID.fullmatch(value) or (value and _ID_KEY.search(key)):
            yield value
    elif type(value) is int and _ID_KEY.search(key):
        yield value


def _minted(record: RunRecord, write: Write, wanted: frozenset[str | int]) -> dict[str | int, str]:
    """Give those of the wanted ids that a write's output is the first to name, each with what it is."""
    own = f"{record.question}\n{write.call.args_canonical_json}"
    candidates = frozenset(value for value in wanted if str(value) not in own)
    if not candidates:
        return {}
    named = list(_places(read_output(write.call.output), candidates, "$"))
    if not named:
        return {}
    before = _text_before(record, write)
    return {
        value: f"{path} of {write.call.name}({write.key})"
        for value, path in reversed(named)  # of several places the first one names it
        if str(value) not in before
    }


def _places(value: JsonValue, wanted: frozenset[str | int], path: str) -> Iterator[tuple[str | int, str]]:
    """Give where in an output each wanted id stands, as a value or as a word of a text."""
    if isinstance(value, dict):
        for name, child in cast("JsonObject", value).items():
            yield from _places(child, wanted, child_path(path, name))
    elif isinstance(value, list):
        for index, child in enumerate(cast("list[JsonValue]", value)):
            yield from _places(child, wanted, child_path(path, index))
    elif isinstance(value, str):
        words = [value] if value in wanted else _WORD.findall(value) if " " in value else ()
        yield from ((word, f"{path}, word {n}") for n, word in enumerate(words, start=1) if word in wanted)
    elif type(value) is int and value in wanted:
        yield value, path


def _text_before(record: RunRecord, write: Write) -> str:
    """Give all that was said, called and given back before a write."""
    own = write.call.turn or 0
    texts: list[str] = []
    number = 0
    for item in record.items:
        number += item["type"] == "tool_call_item"
        if number >= own:
            break
        texts.append(canonical_json(cast("JsonObject", item)))
    return "\n".join(texts)


def _with_origins(value: JsonValue, minted: Mapping[str | int, str]) -> JsonValue:
    """Put in place of each minted id what it is."""
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return {key: _with_origins(child, minted) for key, child in members.items()}
    if isinstance(value, list):
        return [_with_origins(child, minted) for child in cast("list[JsonValue]", value)]
    if isinstance(value, str) or type(value) is int:
        return minted.get(value, value)
    return value
