"""Running an agent in a test: the record it leaves is checked to be one that can be read back."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regress_core.harness.agent import Agent
from regress_core.harness.loop import run_agent
from regress_core.harness.policy import Policies, allow_all
from regress_core.harness.run import AgentRun, RunInput
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.models.client import ModelClient, ModelReply
from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from regress_core.records.model import RunRecord
from tests.support.harness import runtime, scripted

ALLOWING = RunOptions(policies=allow_all())


def allowing(**more: Any) -> RunOptions:  # noqa: ANN401 - any option of a run
    """Give options that allow everything."""
    return replace(ALLOWING, **more)


def recording(**options: Any) -> RunOptions:  # noqa: ANN401 - any option of a record
    """Give options that allow everything and record so."""
    return allowing(record=RecordOptions(**options))


def run(
    entry: Agent,
    model: Sequence[ModelReply] | ModelClient,
    options: RunOptions = ALLOWING,
    *,
    start: RunInput | str = "hello",
    model_name: str | None = None,
) -> AgentRun:
    """Run an agent on a question to its end; `model` may be its replies."""
    done = asyncio.run(
        run_agent(
            entry,
            RunInput.of_text(start) if isinstance(start, str) else start,
            model=scripted(*model) if isinstance(model, Sequence) else model,
            runtime=runtime(model_name),
            options=options,
        )
    )
    assert read_back(done.record).data == done.record.data
    return done


def read_back(record: RunRecord) -> RunRecord:
    """Write a record as JSON text and read that again, as a baseline is."""
    return RunRecord.parse(loads(dumps(record.data)))


def policies_answering(answer: object) -> Policies:
    """Give policies that answer so, whatever they are asked; an exception they raise."""

    def policy(_: object) -> Any:  # noqa: ANN401 - also what no policy may answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return Policies(tool=policy, handoff=policy)


def output_items(record: RunRecord) -> list[JsonObject]:
    """List the call ids, outputs and error flags of a record."""
    return [
        {key: value for key, value in item.items() if key in ("callId", "output", "isError")}
        for item in record.items
        if item["type"] == "tool_call_output_item"
    ]


def outputs(record: RunRecord) -> list[JsonValue]:
    """List what calls gave back."""
    return [item["output"] for item in output_items(record)]


def ok(data: JsonValue) -> JsonObject:
    """Give the envelope of an allowed call, as the reference has it."""
    return {"status": "ok", "code": None, "publicReason": None, "data": data}


def ended(done: AgentRun) -> tuple[str, str | None, str | None]:
    """Tell how a run ended: status, error name, error message."""
    return done.record.status, done.record.error_name, done.record.error_message


def canonical(value: JsonValue) -> str:
    """Write canonical JSON with Python's own encoder, for values on which it and ECMAScript agree."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str) -> str:
    """Hash a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()
