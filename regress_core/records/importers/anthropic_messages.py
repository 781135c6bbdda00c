"""Calls of Anthropic's Messages API: requests with or without their responses, as programs log them.

The format is that of https://docs.anthropic.com/en/api/messages, and of its streams and batches. A row is a
request (`system`, `messages`), which may have its response beside it under `response`, or both under
`request` and `response`; the response may be the events of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from regress_core.records.canonical import canonical_json
from regress_core.records.importers.anthropic_content import system_text, take_message, usage_of
from regress_core.records.importers.anthropic_stream import joined_stream
from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import RowFacts, row_facts
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.importers.usage import TokenUsage, total
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_REQUESTS = ("request", "params", "body", "input")
_RESPONSES = ("response", "output", "message", "completion")
_TIME_KEYS = ("timestamp", "created_at", "time", "started_at")
_OF_ANTHROPIC = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request and what was answered.

    Attributes:
        row: The row.
        request: The request.
        path: Where it stands in the row.
        messages: Its messages.
        response: The answer, and where it stands; None where the row has none.
    """

    row: SourceRow
    request: JsonObject
    path: str
    messages: list[JsonValue]
    response: tuple[JsonObject, str] | None


def read_anthropic_messages(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read one conversation a row; rows that each repeat the one before and go on are one conversation."""
    pending: list[_Exchange] = []
    for row in rows:
        try:
            exchange = _exchange(row)
        except JsonError as error:
            yield Rejected(row.position, str(error), origin=row.members)
            continue
        if pending and not _goes_on(pending[-1], exchange):
            yield _found(pending)
            pending = []
        pending.append(exchange)
    if pending:
        yield _found(pending)


def is_anthropic_messages(value: JsonValue) -> bool:
    """Tell whether a row is a call of this API: by its blocks, or by a `system` beside messages."""
    row = cast("JsonObject", value) if isinstance(value, dict) else {}
    request = _request(row)[0]
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return False
    listed = cast("list[JsonValue]", messages)
    roles = {cast("JsonObject", one).get("role") if isinstance(one, dict) else None for one in listed}
    if not roles <= {"user", "assistant"}:
        return False
    return _is_answered(row) or "system" in request or any(_has_blocks(one) for one in listed)


def _is_answered(row: JsonObject) -> bool:
    """Tell whether a message of this API is in the place of a response."""
    responses = [row[key] for key in _RESPONSES if isinstance(row.get(key), dict)]
    return any(cast("JsonObject", one).get("type") == "message" for one in responses)


def _has_blocks(message: JsonValue) -> bool:
    content = cast("JsonObject", message).get("content") if isinstance(message, dict) else None
    blocks = cast("list[JsonValue]", content) if isinstance(content, list) else []
    return any(cast("JsonObject", b).get("type") in _OF_ANTHROPIC for b in blocks if isinstance(b, dict))


def _request(row: JsonObject) -> tuple[JsonObject, str]:
    for key in _REQUESTS:
        value = row.get(key)
        if isinstance(value, dict) and "messages" in value:
            return cast("JsonObject", value), child_path("$", key)
    return row, "$"


def _response(row: JsonObject) -> tuple[JsonObject, str] | None:
    for key in _RESPONSES:
        value, path = row.get(key), child_path("$", key)
        if isinstance(value, dict) and isinstance(cast("JsonObject", value).get("body"), dict):
            value, path = cast("JsonObject", value)["body"], child_path(path, "body")
        if isinstance(value, list) and value:
            return joined_stream(cast("list[JsonValue]", value), path), path
        if isinstance(value, dict) and cast("JsonObject", value).get("role") == "assistant":
            return cast("JsonObject", value), path
    return None


def _exchange(row: SourceRow) -> _Exchange:
    if row.members is None:
        raise JsonError("$", "no JSON object")
    request, path = _request(row.members)
    messages = request.get("messages")
    if not isinstance(messages, list):
        fault = "no list of messages" if "messages" in request else "the field is missing"
        raise JsonError(child_path(path, "messages"), fault)
    return _Exchange(row, request, path, cast("list[JsonValue]", messages), _response(row.members))


def _goes_on(before: _Exchange, after: _Exchange) -> bool:
    """Tell whether a request has all of the messages of the one before, and what was answered to it."""
    count = len(before.messages)
    if len(after.messages) <= count or before.request.get("system") != after.request.get("system"):
        return False
    answer = after.messages[count]
    if not isinstance(answer, dict) or cast("JsonObject", answer).get("role") != "assistant":
        return False
    return _key(before.messages) == _key(after.messages[:count])


def _key(messages: Sequence[JsonValue]) -> str:
    """Give the text of messages, but for marks of the cache, which move from request to request."""
    return canonical_json(_unmarked(list(messages)))


def _unmarked(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return {key: _unmarked(child) for key, child in members.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(child) for child in cast("list[JsonValue]", value)]
    return value


def _found(exchanges: list[_Exchange]) -> Found:
    last = exchanges[-1]
    try:
        return _conversation(exchanges)
    except JsonError as error:
        return Rejected(last.row.position, str(error), origin=last.row.members)


def _conversation(exchanges: list[_Exchange]) -> Conversation:
    first, last = exchanges[0], exchanges[-1]
    builder = TranscriptBuilder()
    prompt = system_text(last.request.get("system"), child_path(last.path, "system"))
    if prompt is not None:
        source: JsonObject = {"system": last.request["system"]}
        builder.message("system", prompt, source, keep=not isinstance(last.request["system"], str))
    messages_path = child_path(last.path, "messages")
    for index, message in enumerate(last.messages):
        path = child_path(messages_path, index)
        if not isinstance(message, dict):
            raise JsonError(path, "no message: no JSON object")
        take_message(builder, cast("JsonObject", message), path)
    if last.response is not None:
        take_message(builder, *last.response)
    return Conversation(
        position=first.row.position,
        facts=_facts(first, last),
        transcript=has_user(builder.build(), messages_path),
        usage=total(_usage(exchange) for exchange in exchanges),
        noted={
            key: last.request[key]
            for key in ("max_tokens", "temperature", "tool_choice", "thinking", "metadata")
            if key in last.request
        },
        origin=last.row.members,
    )


def _usage(exchange: _Exchange) -> TokenUsage | None:
    return None if exchange.response is None else usage_of(exchange.response[0].get("usage"))


def _facts(first: _Exchange, last: _Exchange) -> RowFacts:
    row = first.row.members or {}
    times = (iso_time(row.get(key)) for key in _TIME_KEYS)
    time = next((time for time in times if time is not None), UNKNOWN_TIME)
    named = "custom_id" if "id" not in row and isinstance(row.get("custom_id"), str) else None
    facts = row_facts(first.row, time=time, id_path=named)
    answered = None if last.response is None else last.response[0].get("model")
    model = answered or last.request.get("model")
    return RowFacts(
        name=facts.name,
        label=None,
        source=facts.source,
        number=facts.number,
        time=time,
        model=model if isinstance(model, str) else None,
    )
