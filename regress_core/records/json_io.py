"""Strict JSON: what is read is what the text says, and a fault is named by its JSON path."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, cast

JsonValue = Any
"""A value of `json.loads`: None, bool, int, float, str, list or dict with str keys."""

JsonObject = dict[str, Any]

DEEPEST = 200
"""How deep JSON may nest; what reads it recursively stays far from Python's own limit."""

# Possessive, and with strings that never end: else each quote of one would be tried anew, in quadratic time.
_BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(ValueError):
    """The text is no JSON value we can keep.

    Attributes:
        path: Where, as a JSON path such as `$.items[3].output`; `$` when the text as a whole is at fault.
        reason: What is wrong there.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class _RefusedError(ValueError):
    """A constant, number or object that JSON text may hold but a record may not."""


def _constant(name: str) -> float:
    raise _RefusedError(name)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _RefusedError(text)
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError
    return value


def loads(data: bytes | str) -> JsonValue:
    """Read one JSON value. Key order is kept; integers keep all their digits.

    Args:
        data: UTF-8 bytes, with or without a byte order mark, or text.

    Raises:
        JsonError: If it is no JSON, holds NaN, an infinity or a number beyond the range of a double,
            gives a key twice in one object, or nests too deeply.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonError("$", f"not UTF-8 at byte {error.start}") from error
    _check_depth(text)
    try:
        return json.loads(text, parse_constant=_constant, parse_float=_finite, object_pairs_hook=_unique_keys)
    except _RefusedError as error:
        raise _located(text) from error
    except json.JSONDecodeError as error:
        reason = f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise JsonError("$", reason) from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise JsonError("$", "an integer of thousands of digits") from error


def check_depth(data: bytes) -> None:
    """See that JSON text nests no deeper than `loads` reads.

    Raises:
        JsonError: If it does.
    """
    _check_depth(data.decode("utf-8"))


def _check_depth(text: str) -> None:
    if _nests_too_deeply(text):
        raise JsonError("$", f"nests deeper than {DEEPEST}")


def loads_own(text: str) -> JsonValue:
    """Read JSON text that this program has checked or written before; it is not checked again."""
    return json.loads(text)


def dumps(value: JsonValue, *, indent: int | None = None) -> bytes:
    """Write a JSON value as UTF-8; otherwise as `dumps_text`."""
    return dumps_text(value, indent=indent).encode("utf-8")


def dumps_text(value: JsonValue, *, indent: int | None = None) -> str:
    r"""Write a JSON value as text that UTF-8 can hold, in the order its keys stand.

    Lone surrogates, which UTF-8 has no bytes for, are written as `\ud800` escapes, so that the value
    reads back equal.

    Raises:
        ValueError: If the value holds NaN or an infinity.
        TypeError: If the value is no JSON value.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return escape_lone_surrogates(text)


def escape_lone_surrogates(json_text: str) -> str:
    r"""Write each lone surrogate in JSON text as its `\udXXX` escape, as `JSON.stringify` does."""
    if json_text.isascii():
        return json_text
    return json_text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean_text(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, for places that hold Unicode text only (Parquet, a console)."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def child_path(path: str, key: str | int) -> str:
    """Extend a JSON path by one step: `$.a`, `$[0]`, `$['odd key']`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"


def _nests_too_deeply(text: str) -> bool:
    """Tell whether JSON text nests deeper than `DEEPEST`, without walking through it character by character.

    Of the text only its brackets are kept, and the innermost pairs are taken off again and again; the rounds
    that takes bound the depth (more than matter are not made). Brackets inside strings can only make that
    bound larger, or stay behind; where the bound does not settle it, the text itself does.
    """
    brackets = text.encode("utf-8", "replace").translate(None, _ALL_BUT_BRACKETS)
    levels, before = 0, -1
    while levels + len(brackets) > DEEPEST:
        if levels > DEEPEST or before == len(brackets):
            return _depth(text) > DEEPEST
        levels, before = levels + 2, len(brackets)  # a round takes an object and the list around it
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return False


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _BRACKET_OR_STRING.finditer(text):
        first = token.group()[0]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in "]}":
            depth -= 1
    return deepest


class _Pairs(list[tuple[str, Any]]):
    """An object's pairs as they stand, for the search for what `loads` refused."""


def _located(text: str) -> JsonError:
    """Read once more, tolerantly, to say where the refused value stands."""
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except ValueError as error:  # it breaks off further on
        return JsonError("$", f"not JSON: {error}")
    return next(_faults(value, "$"), JsonError("$", "not JSON"))


def _faults(value: JsonValue, path: str) -> Iterator[JsonError]:
    if isinstance(value, float) and not math.isfinite(value):
        yield JsonError(path, "NaN, infinities and numbers beyond a double are no JSON values")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, child in value:
            if key in seen:
                yield JsonError(child_path(path, key), "the key stands twice in one object")
            seen.add(key)
            yield from _faults(child, child_path(path, key))
    elif isinstance(value, list):
        for index, child in enumerate(cast("list[Any]", value)):
            yield from _faults(child, child_path(path, index))
