"""Rows of OpenAI chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.chat_messages import is_message, read_transcript
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import row_facts
from regress_core.records.importers.paths import find, require
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.json_io import JsonError, JsonObject, JsonValue

MESSAGES = "messages"
"""Where the messages of a row are, as a rule."""

_TIME_KEYS = ("timestamp", "created_at", "created")


def read_openai_chat(rows: Iterable[SourceRow], messages: str = MESSAGES) -> Iterator[Found]:
    """Read one conversation a row; `messages` is the dotted path of its messages."""
    for row in rows:
        try:
            yield _conversation(row, messages)
        except JsonError as error:
            yield Rejected(row.position, str(error), origin=row.members)


def is_openai_chat(value: JsonValue) -> bool:
    """Tell whether a row is one of chat messages."""
    found = find(value, MESSAGES)
    messages: JsonValue = None if found is None else found.value
    if not isinstance(messages, list) or not messages:
        return False
    return all(map(is_message, cast("list[JsonValue]", messages)))


def _conversation(row: SourceRow, path: str) -> Conversation:
    facts = row_facts(row, time=_time(row.members or {}))
    messages = require(row.value, path)
    transcript = has_user(read_transcript(messages.value, messages.path), messages.path)
    return Conversation(row.position, facts, transcript, origin=row.members)


def _time(row: JsonObject) -> str:
    """Give the first of the usual fields that is a time; these are guesses, so an odd value is no fault."""
    times = (iso_time(row.get(key)) for key in _TIME_KEYS)
    return next((time for time in times if time is not None), UNKNOWN_TIME)
