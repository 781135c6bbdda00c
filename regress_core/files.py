"""Files are written whole or not at all: to a temporary name beside the target, then renamed."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY_PREFIX = ".tmp-"
"""Names with this prefix are unfinished or abandoned; no reader of ours looks at them."""


def temporary_sibling(path: Path) -> Path:
    """Give an unused name in the same folder, so that a rename onto `path` is atomic."""
    return path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}")


@contextmanager
def replacing_file(path: Path) -> Generator[Path]:
    """Yield a temporary path that becomes `path` if the block ends well, and vanishes if it does not.

    Raises:
        OSError: If the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_sibling(path)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file, or leave the old one untouched."""
    with replacing_file(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing_folder(path: Path) -> Generator[Path]:
    """Yield a new, empty folder that takes the place of `path` if the block ends well.

    Between the two renames `path` is missing for an instant; its earlier content is deleted only after
    the new one stands there, and put back if the second rename fails or never comes.

    Raises:
        OSError: If the parent folder cannot be written.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary_sibling(path)
    old = temporary_sibling(path)
    fresh.mkdir()
    try:
        yield fresh
        if path.exists():
            path.rename(old)
        fresh.rename(path)
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        for leftover in (fresh, old):
            if leftover.exists():
                shutil.rmtree(leftover)


def relative_to_working_folder(path: Path) -> str:
    """Show a path as a person would type it: relative where it lies below the working folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
