"""A candidate harness, opened: descriptor and adapter put together, ready to be run on case after case."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from regress_core.calls.client import RunnerClient
from regress_core.calls.meter import Meter
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.errors import InputError
from regress_core.harness.adapter.adapter import (
    NO_ADAPTER,
    Adapter,
    AdapterContext,
    CaseContext,
    loaded_adapter,
)
from regress_core.harness.adapter.checked import (
    checked_options,
    checked_resolution,
    checked_tools,
    expected,
)
from regress_core.harness.adapter.files import AdapterLocation
from regress_core.harness.adapter.own_agent import AgentRequest, OwnAgent, run_own_agent
from regress_core.harness.agent import Agent
from regress_core.harness.descriptor.build import build_harness
from regress_core.harness.descriptor.descriptor import HarnessDescriptor
from regress_core.harness.descriptor.outline import Effect
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions, replay_from_run_record
from regress_core.harness.run import Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelClient
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.models.scripted import ScriptedClient
from regress_core.records.json_io import JsonObject


@dataclass(frozen=True, slots=True)
class _Built:
    """Agents that our loop runs, and what records note of them."""

    entry: Agent
    max_turns: int | None
    metadata: JsonObject


class _Provider:
    """The client that asks real models, made when it is first needed: its libraries may not be installed."""

    def __init__(self) -> None:
        self._client: PydanticAIClient | None = None

    def client(self) -> PydanticAIClient:
        """Give the client.

        Raises:
            InputError: If pydantic-ai is not installed.
        """
        if self._client is None:
            self._client = PydanticAIClient()
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


@dataclass(frozen=True, slots=True)
class CandidateHarness:
    """A harness that can be run.

    Attributes:
        adapter: Its executable parts.
        context: What the adapter's functions are told.
    """

    adapter: Adapter
    context: AdapterContext
    _runtime: Runtime
    _calls: CallRunner
    _provider: _Provider
    _agent: _Built | OwnAgent
    _tools: Mapping[str, Tool]
    _time_out_s: float

    def declared_effects(self) -> dict[str, Effect]:
        """Give what the descriptor declares of the effects of its tools, by the names that models call."""
        descriptor = self.context.descriptor
        if descriptor is None:
            return {}
        targets = {tool_id: tool["target"] for tool_id, tool in descriptor.data.get("tools", {}).items()}
        return {
            self._tools[targets[tool_id]].name: effect
            for tool_id, effect in descriptor.effects.items()
            if targets[tool_id] in self._tools
        }

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The adapter's tools, by the targets that descriptors name them by."""
        return self._tools

    @property
    def entry_agent(self) -> Agent | None:
        """Where a run begins; None for an agent of your own."""
        return self._agent.entry if isinstance(self._agent, _Built) else None

    async def run(
        self, case: CaseContext, options: ReplayOptions, meter: Meter | None = None
    ) -> CandidateRun:
        """Run it on a case's baseline. Whatever it raises is a failed record.

        Args:
            case: The case.
            options: How its baseline is replayed.
            meter: Pays for calls of real models; those of an adapter's own client are the application's.

        Raises:
            TroubleError: If the record cannot be replayed this way, or the run takes too long.
        """
        deadline = asyncio.timeout(self._time_out_s)
        try:
            async with deadline:
                return await self._run(case, options, meter)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            message = f"the run took longer than {self._time_out_s:g} s"
            raise TroubleError(Trouble("outage", "candidate", "time-out", message, retryable=True)) from error

    async def _run(self, case: CaseContext, options: ReplayOptions, meter: Meter | None) -> CandidateRun:
        if self.adapter.has("on_missing_tool_call"):
            asked = self.adapter.functions["on_missing_tool_call"]
            options = replace(options, on_missing_tool_call=checked_resolution(asked))
        run_options, failure = await self._run_options(case)
        if isinstance(self._agent, _Built):
            model, failure = await self._model(case, meter, failure)
            return await self._run_built(self._agent, case, options, run_options, model, failure)
        return await run_own_agent(
            self._agent if failure is None else _failing_agent(failure),
            case,
            tools={tool.name: tool for tool in self._tools.values()},
            runtime=self._runtime,
            options=options,
            run_options=run_options,
        )

    async def _run_built(
        self,
        built: _Built,
        case: CaseContext,
        options: ReplayOptions,
        run_options: RunOptions,
        model: ModelClient,
        failure: Exception | None,
    ) -> CandidateRun:
        own = dict(run_options.record.metadata or {})
        own.pop(
            "regress", None
        )  # what is not compared of a run that is made here, the application does not say
        metadata: JsonObject = {**own, **built.metadata}
        run_options = replace(
            run_options,
            max_turns=built.max_turns if run_options.max_turns is None else run_options.max_turns,
            record=replace(run_options.record, metadata=metadata),
        )
        return await replay_from_run_record(
            case.baseline,
            built.entry if failure is None else _failing_entry(built.entry, failure),
            model=model,
            runtime=self._runtime,
            options=options,
            run_options=run_options,
        )

    async def _run_options(self, case: CaseContext) -> tuple[RunOptions, Exception | None]:
        """Ask the adapter for a run's options; what it raises fails that run."""
        try:
            return checked_options(await self.adapter.call("create_run_options", case)), None
        except Exception as error:  # noqa: BLE001 - whatever a candidate raises is a failed run
            return RunOptions(), error

    async def _model(
        self, case: CaseContext, meter: Meter | None, failure: Exception | None
    ) -> tuple[ModelClient, Exception | None]:
        """Give what answers in a run, the adapter's client or the real one; what it raises fails that run."""
        try:
            own = None if self.context.model else await self.adapter.call("create_model", case)
            if own is None:
                return RunnerClient(self._provider.client(), self._calls, "candidate", meter), failure
            client = expected(ModelClient, own, "create_model")
            return RunnerClient(client, self._calls, "candidate"), failure
        except Exception as error:  # noqa: BLE001 - whatever a candidate raises is a failed run
            return ScriptedClient(()), failure or error


