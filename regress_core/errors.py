"""Errors that a user can cause and a user can mend."""

from __future__ import annotations

from pathlib import Path


class RegressError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(RegressError):
    """Something the user gave cannot be used: a file, a field, an option, a store.

    The text is one line that names what is known of the place and ends with the remedy:
    `FILE: FIELD: case CASE: MESSAGE; REMEDY`.

    Args:
        message: What is wrong, without a full stop.
        file: The file or folder it was found in.
        field: The JSON path, key or option it was found at, such as `$.items[3].callId`.
        case: The case it belongs to.
        remedy: What to do about it, without a full stop.
    """

    def __init__(
        self,
        message: str,
        *,
        file: Path | str | None = None,
        field: str | None = None,
        case: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.field = field
        self.case = case
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        place = [part for part in (self.file, self.field) if part]
        if self.case is not None:
            place.append(f"case {self.case}")
        text = ": ".join([*place, self.message])
        if self.remedy:
            text = f"{text}; {self.remedy}"
        return " ".join(line.strip() for line in text.splitlines())


def os_error_text(error: OSError) -> str:
    """Say what the operating system refused, without the path that our own messages already name."""
    return error.strerror or type(error).__name__
