"""OpenAI chat messages as the items of a run record."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from regress_core.records.importers.arguments import parse_arguments
from regress_core.records.importers.pairing import CallEvent, pair_calls
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_SYSTEM_ROLES = ("system", "developer")
_OUTPUT_ROLES = ("tool", "function")
_ROLES = (*_SYSTEM_ROLES, "user", "assistant", *_OUTPUT_ROLES)
_TEXT_PARTS = (None, "text", "input_text", "output_text")
_ERROR_FLAGS = ("error", "is_error", "isError")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation.

    Attributes:
        prompt: The text of the leading system messages; None where there are none.
        prompt_messages: Those messages, where the text is not all of them; else empty.
        items: Everything after them, as items of a run record.
        user_items: The indexes of the user's messages among the items.
    """

    prompt: str | None
    prompt_messages: list[JsonObject]
    items: list[JsonObject]
    user_items: list[int]


@dataclass(frozen=True, slots=True)
class _Message:
    value: JsonObject
    role: str
    path: str

    def child(self, key: str) -> str:
        return child_path(self.path, key)


@dataclass(frozen=True, slots=True)
class _Draft:
    """An item whose call id is still open, and the message it came from."""

    item: JsonObject
    message: _Message
    event: CallEvent | None = None


def read_transcript(messages: JsonValue, path: str) -> Transcript:
    """Read a list of messages; `path` is where it stands in the row.

    Raises:
        JsonError: If it is no list, or a message in it has an unknown role or lacks what is needed.
    """
    if not isinstance(messages, list):
        raise JsonError(path, "no list of messages")
    elements = enumerate(cast("list[JsonValue]", messages))
    read = [_message(element, child_path(path, index)) for index, element in elements]
    leading = [_said(message) for message in takewhile(lambda message: message.role in _SYSTEM_ROLES, read)]
    drafts: list[_Draft] = []
    known_ids: set[str] = set()
    for message in read[len(leading) :]:
        drafts.extend(_drafts(message, known_ids))
    _fill_call_ids(drafts)
    items = [draft.item for draft in drafts]
    return Transcript(
        prompt="\n\n".join(draft.item["content"] for draft in leading) if leading else None,
        prompt_messages=_sources(leading),
        items=items,
        user_items=[index for index, item in enumerate(items) if item.get("role") == "user"],
    )


def _sources(leading: list[_Draft]) -> list[JsonObject]:
    texts_say_it_all = all("rawItem" not in draft.item for draft in leading)
    return [] if texts_say_it_all else [draft.message.value for draft in leading]


def _message(value: JsonValue, path: str) -> _Message:
    if not isinstance(value, dict):
        raise JsonError(path, "no message: no JSON object")
    message = cast("JsonObject", value)
    if "role" not in message:
        raise JsonError(child_path(path, "role"), "the field is missing")
    role = message["role"]
    if role not in _ROLES:
        raise JsonError(child_path(path, "role"), f"the role {reprlib.repr(role)} is unknown")
    return _Message(message, role, path)


def _drafts(message: _Message, known_ids: set[str]) -> Iterator[_Draft]:
    if message.role in _OUTPUT_ROLES:
        yield _output(message, known_ids)
    elif message.role != "assistant":
        yield _said(message)
    else:
        for draft in _answered(message):
            if draft.event is not None and draft.event.source_id is not None:
                known_ids.add(draft.event.source_id)
            yield draft


def _said(message: _Message) -> _Draft:
    """Take a message of the user or the system."""
    content = message.value.get("content")
    if not isinstance(content, str | list):
        fault = "neither text nor a list of parts" if "content" in message.value else "the field is missing"
        raise JsonError(message.child("content"), fault)
    item: JsonObject = {
        "type": "message",
        "role": "system" if message.role in _SYSTEM_ROLES else "user",
        "content": _text(content),
    }
    renamed = message.role == "developer"
    if renamed or not isinstance(content, str) or _has_more(message.value, {"role", "content"}):
        item["rawItem"] = message.value
    return _Draft(item, message)


def _answered(message: _Message) -> Iterator[_Draft]:
    """Take a message of the assistant: its text, then its calls."""
    content = message.value.get("content")
    if content is not None and not isinstance(content, str | list):
        raise JsonError(message.child("content"), "neither text nor a list of parts")
    text = _text(content) or _refusal(message.value, content)
    calls = list(_source_calls(message))
    all_mapped = isinstance(content, str) or (content is None and bool(calls))
    mapped = {"role", "content", "tool_calls", "function_call"}
    raw: JsonObject = {}
    if not all_mapped or _has_more(message.value, mapped):
        raw = {"rawItem": message.value}
    if text or not calls:
        yield _Draft({"type": "message", "role": "assistant", "content": text, **raw}, message)
        raw = {}
    for call, path in calls:
        draft = _call(message, call, path)
        draft.item.update(raw)
        raw = {}
        yield draft


