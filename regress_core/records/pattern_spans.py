"""Where in a text a regular expression matches.

It is searched for without backtracking: each match takes time in proportion to the text, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import re2

from regress_core.records.json_io import clean_text

Spans = Callable[[str], Iterator[tuple[int, int]]]
"""Gives the begin and end of each match in a text, from left to right; they do not overlap."""

# RE2 knows these classes and the borders of words in ASCII only. What is meant is every script.
_CLASSES = {
    "w": r"\p{L}\p{M}\p{N}\p{Pc}",
    "d": r"\p{Nd}",
    "s": r"\t-\r\x1c-\x1f\x{85}\p{Z}",
}
_REFUSED = {
    "b": r"\b knows English letters only; leave it out, or write what may stand there",
    "B": r"\B knows English letters only; leave it out, or write what may stand there",
    "C": r"\C is a part of a character; write a full stop",
}
# A quotation, a class by name, the beginning of brackets, an escaped character, any other.
_PART = re.compile(r"\\Q.*?(?:\\E|\Z)|\[:\^?\w+:\]|\[\^?\]?|\\.|.", re.DOTALL)


def pattern_spans(pattern: str) -> Spans:
    r"""Look for all matches of a regular expression.

    It is one of RE2, without look-around and backreferences, so that no text can hold the search up. Here
    `\w`, `\d`, `\s` and their opposites are about all scripts.

    Raises:
        ValueError: If it is none, or has something that would quietly pass over letters beyond ASCII.
    """
    options = re2.Options()
    options.log_errors = False  # to the terminal
    try:
        compiled = re2.compile(_for_all_scripts(pattern), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        message = f"no regular expression of RE2, which has no look-around or backreferences: {reason}"
        raise ValueError(message) from error
    except UnicodeEncodeError as error:
        raise ValueError("no regular expression: half of a surrogate pair") from error
    return lambda text: (match.span() for match in compiled.finditer(clean_text(text)))


def _for_all_scripts(pattern: str) -> str:
    parts: list[str] = []
    inside = False  # of brackets
    for part in _PART.findall(pattern):
        if part[0] == "\\":
            parts.append(_in_brackets(part[1:]) if inside else _alone(part[1:]))
            continue
        named = part.startswith("[:")
        if inside and named:
            raise ValueError(rf"{part} knows English letters only; write a class such as \p{{L}}")
        parts.append(part)
        inside = not part.endswith("]") if inside else part[0] == "[" and not named
    return "".join(parts)


def _alone(escaped: str) -> str:
    if escaped in _REFUSED:
        raise ValueError(_REFUSED[escaped])
    members = _CLASSES.get(escaped.lower())
    if members is None:
        return f"\\{escaped}"
    return f"[{'^' if escaped.isupper() else ''}{members}]"


def _in_brackets(escaped: str) -> str:
    if escaped == "D":
        return r"\P{Nd}"
    if escaped in ("W", "S"):
        raise ValueError(rf"\{escaped} stands in brackets; write [^…] without it, or (?s:.) for anything")
    return _CLASSES.get(escaped, f"\\{escaped}")
