"""Message histories of pydantic-ai, as `ModelMessagesTypeAdapter` and `all_messages_json` write them.

The format is that of `pydantic_ai.messages` in github.com/pydantic/pydantic-ai, versions 0, 1 and 2. A file
that is one list of messages is one run; else each row is one, a list of messages or an object that has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import cast

from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import RowFacts, row_facts
from regress_core.records.importers.pydantic_ai_parts import take_request, take_response
from regress_core.records.importers.sources import ROW_SUFFIXES, plain_name
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.importers.usage import TokenUsage, total, with_cache_inside
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_HISTORIES = ("messages", "all_messages", "message_history", "history", "new_messages")


def read_pydantic_ai(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read the run that the messages of a file are, or one run a row."""
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return
    if _is_message(first.value):
        yield _of_file([first, *remaining])
        return
    for row in chain([first], remaining):
        try:
            yield _of_row(row)
        except JsonError as error:
            yield Rejected(row.position, str(error), origin=row.members)


def is_pydantic_ai(value: JsonValue) -> bool:
    """Tell whether a row is a message, a list of messages, or an object that has one."""
    if _is_message(value):
        return True
    messages: JsonValue = value
    if isinstance(value, dict):
        messages = next((child for _, child in _histories(cast("JsonObject", value))), None)
    listed = cast("list[JsonValue]", messages) if isinstance(messages, list) else []
    return bool(listed) and _is_message(listed[0])


def _is_message(value: JsonValue) -> bool:
    message = cast("JsonObject", value) if isinstance(value, dict) else {}
    return message.get("kind") in ("request", "response") and isinstance(message.get("parts"), list)


def _histories(row: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    return ((key, row[key]) for key in _HISTORIES if key in row)


def _of_file(rows: Sequence[SourceRow]) -> Found:
    first = rows[0]
    if [row.number for row in rows] != list(range(1, len(rows) + 1)):
        return Rejected("", "$: a message of the run cannot be read")
    name = plain_name(first.file)
    for suffix in ROW_SUFFIXES:
        name = name.removesuffix(suffix)
    facts = RowFacts(name, None, first.file, first.number, UNKNOWN_TIME, None)
    try:
        return _conversation([row.value for row in rows], "$", "", facts, None)
    except JsonError as error:
        return Rejected("", str(error))


def _of_row(row: SourceRow) -> Conversation:
    value: JsonValue = row.value
    if isinstance(value, list):
        facts = RowFacts(f"row-{row.number}", None, row.file, row.number, UNKNOWN_TIME, None)
        return _conversation(cast("list[JsonValue]", value), "$", row.position, facts, None)
    if row.members is None:
        raise JsonError("$", "neither a list of messages nor a JSON object")
    found = next(_histories(row.members), None)
    if found is None:
        raise JsonError("$.messages", "the field is missing")
    key, messages = found
    if not isinstance(messages, list):
        raise JsonError(child_path("$", key), "no list of messages")
    facts = row_facts(row, time=UNKNOWN_TIME)
    listed = cast("list[JsonValue]", messages)
    return _conversation(listed, child_path("$", key), row.position, facts, row.members)


def _conversation(
    messages: Sequence[JsonValue], path: str, position: str, facts: RowFacts, origin: JsonObject | None
) -> Conversation:
    builder = TranscriptBuilder()
    listed = [(child_path(path, index), value) for index, value in enumerate(messages)]
    _instruct(builder, listed)
    times: list[str] = []
    usages: list[TokenUsage | None] = []
    model: JsonValue = facts.model
    for place, value in listed:
        if not _is_message(value):
            raise JsonError(place, "no message: it has no kind with parts")
        message = cast("JsonObject", value)
        times += [time for one in _stamps(message) if (time := iso_time(one)) is not None]
        if message["kind"] == "request":
            take_request(builder, message, place)
        else:
            take_response(builder, message, place, messages)
            usages.append(_usage(message.get("usage")))
            model = message.get("model_name") or model
    known = RowFacts(
        name=facts.name,
        label=None,
        source=facts.source,
        number=facts.number,
        time=min(times, default=facts.time),
        model=model if isinstance(model, str) else None,
    )
    transcript = has_user(builder.build(), path)
    ended = max(times, default=None)
    return Conversation(position, known, transcript, ended, usage=total(usages), origin=origin)


def _instruct(builder: TranscriptBuilder, messages: Sequence[tuple[str, JsonValue]]) -> None:
    """Take the instructions, which every request repeats, as a part of the prompt."""
    for place, value in messages:
        instructions = cast("JsonObject", value).get("instructions") if isinstance(value, dict) else None
        if instructions is None:
            continue
        if not isinstance(instructions, str):
            raise JsonError(child_path(place, "instructions"), "no text")
        if instructions:
            builder.message("system", instructions, {"instructions": instructions})
        return


def _stamps(message: JsonObject) -> list[JsonValue]:
    parts = [cast("JsonObject", p) for p in cast("list[JsonValue]", message["parts"]) if isinstance(p, dict)]
    return [message.get("timestamp"), *(part.get("timestamp") for part in parts)]


def _usage(value: JsonValue) -> TokenUsage | None:
    usage = cast("JsonObject", value) if isinstance(value, dict) else {}
    return with_cache_inside(
        usage.get("input_tokens", usage.get("request_tokens")),
        usage.get("output_tokens", usage.get("response_tokens")),
        usage.get("cache_read_tokens"),
        usage.get("cache_write_tokens"),
    )
