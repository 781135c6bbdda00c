"""Redaction: what a suite keeps out of whatever is sent to a judge's model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, Field

from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep, checked_path, parse_path
from regress_core.records.pattern_spans import Spans, pattern_spans
from regress_core.records.wire import ConfigModel

_DEFAULT_NAME = "REDACTED"
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

        patterns:
          - 'A-[0-9]{6}'
          - {name: EMAIL, pattern: '[^ ]+@[^ ]+'}
        paths:
          - items[*].arguments.email
          - contextSnapshot

    Attributes:
        patterns: What is hidden inside of texts, wherever these stand: each a regular expression, alone or
            with the name of its placeholders.
        paths: What is hidden as a whole, whatever it is: paths from the top of the record, keys parted by
            dots, `*` for any key, `[n]` or `[*]` for list elements, `['odd.key']` for a key with dots.
    """

    patterns: tuple[_Pattern, ...] = Field(default=(), strict=False)
    paths: tuple[_Path, ...] = Field(default=(), strict=False)


class Redactor:
    """Hides what a suite wants hidden of records that are looked at side by side.

    A placeholder such as `[EMAIL_1]` takes the place of what is hidden: the same value has the same number in
    all of the records, and another value another one, so that what was equal stays equal and the other way
    round. Placeholders that stand there already are left alone. Keys and null are never hidden, and JSON
    inside of a text is just text.

    Args:
        config: What is to be hidden.
        ahead: Values that will be redacted later, so that no number is given that stands in them.
    """

    def __init__(self, config: RedactConfig, ahead: Sequence[JsonValue] = ()) -> None:
        self._patterns = [(rule.name, pattern_spans(rule.pattern)) for rule in config.patterns]
        self._paths = [parse_path(path) for path in config.paths]
        self._placeholders: dict[tuple[str, str], str] = {}
        self._last_numbers: dict[str, int] = {}
        for value in ahead:
            self._pass_over_numbers(value)

    def redact(self, value: JsonValue) -> JsonValue:
        """Give a new value without what is to be hidden; the given one stays as it is."""
        self._pass_over_numbers(value)
        return self._hidden(value, self._paths)

    def _pass_over_numbers(self, value: JsonValue) -> None:
        for text in _texts(value):
            for name, number in _PLACEHOLDER.findall(text):
                self._last_numbers[name] = max(int(number), self._last_numbers.get(name, 0))

    def _hidden(self, value: JsonValue, paths: Sequence[tuple[PathStep, ...]]) -> JsonValue:
        """Hide what is to be hidden in a value; `paths` are the ways that lead on from here."""
        if not all(paths):
            return self._hidden_whole(value)
        if isinstance(value, str):
            return self._hidden_inside(value)
        if isinstance(value, dict):
            members = cast("JsonObject", value)
            return {key: self._hidden(child, _onward(paths, dict, key)) for key, child in members.items()}
        if isinstance(value, list):
            elements = cast("list[JsonValue]", value)
            return [self._hidden(child, _onward(paths, list, n)) for n, child in enumerate(elements)]
        return value

    def _hidden_whole(self, value: JsonValue) -> JsonValue:
        if value is None or (isinstance(value, str) and _PLACEHOLDER.fullmatch(value)):
            return value
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
        key = (name, canonical_json(value))
        if key not in self._placeholders:
            number = self._last_numbers.get(name, 0) + 1
            self._last_numbers[name] = number
            self._placeholders[key] = f"[{name}_{number}]"
        return self._placeholders[key]


def _onward(
    paths: Sequence[tuple[PathStep, ...]], container: type, place: str | int
) -> list[tuple[PathStep, ...]]:
    return [path[1:] for path in paths if path[0].leads_to(container, place)]


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
