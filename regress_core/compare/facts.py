"""The facts of a text: what of it can be right or wrong whatever the words around it are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from regress_core.records.dates import DATE, iso_date

FactKind = Literal["number", "date", "time", "id", "url", "name"]
"""`number` counts amounts of money and percentages too: their figures are what differs. An `id` has letters
and figures; a `url` may be an address of mail."""

FACT_KINDS: tuple[FactKind, ...] = get_args(FactKind)

VALUES: frozenset[FactKind] = frozenset(("number", "date", "time", "id", "url"))
"""Kinds that are read off a text by their form. Names are guessed from capital letters, so they are only
shown."""


class Fact(NamedTuple):
    """One fact, in a form that does not depend on how it was written.

    Attributes:
        kind: What it is.
        value: A number without separators, a date as ISO 8601 has it (without year where none is named), a
            time with 24 hours, an id or URL without regard to letter case, a name as written.
    """

    kind: FactKind
    value: str


_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)|\d+(?:[.,]\d+)?"
_CAPITAL = r"[^\W\d_a-z][^\W\d_]*(?:['\u2019-][^\W\d_]+)*\b"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_TOKEN = re.compile(
    rf"""
      (?P<url> https?://[^\s<>()\[\]"'`*]+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+ )
    | (?P<date> (?<![\w-]) {DATE} )
    | (?P<time> (?<![\w.:]) (?: {_CLOCK} (?:\ ?[ap]\.?m\b)? | \d\d?\ ?[ap]m\b ) )
    | (?P<id> (?<![\w-]) (?: {_UUID} | [A-Z]{{2,}}-\d+ | \#?\w*[^\W_\d]\w* ) (?!\w) )
    | (?P<number> (?<![\w.,]) (?:{_NUMBER}) (?!\w) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+")
_MARKUP = re.compile(r"[*`~]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|^#+[ \t]+", re.MULTILINE)
_ID = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).{4,}")
_WITH_UNIT = re.compile(r"\d+(?:st|nd|rd|th|x|k|m|[a-z]{1,3})", re.IGNORECASE)
_NAME = re.compile(rf"(?<=[\w,;:] )(?!I\b){_CAPITAL}(?: {_CAPITAL})*")
_TIME = re.compile(r"(\d\d?)(?::(\d\d))?(?::(\d\d))?(?: ?([ap])\.?m)?", re.IGNORECASE)
_NUMBER_WORDS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
}
_DAY_LENGTH = len("05-20")
_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


def facts_of(text: str) -> dict[Fact, str]:
    """Give the facts of a text, in their order, each with how it is first written.

    The numbers of a list, and Markdown around a fact, are none.
    """
    plain = _LIST_MARK.sub("", _MARKUP.sub("", text))
    found: dict[Fact, str] = {}
    for match in _TOKEN.finditer(plain):
        kind, written = match.lastgroup, match.group()
        fact = _READERS[kind](written) if kind else None
        if fact is not None:
            found.setdefault(fact, written)
    for match in _NAME.finditer(plain):
        if iso_date(f"{match.group()} 1") is None:  # a month's name
            found.setdefault(Fact("name", match.group()), match.group())
    return found


class Told:
    """What some texts tell, in any of the ways in which it may be written.

    A number may be a word, up to twelve, and a date may go without its year.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._facts: set[Fact] = set()
        self._words: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in one more text."""
        for fact in facts_of(text):
            self._facts.add(fact)
            if fact.kind == "date" and len(fact.value) > _DAY_LENGTH:
                self._words.add(fact.value[-_DAY_LENGTH:])
        self._words.update(_NUMBER_WORDS[word.lower()] for word in _WORD.findall(text))

    def holds(self, fact: Fact) -> bool:
        """Tell whether a fact is told."""
        if fact in self._facts:
            return True
        if fact.kind == "date" and len(fact.value) > _DAY_LENGTH:
            return Fact("date", fact.value[-_DAY_LENGTH:]) in self._facts
        return fact.kind in ("date", "number") and fact.value in self._words


def _url(written: str) -> Fact:
    return Fact("url", written.rstrip(".,;:!?").casefold())


def _date(written: str) -> Fact | None:
    value = iso_date(" ".join(written.split()))
    return None if value is None else Fact("date", value)


def _time(written: str) -> Fact | None:
    found = _TIME.fullmatch(written)
    if found is None:
        return None
    hour, minute, second, half = int(found[1]), found[2] or "00", found[3], found[4]
    if half is not None:
        hour = hour % 12 + (12 if half in "pP" else 0)
    seconds = "" if second in (None, "00") else f":{second}"
    return Fact("time", f"{hour:02}:{minute}{seconds}")


def _id(written: str) -> Fact | None:
    """Read a word: it is an id, a number with its unit, or nothing."""
    if _WITH_UNIT.fullmatch(written):
        return _number(re.sub(r"\D", "", written))
    return Fact("id", written.lstrip("#").casefold()) if _ID.fullmatch(written) else None


def _number(written: str) -> Fact:
    text = written
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", text):
        text = text.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d{1,2}|\d{4,},\d+", text):
        text = text.replace(",", ".")
    value = Decimal(text.replace(",", ""))
    return Fact("number", f"{value.normalize():f}")


_READERS: dict[str, Callable[[str], Fact | None]] = {
    "url": _url,
    "date": _date,
    "time": _time,
    "id": _id,
    "number": _number,
}
