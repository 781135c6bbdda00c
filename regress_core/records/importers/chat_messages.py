"""OpenAI chat messages as the items of a run record."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, cast

from regress_core.records.importers.members import has_more
from regress_core.records.importers.transcripts import Transcript, TranscriptBuilder
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_SYSTEM_ROLES = ("system", "developer")
_OUTPUT_ROLES = ("tool", "function")
_ROLES = (*_SYSTEM_ROLES, "user", "assistant", *_OUTPUT_ROLES)
_TEXT_PARTS = (None, "text", "input_text", "output_text")
_ERROR_FLAGS = ("error", "is_error", "isError")


@dataclass(frozen=True, slots=True)
class _Message:
    value: JsonObject
    role: str
    path: str

    def child(self, key: str) -> str:
        return child_path(self.path, key)


def read_transcript(messages: JsonValue, path: str) -> Transcript:
    """Read a list of messages; `path` is where it stands in the row.

    Raises:
        JsonError: If it is no list, or a message in it has an unknown role or lacks what is needed.
    """
    if not isinstance(messages, list):
        raise JsonError(path, "no list of messages")
    elements = enumerate(cast("list[JsonValue]", messages))
    read = [_message(element, child_path(path, index)) for index, element in elements]
    builder = TranscriptBuilder()
    known_ids: set[str] = set()
    for message in read:
        _take(message, builder, known_ids)
    return builder.build()


def is_message(value: JsonValue) -> bool:
    """Tell whether a value looks like a chat message."""
    return isinstance(value, dict) and cast("JsonObject", value).get("role") in _ROLES


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


def _take(message: _Message, builder: TranscriptBuilder, known_ids: set[str]) -> None:
    if message.role in _OUTPUT_ROLES:
        _take_output(message, builder, known_ids)
    elif message.role == "assistant":
        _take_answer(message, builder, known_ids)
    else:
        _take_said(message, builder)


def _take_said(message: _Message, builder: TranscriptBuilder) -> None:
    """Take a message of the user or the system."""
    content = message.value.get("content")
    if not isinstance(content, str | list):
        fault = "neither text nor a list of parts" if "content" in message.value else "the field is missing"
        raise JsonError(message.child("content"), fault)
    renamed = message.role == "developer"
    keep = renamed or not isinstance(content, str) or has_more(message.value, {"role", "content"})
    role = "system" if message.role in _SYSTEM_ROLES else "user"
    builder.message(role, _text(content), message.value, keep=keep)


def _take_answer(message: _Message, builder: TranscriptBuilder, known_ids: set[str]) -> None:
    """Take a message of the assistant: its text, then its calls; the first of them keeps the message."""
    content = message.value.get("content")
    if content is not None and not isinstance(content, str | list):
        raise JsonError(message.child("content"), "neither text nor a list of parts")
    text = _text(content) or _refusal(message.value, content)
    calls = list(_source_calls(message))
    all_mapped = isinstance(content, str) or (content is None and bool(calls))
    mapped = {"role", "content", "tool_calls", "function_call"}
    keep = not all_mapped or has_more(message.value, mapped)
    if text or not calls:
        builder.message("assistant", text, message.value, keep=keep)
        keep = False
    for call, path in calls:
        _take_call(message, call, path, builder, known_ids, keep=keep)
        keep = False


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


def _take_call(
    message: _Message,
    call: JsonObject,
    path: str,
    builder: TranscriptBuilder,
    known_ids: set[str],
    *,
    keep: bool,
) -> None:
    """Take a call: `{id, type, function: {name, arguments}}`, or name and arguments in the call itself."""
    function = call.get("function")
    nested = isinstance(function, dict)
    body = cast("JsonObject", function) if nested else call
    body_path = child_path(path, "function") if nested else path
    name = body.get("name")
    if not isinstance(name, str):
        fault = "no text" if "name" in body else "the field is missing"
        raise JsonError(child_path(body_path, "name"), fault)
    arguments = {"arguments": body["arguments"]} if "arguments" in body else {}
    mapped = {"id", "type"} | ({"function"} if nested else {"name", "arguments"})
    more = has_more(call, mapped) or (nested and has_more(body, {"name", "arguments"}))
    source_id = _source_id(call.get("id"), child_path(path, "id"))
    if source_id is not None:
        known_ids.add(source_id)
    source = message.value if keep else call
    builder.call(source_id, name, source, arguments=arguments, keep=keep or more)


def _take_output(message: _Message, builder: TranscriptBuilder, known_ids: AbstractSet[str]) -> None:
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
    mapped |= {flag for flag in _ERROR_FLAGS if isinstance(value.get(flag), bool)}
    name = value.get("name")
    if isinstance(name, str):
        mapped.add("name")
    builder.output(
        source_id,
        "\n".join(texts) if joined else content,
        value,
        name=name if isinstance(name, str) and name else None,
        is_error=any(value.get(flag) for flag in _ERROR_FLAGS),
        keep=joined or has_more(value, mapped),
    )


def _source_id(value: JsonValue, path: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise JsonError(path, "no call id: neither text nor a whole number")
    return str(value)
