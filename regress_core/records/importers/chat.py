"""Rows of OpenAI chat messages: one run a conversation, or one a user turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped, SourceRow
from regress_core.records.importers.chat_messages import Transcript, read_transcript
from regress_core.records.importers.facts import (
    RowFacts,
    Talk,
    build_record,
    prompt_snapshots,
    row_facts,
    unrecorded,
)
from regress_core.records.importers.paths import require
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.json_io import JsonError, JsonObject

Turns = Literal["whole", "each"]

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
    transcript = read_transcript(messages.value, messages.path)
    if not transcript.user_items:
        raise JsonError(messages.path, "no message of the user")
    if options.turns == "whole":
        yield _conversation(row, facts, transcript)
    else:
        yield from _turns(row, facts, transcript)


def _time(row: JsonObject) -> str:
    """Give the first of the usual fields that is a time; these are guesses, so an odd value is no fault."""
    times = (iso_time(row.get(key)) for key in _TIME_KEYS)
    return next((time for time in times if time is not None), UNKNOWN_TIME)


def _conversation(row: SourceRow, facts: RowFacts, transcript: Transcript) -> Imported:
    prompts = prompt_snapshots(transcript.prompt, transcript.prompt_messages, facts.time)
    answers = (item["content"] for item in reversed(transcript.items) if _is_answer(item))
    record = build_record(
        facts.name,
        facts,
        Talk(
            question=transcript.items[transcript.user_items[0]]["content"],
            response=next(answers, ""),
            items=transcript.items,
            input_item_count=transcript.user_items[0] + 1,
            prompt_snapshots=prompts,
            unrecorded=unrecorded(prompts),
        ),
    )
    return Imported(facts.name, record, row.position, multi_turn=len(transcript.user_items) > 1)


def _turns(row: SourceRow, facts: RowFacts, transcript: Transcript) -> Iterator[Outcome]:
    ends = [*transcript.user_items[1:], len(transcript.items)]
    prompts = prompt_snapshots(transcript.prompt, transcript.prompt_messages, facts.time)
    for turn, (user_item, end) in enumerate(zip(transcript.user_items, ends, strict=True), start=1):
        position = f"{row.position}, turn {turn}"
        answer = transcript.items[end - 1]
        if not _is_answer(answer):
            yield Skipped(position, "the turn does not end with an answer of the assistant")
            continue
        name = f"{facts.name}-t{turn}"
        talk = Talk(
            question=transcript.items[user_item]["content"],
            response=answer["content"],
            items=transcript.items[:end],
            input_item_count=user_item + 1,
            prompt_snapshots=prompts,
            unrecorded=unrecorded(prompts),
        )
        yield Imported(name, build_record(name, facts, talk), position)


def _is_answer(item: JsonObject) -> bool:
    return item.get("role") == "assistant" and item["content"] != ""
