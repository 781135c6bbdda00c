"""Evaluation logs of Inspect: JSON logs, and the header and then the samples of its `.eval` archives.

The format is that of `EvalLog` and `EvalSample` in github.com/UKGovernmentBEIS/inspect_ai.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from regress_core.records.importers.base import Rejected, Skipped, SourceRow
from regress_core.records.importers.chat_messages import read_transcript
from regress_core.records.importers.conversations import Conversation, Found, has_user
from regress_core.records.importers.facts import RowFacts
from regress_core.records.importers.members import object_of
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.importers.transcripts import Transcript
from regress_core.records.importers.usage import TokenUsage, total, with_cache_by_total
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, child_path

_ATTACHMENT = "attachment://"
_NOTED = ("id", "epoch", "target", "scores", "metadata", "uuid", "total_time", "working_time")
_NOTED_OF_LOG = ("run_id", "task", "task_id", "task_version", "model", "task_args", "model_args")


def read_inspect(rows: Iterable[SourceRow]) -> Iterator[Found]:
    """Read one run a sample."""
    log: JsonObject = {}
    for row in rows:
        value = row.members
        if value is None:
            yield Rejected(row.position, "$: no JSON object")
        elif "messages" in value:
            yield _found(row, value, "$", row.position, log)
        elif "samples" in value:
            yield from _of_log(row, value)
        elif "eval" in value:
            log = value
        else:
            yield Skipped(row.position, "no sample: it has no messages")


def is_inspect(value: JsonValue) -> bool:
    """Tell whether a row is a log, the header of one, or a sample."""
    row = object_of(value)
    if "eval" in row:
        return isinstance(row["eval"], dict) and ("samples" in row or "plan" in row or "status" in row)
    return {"messages", "epoch", "target"} <= row.keys()


def _of_log(row: SourceRow, log: JsonObject) -> Iterator[Found]:
    samples = log["samples"]
    if samples is None:
        yield Skipped(row.position, "the log has no samples")
        return
    if not isinstance(samples, list):
        yield Rejected(row.position, "$.samples: no list")
        return
    for index, value in enumerate(cast("list[JsonValue]", samples)):
        path, position = f"$.samples[{index}]", f"sample {index + 1}"
        sample = object_of(value)
        if "messages" not in sample:
            yield Rejected(position, f"{path}.messages: the field is missing")
        else:
            yield _found(row, sample, path, position, log)


def _found(row: SourceRow, sample: JsonObject, path: str, position: str, log: JsonObject) -> Found:
    try:
        return _conversation(row, sample, path, position, log)
    except JsonError as error:
        return Rejected(position, str(error))


def _conversation(
    row: SourceRow, sample: JsonObject, path: str, position: str, log: JsonObject
) -> Conversation:
    messages_path = child_path(path, "messages")
    messages = sample["messages"]
    if not isinstance(messages, list):
        raise JsonError(messages_path, "no list of messages")
    attachments = object_of(sample.get("attachments"))
    listed = [_as_chat(_attached(one, attachments)) for one in cast("list[JsonValue]", messages)]
    asked = [] if _has_user(listed) else _input(_attached(sample.get("input"), attachments))
    evaluation = object_of(log.get("eval"))
    started = iso_time(sample.get("started_at")) or iso_time(evaluation.get("created"))
    model = evaluation.get("model")
    return Conversation(
        position=position,
        facts=RowFacts(
            name=_name(sample, evaluation, path),
            label=None,
            source=row.file,
            number=row.number,
            time=started or UNKNOWN_TIME,
            model=model if isinstance(model, str) else None,
        ),
        transcript=has_user(_transcript(asked, listed, messages_path), messages_path),
        ended_at=iso_time(sample.get("completed_at")),
        failure=_failure(sample),
        usage=_usage(sample),
        noted={
            **{key: sample[key] for key in _NOTED if sample.get(key) not in (None, {}, [])},
            **{
                f"eval_{key}": evaluation[key]
                for key in _NOTED_OF_LOG
                if evaluation.get(key) not in (None, {}, [])
            },
        },
        origin={**sample, "eval": evaluation},
    )


def _has_user(messages: list[JsonValue]) -> bool:
    return any(object_of(one).get("role") == "user" for one in messages)


def _input(given: JsonValue) -> list[JsonValue]:
    """Give a sample's input as messages, for a sample whose messages do not begin with it."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    listed = cast("list[JsonValue]", given) if isinstance(given, list) else []
    return [_as_chat(one) for one in listed if object_of(one).get("role") in ("user", "system")]


def _transcript(asked: list[JsonValue], messages: list[JsonValue], path: str) -> Transcript:
    """Read messages; a fault is named by its place among those of the source."""
    try:
        return read_transcript([*asked, *messages], path)
    except JsonError as error:
        if not asked:
            raise
        rest = error.path.removeprefix(f"{path}[")
        number, _, inside = rest.partition("]")
        where = f"{path}[{int(number) - len(asked)}]{inside}" if number.isdecimal() else error.path
        raise JsonError(where, error.reason) from error


def _attached(value: JsonValue, attachments: JsonObject) -> JsonValue:
    """Put long texts back that a log keeps apart, each once."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, dict):
        return {key: _attached(child, attachments) for key, child in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_attached(child, attachments) for child in cast("list[JsonValue]", value)]
    return value


def _as_chat(value: JsonValue) -> JsonValue:
    """Give a message as OpenAI would have it, with all else it says."""
    if not isinstance(value, dict):
        return value
    message = dict(cast("JsonObject", value))
    if message.get("role") == "tool":
        error = object_of(message.get("error"))
        if isinstance(message.get("function"), str):
            message["name"] = message["function"]
        if message.get("content") in (None, "", []) and isinstance(error.get("message"), str):
            message["content"] = error["message"]
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [_as_call(call) for call in cast("list[JsonValue]", calls)]
    return message


def _as_call(value: JsonValue) -> JsonValue:
    call = object_of(value)
    if not isinstance(call.get("function"), str):
        return value
    named = {"id": call.get("id"), "type": "function", "name": call["function"]}
    if "arguments" in call:
        named["arguments"] = call["arguments"]
    return {**named, **{key: child for key, child in call.items() if key not in ("function", *named)}}


def _name(sample: JsonObject, evaluation: JsonObject, path: str) -> str:
    key = sample.get("id")
    if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
        raise JsonError(child_path(path, "id"), "no text or number to name the case by")
    task = evaluation.get("task")
    named = f"{task}-{key}" if isinstance(task, str) and task else str(key)
    epochs = object_of(evaluation.get("config")).get("epochs")
    epoch = sample.get("epoch")
    one_of_many = (isinstance(epochs, int) and epochs > 1) or (isinstance(epoch, int) and epoch > 1)
    return f"{named}-epoch-{epoch}" if one_of_many else named


def _failure(sample: JsonObject) -> JsonObject:
    error, limit = object_of(sample.get("error")), object_of(sample.get("limit"))
    if error:
        message = error.get("message")
        return {"errorName": "SampleError", "errorMessage": message if isinstance(message, str) else ""}
    if limit:
        return {"errorName": "LimitExceeded", "errorMessage": f"{limit.get('type')}: {limit.get('limit')}"}
    return {}


def _usage(sample: JsonObject) -> TokenUsage | None:
    by_model = [object_of(one) for one in object_of(sample.get("model_usage")).values()]
    return total(
        with_cache_by_total(
            one.get("input_tokens"),
            one.get("output_tokens"),
            one.get("input_tokens_cache_read"),
            one.get("input_tokens_cache_write"),
            total_tokens=one.get("total_tokens"),
        )
        for one in by_model
    )
