"""Redaction: what is kept out of whatever a judge's model is sent, and out of records that are imported."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple, cast

from pydantic import AfterValidator, BeforeValidator, Field

from regress_core.records.canonical import canonical_hash, canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep, checked_path, parse_path
from regress_core.records.pattern_spans import Spans, pattern_spans
from regress_core.records.personal_data import PERSONAL_DATA, PersonalKind
from regress_core.records.wire import ConfigModel

_DEFAULT_NAME = "REDACTED"
_HASH_NAME, _HASH_LENGTH = "HASH", 16
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*)_([1-9][0-9]{0,8})\]", re.ASCII)


def _checked_pattern(text: str) -> str:
    pattern_spans(text)
    return text


class RedactPattern(ConfigModel):
    """A regular expression (see `pattern_spans`) for texts to hide, and the name of their placeholders."""

    pattern: Annotated[str, Field(min_length=1), AfterValidator(_checked_pattern)]
    name: Annotated[str, Field(pattern="^[A-Z][A-Z0-9_]*$")] = _DEFAULT_NAME


def _with_default_name(value: JsonValue) -> JsonValue:
    return {"pattern": value} if isinstance(value, str) else value


_Pattern = Annotated[RedactPattern, BeforeValidator(_with_default_name)]
_Path = Annotated[str, AfterValidator(checked_path)]


class RedactConfig(ConfigModel):
    """What is hidden of a run record; the `redact` mapping of suite.yaml.

        kinds: [EMAIL, PHONE]
        patterns:
          - 'A-[0-9]{6}'
          - {name: EMAIL, pattern: '[^ ]+@[^ ]+'}
        paths:
          - items[*].arguments.email
          - contextSnapshot
        hashes:
          - metadata.customer

    Attributes:
        kinds: What is looked for inside of texts without a pattern: `SECRET` (keys, tokens, passwords),
            `EMAIL`, `IBAN`, `CARD`, `IP`, `PHONE`. See `PERSONAL_DATA`.
        patterns: What is hidden inside of texts, wherever these stand: each a regular expression, alone or
            with the name of its placeholders.
        paths: What is hidden as a whole, whatever it is: paths from the top of the record, keys parted by
            dots, `*` for any key, `[n]` or `[*]` for list elements, `['odd.key']` for a key with dots.
        hashes: What becomes a hash of itself, by such a path: the same value is then the same in every
            record, as is wanted of identifiers of the trade. Whoever guesses the value can test the guess.
    """

    kinds: tuple[PersonalKind, ...] = Field(default=(), strict=False)
    patterns: tuple[_Pattern, ...] = Field(default=(), strict=False)
    paths: tuple[_Path, ...] = Field(default=(), strict=False)
    hashes: tuple[_Path, ...] = Field(default=(), strict=False)


class _Way(NamedTuple):
    """A path to what is hidden, or hashed."""

    path: tuple[PathStep, ...]
    is_hash: bool


class Redactor:
    """Hides what a suite wants hidden of records that are looked at side by side.

    A placeholder such as `[EMAIL_1]` takes the place of what is hidden: the same value has the same number in
    all of the records, and another value another one, so that what was equal stays equal and the other way
    round. Placeholders that stand there already are left alone. Null is never hidden, and JSON inside of a
    text is just text.

    Args:
        config: What is to be hidden.
        ahead: Values that will be redacted later, so that no number is given that stands in them.
        keys: Whether the keys of objects are searched too.

    Attributes:
        counts: How often something was hidden, by the name of its placeholders.
    """

    def __init__(self, config: RedactConfig, ahead: Sequence[JsonValue] = (), *, keys: bool = False) -> None:
        kinds = [(kind, spans) for kind, spans in PERSONAL_DATA.items() if kind in config.kinds]
        own = [(rule.name, pattern_spans(rule.pattern)) for rule in config.patterns]
        self._patterns: list[tuple[str, Spans]] = [*kinds, *own]
        hidden = [_Way(parse_path(path), is_hash=False) for path in config.paths]
        self._ways = [*hidden, *(_Way(parse_path(path), is_hash=True) for path in config.hashes)]
        self._keys = keys
        self.counts: Counter[str] = Counter()
        self._placeholders: dict[tuple[str, str], str] = {}
        self._last_numbers: dict[str, int] = {}
        for value in ahead:
            self._pass_over_numbers(value)

    def redact(self, value: JsonValue) -> JsonValue:
        """Give a new value without what is to be hidden; the given one stays as it is."""
        self._pass_over_numbers(value)
        return self._hidden(value, self._ways)

    def _pass_over_numbers(self, value: JsonValue) -> None:
        for text in _texts(value):
            for name, number in _PLACEHOLDER.findall(text):
                self._last_numbers[name] = max(int(number), self._last_numbers.get(name, 0))

    def _hidden(self, value: JsonValue, ways: Sequence[_Way]) -> JsonValue:
        """Hide what is to be hidden in a value; `ways` are those that lead on from here."""
        here = [way for way in ways if not way.path]
        if here:
            return self._hidden_whole(value, is_hash=all(way.is_hash for way in here))
        if isinstance(value, str):
            return self._hidden_inside(value)
        if isinstance(value, dict):
            return {
                self._hidden_inside(key) if self._keys else key: self._hidden(child, _onward(ways, dict, key))
                for key, child in cast("JsonObject", value).items()
            }
        if isinstance(value, list):
            elements = cast("list[JsonValue]", value)
            return [self._hidden(child, _onward(ways, list, n)) for n, child in enumerate(elements)]
        return value

    def _hidden_whole(self, value: JsonValue, *, is_hash: bool) -> JsonValue:
        if value is None or (isinstance(value, str) and _PLACEHOLDER.fullmatch(value)):
            return value
        if is_hash:
            self.counts[_HASH_NAME] += 1
            return f"{_HASH_NAME.lower()}-{canonical_hash(value)[:_HASH_LENGTH]}"
        return self._placeholder(_DEFAULT_NAME, value)

    def _hidden_inside(self, text: str) -> str:
        # What one pattern hides can be what another one looks for around it; so until none finds anything.
        while True:
            changed = text
            for name, spans in self._patterns:
                changed = self._replaced(changed, name, spans)
            if changed == text:
                return text
            text = changed

    def _replaced(self, text: str, name: str, spans: Spans) -> str:
        standing = [match.span() for match in _PLACEHOLDER.finditer(text)]
        parts: list[str] = []
        position = 0
        for span in spans(text):
            start, end = _widened(span, standing)
            # Each replacement takes away something that is no placeholder, so that there is a last one.
            if start >= position and _PLACEHOLDER.sub("", text[start:end]):
                parts += [text[position:start], self._placeholder(name, text[start:end])]
                position = end
        return "".join([*parts, text[position:]])

    def _placeholder(self, name: str, value: JsonValue) -> str:
        self.counts[name] += 1
        key = (name, canonical_json(value))
        if key not in self._placeholders:
            number = self._last_numbers.get(name, 0) + 1
            self._last_numbers[name] = number
            self._placeholders[key] = f"[{name}_{number}]"
        return self._placeholders[key]


def _onward(ways: Sequence[_Way], container: type, place: str | int) -> list[_Way]:
    return [_Way(way.path[1:], way.is_hash) for way in ways if way.path[0].leads_to(container, place)]


def _widened(span: tuple[int, int], standing: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Take in whole what a match has a part of, so that no placeholder is ever cut."""
    start, end = span
    first = bisect_right(standing, start, key=lambda other: other[1])
    touched = standing[first : bisect_left(standing, end, key=lambda other: other[0])]
    return (min(start, touched[0][0]), max(end, touched[-1][1])) if touched else span


def _texts(value: JsonValue) -> Iterator[str]:
    """Give every text in a value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in cast("JsonObject", value).values():
            yield from _texts(child)
    elif isinstance(value, list):
        for child in cast("list[JsonValue]", value):
            yield from _texts(child)
