"""Conversations of any format, and the run records they make: one a conversation, or one a user turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.importers.facts import RowFacts, Talk, build_record, prompt_snapshots, unrecorded
from regress_core.records.importers.transcripts import Transcript
from regress_core.records.importers.usage import TokenUsage
from regress_core.records.json_io import JsonError, JsonObject
from regress_core.records.model import RunRecord

Turns = Literal["whole", "each"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A run of another system's agent, in the run record's terms.

    Attributes:
        position: Where it stands in the source.
        facts: What is known of it besides what was said.
        transcript: What was said and done.
        ended_at: When it ended, as ISO text; when it began where the source does not say.
        failure: `errorName` and `errorMessage` of what ended it where neither side did; empty otherwise.
        usage: What its model calls took; None where the source does not say.
        noted: What else the source says of it, kept as provenance.
        origin: The row that it is, for a format of which each run is one; None for others.
        tells_calls: Whether the source would tell calls of tools, if there were some.
    """

    position: str
    facts: RowFacts
    transcript: Transcript
    ended_at: str | None = None
    failure: JsonObject = field(default_factory=dict[str, str])
    usage: TokenUsage | None = None
    noted: JsonObject = field(default_factory=dict[str, str])
    origin: JsonObject | None = None
    tells_calls: bool = True


Found = Conversation | Imported | Skipped | Rejected
"""What a reader of a format finds in a source."""


def has_user(transcript: Transcript, path: str) -> Transcript:
    """Give a transcript back in which a user speaks.

    Raises:
        JsonError: If none does; `path` is where the messages stand.
    """
    if not transcript.user_items:
        raise JsonError(path, "no message of the user")
    return transcript


def conversation_outcomes(conversation: Conversation, turns: Turns) -> Iterator[Outcome]:
    """Make the cases of a conversation.

    Args:
        conversation: The conversation.
        turns: `whole`: one record, whose input is all before the first answer. `each`: one a user turn, with
            what came before as its input, for each turn that ends with an answer of the assistant.

    Raises:
        JsonError: If it makes no valid run record.
    """
    if turns == "whole":
        several = len(conversation.transcript.user_items) > 1
        record = whole_record(conversation)
        facts = conversation.facts
        yield Imported(facts.name, record, conversation.position, multi_turn=several, file=facts.source)
    else:
        yield from _each(conversation)


def whole_record(conversation: Conversation) -> RunRecord:
    """Make one record of a conversation; its question is the user's first message.

    Raises:
        JsonError: If it makes no valid run record.
    """
    transcript, facts = conversation.transcript, conversation.facts
    items, user_items = transcript.items, transcript.user_items
    answers = (item["content"] for item in reversed(items) if _is_answer(item))
    record = build_record(
        facts.name,
        facts,
        _talk(
            conversation,
            question=items[user_items[0]]["content"] if user_items else "",
            response=next(answers, ""),
            items=items,
            input_item_count=user_items[0] + 1 if user_items else 0,
        ),
    )
    noted = conversation.noted
    if conversation.usage is not None:
        noted = {"usage": conversation.usage.to_json(), **noted}
    return RunRecord.parse(
        {
            **record.data,
            "completedAt": conversation.ended_at or facts.time,
            **({"status": "failed", **conversation.failure} if conversation.failure else {}),
            "metadata": {"regress": record.regress_metadata | noted},
        }
    )


def _each(conversation: Conversation) -> Iterator[Outcome]:
    transcript, facts = conversation.transcript, conversation.facts
    items, user_items = transcript.items, transcript.user_items
    ends = [*user_items[1:], len(items)]
    for turn, (user_item, end) in enumerate(zip(user_items, ends, strict=True), start=1):
        position = f"{conversation.position}, turn {turn}"
        answer = items[end - 1]
        if not _is_answer(answer):
            yield Skipped(position, "the turn does not end with an answer of the assistant", facts.source)
            continue
        name = f"{facts.name}-t{turn}"
        talk = _talk(
            conversation,
            question=items[user_item]["content"],
            response=answer["content"],
            items=items[:end],
            input_item_count=user_item + 1,
        )
        yield Imported(name, build_record(name, facts, talk), position, file=facts.source)


def _talk(
    conversation: Conversation,
    *,
    question: str,
    response: str,
    items: list[JsonObject],
    input_item_count: int,
) -> Talk:
    transcript = conversation.transcript
    prompts = prompt_snapshots(transcript.prompt, transcript.prompt_messages, conversation.facts.time)
    missing = unrecorded(prompts, tells_calls=conversation.tells_calls)
    return Talk(question, response, items, input_item_count, prompts, missing)


def _is_answer(item: JsonObject) -> bool:
    return item.get("role") == "assistant" and item["content"] != ""