def _text(content: JsonValue) -> str:
    """Give the text of a message's content, its text parts joined with newlines."""
    if isinstance(content, str):
        return content
    parts = cast("list[JsonValue]", content or [])
    return "\n".join(text for part in parts if (text := _part_text(part)) is not None)


def _part_text(part: JsonValue) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    members = cast("JsonObject", part)
    text = members.get("text")
    return text if members.get("type") in _TEXT_PARTS and isinstance(text, str) else None


def _refusal(message: JsonObject, content: JsonValue) -> str:
    parts = cast("list[JsonValue]", content) if isinstance(content, list) else []
    holders = [message, *(cast("JsonObject", part) for part in parts if isinstance(part, dict))]
    refusals = (holder.get("refusal") for holder in holders)
    return "\n".join(refusal for refusal in refusals if isinstance(refusal, str))


def _source_calls(message: _Message) -> Iterator[tuple[JsonObject, str]]:
    """Give the calls of a message with their paths; the legacy `function_call` is one without an id."""
    path = message.child("tool_calls")
    tool_calls = message.value.get("tool_calls")
    if tool_calls is not None and not isinstance(tool_calls, list):
        raise JsonError(path, "no list of calls")
    found = [
        (call, child_path(path, index)) for index, call in enumerate(cast("list[Any]", tool_calls or []))
    ]
    if message.value.get("function_call") is not None:
        found.append((message.value["function_call"], message.child("function_call")))
    for call, call_path in found:
        if not isinstance(call, dict):
            raise JsonError(call_path, "no call: no JSON object")
        yield cast("JsonObject", call), call_path


def _call(message: _Message, call: JsonObject, path: str) -> _Draft:
    """Take a call: `{id, type, function: {name, arguments}}`, or name and arguments in the call itself."""
    function = call.get("function")
    nested = isinstance(function, dict)
    body = cast("JsonObject", function) if nested else call
    body_path = child_path(path, "function") if nested else path
    name = body.get("name")
    if not isinstance(name, str):
        fault = "no text" if "name" in body else "the field is missing"
        raise JsonError(child_path(body_path, "name"), fault)
    item: JsonObject = {"type": "tool_call_item", "callId": None, "name": name}
    if "arguments" in body:
        item["arguments"] = parse_arguments(body["arguments"])
    mapped = {"id", "type"} | ({"function"} if nested else {"name", "arguments"})
    if _has_more(call, mapped) or (nested and _has_more(body, {"name", "arguments"})):
        item["rawItem"] = call
    source_id = _source_id(call.get("id"), child_path(path, "id"))
    return _Draft(item, message, CallEvent(is_output=False, source_id=source_id, name=name))


def _output(message: _Message, known_ids: AbstractSet[str]) -> _Draft:
    """Take a tool's output, as it is; only a list of nothing but text parts is joined."""
    value = message.value
    content = value.get("content")
    mapped = {"role", "content", "tool_call_id"}
    source_id = _source_id(value.get("tool_call_id"), message.child("tool_call_id"))
    # Some harnesses put the call's id into `id`; in others that is an id of the message.
    if source_id is None and isinstance(value.get("id"), str) and value["id"] in known_ids:
        source_id = value["id"]
        mapped.add("id")
    parts = (
        [_part_text(part) for part in cast("list[JsonValue]", content)] if isinstance(content, list) else []
    )
    texts = [text for text in parts if text is not None]
    joined = bool(parts) and len(texts) == len(parts)
    item: JsonObject = {
        "type": "tool_call_output_item",
        "callId": None,
        "output": "\n".join(texts) if joined else content,
    }
    if any(value.get(flag) for flag in _ERROR_FLAGS):
        item["isError"] = True
    mapped |= {flag for flag in _ERROR_FLAGS if isinstance(value.get(flag), bool)}
    name = value.get("name")
    if isinstance(name, str):
        mapped.add("name")
    if joined or _has_more(value, mapped):
        item["rawItem"] = value
    name = name if isinstance(name, str) and name else None
    return _Draft(item, message, CallEvent(is_output=True, source_id=source_id, name=name))


def _source_id(value: JsonValue, path: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise JsonError(path, "no call id: neither text nor a whole number")
    return str(value)


def _has_more(value: JsonObject, mapped: AbstractSet[str]) -> bool:
    """Say whether an object holds more than the keys that are mapped; null and `[]` hold nothing."""
    return any(key not in mapped and child is not None and child != [] for key, child in value.items())


def _fill_call_ids(drafts: list[_Draft]) -> None:
    open_drafts = [(draft, draft.event) for draft in drafts if draft.event is not None]
    events = [event for _, event in open_drafts]
    for (draft, event), paired in zip(open_drafts, pair_calls(events), strict=True):
        draft.item["callId"] = paired.call_id
        answered = None if paired.call is None else events[paired.call].name
        if event.is_output and event.name not in (None, answered):
            draft.item["rawItem"] = draft.message.value  # the only place that keeps the name it came with
