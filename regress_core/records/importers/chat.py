"""Rows of OpenAI chat messages: one run a conversation, or one a user turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regress_core.records.importers.base import Outcome, Rejected, SourceRow
from regress_core.records.importers.chat_messages import read_transcript
from regress_core.records.importers.conversations import (
    Conversation,
    Turns,
    conversation_outcomes,
    has_user,
)
from regress_core.records.importers.facts import row_facts
from regress_core.records.importers.paths import require
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.json_io import JsonError, JsonObject

_TIME_KEYS = ("timestamp", "created_at", "created")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How rows of chat messages are read.

    Attributes:
        messages: Dotted path of the messages.
        id: Dotted path of what names the case; without it the row's own `id` or its number does.
        label: Dotted path of the label.
        turns: One record a conversation, or one a user turn with what came before as its input.
    """

    messages: str = "messages"
    id: str | None = None
    label: str | None = None
    turns: Turns = "whole"


def import_openai_chat(rows: Iterable[SourceRow], options: ChatOptions, /) -> Iterator[Outcome]:
    """Import the conversations of the rows."""
    for row in rows:
        try:
            # A list: a row is rejected as a whole, never after its first turn.
            yield from list(_outcomes(row, options))
        except JsonError as error:
            yield Rejected(row.position, str(error))


def _outcomes(row: SourceRow, options: ChatOptions) -> Iterator[Outcome]:
    facts = row_facts(row, id_path=options.id, label_path=options.label, time=_time(row.members or {}))
    messages = require(row.value, options.messages)
    transcript = has_user(read_transcript(messages.value, messages.path), messages.path)
    yield from conversation_outcomes(Conversation(row.position, facts, transcript), options.turns)


def _time(row: JsonObject) -> str:
    """Give the first of the usual fields that is a time; these are guesses, so an odd value is no fault."""
    times = (iso_time(row.get(key)) for key in _TIME_KEYS)
    return next((time for time in times if time is not None), UNKNOWN_TIME)
