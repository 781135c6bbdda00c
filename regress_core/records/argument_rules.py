"""Rules on tool arguments: what does not count when calls are compared, or a recorded one is looked up.

Comparison and replay use the same rules, so that a call that compares as equal is also found, and the other
way round.
"""

from __future__ import annotations

import fnmatch
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, RootModel

from regress_core.records.canonical import canonical_json
from regress_core.records.dates import iso_text
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.json_paths import PathStep, checked_path, parse_path

_IGNORE = "ignore"
_IGNORED = object()
"""What is left of a value that is ignored, until the object or list around it deals with it."""


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


_NORMALISATIONS: Sequence[tuple[str, Callable[[str], str]]] = (
    ("unicode", _composed),
    ("spaces", lambda text: " ".join(text.split())),
    ("dates", iso_text),  # which are told by spaces, and by capitals: `2024-05-20T10:00:00Z`
    ("case", str.casefold),
    # Folding takes some characters apart (U+01F0); on the other hand it needs composed text (Unicode, D145).
    ("unicode", _composed),
)
"""What can be done to a text, in the order in which it is done, however the suite lists it."""

_UNORDERED = "unordered"
_NAMES = (*dict.fromkeys(name for name, _ in _NORMALISATIONS), _UNORDERED)


@dataclass(frozen=True, slots=True)
class _Rule:
    """What to do, and the way that is left to where it is done."""

    path: tuple[PathStep, ...]
    names: frozenset[str]


def _checked_rule(value: JsonValue) -> JsonValue:
    if value == _IGNORE:
        return value
    if isinstance(value, list | tuple) and value:
        names = tuple(cast("Sequence[JsonValue]", value))
        if all(name in _NAMES for name in names):
            return names
    raise ValueError(
        f"no rule: {json.dumps(value, default=repr)}; give {_IGNORE} or a list out of {', '.join(_NAMES)}"
    )


_ToolGlob = Annotated[str, Field(min_length=1)]
_ArgumentPath = Annotated[str, AfterValidator(checked_path)]
_NamedRule = Annotated[str | tuple[str, ...], BeforeValidator(_checked_rule)]


class ArgumentRules(RootModel[Mapping[_ToolGlob, Mapping[_ArgumentPath, _NamedRule]]]):
    """Rules by tool and argument path; `compare.arguments` of suite.yaml.

        "*":
          request_id: ignore
        search:
          query: [unicode, spaces, case]
          items[*].ts: ignore

    A tool is named by a glob, with regard to letter case. A path is keys parted by dots, `*` for any key,
    `[n]` or `[*]` for list elements, and `['odd.key']` for a key with dots, brackets or a star. All the rules
    that meet a value count, in whatever order they stand.

    - `ignore`: the value does not count, nor whether it is there. An ignored list element leaves null in
      its place, so that the others keep theirs and the number of elements counts.
    - `unicode`: NFC; `case`: full case folding; `spaces`: runs of white space become one space, ends are
      trimmed; `dates`: a text that is a date, or a time of a date, is written as ISO 8601 has it, times with
      a zone in UTC. On an object or a list they work on every text below it; keys stay as they are.
    - `unordered`: the order of a list's elements does not count, nor that of lists below it.

    Arguments that are text as a whole (a provider's own, kept by an importer) are left as they are.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    root: Mapping[_ToolGlob, Mapping[_ArgumentPath, _NamedRule]] = Field(
        default_factory=dict[str, Mapping[str, str | tuple[str, ...]]]
    )

    def __bool__(self) -> bool:
        return any(self.root.values())

    @cached_property
    def _compiled(self) -> Sequence[tuple[re.Pattern[str], _Rule]]:
        return [
            (
                re.compile(fnmatch.translate(tool)),
                _Rule(parse_path(path), frozenset((rule,) if isinstance(rule, str) else rule)),
            )
            for tool, rules in self.root.items()
            for path, rule in rules.items()
        ]

    def _about(self, tool_name: str) -> list[_Rule]:
        return [rule for tool, rule in self._compiled if tool.match(tool_name)] if self.root else []

    def covers(self, tool_name: str) -> bool:
        """Tell whether any rule is about this tool."""
        return bool(self._about(tool_name))

    def apply(self, tool_name: str, arguments: JsonValue) -> JsonValue:
        """Give what counts of a call's arguments.

        Returns:
            The same object where no rule changes anything, else a new one; `arguments` itself stays as it is.
        """
        rules = self._about(tool_name)
        return _applied(arguments, rules, frozenset()) if rules else arguments

    def key(self, tool_name: str, arguments: JsonValue) -> str:
        """Give the canonical text of what counts: calls of one tool are the same when their keys are."""
        return canonical_json(self.apply(tool_name, arguments))


def _applied(value: JsonValue, rules: Sequence[_Rule], around: frozenset[str]) -> JsonValue:
    """Apply the rules whose paths lead on from here, and what is done to everything `around`."""
    names = around.union(*(rule.names for rule in rules if not rule.path))
    if _IGNORE in names:
        return _IGNORED
    if isinstance(value, str):
        return _normalised(value, names)
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        below = {key: _below(child, rules, names, dict, key) for key, child in members.items()}
        if all(below[key] is child for key, child in members.items()):
            return members
        return {key: child for key, child in below.items() if child is not _IGNORED}
    if isinstance(value, list):
        elements = cast("list[JsonValue]", value)
        changed = [_below(child, rules, names, list, index) for index, child in enumerate(elements)]
        changed = [None if child is _IGNORED else child for child in changed]
        if _UNORDERED in names:
            changed.sort(key=canonical_json)
        return changed if any(a is not b for a, b in zip(changed, elements, strict=True)) else elements
    return value


def _below(
    child: JsonValue, rules: Sequence[_Rule], around: frozenset[str], container: type, place: str | int
) -> JsonValue:
    onward = [
        _Rule(rule.path[1:], rule.names)
        for rule in rules
        if rule.path and rule.path[0].leads_to(container, place)
    ]
    return _applied(child, onward, around) if onward or around else child


def _normalised(text: str, names: frozenset[str]) -> str:
    changed = text
    for name, change in _NORMALISATIONS:
        if name in names:
            changed = change(changed)
    return text if changed == text else changed
