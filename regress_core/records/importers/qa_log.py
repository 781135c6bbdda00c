"""Rows of a question and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regress_core.records.importers.base import Imported, Outcome, Rejected, SourceRow
from regress_core.records.importers.facts import UNRECORDED, Talk, build_record, row_facts
from regress_core.records.importers.paths import find, require
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.json_io import JsonError, JsonValue

# Effects are a part of the calls, and so as unknown as they are.
_UNRECORDED = (*UNRECORDED, "prompts", "toolCalls")


@dataclass(frozen=True, slots=True)
class QaLogOptions:
    """Dotted paths of a row's parts; without `id`, the row's own `id` or its number names the case."""

    query: str = "query"
    response: str = "response"
    timestamp: str = "timestamp"
    id: str | None = None
    label: str | None = None


def import_qa_log(rows: Iterable[SourceRow], options: QaLogOptions, /) -> Iterator[Outcome]:
    """Import one run a row."""
    for row in rows:
        try:
            yield _imported(row, options)
        except JsonError as error:
            yield Rejected(row.position, str(error))


def _imported(row: SourceRow, options: QaLogOptions) -> Imported:
    time = _time(row.value, options.timestamp)
    facts = row_facts(row, id_path=options.id, label_path=options.label, time=time)
    question = _text(row.value, options.query)
    response = _text(row.value, options.response)
    talk = Talk(
        question=question,
        response=response,
        items=[
            {"type": "message", "role": "user", "content": question},
            {"type": "message", "role": "assistant", "content": response},
        ],
        input_item_count=1,
        prompt_snapshots=[],
        unrecorded=_UNRECORDED,
    )
    return Imported(facts.name, build_record(facts.name, facts, talk), row.position)


def _time(row: JsonValue, path: str) -> str:
    found = find(row, path)
    if found is None or found.value is None:
        return UNKNOWN_TIME
    time = iso_time(found.value)
    if time is None:
        raise JsonError(found.path, "no time: neither ISO text nor seconds or milliseconds since 1970")
    return time


def _text(row: JsonValue, path: str) -> str:
    found = require(row, path)
    if not isinstance(found.value, str):
        raise JsonError(found.path, "no text")
    return found.value
