"""Harnesses by hand: agents with tools that accept anything, scripted models, fixed clock and ids."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, cast

from regress_core.harness.agent import Agent
from regress_core.harness.policy import allow_all
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions, replay_from_run_record
from regress_core.harness.run import Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import Tool
from regress_core.models.client import ModelClient, ModelReply, ModelRequest, ModelToolCall
from regress_core.models.scripted import ScriptedClient
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text
from regress_core.records.model import RunRecord

MODEL = "m-small"


class WatchedClient:
    """Passes requests on and keeps what they were when they were made."""

    def __init__(self, client: ModelClient) -> None:
        self.requests: list[JsonObject] = []
        self._client = client

    @property
    def provider_name(self) -> str:
        """The name of the client that answers."""
        return self._client.provider_name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Note the request and let the client answer."""
        self.requests.append(
            {
                "systemPrompt": request.system_prompt,
                "messages": deepcopy(list(request.messages)),
                "tools": [tool.name for tool in request.tools],
            }
        )
        return await self._client.complete(request)


def fixed_clock() -> Callable[[], datetime]:
    """Give a clock that goes on by a millisecond each time it is asked."""
    ticks = count()
    start = datetime(2026, 5, 1, tzinfo=UTC)
    return lambda: start + timedelta(milliseconds=next(ticks))


def runtime(model: str | None = None) -> Runtime:
    """Give a runtime with a fixed clock and run ids `run-1`, `run-2`, …"""
    numbers = count(1)
    return Runtime(clock=fixed_clock(), new_run_id=lambda: f"run-{next(numbers)}", model=model)


def call(name: str, call_id: str = "c1", /, **arguments: JsonValue) -> ModelToolCall:
    """Give a call the model asks for."""
    return ModelToolCall(call_id, name, dumps_text(arguments))


def asks(*calls: ModelToolCall) -> ModelReply:
    """Give a reply that asks for calls."""
    return ModelReply(tool_calls=calls)


def says(text: str) -> ModelReply:
    """Give a reply that answers."""
    return ModelReply(text=text)


def scripted(*replies: ModelReply) -> ScriptedClient:
    """Give a model that answers so."""
    return ScriptedClient(replies)


def tool(name: str, output: JsonValue = None, **more: Any) -> Tool:  # noqa: ANN401 - any field of a tool
    """Give a tool that accepts anything and always gives the same output."""
    return Tool(name, f"Tool {name}.", lambda _arguments, _context: output, **more)


def agent(tools: Iterable[Tool] | Mapping[str, JsonValue] = (), **more: Any) -> Agent:  # noqa: ANN401 - any field of an agent
    """Give an agent; `tools` may be outputs by name."""
    if isinstance(tools, Mapping):
        outputs = cast("Mapping[str, JsonValue]", tools)
        tools = [tool(name, output) for name, output in outputs.items()]
    fields: JsonObject = {"name": "helper", "model": MODEL, "instructions": "Be brief.", **more}
    return Agent(**fields, tools=tuple(tools))


def replay(
    baseline: RunRecord | JsonObject,
    candidate: Agent,
    replies: Sequence[ModelReply] | ModelClient,
    *,
    options: ReplayOptions | None = None,
    run_options: RunOptions | None = None,
) -> CandidateRun:
    """Replay a record to its end; everything is allowed unless the options say otherwise."""
    record = baseline if isinstance(baseline, RunRecord) else RunRecord.parse(baseline)
    model = ScriptedClient(replies) if isinstance(replies, Sequence) else replies
    return asyncio.run(
        replay_from_run_record(
            record,
            candidate,
            model=model,
            runtime=runtime(),
            options=options or ReplayOptions(),
            run_options=run_options or RunOptions(policies=allow_all()),
        )
    )
