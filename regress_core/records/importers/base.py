"""What an importer is: a plain function from source rows to outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

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
        position: Where it stands in the source.
        multi_turn: Whether users speak after the record's input scope, so that it cannot be replayed.
    """

    name: str
    record: RunRecord
    position: str
    multi_turn: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is no run at all; nothing is wrong with it."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A run that cannot be imported."""

    position: str
    reason: str


Outcome = Imported | Skipped | Rejected

OptionsT_contra = TypeVar("OptionsT_contra", contravariant=True)


class Importer(Protocol[OptionsT_contra]):
    """Turns source rows into outcomes, one row at a time; each format has its own options."""

    def __call__(self, rows: Iterable[SourceRow], options: OptionsT_contra, /) -> Iterator[Outcome]:
        """Give the outcomes in the order of the rows.

        Raises:
            InputError: If the source breaks off or cannot be read on.
        """
        ...
