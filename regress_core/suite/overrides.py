"""Overrides and quarantine: cases that run and are shown but do not gate, in overrides.jsonl."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict

from regress_core.records.wire import WireModel
from regress_core.suite.appended_lines import Moment, Said, append_lines, load_lines

OVERRIDES_FILE = "overrides.jsonl"


def end_of(expires: str) -> datetime:
    """Give the last moment of an override, UTC: of a date its last one; a time without a zone is UTC.

    Raises:
        ValueError: If it is neither a date `YYYY-MM-DD` nor a time in ISO form, or not within the years 1 to
            9999 in UTC.
    """
    try:
        return datetime.combine(date.fromisoformat(expires), time.max, UTC)
    except ValueError:
        pass  # it may have a time
    try:
        moment = datetime.fromisoformat(expires)
    except ValueError as error:
        message = f"{expires!r} is neither a date such as 2026-03-31 nor a time in ISO form"
        raise ValueError(message) from error
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{expires!r} is not within the years 1 to 9999, UTC") from error


def _checked_end(expires: str) -> str:
    end_of(expires)
    return expires


class Override(WireModel):
    """A line of overrides.jsonl: a case does not gate for a while.

    Attributes:
        case_id: The case.
        reason: Why.
        owner: Who answers for it.
        expires: Until when: a date, which counts as a whole, or a time in ISO form; UTC.
        created_at: When it was made, UTC.
    """

    model_config = ConfigDict(strict=True)

    case_id: Said
    reason: Said
    owner: Said
    expires: Annotated[str, AfterValidator(_checked_end)]
    created_at: Moment


def load_overrides(path: Path) -> tuple[Override, ...]:
    """Read the overrides of a suite, oldest first; none where there is no file.

    Raises:
        InputError: If a line is at fault; names file and line.
    """
    return load_lines(Override, path)


def append_override(path: Path, override: Override) -> None:
    """Append an override; other lines stay byte for byte.

    Raises:
        InputError: If another process does not let go of the file.
        OSError: If the file cannot be read or written.
    """
    append_lines(path, [override.to_json()])


def active(overrides: Sequence[Override], case_id: str, now: datetime) -> Override | None:
    """Give the override that keeps a case from gating: its last one, if that has not expired."""
    last = next((one for one in reversed(overrides) if one.case_id == case_id), None)
    return last if last is not None and now <= end_of(last.expires) else None
