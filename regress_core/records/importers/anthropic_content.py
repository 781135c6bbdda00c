"""Messages of Anthropic's Messages API: their blocks as the items of a run record.

The format is that of https://docs.anthropic.com/en/api/messages: `content` is a text or a list of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from regress_core.records.importers.members import call_id_of, has_more, required_text, texts_alone
from regress_core.records.importers.transcripts import Role, TranscriptBuilder
from regress_core.records.importers.usage import TokenUsage, with_cache_apart
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_THOUGHTS = ("thinking", "redacted_thinking")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_OUTPUT = "tool_result"  # also `mcp_tool_result`, `web_search_tool_result` and so on

Block = tuple[JsonObject, str]
"""A block and its JSON path."""


def take_message(builder: TranscriptBuilder, message: JsonObject, path: str) -> None:
    """Take a message of the user, the assistant or the system; the first item of it keeps what else it says.

    Raises:
        JsonError: If its role is unknown, or a block lacks what is needed.
    """
    role = message.get("role")
    if role not in ("user", "assistant", "system"):
        raise JsonError(child_path(path, "role"), f"no role of a message: {role!r}"[:100])
    blocks = list(_blocks(message.get("content"), child_path(path, "content")))
    has_more = any(key not in ("role", "content") and value is not None for key, value in message.items())
    _Taking(builder, message, keep=has_more).take(role, blocks)


class _Taking:
    """Takes the blocks of one message in their order: texts that stand together are one item."""

    def __init__(self, builder: TranscriptBuilder, message: JsonObject, *, keep: bool) -> None:
        self._builder = builder
        self._message = message
        self._keep = keep
        self._texts: list[str] = []
        self._taken = 0

    def take(self, role: Role, blocks: list[Block]) -> None:
        for block, path in blocks:
            kind = block.get("type")
            if kind == "text":
                self._texts.append(_text(block, path))
                self._keep |= has_more(block, {"type", "text", "cache_control", "citations"})
            elif kind in _THOUGHTS and role == "assistant":
                self._builder.reasoning(block)
            elif kind in _CALLS and role == "assistant":
                self._say(role)
                self._call(block, path)
            elif isinstance(kind, str) and kind.endswith(_OUTPUT):
                self._say(role)
                self._output(block, path)
            else:  # an image, a document: the item keeps the message
                self._keep = True
        if self._texts or not self._taken:
            self._say(role, always=True)

    def _say(self, role: Role, *, always: bool = False) -> None:
        if not self._texts and not always:
            return
        text = "\n".join(self._texts)
        self._texts = []
        self._builder.message(role, text, self._message, keep=self._first())

    def _call(self, block: JsonObject, path: str) -> None:
        arguments = {"arguments": block["input"]} if "input" in block else {}
        name = required_text(block, "name", path)
        keep = self._first() or has_more(block, {"type", "id", "name", "input", "cache_control"})
        source = self._message if keep and self._taken == 1 else block
        self._builder.call(call_id_of(block, "id", path), name, source, arguments=arguments, keep=keep)

    def _output(self, block: JsonObject, path: str) -> None:
        content = block.get("content")
        texts = [content] if isinstance(content, str) else texts_alone(content, ("text",))
        is_error = block.get("is_error") is True or _is_error(content)
        more = has_more(block, {"type", "tool_use_id", "content", "is_error", "cache_control"})
        self._taken += 1
        self._builder.output(
            call_id_of(block, "tool_use_id", path),
            content if texts is None else "\n".join(texts),
            block,
            is_error=is_error,
            keep=more or block.get("type") != _OUTPUT or texts not in (None, [content]),
        )

    def _first(self) -> bool:
        """Tell whether the item that comes next keeps the message: the first one, if any has to."""
        self._taken += 1
        return self._keep and self._taken == 1


def system_text(value: JsonValue, path: str) -> str | None:
    """Give the text of a request's `system`, a text or a list of text blocks; None without one."""
    if value is None or value == []:
        return None
    return "\n\n".join(_text(block, place) for block, place in _blocks(value, path))


def usage_of(value: JsonValue) -> TokenUsage | None:
    """Read a response's `usage`, which counts the caches apart."""
    if not isinstance(value, dict):
        return None
    usage = cast("JsonObject", value)
    return with_cache_apart(
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        usage.get("cache_read_input_tokens"),
        usage.get("cache_creation_input_tokens"),
    )


def _blocks(content: JsonValue, path: str) -> Iterator[Block]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}, path
        return
    if not isinstance(content, list):
        raise JsonError(path, "neither text nor a list of blocks")
    for index, block in enumerate(cast("list[JsonValue]", content)):
        place = child_path(path, index)
        if isinstance(block, str):
            yield {"type": "text", "text": block}, place
        elif isinstance(block, dict):
            yield cast("JsonObject", block), place
        else:
            raise JsonError(place, "no block: no JSON object")


def _text(block: JsonObject, path: str) -> str:
    return required_text(block, "text", path)


def _is_error(content: JsonValue) -> bool:
    """Tell whether the output of a server's tool is a block that says that it failed."""
    kind = cast("JsonObject", content).get("type") if isinstance(content, dict) else None
    return isinstance(kind, str) and kind.endswith("_error")
