"""The structure of a Markdown text, line by line, and what is broken in it.

CommonMark takes any text for Markdown, so that what is broken is only shown as plain text. What counts as
broken here is what a writer cannot have meant:

- a fence that is never closed;
- a table row with more or fewer cells than the header, or rows without a delimiter row (GFM, section 4.10);
- a link or image whose target is empty or not closed on its line;
- a numbered list that skips or repeats a number (all numbers alike are fine, as is any first one);
- a heading without text, or `##` without a blank after it.

Nothing inside fences and code spans counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Element = Literal["heading", "list", "table", "fence", "link"]

_LINE_END = re.compile(r"\r\n|\n|\r")
# What a block may stand in: quotations and list items.
_CONTAINERS = re.compile(r"(?:[ \t>]|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*")
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?P<blank>[ \t]+|$)(?P<text>.*)")
_HEADING_WITHOUT_BLANK = re.compile(r" {0,3}#{2,6}[^#\s]")
_ITEM = re.compile(
    r"(?P<indent> *)(?:(?P<number>[0-9]{1,9})(?P<delimiter>[.)])|(?P<bullet>[-*+]))(?=[ \t]|$)"
)
_EMPHASIS = "*_`"
_RULE = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})")
_DELIMITER_CELL = re.compile(r"\s*:?-+:?\s*")
_PIPE = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"(?<!\\)\[[^\[\]]*\]\(")
_PARENTHESIS = re.compile(r"(?<!\\)[()]")


@dataclass(frozen=True, slots=True)
class Outline:
    """What a Markdown text consists of.

    Attributes:
        headings: The texts of its headings, in order, without emphasis around them.
        elements: The elements that it has.
        faults: What is broken, each with its line, in the order of the lines.
    """

    headings: tuple[str, ...]
    elements: frozenset[Element]
    faults: tuple[str, ...]


def outline(text: str) -> Outline:
    """Read the structure of a Markdown text."""
    reader = _Reader()
    lines = _LINE_END.split(text)
    for number, line in enumerate(lines, start=1):
        reader.read(number, line)
    reader.end()
    faults = sorted(reader.faults, key=lambda fault: fault[0])
    return Outline(
        headings=tuple(reader.headings),
        elements=frozenset(reader.elements),
        faults=tuple(f"line {number}: {fault}" for number, fault in faults),
    )


@dataclass(slots=True)
class _Fence:
    line: int
    mark: str


@dataclass(slots=True)
class _List:
    """An open list: how far it is indented, what marks its items, and its last number if it has numbers.

    `alike` tells whether all its numbers so far are the same one; None while there is but one item.
    """

    indent: int
    mark: str
    number: int
    alike: bool | None = None


@dataclass(slots=True)
class _Reader:
    """Takes lines one by one."""

    headings: list[str] = field(default_factory=list[str])
    elements: set[Element] = field(default_factory=set[Element])
    faults: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    fence: _Fence | None = None
    lists: list[_List] = field(default_factory=list[_List])
    table: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    after_text: bool = False

    def read(self, number: int, line: str) -> None:
        if self.fence is not None:
            mark = _FENCE.fullmatch(line.lstrip(" \t>"))
            if mark and mark["mark"].startswith(self.fence.mark) and not mark["info"].strip():
                self.fence = None
            return
        within = _CONTAINERS.match(line)
        mark = _FENCE.fullmatch(line, within.end() if within else 0)
        if mark and not (mark["mark"][0] == "`" and "`" in mark["info"]):
            self._end_table()
            self._take_block(number, line[: mark.start()])
            self.fence = _Fence(number, mark["mark"])
            self.elements.add("fence")
            return
        self._take_row(number, line)
        self._take_links(number, _without_code(line))
        self._take_block(number, line)

    def end(self) -> None:
        self._end_table()
        if self.fence is not None:
            self.faults.append((self.fence.line, "the fence is never closed"))

    def _take_row(self, number: int, line: str) -> None:
        if _PIPE.search(line):
            self.table.append((number, line))
        else:
            self._end_table()

    def _end_table(self) -> None:
        rows, self.table = self.table, []
        widths = [(number, len(_cells(row))) for number, row in rows]
        delimiter = next((index for index, (_, row) in enumerate(rows) if _is_delimiter(row)), None)
        if (
            not delimiter
        ):  # none, or without a header above it: bare lines of text unless they begin like rows
            bare = [number for number, row in rows if row.lstrip().startswith("|")]
            if len(bare) > 1:
                self.faults.append((bare[0], "the table has no header with a delimiter row below it"))
            return
        self.elements.add("table")
        header = widths[delimiter - 1][1]
        self.faults += [
            (number, f"the table row has {_cells_in_words(width)}, the header {header}")
            for number, width in widths[delimiter:]
            if width != header
        ]

    def _take_links(self, number: int, line: str) -> None:
        position = 0
        while link := _LINK.search(line, position):
            self.elements.add("link")
            end = _closing(line, link.end())
            if end is None:
                self.faults.append((number, "the target of the link is not closed"))
                return
            if line[link.end() : end].strip() in ("", "<>"):
                self.faults.append((number, "the link has no target"))
            position = end

    def _take_block(self, number: int, line: str) -> None:
        heading = _HEADING.fullmatch(line)
        item = None if _RULE.fullmatch(line) else _ITEM.match(line)
        if not line.strip():
            self.after_text = False
        elif heading:
            self._take_heading(number, heading)
            self.lists.clear()
            self.after_text = False
        elif item and self._take_item(number, item):
            self.after_text = True
        else:
            if _HEADING_WITHOUT_BLANK.match(line) and not line.rstrip().endswith("#"):  # as `###STOP###` does
                self.faults.append((number, "the heading has no blank after its number signs"))
            if not self.after_text:  # else it goes on with the item or paragraph above
                indent = len(line) - len(line.lstrip(" "))
                self.lists = [entry for entry in self.lists if entry.indent < indent]
            self.after_text = True

    def _take_heading(self, number: int, heading: re.Match[str]) -> None:
        text = heading["text"].rstrip()
        without_end = text.rstrip("#")
        if not without_end or without_end[-1] in " \t":
            text = without_end.rstrip()
        self.elements.add("heading")
        if text := text.strip(_EMPHASIS):
            self.headings.append(text)
        else:
            self.faults.append((number, "the heading has no text"))

    def _take_item(self, number: int, item: re.Match[str]) -> bool:
        """Take a line that begins like an item; False if it goes on with a paragraph instead."""
        indent = len(item["indent"])
        value = int(item["number"] or 0)
        mark = item["delimiter"] or item["bullet"]
        while self.lists and self.lists[-1].indent > indent:
            self.lists.pop()
        beside = self.lists[-1] if self.lists and indent - self.lists[-1].indent < 2 else None
        if self.after_text and not self.lists and value > 1:
            return False  # a paragraph is interrupted by number 1 only (CommonMark, section 5.3)
        self.elements.add("list")
        if beside is None:
            self.lists.append(_List(indent, mark, value))
        elif beside.mark != mark:
            self.lists[-1] = _List(indent, mark, value)
        elif item["number"]:
            self._count(number, beside, value)
        return True

    def _count(self, line: int, entry: _List, value: int) -> None:
        if entry.alike is None:
            entry.alike = value == entry.number
        if entry.alike and value != entry.number:
            self.faults.append((line, f"item {value} of a list whose items are all numbered {entry.number}"))
        elif not entry.alike and value != entry.number + 1:
            self.faults.append((line, f"item {value} of the list comes after item {entry.number}"))
        entry.number = value


def _cells(row: str) -> list[str]:
    inner = row.strip()
    inner = inner.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return _PIPE.split(inner)


def _is_delimiter(row: str) -> bool:
    return all(_DELIMITER_CELL.fullmatch(cell) for cell in _cells(row))


def _cells_in_words(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _closing(line: str, start: int) -> int | None:
    """Find the parenthesis that closes a link's target; those inside a target come in pairs."""
    depth = 1
    for match in _PARENTHESIS.finditer(line, start):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return match.start()
    return None


def _without_code(line: str) -> str:
    """Take the code spans off a line, each up to the next run of as many backticks as it began with."""
    return "".join(_outside(re.split(r"(`+)", line)))


def _outside(parts: Sequence[str]) -> Iterator[str]:
    """Give what is outside code spans; texts stand at even places, runs of backticks between them."""
    later: dict[str, list[int]] = {}
    for place in range(len(parts) - 2, 0, -2):
        later.setdefault(parts[place], []).append(place)
    place = 0
    while place < len(parts):
        if place % 2 == 0:
            yield parts[place]
            place += 1
            continue
        ends = later[parts[place]]
        while ends and ends[-1] <= place:
            ends.pop()
        if ends:
            yield "`"
            place = ends[-1] + 1
        else:
            yield parts[place]
            place += 1
