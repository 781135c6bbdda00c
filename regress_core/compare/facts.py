"""The facts of a text: what of it can be right or wrong whatever the words around it are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from regress_core.records.dates import DATE, is_month, iso_date

FactKind = Literal["number", "date", "time", "id", "url", "name"]
"""`number` counts amounts of money and percentages too: their figures are what differs. An `id` has letters
and figures, or several points or commas, as a version has; a `url` may be an address of mail."""

FACT_KINDS: tuple[FactKind, ...] = get_args(FactKind)

VALUES: frozenset[FactKind] = frozenset(("number", "date", "time", "id", "url"))
"""Kinds that are read off a text by their form. Names are guessed from capital letters, so they are only
shown."""


class Fact(NamedTuple):
    """One fact, in a form that does not depend on how it was written.

    Attributes:
        kind: What it is.
        value: A number without separators, sign and unit, a date as ISO 8601 has it (without the year or the
            day where none is named), a time with 24 hours and no zone, an id or URL without regard to letter
            case, a name as written. All of it in Unicode's composed form (NFC).
    """

    kind: FactKind
    value: str


_MARKS = re.compile(r"[*_`~]+")
_LINE_MARKS = re.compile(
    r"(?m)^[^\S\n]*(?:(?:#{1,6}|>|[-+•]|\d{1,2}[.)]|\(\d{1,2}\))[^\S\n]+)+",
)


def without_markdown(text: str) -> str:
    """Take emphasis, headings, quotes, bullets and the numbers of lists off a text, in composed form (NFC).

    Marks between two letters or figures belong to a word, as in `user_id` and `2*3`.
    """
    return _LINE_MARKS.sub("", _MARKS.sub(_inside_word, unicodedata.normalize("NFC", text)))


def _inside_word(marks: re.Match[str]) -> str:
    start, end = marks.span()
    before, after = marks.string[start - 1 : start], marks.string[end : end + 1]
    inside = before.isalnum() and after.isalnum() and (before + after).isascii()
    return marks.group() if inside else ""


_UPPER = "".join(
    char for char in map(chr, range(0x2000)) if char.isupper()
)  # Latin, Greek, Cyrillic and more
_CAPITAL = rf"(?-i:[{_UPPER}])[^\W\d_]*+(?:['\u2019-][^\W\d_]++)*+\b"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_HALF = r"[^\S\n]?[ap](?:m|\.m)\b"
# Every branch starts where a word does, and long repetitions give nothing back, so that the time a text takes
# grows with its length only. Most words are in small letters, with no figure after them: none of these.
_TOKEN = re.compile(
    rf"""\b(?=\w) (?!(?-i:[a-z]++),?\s(?![\s\d])) (?:
      (?P<url> (?:https?://|www\.) [^\s<>()\[\]"'`*]++ | (?<![.+-]) [\w.+-]++ @ [\w-]++ (?:\.[\w-]++)++ )
    | (?P<date> (?<!-) {DATE} )
    | (?=[^\W\d]*+\d) (?:
          (?P<time> (?<![.:]) (?: {_CLOCK} (?:{_HALF})? | (?:0?[1-9]|1[0-2]) {_HALF} ) )
        | (?P<uuid> (?<!-) {_UUID} )
        | (?P<number> (?<!\.) v? \d++ (?:[.,]\d++)*+ [^\W\d_]{{0,3}}+ (?!\w) )
        | (?P<word> \w++ )
      )
    | (?P<id> (?<!-) [^\W\d_]{{2,}}+ (?:-[^\W\d]*+\d\w*+)++ )
    | (?P<name> (?<=[\w,;:]\ ) (?!I\b) {_CAPITAL} (?:\ {_CAPITAL})*+ )
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_MOMENT = re.compile(r"(\d)T(\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?")
_UNSPACED = re.compile(
    r"[\u0e00-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1780-\u17df\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
"""Letters of scripts that put no spaces between words, such as Thai, Japanese and Chinese."""


def facts_of(text: str) -> dict[Fact, str]:
    """Give the facts of a text, in their order, each with how it is first written.

    The numbers of a list, and Markdown around a fact, are none.
    """
    plain = _MOMENT.sub(r"\1 \2", without_markdown(text))
    if not plain.isascii():
        plain = _UNSPACED.sub(" ", plain)
    found: dict[Fact, str] = {}
    for match in _TOKEN.finditer(plain):
        kind, written = match.lastgroup, match.group()
        fact = _READERS[kind](written) if kind else None
        if fact is not None:
            found.setdefault(fact, written)
    return found


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
_WORD = re.compile(r"\w+")
_DATE_LENGTH = len("2024-05-20")


class Told:
    """What some texts tell, in any of the ways in which it may be written.

    A number may be a word, up to twelve, a date may go without its year or its day, and a name may stand
    where its capital letters say nothing.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._facts: set[Fact] = set()
        self._parts_of_dates: set[Fact] = set()
        self._words: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> dict[Fact, str]:
        """Take in one more text, and give its facts."""
        facts = facts_of(text)
        self._facts.update(facts)
        for kind, value in facts:
            if kind == "date" and len(value) == _DATE_LENGTH:
                self._parts_of_dates.update((Fact("date", value[5:]), Fact("date", value[:7])))
        words = _words(text)
        self._facts.update(Fact("number", _NUMBER_WORDS[word]) for word in _NUMBER_WORDS.keys() & words)
        self._words.update(words)
        return facts

    def holds(self, fact: Fact) -> bool:
        """Tell whether a fact is told."""
        if fact in self._facts or fact in self._parts_of_dates:
            return True
        if fact.kind == "date" and len(fact.value) == _DATE_LENGTH:
            return Fact("date", fact.value[5:]) in self._facts
        if fact.kind == "name":
            return self._words.issuperset(_words(fact.value))
        return False


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def _url(written: str) -> Fact:
    return Fact("url", written.rstrip(".,;:!?\u2026").casefold())


def _date(written: str) -> Fact | None:
    value = iso_date(written)
    return None if value is None else Fact("date", value)


_TIME = re.compile(r"(\d\d?)(?::(\d\d))?(?::(\d\d))?(?:\s?([ap])\.?m)?", re.IGNORECASE)


def _time(written: str) -> Fact | None:
    found = _TIME.fullmatch(written)
    if found is None:
        return None
    hour, minute, second, half = int(found[1]), found[2] or "00", found[3], found[4]
    if half is not None:
        hour = hour % 12 + (12 if half in "pP" else 0)
    seconds = "" if second in (None, "00") else f":{second}"
    return Fact("time", f"{hour:02}:{minute}{seconds}")


def _id(written: str) -> Fact:
    return Fact("id", written.casefold())


def _word(written: str) -> Fact | None:
    """Read a word with a figure in it: it is an id if it has letters too, and is not too short for one."""
    return _id(written) if len(written) >= 4 and not written.isdecimal() else None


_AROUND_FIGURES = re.compile(r"^\D|\D+$")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")  # 1,234,567.89, or 12,34,567 as in India
_GROUPED_BY_POINTS = re.compile(r"\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_SEVERAL_MARKS = re.compile(r"[.,].*[.,]")


def _number(written: str) -> Fact:
    """Read figures, whatever their unit; with several marks that group no thousands they make an id."""
    figures = written if written.isdecimal() else _AROUND_FIGURES.sub("", written)
    if figures.isdecimal():
        return Fact("number", f"{Decimal(figures):f}")
    if _GROUPED.fullmatch(figures):
        figures = figures.replace(",", "")
    elif _GROUPED_BY_POINTS.fullmatch(figures):
        figures = figures.replace(".", "").replace(",", ".")
    elif _SEVERAL_MARKS.search(figures):
        return _id(figures)
    value = f"{Decimal(figures.replace(',', '.')):f}"
    return Fact("number", value.rstrip("0").rstrip(".") if "." in value else value)


def _name(written: str) -> Fact | None:
    if is_month(written):
        return None
    return Fact("name", written.replace("\u2019", "'").removesuffix("'s"))


_READERS: Mapping[str, Callable[[str], Fact | None]] = {
    "url": _url,
    "date": _date,
    "time": _time,
    "uuid": _id,
    "number": _number,
    "word": _word,
    "id": _id,
    "name": _name,
}
