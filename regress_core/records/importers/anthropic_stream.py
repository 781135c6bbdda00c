"""A streamed answer of Anthropic's Messages API, put together again.

The events are those of https://docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path, loads

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def joined_stream(events: Sequence[JsonValue], path: str) -> JsonObject:
    """Give the message that the events of a stream are.

    Raises:
        JsonError: If they do not begin with a message, name a block that has not begun, or break off.
    """
    message: JsonObject | None = None
    blocks: dict[int, JsonObject] = {}
    inputs: dict[int, str] = {}
    ended = False
    for number, value in enumerate(events):
        place = child_path(path, number)
        event = _object(value, place)
        kind = event.get("type")
        if kind == "message_start":
            message = {**_object(event.get("message"), child_path(place, "message"))}
        elif kind == "content_block_start":
            block = _object(event.get("content_block"), child_path(place, "content_block"))
            blocks[_index(event, place)] = {**block}
        elif kind == "content_block_delta":
            _add(event, place, blocks, inputs)
        elif kind == "message_delta" and message is not None:
            message.update(_object(event.get("delta", {}), child_path(place, "delta")))
            usage = {**_object(message.get("usage") or {}, place), **_object(event.get("usage") or {}, place)}
            message["usage"] = usage
        elif kind == "message_stop":
            ended = True
        elif kind == "error":
            raise JsonError(place, f"the stream ended with an error: {event.get('error')!r}"[:200])
    if message is None:
        raise JsonError(path, "no stream: it has no message_start")
    if not ended:
        raise JsonError(path, "the stream breaks off: it has no message_stop")
    for index, text in inputs.items():
        blocks[index]["input"] = _input(text)
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _add(event: JsonObject, place: str, blocks: dict[int, JsonObject], inputs: dict[int, str]) -> None:
    index = _index(event, place)
    block = blocks.get(index)
    if block is None:
        raise JsonError(child_path(place, "index"), "a block that has not begun")
    delta = _object(event.get("delta"), child_path(place, "delta"))
    kind = delta.get("type")
    if kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + _piece(delta, "partial_json", place)
    elif kind in _PIECES:
        key = _PIECES[kind]
        block[key] = f"{block.get(key) or ''}{_piece(delta, key, place)}"
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
    else:
        raise JsonError(child_path(place, "delta"), "no piece of a block that is known")


def _input(text: str) -> JsonValue:
    if not text:
        return {}
    try:
        return loads(text)
    except JsonError:
        return text  # as it came: an answer that was cut off at its longest


def _piece(delta: JsonObject, key: str, place: str) -> str:
    value = delta.get(key)
    if not isinstance(value, str):
        raise JsonError(child_path(child_path(place, "delta"), key), "no text")
    return value


def _index(event: JsonObject, place: str) -> int:
    index = event.get("index")
    if isinstance(index, bool) or not isinstance(index, int):
        raise JsonError(child_path(place, "index"), "no whole number")
    return index


def _object(value: JsonValue, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise JsonError(path, "no JSON object")
    return cast("JsonObject", value)
