"""Sessions of Claude Code: a file of JSON lines is one run.

Each line has a `type`; those of the user and the assistant hold a message of Anthropic's Messages API. The
format is described nowhere; it is what version 2 of the program writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from regress_core.records.importers.anthropic_content import take_message, usage_of
from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import RowFacts
from regress_core.records.importers.sources import plain_name
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import TranscriptBuilder
from regress_core.records.importers.usage import TokenUsage, total
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_SAID = ("user", "assistant")
_TYPES = (*_SAID, "summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment")
# What the program writes in the user's name: its own commands, and what they print.
_NOT_THE_USERS = ("<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>")
_NOTED = ("cwd", "gitBranch", "version", "sessionId")


def read_claude_code(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read the session that the lines of one file are."""
    lines = list(rows)
    try:
        yield _session(lines)
    except JsonError as error:
        yield Rejected("", str(error))


def is_claude_code(value: JsonValue) -> bool:
    """Tell whether a line is one of a session."""
    line = cast("JsonObject", value) if isinstance(value, dict) else {}
    if line.get("type") in _SAID:
        return isinstance(line.get("message"), dict) and bool(
            {"sessionId", "uuid", "parentUuid"} & line.keys()
        )
    return line.get("type") in _TYPES and bool({"leafUuid", "sessionId", "messageId", "uuid"} & line.keys())


def _session(rows: list[SourceRow]) -> Conversation:
    numbers = [row.number for row in rows]
    if numbers != list(range(1, len(numbers) + 1)):
        raise JsonError("$", "a line of the session cannot be read")
    lines = [(f"$[{row.number - 1}]", row.members or {}) for row in rows]
    said = [(path, line) for path, line in lines if line.get("type") in _SAID]
    left_out: Counter[str] = Counter()
    builder = TranscriptBuilder()
    usages: dict[str, TokenUsage | None] = {}
    model, failure = None, None
    for path, line in _on_the_last_branch(said, left_out):
        message = _object(line, "message", path)
        why = _why_left_out(line, message)
        if why is not None:
            left_out[why] += 1
            continue
        failure = _failure(line, message)
        if failure is not None:
            continue
        take_message(builder, message, child_path(path, "message"))
        if line["type"] == "assistant":
            # A message whose blocks stand on several lines repeats its usage on each of them.
            usages[str(message.get("id") or path)] = usage_of(message.get("usage"))
            model = message.get("model") if isinstance(message.get("model"), str) else model
    times = [time for _, line in said if (time := iso_time(line.get("timestamp"))) is not None]
    noted: JsonObject = {key: line[key] for _, line in reversed(said) for key in _NOTED if key in line}
    if left_out:
        noted["leftOut"] = dict(left_out)
    first = rows[0] if rows else SourceRow("", 1, None)
    session = next((line["sessionId"] for _, line in said if isinstance(line.get("sessionId"), str)), None)
    return Conversation(
        position="",
        facts=RowFacts(
            name=session or plain_name(first.file).removesuffix(".jsonl"),
            label=None,
            source=first.file,
            number=1,
            time=times[0] if times else UNKNOWN_TIME,
            model=model,
        ),
        transcript=has_user(builder.build(), "$"),
        ended_at=times[-1] if times else None,
        failure=failure or {},
        usage=total(usages.values()),
        noted=noted,
    )


def _object(line: JsonObject, key: str, path: str) -> JsonObject:
    value = line.get(key)
    if not isinstance(value, dict):
        raise JsonError(child_path(path, key), "no JSON object" if key in line else "the field is missing")
    return cast("JsonObject", value)


def _on_the_last_branch(
    said: list[tuple[str, JsonObject]], left_out: Counter[str]
) -> Iterator[tuple[str, JsonObject]]:
    """Leave out what the user went back on: lines that the last one does not follow from.

    Outputs of tools that were called side by side each follow from their own call only; they stay.
    """
    main = [(path, line) for path, line in said if line.get("isSidechain") is not True]
    if len(main) < len(said):
        left_out["sub-agents"] = len(said) - len(main)
    if not any(line.get("parentUuid") for _, line in main):
        yield from main
        return
    parents = {
        str(line.get("uuid")): line.get("parentUuid") or line.get("logicalParentUuid") for _, line in said
    }
    kept: set[str] = set()
    here = next((line.get("uuid") for _, line in reversed(main)), None)
    while isinstance(here, str) and here not in kept:
        kept.add(here)
        here = parents.get(here)
    calls: set[str] = set()
    for path, line in main:
        if str(line.get("uuid")) in kept or calls & set(_answered(line)):
            calls.update(_called(line))
            yield path, line
        else:
            left_out["other branches"] += 1


def _content(line: JsonObject) -> list[JsonObject]:
    message = line.get("message")
    content = cast("JsonObject", message).get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return []
    return [cast("JsonObject", b) for b in cast("list[JsonValue]", content) if isinstance(b, dict)]


def _called(line: JsonObject) -> list[str]:
    return [str(block.get("id")) for block in _content(line) if block.get("type") == "tool_use"]


def _answered(line: JsonObject) -> list[str]:
    return [str(block.get("tool_use_id")) for block in _content(line) if block.get("type") == "tool_result"]


def _why_left_out(line: JsonObject, message: JsonObject) -> str | None:
    if line["type"] != "user":
        return None
    if line.get("isMeta") is True:
        return "notes of the program"
    content = message.get("content")
    if isinstance(content, str) and content.lstrip().startswith(_NOT_THE_USERS):
        return "commands to the program"
    return None


def _failure(line: JsonObject, message: JsonObject) -> JsonObject | None:
    """Give what a line says that stands for an answer that never came; None for any other."""
    if line.get("isApiErrorMessage") is not True:
        return None
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [block.get("text") for block in _content(line)]
    said = "\n".join(text for text in texts if isinstance(text, str))
    return {"errorName": "ApiError", "errorMessage": said}
