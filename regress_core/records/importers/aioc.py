"""Run records of the reference, taken as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from regress_core.records.importers.base import Imported, Rejected, Skipped, SourceRow
from regress_core.records.importers.conversations import Found
from regress_core.records.importers.sources import plain_name
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_name_of_file

_MARKS = frozenset({"runId", "items", "question"})  # an object with none of these is something else


def read_aioc(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read run records: values, unknown fields and the order of keys stay.

    The one record of a file is named by the file, a record of a list or of JSON lines by its run id.
    """
    for row in rows:
        yield _found(row)


def is_aioc(value: JsonValue) -> bool:
    """Tell whether a row is a run record."""
    return isinstance(value, dict) and cast("JsonObject", value).keys() >= _MARKS


def _found(row: SourceRow) -> Found:
    position = "" if row.alone else row.position
    if row.members is None:
        return Skipped(position, "no run record: no JSON object")
    if _MARKS.isdisjoint(row.members):
        return Skipped(position, "no run record: none of runId, items and question is there")
    try:
        record = RunRecord.parse(row.members)
    except JsonError as error:
        return Rejected(position, str(error), origin=row.members)
    file = plain_name(row.file).rpartition("/")[2]
    name = case_name_of_file(file) if row.alone else record.run_id
    return Imported(name, record, position, file=row.file)
