"""The elements of a long JSON array, one after the other, without holding the array."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO

_AT_ONCE = 1024 * 1024
# What has no part in the structure, strings among it; then what opens, closes or parts, if it has been read.
_INSIDE = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}])?', re.DOTALL)
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{},])?', re.DOTALL)
_SPACE = b" \t\r\n"
_SHOWN = 20
_LINE_AND_COLUMN = re.compile(r"at line (\d+), column (\d+)")


@dataclass(frozen=True, slots=True)
class Element:
    """An element as it stands in the file.

    Attributes:
        text: Its bytes, which may be no JSON.
        line: The line it begins on, from 1.
        column: The column it begins at, from 1, in bytes.
        fault: What keeps it from being read: it and all that follows is lost; None if nothing does.
    """

    text: bytes
    line: int
    column: int
    fault: str | None = None

    def placed(self, reason: str) -> str:
        """Make a line and column within the element those of the file."""
        return _LINE_AND_COLUMN.sub(self._place, reason)

    def _place(self, found: re.Match[str]) -> str:
        line, column = int(found[1]), int(found[2])
        if line == 1:
            return f"at line {self.line}, column {self.column + column - 1}"
        return f"at line {self.line + line - 1}, column {column}"


def array_elements(begun: bytes, stream: IO[bytes], largest: int) -> Iterator[Element]:
    """Give the elements of an array.

    Args:
        begun: What of the file has been read, the opening bracket in it.
        stream: The rest.
        largest: How many bytes an element may have.
    """
    scan = _Scan(begun, stream, largest)
    scan.take(begun.index(b"["))
    mark = b"["
    while mark != b"]":
        scan.skip_mark()
        length = scan.length_of_element()
        if length is None:
            yield scan.unfinished()
            return
        element, begins = scan.take(length), mark == b"["
        mark = scan.mark()
        if element.text or mark == b"," or not begins:
            yield element
    scan.skip_mark()
    more = scan.what_follows()
    if more:
        yield Element(more, scan.line, scan.column, "there is more text after the array's end")


class _Scan:
    """What has been read of the file, how much of it has been given, and where in the file that ends."""

    def __init__(self, begun: bytes, stream: IO[bytes], largest: int) -> None:
        self.line = self.column = 1
        self._text, self._at = begun, 0
        self._stream = stream
        self._largest = largest
        self._fault = "the array is cut short"

    def length_of_element(self) -> int | None:
        """Find the comma or bracket that ends the element here; None if there is none."""
        depth, looked_at = 0, self._at
        while True:
            found = (_INSIDE if depth else _BETWEEN).match(self._text, looked_at)
            mark = None if found is None else found.group(1)
            if found is not None and mark is not None:
                if depth == 0 and mark in b",]}":
                    return found.end() - 1 - self._at
                depth += 1 if mark in b"[{" else -1
                looked_at = found.end()
                continue
            looked_at = (looked_at if found is None else found.end()) - self._at
            if not self._read_on():
                return None
            looked_at += self._at

    def _read_on(self) -> bool:
        # As much again as there is, so that a long string is not looked through too often.
        pending = len(self._text) - self._at
        if pending > self._largest:
            self._fault = f"larger than {self._largest // 1024**2} MiB"
            return False
        more = self._stream.read(max(_AT_ONCE, pending))
        self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)

    def take(self, length: int) -> Element:
        """Give what is here, without the white space around it, and go on to what is after it."""
        text = self._text[self._at : self._at + length]
        before = len(text) - len(text.lstrip(_SPACE))
        self._move(text[:before])
        element = Element(text.strip(_SPACE), self.line, self.column)
        self._move(text[before:])
        self._at += length
        return element

    def mark(self) -> bytes:
        return self._text[self._at : self._at + 1].replace(b"}", b"]")

    def skip_mark(self) -> None:
        self._at += 1
        self.column += 1

    def _move(self, text: bytes) -> None:
        lines = text.count(b"\n")
        self.line += lines
        self.column = len(text) - text.rfind(b"\n") if lines else self.column + len(text)

    def unfinished(self) -> Element:
        """Give what has no end."""
        return replace(self.take(len(self._text) - self._at), fault=self._fault)

    def what_follows(self) -> bytes:
        """Give the first characters of what stands after the array."""
        while True:
            rest = self._text[self._at :]
            self.take(len(rest) - len(rest.lstrip(_SPACE)))
            if self._at < len(self._text):
                return self._text[self._at : self._at + _SHOWN]
            if not self._read_on():
                return b""
