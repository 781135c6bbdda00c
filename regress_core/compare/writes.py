"""The effective writes of a run: the calls that changed something outside of the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.envelopes import read_output
from regress_core.records.json_io import JsonObject, JsonValue, child_path, dumps_text
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import ExtractedToolCall
from regress_core.records.turn_groups import turn_groups

_ID_KEY = re.compile(
    r"(?i:(?:^|[_\W])(?:id|uuid|key|code|number|reference|ref)s?$)"
    r"|(?<=[a-z0-9])(?:I[dD]|Uuid|UUID|Key|Code|Number|Ref(?:erence)?)s?$"
)
_ID = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])\S{4,}")
_WORD = re.compile(r"#?\w++(?:(?:-|[.,:/](?=[0-9]))\w++)*+")  # `1.50` is one word, and none is `1`
_LONGEST_SHOWN = 200  # characters of a call's arguments in an origin, which may stand in arguments in turn
_ODD_NUMBER = re.compile(r"[0-9](?:\.0(?![0-9])|[eE])")  # which canonical JSON writes another way
_NOT_SAID = ("callId", "rawItem")  # members of an item that its run's model goes by, not its text


@dataclass(frozen=True, slots=True)
class Write:
    """A call of a writing tool.

    Attributes:
        index: Position among all calls of the record, from 0.
        call: The call, its arguments as the comparison of calls has them.
        literal: What counts of the arguments as an effect.
        arguments: The same, with ids that the run minted told by where they come from; the same object where
            there are none.
        key: Canonical text of `arguments`.
    """

    index: int
    call: ExtractedToolCall
    literal: JsonValue
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
    """Pick a run's writes. An output without its call is none.

    Args:
        record: The record.
        calls: All its calls, as they are compared.
        config: What the suite says of effects.
    """
    effective: list[Write] = []
    failed: list[Write] = []
    seen: set[tuple[str, str]] = set()
    made = [
        (index, call)
        for index, call in enumerate(calls)
        if call.turn is not None and config.writes(call.name)
    ]
    # An id that counts is in the arguments of a later write; most runs have none.
    minted = _MintedIds(record, calls, [call.arguments for _, call in made[1:]])
    for index, call in made:
        write = _write(index, call, minted, config)
        if config.has_failed(call):
            failed.append(write)
            continue
        effect = (call.name, write.key)
        if effect not in seen or not config.repeats_do_nothing(call.name):
            effective.append(write)
        seen.add(effect)
        minted.add(index, write.key)
    return Writes(effective, failed)


def _write(index: int, call: ExtractedToolCall, minted: _MintedIds, config: EffectsConfig) -> Write:
    literal = arguments = config.counting(call.name, call.arguments)
    given = minted.told_by_origin(call.arguments)
    if given is not call.arguments:
        arguments = config.counting(call.name, given)
    unchanged = arguments is call.arguments
    key = call.args_canonical_json if unchanged else canonical_json(arguments)
    return Write(index, call, literal, arguments, key)


class _MintedIds:
    """The ids that a run's writes have minted so far: other ones in each run, for the same thing.

    An id is told by its form (letters and figures) or by the key it stands under. A write has minted it if
    the write's output is the first to name it. It then stands for its origin: a place in that output.

    Args:
        record: The record.
        calls: All its calls.
        later: The arguments in which a minted id may stand.
    """

    def __init__(
        self, record: RunRecord, calls: Sequence[ExtractedToolCall], later: Sequence[JsonValue]
    ) -> None:
        self._record = record
        self._calls = calls
        self._wanted: set[str] = set()
        for arguments in later:
            _add_ids(arguments, "", self._wanted)
        self._origins: dict[str, str] = {}
        self._said: list[str] = []  # the text of the first items, as far as they have been looked at

    def add(self, index: int, key: str) -> None:
        """Look at the output of a write, the call of this index; `key` is the text of its arguments."""
        call = self._calls[index]
        if not self._wanted or not _may_name(call.output, self._wanted):
            return
        named = sorted(_places(read_output(call.output), "", "$", self._wanted), key=lambda place: place.rank)
        if not named:
            return
        places: dict[str, str] = {}
        for place in named:
            places.setdefault(place.found, place.path)
        # Most often the call itself names what its output repeats, and no more need be looked at.
        called = call.args_canonical_json.casefold()
        news = [found for found in places if not _names(called, found)]
        known = self._known_before(index) if news else ""
        shown = key if len(key) <= _LONGEST_SHOWN else f"…{hash_text(key)[:16]}"
        for found in news:
            if not _names(known, found):
                # Of several calls of one turn that name it, one is taken that does not hang on their order.
                origin = f"{places[found]} of {call.name}({shown})"
                self._origins[found] = min(origin, self._origins.get(found, origin))

    def told_by_origin(self, arguments: JsonValue) -> JsonValue:
        """Put its origin in place of each minted id; without any, give the same object."""
        return self._told(arguments, "") if self._origins else arguments

    def _told(self, value: JsonValue, key: str) -> JsonValue:
        if isinstance(value, dict):
            members = cast("JsonObject", value)
            told = {name: self._told(child, name) for name, child in members.items()}
            return told if any(told[name] is not child for name, child in members.items()) else members
        if isinstance(value, list):
            elements = cast("list[JsonValue]", value)
            changed = [self._told(child, key) for child in elements]
            return changed if any(a is not b for a, b in zip(changed, elements, strict=True)) else elements
        found = _id(value, key)
        return value if found is None else self._origins.get(found, value)

    @cached_property
    def _groups(self) -> Sequence[int]:
        return turn_groups(self._record, self._calls)

    @cached_property
    def _positions(self) -> Sequence[int]:
        """The position among the items of each call that is one."""
        return [index for index, item in enumerate(self._record.items) if item["type"] == "tool_call_item"]

    def _known_before(self, index: int) -> str:
        """Give all that was said, called and given back before a call's turn, and what that turn called."""
        together = [
            call
            for call, group in zip(self._calls, self._groups, strict=True)
            if group == self._groups[index] and call.turn is not None
        ]
        begin = min(self._positions[call.turn - 1] for call in together if call.turn is not None)
        for item in self._record.items[len(self._said) : begin]:
            members = cast("JsonObject", item)
            told = {name: members[name] for name in members.keys() - _NOT_SAID}
            self._said.append(_quick_text(told).casefold())
        called = [call.args_canonical_json.casefold() for call in together]
        return "\n".join([self._record.question.casefold(), *self._said[:begin], *called])