def _failing_entry(entry: Agent, error: Exception) -> Agent:
    """Give an agent that fails with an error as soon as it is run."""

    def fail(_: RunContext) -> str:
        raise error

    return replace(entry, model=entry.model or "none", instructions=fail, handoffs=())


def _failing_agent(error: Exception) -> OwnAgent:
    async def fail(_: AgentRequest) -> str:
        raise error

    return fail


@asynccontextmanager
async def open_harness(
    descriptor: HarnessDescriptor | None,
    location: AdapterLocation | None,
    context: AdapterContext,
    runtime: Runtime,
    calls: CallRunner,
    *,
    time_out_s: float,
) -> AsyncGenerator[CandidateHarness]:
    """Load the adapter, set it up and build the harness; connections are closed at the end.

    Args:
        descriptor: The descriptor; None for an adapter that brings its own agent.
        location: Where the adapter is; None without one.
        context: What the adapter's functions are told.
        runtime: What all runs share.
        calls: Makes the calls to the model.
        time_out_s: Seconds that one run may take in all.

    Raises:
        InputError: If the adapter or the descriptor is at fault, or they do not go together.
    """
    async with AsyncExitStack() as stack:
        adapter = NO_ADAPTER if location is None else stack.enter_context(loaded_adapter(location))
        await adapter.prepare("setup", context)
        tools = checked_tools(await adapter.prepare("create_tools", context), adapter.name)
        provider = _Provider()
        stack.push_async_callback(provider.close)
        agent = await _agent(adapter, context, descriptor, tools)
        if isinstance(agent, _Built) and (context.model or not adapter.has("create_model")):
            provider.client()  # so that a missing library is told before the first case
        yield CandidateHarness(adapter, context, runtime, calls, provider, agent, tools, time_out_s)


async def _agent(
    adapter: Adapter,
    context: AdapterContext,
    descriptor: HarnessDescriptor | None,
    tools: Mapping[str, Tool],
) -> _Built | OwnAgent:
    if not adapter.has("create_harness"):
        if descriptor is None:
            remedy = "name a descriptor, or define create_harness"
            raise InputError("brings no agent of its own", file=adapter.name, remedy=remedy)
        harness = build_harness(descriptor, tools)
        return _Built(harness.entry_agent, harness.max_turns, {"harness": harness.metadata})
    own = await adapter.prepare("create_harness", context)
    if isinstance(own, Agent):
        if descriptor is None:
            return _Built(own, None, {})
        return _Built(own, descriptor.max_turns, {"harness": descriptor.metadata})
    if not callable(own):
        message = (
            f"gave {type(own).__module__}.{type(own).__qualname__}, neither a regress Agent nor a function"
        )
        remedy = "give a function that takes an AgentRequest and returns the answer"
        raise InputError(message, file=adapter.name, field="create_harness", remedy=remedy)
    _check_goes_with_own_agent(adapter, tools)
    return cast("OwnAgent", own)


def _check_goes_with_own_agent(adapter: Adapter, tools: Mapping[str, Tool]) -> None:
    if adapter.has("create_model"):
        message = "is for agents that regress runs; create_harness gave a function"
        raise InputError(message, file=adapter.name, field="create_model", remedy="take one of them away")
    names = [tool.name for tool in tools.values()]
    for name in names:
        if names.count(name) > 1:
            message = f"gave two tools named {name}"
            raise InputError(message, file=adapter.name, field="create_tools", remedy="take one away")
