"""From the files of a source to the cases they make, whatever format tells them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from regress_core.errors import InputError
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, Turns, conversation_outcomes
from regress_core.records.importers.naming import PLAIN, Naming, named, named_record, origin_of
from regress_core.records.importers.rows import BadRow, rows_of
from regress_core.records.importers.selection import matching
from regress_core.records.importers.sources import SourceFile
from regress_core.records.json_io import JsonError, JsonObject, JsonValue

Read = Callable[[Iterable[SourceRow]], Iterator[Found]]
"""Reads the rows of one file; a fault of one run does not keep it from the others."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of logs.

    Attributes:
        name: What the `import` command calls it.
        read: Reads it.
        is_it: Whether a file is of this format, by the value of its first row.
    """

    name: str
    read: Read
    is_it: Callable[[JsonValue], bool]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which runs are taken, and what is made of each.

    Attributes:
        where: A DuckDB condition that a run has to meet; see `origin_of` for what it looks into.
        limit: How many runs at most.
        turns: One case a run, or one a user turn.
        naming: How cases are called and labelled.
    """

    where: str | None = None
    limit: int | None = None
    turns: Turns = "whole"
    naming: Naming = PLAIN


def imported_cases(
    files: Sequence[SourceFile], formats: Sequence[Format], choice: Choice, source: Path
) -> Iterator[Outcome]:
    """Import the runs of some files.

    Args:
        files: The files, read twice where there is a condition.
        formats: The format, or several, of which each file's first row picks one.
        choice: Which runs are taken.
        source: Where the files come from, for messages.

    Raises:
        InputError: If the condition does not fit the runs.
    """
    found = _found(files, formats)
    if choice.where is not None:
        origins = (origin for one in _found(files, formats) if (origin := _origin(one)) is not None)
        chosen = matching(origins, choice.where, source)
        found = _chosen(found, chosen)
    if choice.limit is not None:
        found = _limited(found, choice.limit)
    yield from cases_of(found, choice)


def cases_of(found: Iterable[Found], choice: Choice) -> Iterator[Outcome]:
    """Make the cases of runs, all of them."""
    for one in found:
        yield from _outcomes(one, choice)


def _found(files: Iterable[SourceFile], formats: Sequence[Format]) -> Iterator[Found]:
    for file in files:
        bad: list[Rejected] = []
        try:
            for one in _read(file, formats, bad):
                yield from bad
                bad.clear()
                yield _placed(one, file)
        except InputError as error:  # it cannot be read on; the other files can
            bad.append(Rejected("", str(error), file=file.name))
        yield from bad


def _read(file: SourceFile, formats: Sequence[Format], bad: list[Rejected]) -> Iterator[Found]:
    rows = _sound(rows_of(file), file, bad)
    first = next(rows, None)
    if first is None:
        return
    fitting = formats if len(formats) == 1 else [one for one in formats if one.is_it(first.value)]
    if not fitting:
        reason = f"looks like none of {', '.join(one.name for one in formats)}"
        bad.append(Rejected(first.position, reason, file.name))
        return
    yield from fitting[0].read(chain([first], rows))


def _sound(rows: Iterable[SourceRow | BadRow], file: SourceFile, bad: list[Rejected]) -> Iterator[SourceRow]:
    for row in rows:
        if isinstance(row, BadRow):
            bad.append(Rejected(row.position, row.reason, file=file.name))
        else:
            yield row


def _placed(one: Found, file: SourceFile) -> Found:
    return dataclasses.replace(one, file=file.name) if isinstance(one, Skipped | Rejected) else one


def _chosen(found: Iterable[Found], numbers: frozenset[int]) -> Iterator[Found]:
    number = 0
    for one in found:
        has_number = _origin(one) is not None
        if not has_number or number in numbers:
            yield one
        number += has_number


def _origin(one: Found) -> JsonObject | None:
    if isinstance(one, Conversation | Imported):
        return origin_of(one)
    return one.origin if isinstance(one, Rejected) else None


def _limited(found: Iterator[Found], limit: int) -> Iterator[Found]:
    """Give what is found up to the last run that is taken."""
    taken = 0
    for one in found:
        yield one
        taken += isinstance(one, Conversation | Imported)
        if taken == limit:
            return


def _outcomes(one: Found, choice: Choice) -> Iterable[Outcome]:
    if isinstance(one, Skipped | Rejected):
        return [one]
    try:
        if isinstance(one, Imported):
            return [named_record(one, choice.naming)]
        # A list: a run is rejected as a whole, never after its first turn.
        return list(conversation_outcomes(named(one, choice.naming), choice.turns))
    except JsonError as error:
        file = one.file if isinstance(one, Imported) else one.facts.source
        return [Rejected(one.position, str(error), file=file)]
