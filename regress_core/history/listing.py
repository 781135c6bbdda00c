"""Which files of a folder count: those that can be read, and that no other one stands for."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

from regress_core.errors import InputError
from regress_core.files import TEMPORARY_PREFIX
from regress_core.history.tables import SCHEMA_VERSION, VERSION_KEY
from regress_core.records.json_io import dumps, loads

T = TypeVar("T")

COMPACTED_PREFIX = "compacted-"
RESTORE = "restore it from a backup, or evaluate anew with --fresh"
_REPLACES_KEY = b"regress.replaces"
_TRIES = 3


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file of the history that cannot be read, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The files of one folder: `<table>/suite=<suite>/month=<YYYY-MM>`.

    Attributes:
        files: Those whose rows count, in the order of their names.
        bad: Those that cannot be read.
        replaced: The names of those that a compacted file stands for, whether they are still there or not.
    """

    files: tuple[Path, ...]
    bad: tuple[BadFile, ...]
    replaced: frozenset[str]


def replaces_metadata(names: frozenset[str]) -> dict[bytes, bytes]:
    """Give the file metadata that says which files a compacted one stands for."""
    return {_REPLACES_KEY: dumps(sorted(names))}


def list_folder(folder: Path) -> FolderListing:
    """List a folder, the footer of each file that counts read once.

    A file that a compacted one names is passed over, so that neither a crash between the two nor publishing
    an evaluation again ever doubles a row.

    Raises:
        InputError: If a file was written by a newer major version; the message names it.
    """
    there = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith(TEMPORARY_PREFIX))
    compacted = [path for path in there if path.name.startswith(COMPACTED_PREFIX)]
    others = [path for path in there if not path.name.startswith(COMPACTED_PREFIX)]
    files: list[Path] = []
    bad: list[BadFile] = []
    replaced: set[str] = set()
    # Compacted files tell which others need not be looked at, the newest which older compacted ones.
    for path in (*reversed(compacted), *others):
        _look(path, files, bad, replaced)
    return FolderListing(tuple(sorted(files)), tuple(bad), frozenset(replaced))


def _look(path: Path, files: list[Path], bad: list[BadFile], replaced: set[str]) -> None:
    """Take a file's footer into account, unless another file stands for it."""
    if path.name in replaced:
        return
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except FileNotFoundError:
        raise  # a compaction has just taken it away
    except (OSError, pa.ArrowException) as error:
        bad.append(BadFile(path, _first_line(error)))
        return
    try:
        version = int(metadata.get(VERSION_KEY, b"0"))
        if version > SCHEMA_VERSION:
            message = f"written with history schema {version}, this program reads up to {SCHEMA_VERSION}"
            raise InputError(message, file=path, remedy="upgrade regress")
        replaced.update(loads(metadata.get(_REPLACES_KEY, b"[]")))
    except ValueError as error:  # JsonError too
        bad.append(BadFile(path, f"its metadata is no history's: {_first_line(error)}"))
        return
    files.append(path)


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Name the file whose rows turn out to be unreadable, though its footer is not.

    Raises:
        InputError: In place of what pyarrow raises.
        FileNotFoundError: As it is: a compaction has just taken the file away.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        message = f"cannot be read: {_first_line(error)}"
        raise InputError(message, file=path, remedy=RESTORE) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def retried(read: Callable[[], T], lock: FileLock | None = None) -> T:
    """Read again if a file vanishes meanwhile: a compaction has put another one in its place.

    The last try holds the lock that compactions take, where one is given: it cannot happen once more then.
    """
    for _ in range(_TRIES - 1):
        try:
            return read()
        except FileNotFoundError:
            continue
    with lock or nullcontext():
        return read()
