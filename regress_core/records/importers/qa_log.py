"""Rows of a question and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found
from regress_core.records.importers.facts import row_facts
from regress_core.records.importers.paths import find, require
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.json_io import JsonError, JsonValue


@dataclass(frozen=True, slots=True)
class QaPaths:
    """Dotted paths of a row's parts."""

    query: str = "query"
    response: str = "response"
    timestamp: str = "timestamp"


QA_PATHS = QaPaths()
"""Where these parts are, as a rule."""


def read_qa_log(rows: Iterable[SourceRow], paths: QaPaths = QA_PATHS) -> Iterator[Found]:
    """Read one question with its answer a row."""
    for row in rows:
        try:
            yield _conversation(row, paths)
        except JsonError as error:
            yield Rejected(row.position, str(error), origin=row.members)


def is_qa_log(value: JsonValue) -> bool:
    """Tell whether a row is one of a question and its answer."""
    texts = (find(value, path) for path in (QA_PATHS.query, QA_PATHS.response))
    return all(text is not None and isinstance(text.value, str) for text in texts)


def _conversation(row: SourceRow, paths: QaPaths) -> Conversation:
    facts = row_facts(row, time=_time(row.value, paths.timestamp))
    source = row.members or {}
    builder = TranscriptBuilder()
    builder.message("user", _text(row.value, paths.query), source)
    builder.message("assistant", _text(row.value, paths.response), source)
    return Conversation(row.position, facts, builder.build(), origin=row.members, tells_calls=False)


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
