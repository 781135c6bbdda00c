"""Reading source files row by row: a JSON array, JSON lines or one JSON object, plain or gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, cast

from regress_core.errors import InputError, os_error_text
from regress_core.records.importers.base import SourceRow
from regress_core.records.json_io import JsonError, JsonValue, loads

_LINE_SUFFIXES = (".jsonl", ".ndjson")
ROW_SUFFIXES = (".json", *_LINE_SUFFIXES)
"""How the names of files with rows end; each may have `.gz` after it."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEND = "mend the file or take that part out"
_Line = tuple[int, bytes]


def read_rows(file: Path) -> Iterator[SourceRow]:
    """Read the rows of a file. JSON lines are streamed; anything else is read whole.

    A file called `.jsonl` or `.ndjson` holds JSON lines. In any other, the first line decides: a whole
    object there, with more below it, makes the file JSON lines too.

    Raises:
        InputError: If the file cannot be read, is cut short, or is no JSON that can be kept. Names the file
            and the line or the JSON path.
    """
    with opened(file) as stream:
        numbered = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
        first = next(numbered, None)
        if first is None:
            return
        if plain_name(file).endswith(_LINE_SUFFIXES):
            yield from _line_rows(file, chain([first], numbered))
            return
        if not _is_one_object(first[1]):
            # The blank lines are put back, so that an error names the line as an editor counts it.
            yield from _document_rows(file, b"\n" * (first[0] - 1) + first[1] + stream.read())
            return
        second = next(numbered, None)
        if second is None:
            yield SourceRow(file.name, 1, _parsed_line(file, first), alone=True)
            return
        yield from _line_rows(file, chain([first, second], numbered))


def plain_name(file: Path) -> str:
    """Give a file's name without `.gz`."""
    return file.name.removesuffix(".gz")


@contextmanager
def opened(file: Path) -> Generator[IO[bytes]]:
    """Open a file, plain or gzip, to be read in the block.

    Raises:
        InputError: If it cannot be opened or read, or its compressed data is damaged; names the file.
    """
    again = "fetch or make the file again"
    try:
        with _stream(file) as stream:
            yield stream
    except gzip.BadGzipFile as error:
        raise InputError(f"not gzip, or damaged: {error}", file=file, remedy=again) from error
    except EOFError as error:
        raise InputError("the compressed data is cut short", file=file, remedy=again) from error
    except zlib.error as error:
        raise InputError(f"the compressed data is damaged: {error}", file=file, remedy=again) from error
    except OSError as error:
        remedy = "name a file that you can read"
        raise InputError(f"cannot be read: {os_error_text(error)}", file=file, remedy=remedy) from error


def _stream(file: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(file)) if file.name.endswith(".gz") else file.open("rb")


def _is_one_object(line: bytes) -> bool:
    if not line.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(loads(line), dict)
    except JsonError:
        return False  # the first line of an object that goes on, or a fault, which the whole document names


def _line_rows(file: Path, lines: Iterator[_Line]) -> Iterator[SourceRow]:
    for row_number, line in enumerate(lines, start=1):
        yield SourceRow(file.name, row_number, _parsed_line(file, line))


def _parsed_line(file: Path, line: _Line) -> JsonValue:
    number, text = line
    try:
        return loads(text)
    except JsonError as error:
        place = f"line {number}" if error.path == "$" else f"line {number}: {error.path}"
        # The reader counts lines within the text it was given, and that is the one line.
        reason = error.reason.replace("at line 1, column", "at column")
        raise InputError(reason, file=file, field=place, remedy=_MEND) from error


def _document_rows(file: Path, text: bytes) -> Iterator[SourceRow]:
    try:
        value = loads(text)
    except JsonError as error:
        place = None if error.path == "$" else error.path
        raise InputError(error.reason, file=file, field=place, remedy=_MEND) from error
    if not isinstance(value, list):
        yield SourceRow(file.name, 1, value, alone=True)
        return
    for number, row in enumerate(cast("list[JsonValue]", value), start=1):
        yield SourceRow(file.name, number, row)
