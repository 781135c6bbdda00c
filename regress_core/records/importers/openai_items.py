"""Items of OpenAI's Responses API as the items of a run record.

The format is that of https://platform.openai.com/docs/api-reference/responses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from regress_core.records.importers.members import call_id_of, has_more, required_text, texts_alone
from regress_core.records.importers.transcripts import Role, TranscriptBuilder
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

Item = tuple[JsonObject, str]
"""An item and its JSON path."""

_ROLES: dict[JsonValue, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_TEXTS = ("input_text", "output_text", "text", "summary_text")
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_OF_THE_CALL = ("type", "id", "call_id", "name", "arguments", "input", "status")
_RESULTS = ("output", "outputs", "results", "result")
_NOTHING = ("mcp_list_tools", "item_reference", "compaction")


def items_of(value: JsonValue, path: str) -> list[Item]:
    """Give the items of an `input` or `output`; a text is what the user says.

    Raises:
        JsonError: If it is neither a text nor a list of objects.
    """
    if isinstance(value, str):
        return [({"role": "user", "content": value}, path)]
    if not isinstance(value, list):
        raise JsonError(path, "neither text nor a list of items")
    return list(_objects(cast("list[JsonValue]", value), path))


def take_items(builder: TranscriptBuilder, items: Iterable[Item]) -> None:
    """Take items in their order.

    Raises:
        JsonError: If one lacks what is needed.
    """
    for item, path in items:
        kind = item.get("type", "message")
        if kind == "message":
            _take_message(builder, item, path)
        elif kind == "reasoning":
            builder.reasoning(item)
        elif kind in _CALLS:
            _take_call(builder, item, path)
        elif kind in _OUTPUTS:
            output = item.get("output")
            texts = texts_alone(output, _TEXTS)
            joined = output if texts is None else "\n".join(texts)
            failed = item.get("status") == "incomplete"
            call_id = required_text(item, "call_id", path)
            builder.output(call_id, joined, item, is_error=failed, keep=joined != output)
        elif isinstance(kind, str) and kind.endswith("_call"):
            _take_hosted(builder, item, path, kind)
        elif kind not in _NOTHING:
            raise JsonError(child_path(path, "type"), f"no item that is known: {kind!r}"[:100])


def _take_message(builder: TranscriptBuilder, item: JsonObject, path: str) -> None:
    role = _ROLES.get(item.get("role")) if isinstance(item.get("role"), str) else None
    if role is None:
        raise JsonError(child_path(path, "role"), f"no role of a message: {item.get('role')!r}"[:100])
    content, place = item.get("content"), child_path(path, "content")
    if isinstance(content, str):
        builder.message(role, content, item, keep=has_more(item, {"type", "role", "content", "id", "status"}))
        return
    if not isinstance(content, list):
        raise JsonError(place, "neither text nor a list of parts")
    texts: list[str] = []
    for part, part_path in _objects(cast("list[JsonValue]", content), place):
        key = "refusal" if part.get("type") == "refusal" else "text"
        if part.get("type") in _TEXTS or key == "refusal":
            texts.append(required_text(part, key, part_path))
    builder.message(role, "\n".join(texts), item, keep=True)


def _take_call(builder: TranscriptBuilder, item: JsonObject, path: str) -> None:
    name = required_text(item, "name", path)
    keys = [key for key in ("arguments", "input") if key in item]
    given: JsonObject = {"arguments": item[keys[0]]} if keys else {}
    more = has_more(item, set(_OF_THE_CALL)) or item.get("type") != _CALLS[0]
    builder.call(required_text(item, "call_id", path), name, item, arguments=given, keep=more)


def _take_hosted(builder: TranscriptBuilder, item: JsonObject, path: str, kind: str) -> None:
    """Take a call of a tool that the provider runs: it has its output with it."""
    is_mcp = kind == "mcp_call"
    name = required_text(item, "name", path) if is_mcp else kind.removesuffix("_call")
    call_id = call_id_of(item, "call_id", path) or call_id_of(item, "id", path)
    outputs = {
        key: item[key] for key in ("output", "outputs", "results", "result") if item.get(key) is not None
    }
    told = ("type", "id", "call_id", "name", "status", "error", "arguments", *outputs)
    given = item.get("arguments") if is_mcp else {k: v for k, v in item.items() if k not in told}
    builder.call(call_id, name, item, arguments={"arguments": given}, keep=True)
    error = item.get("error")
    failed = error is not None or item.get("status") == "failed"
    if outputs or failed:
        output = next(iter(outputs.values()), error)
        builder.output(call_id, output, item, name=name, is_error=failed)


def _objects(values: list[JsonValue], path: str) -> Iterator[Item]:
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise JsonError(child_path(path, index), "no JSON object")
        yield cast("JsonObject", value), child_path(path, index)