def _quick_text(value: JsonValue) -> str:
    """Give JSON text in which values are written as in canonical JSON; keys may stand in any order."""
    text = dumps_text(value)
    return canonical_json(value) if _ODD_NUMBER.search(text) else text


def _id(value: JsonValue, key: str) -> str | None:
    """Give the text of a value that may be an id, in small letters: 7 and 7.0 are `7`."""
    if isinstance(value, str):
        return value.casefold() if _ID.fullmatch(value) or (value and _is_id_key(key)) else None
    return _whole_number(value) if _is_id_key(key) else None


@lru_cache(1024)
def _is_id_key(key: str) -> bool:
    return _ID_KEY.search(key) is not None


def _whole_number(value: JsonValue) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if type(value) is int else None


def _add_ids(value: JsonValue, key: str, found: set[str]) -> None:
    if isinstance(value, dict):
        for name, child in cast("JsonObject", value).items():
            _add_ids(child, name, found)
    elif isinstance(value, list):
        for child in cast("list[JsonValue]", value):
            _add_ids(child, key, found)
    elif (one := _id(value, key)) is not None:
        found.add(one)


def _may_name(output: JsonValue, wanted: AbstractSet[str]) -> bool:
    """Look whether it is worth taking an output apart; text without escapes tells."""
    if not isinstance(output, str) or "\\" in output:
        return True
    text = output.casefold()
    return any(one in text for one in wanted)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an output names an id; of several places the one of the lowest rank tells what it is."""

    found: str
    path: str
    rank: int


def _places(value: JsonValue, key: str, path: str, wanted: AbstractSet[str]) -> Iterator[_Place]:
    """Give where in an output each wanted id stands, as a value or as a word of a text."""
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        for name in sorted(members):  # their order is of no account
            yield from _places(members[name], name, child_path(path, name), wanted)
        return
    if isinstance(value, list):
        for index, child in enumerate(cast("list[JsonValue]", value)):
            yield from _places(child, key, child_path(path, index), wanted)
        return
    whole = value.casefold() if isinstance(value, str) else _whole_number(value)
    if whole is not None and whole in wanted:
        yield _Place(whole, path, 0 if _is_id_key(key) else 1)
    elif isinstance(value, str):
        for number, word in enumerate(_WORD.findall(value.casefold()), start=1):
            for one in (word, word.removeprefix("#")):
                if one in wanted:
                    yield _Place(one, f"{path}, word {number}", 2)


def _names(text: str, found: str) -> bool:
    """Tell whether a text, or canonical JSON, names an id: as a whole, and not as a part of a figure."""
    core = canonical_json(found.strip("#") or found)[1:-1]
    begin = r"(?:(?<!\w)|(?<=\\[bfnrt]))(?<![0-9][.,:/-])" if core[0].isalnum() else ""
    end = r"(?!\w)(?![.,:/-][0-9])" if core[-1].isalnum() else ""
    return re.search(begin + re.escape(core) + end, text) is not None
