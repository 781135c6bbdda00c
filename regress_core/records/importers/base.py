"""What importers take and give: the rows of a file, and what becomes of the runs in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row of a source file.

    Attributes:
        file: The file's name, without folders: the same row gives the same record wherever the file lies.
        number: Which row of the file it is, from 1.
        value: Its JSON value.
        alone: Whether the file is nothing but this one value: no list, no JSON lines.
    """

    file: str
    number: int
    value: JsonValue
    alone: bool = False

    @property
    def position(self) -> str:
        """Say where in its file the row stands."""
        return f"row {self.number}"

    @property
    def members(self) -> JsonObject | None:
        """The members of the value; None when it is no object."""
        value: JsonValue = self.value
        return cast("JsonObject", value) if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Imported:
    """A run that could be imported.

    Attributes:
        name: The name of its case.
        record: The run.
        position: Where it stands in its file.
        multi_turn: Whether users speak after the record's input scope, so that it cannot be replayed.
        file: The file.
    """

    name: str
    record: RunRecord
    position: str
    multi_turn: bool = False
    file: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is no run at all; nothing is wrong with it."""

    position: str
    reason: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A run that cannot be imported.

    Attributes:
        position: Where it stands in its file; empty for all of the file.
        reason: What is wrong with it.
        file: The file.
        origin: What conditions look into, where that could be read.
    """

    position: str
    reason: str
    file: str = ""
    origin: JsonObject | None = None


Outcome = Imported | Skipped | Rejected
"""What becomes of a run."""
