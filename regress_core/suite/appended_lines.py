"""Files of people's decisions: one JSON object a line, appended to and never rewritten."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

from filelock import SoftFileLock, Timeout
from pydantic import AfterValidator

from regress_core.errors import InputError, os_error_text
from regress_core.files import write_bytes
from regress_core.judge.config import not_blank
from regress_core.records.json_io import JsonError, JsonObject, dumps, loads
from regress_core.records.wire import WireModel

Line = TypeVar("Line", bound=WireModel)

_LONGEST_WAIT_S = 20.0  # for another process that appends, which takes milliseconds


def _with_zone(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time in ISO form") from error
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return text


Said = Annotated[str, AfterValidator(not_blank)]
"""A text that a person has to give."""

Moment = Annotated[str, AfterValidator(_with_zone)]
"""A time in ISO form with its zone."""


def load_lines(model: type[Line], path: Path) -> tuple[Line, ...]:
    """Read a file of JSON lines, in the order they stand; none where there is no file.

    Raises:
        InputError: If the file cannot be read or a line is at fault; names file and line.
    """
    if not path.exists():
        return ()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {os_error_text(error)}", file=path) from error
    return tuple(_parsed(model, data, path))


def _parsed(model: type[Line], data: bytes, path: Path) -> Iterator[Line]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield model.from_json(loads(line))
        except JsonError as error:
            place = f"line {number}" if error.path == "$" else f"line {number}, {error.path}"
            remedy = "mend the line or take it out"
            raise InputError(error.reason, file=path, field=place, remedy=remedy) from error


def append_lines(path: Path, lines: Sequence[JsonObject]) -> None:
    """Append JSON objects, all of them or none; what stands in the file stays byte for byte.

    Processes that append to one file take turns. A symbolic link stays one: its target is written.

    Raises:
        InputError: If another process does not let go of the file.
        OSError: If the file cannot be read or written.
    """
    path = Path(os.path.realpath(path))
    lock = path.with_name(f".{path.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # A lock that is gone afterwards: the folder is under version control.
        with SoftFileLock(lock, timeout=_LONGEST_WAIT_S):
            before = path.read_bytes() if path.exists() else b""
            end = b"\r\n" if b"\r\n" in before else b"\n"
            gap = end if before and not before.endswith(b"\n") else b""
            write_bytes(path, before + gap + b"".join(dumps(line) + end for line in lines))
    except Timeout as error:
        remedy = "wait for it, or remove the lock if there is none"
        raise InputError("another process holds the lock of this file", file=lock, remedy=remedy) from error
