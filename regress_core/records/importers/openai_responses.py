"""Calls of OpenAI's Responses API: requests with their responses, as programs log them.

The format is that of https://platform.openai.com/docs/api-reference/responses. A row has `input` and what was
answered, an `output` beside it or a response under `response`; the response may be the events of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from regress_core.records.canonical import canonical_json
from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import RowFacts, row_facts
from regress_core.records.importers.members import object_of
from regress_core.records.importers.openai_items import Item, items_of, take_items
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.importers.usage import TokenUsage, total, with_cache_inside
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_REQUESTS = ("request", "params", "body")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_TIME_KEYS = ("timestamp", "created_at", "time")
_NOTED = ("temperature", "tool_choice", "metadata", "reasoning", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request and what was answered.

    Attributes:
        row: The row.
        request: The request.
        input: Its items.
        response: The response; empty where the row has none.
        output: The items of that.
    """

    row: SourceRow
    request: JsonObject
    input: list[Item]
    response: JsonObject
    output: list[Item]


def read_openai_responses(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read one conversation a row.

    Rows that name the response before, or repeat all that was said before, are one conversation.
    """
    told: list[_Exchange] = []  # whose items are those of the conversation
    usages: list[TokenUsage | None] = []
    first: SourceRow | None = None
    for row in rows:
        try:
            exchange = _exchange(row)
        except JsonError as error:
            yield Rejected(row.position, str(error), origin=row.members)
            continue
        if told and _follows(told[-1], exchange):
            told.append(exchange)
        elif told and _repeats(told, exchange):
            told = [exchange]
        else:
            if first is not None:
                yield _found(first, told, usages)
            told, usages, first = [exchange], [], row
        usages.append(_usage(exchange.response))
    if first is not None:
        yield _found(first, told, usages)


def is_openai_responses(value: JsonValue) -> bool:
    """Tell whether a row is a call of this API."""
    row = object_of(value)
    request = _request(row)[0]
    if "input" not in request or not isinstance(request["input"], str | list):
        return False
    answered = object_of(row.get("response")) or request
    return answered.get("object") == "response" or isinstance(answered.get("output"), list)


def _request(row: JsonObject) -> tuple[JsonObject, str]:
    for key in _REQUESTS:
        value = row.get(key)
        if isinstance(value, dict) and "input" in value:
            return cast("JsonObject", value), child_path("$", key)
    return row, "$"


def _exchange(row: SourceRow) -> _Exchange:
    if row.members is None:
        raise JsonError("$", "no JSON object")
    request, path = _request(row.members)
    if "input" not in request:
        raise JsonError(child_path(path, "input"), "the field is missing")
    given = items_of(request["input"], child_path(path, "input"))
    response, place = _response(row.members)
    output = items_of(response["output"], child_path(place, "output")) if "output" in response else []
    return _Exchange(row, request, given, response, output)


def _response(row: JsonObject) -> tuple[JsonObject, str]:
    """Give the response: under `response`, there perhaps as the events of a stream, or the row itself."""
    value, path = row.get("response"), "$.response"
    if isinstance(value, dict) and isinstance(cast("JsonObject", value).get("body"), dict):
        value, path = cast("JsonObject", value)["body"], "$.response.body"
    if isinstance(value, list):
        events = [object_of(event) for event in cast("list[JsonValue]", value)]
        ends = [object_of(event.get("response")) for event in events if event.get("type") in _ENDS]
        if not ends:
            raise JsonError(path, "the stream breaks off: no response is completed")
        return ends[-1], path
    if isinstance(value, dict):
        return cast("JsonObject", value), path
    return (row, "$") if "output" in row else ({}, "$")


def _follows(before: _Exchange, after: _Exchange) -> bool:
    key = after.request.get("previous_response_id") or after.response.get("previous_response_id")
    return isinstance(key, str) and key != "" and key == before.response.get("id")


def _repeats(told: Sequence[_Exchange], after: _Exchange) -> bool:
    """Tell whether a request has all of the items before, and something more."""
    before = [item for exchange in told for item, _ in exchange.input]
    return 0 < len(before) < len(after.input) and _key(before) == _key(
        item for item, _ in after.input[: len(before)]
    )


def _key(items: Iterable[JsonObject]) -> str:
    return canonical_json([{k: v for k, v in item.items() if k not in ("id", "status")} for item in items])


def _found(first: SourceRow, told: Sequence[_Exchange], usages: Sequence[TokenUsage | None]) -> Found:
    last = told[-1]
    builder = TranscriptBuilder()
    try:
        instructions = told[0].request.get("instructions") or last.response.get("instructions")
        if isinstance(instructions, str):
            builder.message("system", instructions, {"instructions": instructions})
        for exchange in told:
            take_items(builder, [*exchange.input, *exchange.output])
        transcript = has_user(builder.build(), "$.input")
        facts = _facts(first, last)
    except JsonError as error:
        return Rejected(last.row.position, str(error), origin=last.row.members)
    return Conversation(
        position=first.position,
        facts=facts,
        transcript=transcript,
        ended_at=iso_time(last.response.get("completed_at")),
        failure=_failure(last.response),
        usage=total(usages),
        noted={key: last.request[key] for key in _NOTED if last.request.get(key) not in (None, {})},
        origin=last.row.members,
    )


def _failure(response: JsonObject) -> JsonObject:
    if response.get("status") not in ("failed", "incomplete", "cancelled"):
        return {}
    error = object_of(response.get("error")) or object_of(response.get("incomplete_details"))
    message = error.get("message") or error.get("reason")
    return {"errorName": str(response["status"]), "errorMessage": message if isinstance(message, str) else ""}


def _facts(first: SourceRow, last: _Exchange) -> RowFacts:
    row = first.members or {}
    moments = [row.get(key) for key in _TIME_KEYS] + [object_of(row.get("response")).get("created_at")]
    times = (iso_time(value) for value in moments)
    time = next((time for time in times if time is not None), UNKNOWN_TIME)
    facts = row_facts(first, time=time)
    model = last.response.get("model") or last.request.get("model")
    return RowFacts(
        name=facts.name,
        label=None,
        source=facts.source,
        number=facts.number,
        time=time,
        model=model if isinstance(model, str) else None,
    )


def _usage(response: JsonObject) -> TokenUsage | None:
    usage = object_of(response.get("usage"))
    cached = object_of(usage.get("input_tokens_details")).get("cached_tokens")
    return with_cache_inside(usage.get("input_tokens"), usage.get("output_tokens"), cached)
