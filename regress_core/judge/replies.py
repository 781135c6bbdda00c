"""The one value in a model's reply: strict about what it is, tolerant of what stands around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from regress_core.judge.question import JudgeReplyError
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, loads

T = TypeVar("T")

_LONGEST_MESSAGE = 300

_REASONING_TAG = re.compile(
    r"</?(?:think|thinking|thoughts?|reasoning|analysis|reflection|scratchpad)\s*+>|\[/?think\]",
    re.IGNORECASE,
)
_NOT_WORDS = r"{}\[\]:\uff1a\"'`\xab\xbb\u2018-\u201f\u2032-\u2036\u2039\u203a\u300c-\u300f\uff02\uff07"
_BEGINNING = re.compile(
    rf"""(?P<words> \{{ \s*+ [^{_NOT_WORDS}\s] [^{_NOT_WORDS}]*+ \}} )
    | \{{
    | \[ (?> [0-9][0-9.eE+-]*+ | true | false | null | NaN | Infinity | _ | [^\w"{{}}\[\])] )*+ ["{{\[]
    | \[ \s*+ \]
    | \}}""",
    re.VERBOSE,
)
"""Where JSON begins, be it broken from there on, or ends that has not begun; and `words`, to be stepped over.

These are braces around words alone, with no quote, colon or bracket, such as `{see below}`. A square bracket
begins nothing where words follow it, as in `[as said]`, or where it ends as an interval, as in `[0, 1)`.
"""

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Value(Generic[T]):
    """JSON of the reply that is a value."""

    value: T


@dataclass(frozen=True, slots=True)
class _Refusal:
    """JSON of the reply that is none, and why: what is no valid JSON either says less.

    It is prose where it does not even look like a value.
    """

    reason: str
    is_json: bool
    is_prose: bool
    length: int


def the_one(reply: str, read: Callable[[JsonValue], T], *, marks: Collection[str]) -> T:
    """Give the one value in a reply that `read` accepts.

    Exactly one of the JSON objects and lists in the reply must be a value, and no other may look like one:
    it may be what the model meant to say, and the value only what it quotes. Prose and Markdown fences around
    it do not matter; objects and lists inside another one do not count. Reasoning (`<think>`, `[THINK]` and
    the like) is cut away first: all the rest where its end is missing, all before where its beginning is.
    Nothing is repaired, so that a value is always one that the model wrote.

    Args:
        reply: The model's text.
        read: Makes the value of JSON; raises ValueError (such as JsonError) for JSON that is none.
        marks: Keys that tell a value. JSON with one of them, at any depth and in any spelling, looks like a
            value; so does what is no valid JSON.

    Raises:
        JudgeReplyError: If there is no value, or more than one, or anything that looks like another, or the
            reply breaks off inside JSON.
    """
    keys = frozenset(_letters(mark) for mark in marks)
    return _only([_found(json, read, keys) for part in _outside_reasoning(reply) for json in _json_in(part)])


def _found(text: str, read: Callable[[JsonValue], T], marks: frozenset[str]) -> _Value[T] | _Refusal:
    try:
        value = loads(text)
    except JsonError as error:
        return _Refusal(str(error), is_json=False, is_prose=False, length=len(text))
    try:
        return _Value(read(value))
    except ValueError as error:
        reason = str(error) or type(error).__name__
        return _Refusal(reason, is_json=True, is_prose=not _has_key(value, marks), length=len(text))


def _has_key(value: JsonValue, marks: frozenset[str]) -> bool:
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return any(_letters(key) in marks or _has_key(inner, marks) for key, inner in members.items())
    return isinstance(value, list) and any(_has_key(inner, marks) for inner in cast("list[JsonValue]", value))


def _letters(key: str) -> str:
    """Give what `dimensionId`, `dimension_id` and `Dimension ID` have in common."""
    return "".join(filter(str.isalnum, key)).casefold()


def _only(found: Sequence[_Value[T] | _Refusal]) -> T:
    values = [entry for entry in found if isinstance(entry, _Value)]
    if len(values) > 1:
        raise JudgeReplyError(f"the reply holds {len(values)} verdicts, and one is asked for")
    refusals = [entry for entry in found if isinstance(entry, _Refusal) and not (values and entry.is_prose)]
    if values and not refusals:
        return values[0].value
    if not refusals:
        raise JudgeReplyError("the reply holds no JSON object or list")
    best = max(refusals, key=lambda refusal: (refusal.is_json, refusal.length))
    holds = "a verdict, and beside it what may be another" if values else "no verdict"
    raise JudgeReplyError(f"the reply holds {holds}: {_line(best.reason)}")


def _line(text: str) -> str:
    line = " ".join(text[: 2 * _LONGEST_MESSAGE].split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}…"


def _outside_reasoning(text: str) -> list[str]:
    """Give the parts of a reply that are no reasoning, each for itself: joined they could make new JSON."""
    quoted = _tags_in_strings(text)
    parts: list[str] = []
    start = 0
    inside = ""
    for tag in _REASONING_TAG.finditer(text):
        is_end, name = "/" in tag[0], "".join(tag[0].split()).replace("/", "").lower()
        if tag.start() in quoted or (inside and not (is_end and name == inside)):
            continue
        if not is_end:
            parts.append(text[start : tag.start()])
        elif not inside:  # some models' prompts end with the tag that begins the reasoning
            parts.clear()
        inside = "" if is_end else name
        start = tag.end()
    return parts if inside else [*parts, text[start:]]


def _tags_in_strings(text: str) -> set[int]:
    """Say where valid JSON has the tags of reasoning in its strings, such as a verdict that quotes them."""
    return {
        tag.start()
        for start, end in _spans(text)
        if end is not None and _REASONING_TAG.search(text, start, end) and _is_json(text[start:end])
        for tag in _REASONING_TAG.finditer(text, start, end)
    }


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except JsonError:
        return False
    return True


def _json_in(text: str) -> Iterator[str]:
    """Give the text of every object and list that stands in no other one, broken ones too.

    Raises:
        JudgeReplyError: If one is not finished, or lacks its beginning: what it would have said is unknown.
    """
    for start, end in _spans(text):
        if end is None:
            raise JudgeReplyError("the reply breaks off inside JSON")
        if text[start] == "}":
            raise JudgeReplyError("the reply ends JSON that has no beginning")
        yield text[start:end]


def _spans(text: str) -> Iterator[tuple[int, int | None]]:
    """Say from where to where the objects and lists of a text go; the last one may have no end.

    Takes time in proportion to the length of the text: no part of it is read again.
    """
    end: int | None = 0
    while end is not None and (beginning := _BEGINNING.search(text, end)):
        if beginning["words"]:
            end = beginning.end()
            continue
        start = beginning.start()
        end = _end_of_json(text, start)
        yield start, end


def _end_of_json(text: str, start: int) -> int | None:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, start):
        first = token[0][0]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        if depth <= 0:
            return token.end()
    return None
