"""Reading source files row by row: a JSON array, JSON lines, one JSON object, or an archive of Inspect's."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO

from regress_core.errors import InputError
from regress_core.records.importers.array_elements import Element, array_elements
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.sources import (
    EVAL_SUFFIX,
    LINE_SUFFIXES,
    SourceFile,
    eval_members,
    file_source,
)
from regress_core.records.json_io import JsonError, loads

LARGEST_ROW = 256 * 1024 * 1024
"""Bytes of one row, or of a file that is one value; what is larger is refused, and not read to its end."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEND = "mend the file or take that part out"
_Line = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read.

    Attributes:
        number: Which row of the file it is, from 1.
        place: Where it stands: its line, or its JSON path; None where it is all of the file.
        reason: What is wrong with it.
        path: Where in its line that is, as a JSON path; `$` for all of it.
    """

    number: int
    place: str | None
    reason: str
    path: str = "$"

    @property
    def position(self) -> str:
        """Say where in its file the row stands."""
        where = [self.place or f"row {self.number}"]
        return ": ".join(where if self.path == "$" else [*where, self.path])


def read_rows(file: Path) -> Iterator[SourceRow]:
    """Read the rows of a file, all of which have to be sound.

    Raises:
        InputError: If the file cannot be read, is cut short, or is no JSON that can be kept. Names the file
            and the line or the JSON path.
    """
    for row in rows_of(file_source(file)):
        if isinstance(row, BadRow):
            place = None if row.place is None else row.position
            raise InputError(row.reason, file=file, field=place, remedy=_MEND)
        yield row


def rows_of(file: SourceFile) -> Iterator[SourceRow | BadRow]:
    """Read the rows of a file one by one; a bad one does not stop those after it.

    A file called `.jsonl` or `.ndjson` holds JSON lines. In any other, the first line decides: a whole
    object there, with more below it, makes the file JSON lines too.

    Raises:
        InputError: If the file cannot be read on, such as one that is cut short.
    """
    with file.open() as stream:
        if file.name.endswith(EVAL_SUFFIX):
            yield from _eval_rows(file, stream)
            return
        begun = _up_to_the_first_character(stream)
        if not begun.strip():
            return
        if begun.endswith(b"[") and not file.plain_name.endswith(LINE_SUFFIXES):
            yield from _array_rows(file, array_elements(begun, stream, LARGEST_ROW))
            return
        lines = ((number, line) for number, line in _lines(begun, stream) if line.strip())
        first = next(lines)
        if file.plain_name.endswith(LINE_SUFFIXES):
            yield from _line_rows(file, chain([first], lines))
        elif not _is_one_object(first[1]):
            yield _document_row(file, b"\n" * (first[0] - 1) + first[1], stream)
        elif (second := next(lines, None)) is None:
            yield _line_row(file, 1, first, alone=True)
        else:
            yield from _line_rows(file, chain([first, second], lines))


def _up_to_the_first_character(stream: IO[bytes]) -> bytes:
    """Read on until there is something besides white space; a line may be all of the file, and long."""
    begun = b""
    while not begun.removeprefix(_BYTE_ORDER_MARK).strip() or begun in _BYTE_ORDER_MARK:
        more = stream.read(1)
        if not more:
            break
        begun += more
    return begun


def _lines(begun: bytes, stream: IO[bytes]) -> Iterator[_Line]:
    """Give the lines; of those that are too long only the beginning, which is too long as well."""
    number = begun.count(b"\n") + 1
    line = begun.rpartition(b"\n")[2] + stream.readline(LARGEST_ROW + 1)
    while line:
        yield number, line
        while len(line) > LARGEST_ROW and not line.endswith(b"\n"):
            line = stream.readline(LARGEST_ROW)
        line, number = stream.readline(LARGEST_ROW + 1), number + 1


def _is_one_object(line: bytes) -> bool:
    if not line.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(loads(line), dict)
    except JsonError:
        return False  # the first line of an object that goes on, or a fault, which the whole document names


def _line_rows(file: SourceFile, lines: Iterator[_Line]) -> Iterator[SourceRow | BadRow]:
    for row_number, line in enumerate(lines, start=1):
        yield _line_row(file, row_number, line)


def _line_row(file: SourceFile, number: int, line: _Line, *, alone: bool = False) -> SourceRow | BadRow:
    line_number, text = line
    place = f"line {line_number}"
    if len(text) > LARGEST_ROW:
        return BadRow(number, place, _too_large())
    try:
        return SourceRow(file.name, number, loads(text), alone=alone)
    except JsonError as error:
        # The reader counts lines within the text it was given, and that is the one line.
        reason = error.reason.replace("at line 1, column", "at column")
        return BadRow(number, place, reason, error.path)


def _array_rows(file: SourceFile, elements: Iterator[Element]) -> Iterator[SourceRow | BadRow]:
    for number, element in enumerate(elements, start=1):
        place = f"$[{number - 1}]"
        if element.fault is not None:
            yield BadRow(number, place, element.fault)
            continue
        try:
            yield SourceRow(file.name, number, loads(element.text))
        except JsonError as error:
            yield BadRow(number, place + error.path.removeprefix("$"), element.placed(error.reason))


def _document_row(file: SourceFile, begun: bytes, stream: IO[bytes]) -> SourceRow | BadRow:
    text = begun + stream.read(LARGEST_ROW + 1)
    if len(text) > LARGEST_ROW:
        return BadRow(1, None, _too_large())
    try:
        # The blank lines before it are there, so that an error names the line as an editor counts it.
        return SourceRow(file.name, 1, loads(text), alone=True)
    except JsonError as error:
        return BadRow(1, None if error.path == "$" else error.path, error.reason)


def _eval_rows(file: SourceFile, stream: IO[bytes]) -> Iterator[SourceRow | BadRow]:
    with BytesIO(stream.read()) as whole:
        try:
            for number, (name, text) in enumerate(eval_members(whole), start=1):
                try:
                    yield SourceRow(file.name, number, loads(text))
                except JsonError as error:
                    yield BadRow(number, name, error.reason, error.path)
        except zipfile.BadZipFile as error:
            yield BadRow(1, None, f"no archive of Inspect's, or damaged: {error}")


def _too_large() -> str:
    return f"larger than {LARGEST_ROW // 1024**2} MiB"
