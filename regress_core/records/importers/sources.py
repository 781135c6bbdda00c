"""Where rows are read from: a file, plain or gzip, a folder, a zip archive, standard input."""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from regress_core.errors import InputError, os_error_text
from regress_core.records.importers.base import Skipped

LINE_SUFFIXES = (".jsonl", ".ndjson")
ROW_SUFFIXES = (".json", *LINE_SUFFIXES)
"""How the names of files with rows end; each may have `.gz` after it."""

EVAL_SUFFIX = ".eval"
"""How the names of Inspect's own archives end."""

STDIN = Path("-")
"""Stands for standard input."""

_AGAIN = "fetch or make the file again"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of rows, which can be opened as often as it is wanted.

    Attributes:
        name: Its name within the source; the file's own name where that is all of the source.
        path: Where errors say it is.
        open: Opens what it holds, uncompressed.
    """

    name: str
    path: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    @property
    def plain_name(self) -> str:
        """Its name without `.gz`."""
        return plain_name(self.name)


def plain_name(name: str) -> str:
    """Give the name of a file without `.gz`."""
    return name.removesuffix(".gz")


def file_source(path: Path) -> SourceFile:
    """Give the source of one file, plain or gzip."""
    return SourceFile(path.name, str(path), partial(_opened, path))


@contextmanager
def open_sources(source: Path) -> Generator[tuple[list[SourceFile], list[Skipped]]]:
    """Find the files of a source, which last as long as the block.

    Args:
        source: A file, a folder with all below it, a zip archive, or `-`.

    Returns:
        The files in the order of their names, and what else there is with the reason to skip it. Hidden files
        are passed over.

    Raises:
        InputError: If there is no such source, or it cannot be read.
    """
    if source == STDIN:
        with _standard_input() as file:
            yield [file], []
    elif source.is_dir():
        yield _of_folder(source)
    elif source.name.endswith(".zip"):
        yield _of_archive(source, source.name)
    else:
        with _opened(source):  # says at once if it cannot be read
            pass
        yield [file_source(source)], []


@contextmanager
def _standard_input() -> Generator[SourceFile]:
    """Keep what comes in, since a condition needs it twice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
        with path.open("rb") as kept:
            is_gzip = kept.read(2) == b"\x1f\x8b"
        yield SourceFile("stdin", "standard input", partial(_opened, path, compressed=is_gzip))


def _of_folder(folder: Path) -> tuple[list[SourceFile], list[Skipped]]:
    files: list[SourceFile] = []
    skipped: list[Skipped] = []
    try:
        entries = sorted(folder.rglob("*"))
    except OSError as error:
        raise _unreadable(folder, error, "folder") from error
    for entry in entries:
        name = entry.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in entry.relative_to(folder).parts) or entry.is_dir():
            continue
        if entry.name.endswith(".zip"):
            inside, besides = _of_archive(entry, name)
            files += inside
            skipped += besides
        elif _holds_rows(name):
            files.append(SourceFile(name, str(entry), partial(_opened, entry)))
        else:
            skipped.append(Skipped(name, "no JSON file"))
    return files, skipped


def _of_archive(path: Path, name: str) -> tuple[list[SourceFile], list[Skipped]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(info.filename for info in archive.infolist() if not info.is_dir())
    except zipfile.BadZipFile as error:
        raise InputError(f"no zip archive, or damaged: {error}", file=path, remedy=_AGAIN) from error
    except OSError as error:
        raise _unreadable(path, error, "file") from error
    files: list[SourceFile] = []
    skipped: list[Skipped] = []
    for member in members:
        if any(part.startswith((".", "__MACOSX")) for part in member.split("/")):
            continue
        inside = f"{name}/{member}"
        if _holds_rows(member):
            files.append(SourceFile(inside, f"{path}/{member}", partial(_opened_member, path, member)))
        else:
            skipped.append(Skipped(inside, "no JSON file"))
    return files, skipped


def _holds_rows(name: str) -> bool:
    return plain_name(name).endswith(ROW_SUFFIXES) or name.endswith(EVAL_SUFFIX)


@contextmanager
def _opened(path: Path, *, compressed: bool | None = None) -> Generator[IO[bytes]]:
    """Open a file, plain or gzip, to be read in the block.

    Raises:
        InputError: If it cannot be opened or read, or its compressed data is damaged; names the file.
    """
    is_gzip = path.name.endswith(".gz") if compressed is None else compressed
    with _readable(str(path)), cast("IO[bytes]", gzip.open(path)) if is_gzip else path.open("rb") as stream:
        yield stream


@contextmanager
def _opened_member(path: Path, member: str) -> Generator[IO[bytes]]:
    place = f"{path}/{member}"
    with _readable(place), zipfile.ZipFile(path) as archive:
        try:
            opened = archive.open(member)
        except (NotImplementedError, RuntimeError) as error:  # a method that Python lacks; a password
            raise InputError(f"cannot be unpacked: {error}", file=place, remedy="pack it plainly") from error
        with opened as stream:
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=stream)) if member.endswith(".gz") else stream


@contextmanager
def _readable(path: str) -> Generator[None]:
    """Say in one line what is wrong with a file that cannot be read on.

    Raises:
        InputError: If it cannot be read, or its compressed data is damaged.
    """
    try:
        yield
    except gzip.BadGzipFile as error:
        raise InputError(f"not gzip, or damaged: {error}", file=path, remedy=_AGAIN) from error
    except zipfile.BadZipFile as error:
        raise InputError(f"no zip archive, or damaged: {error}", file=path, remedy=_AGAIN) from error
    except EOFError as error:
        raise InputError("the compressed data is cut short", file=path, remedy=_AGAIN) from error
    except zlib.error as error:
        raise InputError(f"the compressed data is damaged: {error}", file=path, remedy=_AGAIN) from error
    except OSError as error:
        raise _unreadable(path, error, "file") from error


def _unreadable(path: Path | str, error: OSError, what: str) -> InputError:
    remedy = f"name a {what} that you can read"
    return InputError(f"cannot be read: {os_error_text(error)}", file=path, remedy=remedy)


def eval_members(stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """Give the JSON files of one of Inspect's archives: the header first, then the samples.

    Raises:
        BadZipFile: If it is no such archive.
    """
    with zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
        yield from ((name, archive.read(name)) for name in names if name == "header.json")
        samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        yield from ((name, archive.read(name)) for name in samples)
