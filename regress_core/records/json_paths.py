"""Paths into JSON values, as suite.yaml writes them: `items[*].ts`, `*.id`, `['odd.key'][0]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_STEP = re.compile(
    r"""\[ (?P<index> \* | 0 | [1-9][0-9]{0,8} ) \]
    | \[ ' (?P<single> (?:[^'\\]|\\.)* ) ' \]
    | \[ " (?P<double> (?:[^"\\]|\\.)* ) " \]
    | (?P<dot> \.? ) (?P<bare> [^.\[\]]+ )""",
    re.VERBOSE | re.DOTALL,
)
_HOW_TO_WRITE_PATHS = "write keys parted by dots, [0] or [*] for list elements, ['a.b'] for an odd key"


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step down from an object to one of its keys, or from a list to an index; None is any of them."""

    container: type
    place: str | int | None

    def leads_to(self, container: type, place: str | int) -> bool:
        """Tell whether the step goes from such a container to this key or index."""
        return self.container is container and self.place in (None, place)


def parse_path(text: str) -> tuple[PathStep, ...]:
    """Read a path such as `items[*].ts`, `*.id` or `['odd.key'][0]`.

    Raises:
        ValueError: If it is none.
    """
    steps: list[PathStep] = []
    position = 0
    while position < len(text) or not steps:
        match = _STEP.match(text, position)
        # A dot stands between, so never first and before every later key without brackets.
        if match is None or (match["bare"] and bool(match["dot"]) != bool(steps)):
            raise ValueError(f"no path from character {position + 1} on; {_HOW_TO_WRITE_PATHS}")
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def checked_path(text: str) -> str:
    """Give the text back where it is a path, for a field of a config model.

    Raises:
        ValueError: If it is none.
    """
    parse_path(text)
    return text


def _step(match: re.Match[str]) -> PathStep:
    index, bare = match["index"], match["bare"]
    if index:
        return PathStep(list, None if index == "*" else int(index))
    if not bare:
        quoted = match["double"] if match["single"] is None else match["single"]
        return PathStep(dict, re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
    if bare == "*":
        return PathStep(dict, None)
    if "*" in bare:
        raise ValueError(f"* stands for a whole key only; write [{bare!r}] where a key is called that")
    return PathStep(dict, bare)
