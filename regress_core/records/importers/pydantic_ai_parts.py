"""The parts of pydantic-ai's messages as the items of a run record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from regress_core.records.importers.members import call_id_of, required_text
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path, dumps_text

_WENT_WELL = (None, "success")  # others: "failed", "denied", "retried"
_FINAL = "Final result processed."
"""What the library answers to the call that is the run's result."""


def take_request(builder: TranscriptBuilder, message: JsonObject, path: str) -> None:
    """Take what the model was sent.

    Raises:
        JsonError: If a part lacks what is needed.
    """
    for part, place in _parts(message, path):
        kind = part.get("part_kind")
        if kind == "system-prompt":
            builder.message("system", required_text(part, "content", place), part)
        elif kind == "user-prompt":
            _take_prompt(builder, part, place)
        elif kind == "tool-return":
            if part.get("content") == _FINAL:
                continue  # the call was the answer
            _take_output(builder, part, place)
        elif kind == "retry-prompt":
            _take_retry(builder, part, place)
        else:
            raise JsonError(child_path(place, "part_kind"), f"no part of a request: {kind!r}"[:100])


def take_response(
    builder: TranscriptBuilder, message: JsonObject, path: str, messages: Sequence[JsonValue]
) -> None:
    """Take what the model answered; `messages` is the run, in which the result's call has its own answer.

    Raises:
        JsonError: If a part lacks what is needed.
    """
    texts: list[str] = []

    def say() -> None:
        if texts:
            builder.message("assistant", "\n".join(texts), message)
            texts.clear()

    for part, place in _parts(message, path):
        kind = part.get("part_kind")
        if kind == "text":
            text = required_text(part, "content", place)
            texts += [text] if text else []
        elif kind == "thinking":
            builder.reasoning(part)
        elif kind in ("tool-call", "builtin-tool-call", "native-tool-call"):
            say()
            _take_call(builder, part, place, messages)
        elif kind in ("builtin-tool-return", "native-tool-return"):
            say()
            _take_output(builder, part, place)
        elif isinstance(kind, str):  # a file, or what is new: the next item keeps it
            builder.reasoning(part)
        else:
            raise JsonError(child_path(place, "part_kind"), "the field is missing")
    say()


def _take_prompt(builder: TranscriptBuilder, part: JsonObject, path: str) -> None:
    content = part.get("content")
    if isinstance(content, str):
        builder.message("user", content, part)
        return
    if not isinstance(content, list):
        raise JsonError(child_path(path, "content"), "neither text nor a list")
    texts = [text for piece in cast("list[JsonValue]", content) if (text := _piece(piece)) is not None]
    builder.message("user", "\n".join(texts), part, keep=True)


def _piece(piece: JsonValue) -> str | None:
    if isinstance(piece, str):
        return piece
    text = cast("JsonObject", piece).get("content") if isinstance(piece, dict) else None
    is_text = isinstance(piece, dict) and cast("JsonObject", piece).get("kind") == "text"
    return text if is_text and isinstance(text, str) else None


def _take_call(
    builder: TranscriptBuilder, part: JsonObject, path: str, messages: Sequence[JsonValue]
) -> None:
    name, call_id = required_text(part, "tool_name", path), call_id_of(part, "tool_call_id", path)
    arguments: JsonValue = part.get("args")
    if call_id is not None and _is_result(call_id, messages):
        text = arguments if isinstance(arguments, str) else dumps_text(arguments)
        builder.message("assistant", text, part, keep=True)
        return
    given: JsonObject = {} if arguments is None else {"arguments": arguments}
    builder.call(call_id, name, part, arguments=given, keep=part.get("part_kind") != "tool-call")


def _is_result(call_id: str, messages: Sequence[JsonValue]) -> bool:
    """Tell whether a call is the run's result: its answer says so."""
    for value in messages:
        message = cast("JsonObject", value) if isinstance(value, dict) else {}
        parts = message.get("parts")
        for one in cast("list[JsonValue]", parts) if isinstance(parts, list) else []:
            part = cast("JsonObject", one) if isinstance(one, dict) else {}
            if part.get("tool_call_id") == call_id and part.get("content") == _FINAL:
                return True
    return False


def _take_output(builder: TranscriptBuilder, part: JsonObject, path: str, *, is_error: bool = False) -> None:
    name = part.get("tool_name")
    builder.output(
        call_id_of(part, "tool_call_id", path),
        part.get("content"),
        part,
        name=name if isinstance(name, str) and name else None,
        is_error=is_error or part.get("outcome") not in _WENT_WELL,
        keep=part.get("metadata") is not None,
    )


def _take_retry(builder: TranscriptBuilder, part: JsonObject, path: str) -> None:
    """Take what asked the model to try again: a tool's error, or a word about its answer."""
    content = part.get("content")
    if part.get("tool_name") is not None:
        _take_output(builder, part, path, is_error=True)
        return
    text = content if isinstance(content, str) else dumps_text(content)
    builder.message("system", text, part, keep=True)


def _parts(message: JsonObject, path: str) -> Iterator[tuple[JsonObject, str]]:
    for index, part in enumerate(cast("list[JsonValue]", message["parts"])):
        place = child_path(child_path(path, "parts"), index)
        if not isinstance(part, dict):
            raise JsonError(place, "no part: no JSON object")
        yield cast("JsonObject", part), place
