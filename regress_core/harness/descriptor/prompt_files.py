"""Prompts that a descriptor names by file: which paths it may name, and how their text is read."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from regress_core.errors import os_error_text
from regress_core.harness.descriptor.values import DescriptorError, filled_string
from regress_core.records.json_io import JsonValue

LARGEST_PROMPT = 10 * 2**20
"""The most bytes a prompt file may have; more than the window of any model holds."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_GLOB = re.compile(r"[*?\[\]{}]")


class Prompts(Protocol):
    """Where the text of prompt files comes from."""

    def read(self, path: str, *, field: str, owner: str) -> str:
        """Give the text of a prompt file.

        Args:
            path: Its path as the descriptor gives it, checked by `prompt_path`.
            field: The field that gives it, for messages.
            owner: The part of the descriptor that the field belongs to, for messages.

        Raises:
            DescriptorError: If there is no such text.
        """
        ...


def prompt_path(value: JsonValue, label: str) -> str:
    """Give a value that must be the path of a prompt file, relative to the descriptor.

    Raises:
        DescriptorError: If it is none: absolute, a URL, with globbing characters or a null byte.
    """
    path = filled_string(value, label)
    if "\0" in path:
        raise DescriptorError(f"{label} must not contain null bytes.")
    if _URL.match(path):
        raise DescriptorError(f"{label} must not be a remote URL.")
    if Path(path).is_absolute():
        raise DescriptorError(f"{label} must be relative to the descriptor file.")
    if _GLOB.search(path):
        raise DescriptorError(f"{label} must not use globbing characters.")
    return path


@dataclass(frozen=True, slots=True)
class PromptFolder:
    """Prompt files on disk.

    Attributes:
        folder: The descriptor's folder, absolute, links resolved.
        root: The folder that prompts must lie in, absolute, links resolved.
    """

    folder: Path
    root: Path

    def read(self, path: str, *, field: str, owner: str) -> str:
        """Read a prompt file; line ends and a byte order mark stay, since they are hashed.

        Raises:
            DescriptorError: If it lies outside the root, by its path or through links, cannot be read, is
                too large or is not UTF-8.
        """
        # First as written: `..` after a link means the link's own folder, as the reference has it.
        target = Path(os.path.normpath(self.folder / path))
        expect_inside(target, self.root, field)
        remedy = None
        try:
            real = Path(os.path.realpath(target, strict=True))
            expect_inside(real, self.root, f"{owner} prompt file")
            fault = _unfit(real)
            if fault is None:
                return real.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            fault, remedy = f"is not UTF-8 at byte {error.start}", "save it as UTF-8"
        except UnicodeEncodeError:
            fault = "cannot be read: no file has such a name"
        except OSError as error:
            fault = f"cannot be read: {os_error_text(error)}"
        raise DescriptorError(f'{owner} prompt file "{path}" {fault}', remedy=remedy)


def _unfit(path: Path) -> str | None:
    if not path.is_file():
        return "is no file"
    too_large = path.stat().st_size > LARGEST_PROMPT
    return f"is larger than {LARGEST_PROMPT // 2**20} MiB" if too_large else None


class PromptMap:
    """Prompts given as texts.

    Args:
        texts: The texts by path, relative to the descriptor; None for no prompts at all.

    Raises:
        DescriptorError: If a key is no path that a descriptor may name.
    """

    def __init__(self, texts: Mapping[str, str] | None) -> None:
        self._texts: dict[str, str] | None = None
        if texts is not None:
            labels = {path: f'Prompt map key "{path}"' for path in texts}
            self._texts = {
                _below_descriptor(prompt_path(path, labels[path]), labels[path]): text
                for path, text in texts.items()
            }

    def read(self, path: str, *, field: str, owner: str) -> str:
        """Look a prompt up.

        Raises:
            DescriptorError: If it is not there.
        """
        place = _below_descriptor(path, field)
        if self._texts is None:
            raise DescriptorError(
                f"{field} names a prompt file, and only the descriptor's text is given",
                remedy="give its prompts too, or load it from its file",
            )
        if place not in self._texts:
            raise DescriptorError(f'Missing prompt map entry for {owner} prompt file "{path}".')
        return self._texts[place]


def expect_inside(path: Path, root: Path, label: str) -> None:
    """Refuse what does not lie below a folder.

    Raises:
        DescriptorError: If it does not.
    """
    if path == root or not path.is_relative_to(root):
        raise DescriptorError(f'{label} must resolve inside rootDir "{root}".')


def _below_descriptor(path: str, label: str) -> str:
    normal = posixpath.normpath(path)
    if normal in (".", "..") or normal.startswith("../"):
        raise DescriptorError(f'{label} must resolve inside rootDir ".".')
    return normal
