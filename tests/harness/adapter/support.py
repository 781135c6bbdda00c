"""Adapters on disk and agents of your own, run on a baseline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.harness.adapter.adapter import AdapterContext, CaseContext
from regress_core.harness.adapter.agent_tools import AgentTools
from regress_core.harness.adapter.candidate import CandidateHarness, open_harness
from regress_core.harness.adapter.files import locate_adapter
from regress_core.harness.adapter.own_agent import OwnAgent, run_own_agent
from regress_core.harness.descriptor.descriptor import parse_descriptor
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions, replaying_tools
from regress_core.harness.replay.start import replay_input
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.support.harness import runtime
from tests.support.records import message, record_json, tool_call, tool_output

T = TypeVar("T")

QUESTION = "Where is my order?"
ANSWER = "On its way."
LIVE = ReplayOptions(mode="live")


def plain(a: int, b: int = 2) -> str:
    """Be a tool."""
    return f"{a} {b}"


def recorded(*calls: tuple[str, JsonObject, JsonValue], **changes: JsonValue) -> RunRecord:
    """Give a baseline: a question, calls (name, arguments, output) one after the other, an answer."""
    items: list[JsonValue] = [message(QUESTION)]
    for number, (name, arguments, output) in enumerate(calls, start=1):
        items += [
            tool_call(f"b{number}", name, arguments=arguments),
            tool_output(f"b{number}", output=output),
        ]
    items.append(message(ANSWER, "assistant"))
    record: JsonObject = {"question": QUESTION, "response": ANSWER, "items": items, "inputItemCount": 1}
    return RunRecord.parse(record_json(**(record | changes)))


def case_of(baseline: RunRecord, *, mode: ReplayMode = "strict", model: str | None = None) -> CaseContext:
    """Give what an adapter is told of a run on a baseline."""
    return CaseContext("a", "a case", 1, baseline, AdapterContext(None, mode, model))


def own_run(
    agent: OwnAgent,
    baseline: RunRecord,
    options: ReplayOptions | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
    run_options: RunOptions | None = None,
    model: str | None = None,
) -> CandidateRun:
    """Run an agent of your own on a baseline to its end."""
    options = options or ReplayOptions()
    return asyncio.run(
        run_own_agent(
            agent,
            case_of(baseline, mode=options.mode, model=model),
            tools=tools or {},
            runtime=runtime(),
            options=options,
            run_options=run_options or RunOptions(),
        )
    )


def with_tools(
    use: Callable[[AgentTools], Awaitable[T]],
    baseline: RunRecord,
    options: ReplayOptions | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
) -> T:
    """Use the tools of a run on a baseline, in an event loop of their own."""

    async def main() -> T:
        return await use(agent_tools(baseline, options, tools=tools))

    return asyncio.run(main())


def agent_tools(
    baseline: RunRecord, options: ReplayOptions | None = None, *, tools: Mapping[str, Tool] | None = None
) -> AgentTools:
    """Give the tools of a run on a baseline, in the event loop that runs."""
    options = options or ReplayOptions()
    return AgentTools(
        replaying_tools(baseline, replay_input(baseline, options.input_mode), options),
        baseline,
        rules=options.rules,
        tools=tools or {},
        context=RunContext({}),
    )


def ignoring(tool: str, path: str) -> ArgumentRules:
    """Give rules by which an argument of a tool does not count."""
    return ArgumentRules.model_validate({tool: {path: "ignore"}})


def write_modules(folder: Path, files: Mapping[str, str]) -> Path:
    """Write modules into a folder, by their relative paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def with_harness(
    adapter: str | None,
    folder: Path,
    use: Callable[[CandidateHarness], Awaitable[T]],
    *,
    descriptor: str | None = None,
    mode: ReplayMode = "strict",
    model: str | None = None,
    time_out_s: float = 60,
) -> T:
    """Open a harness with the adapter of this text, in an event loop of its own, and use it."""
    location = None
    if adapter is not None:
        location = locate_adapter("adapter.py", write_modules(folder, {"adapter.py": adapter}))
    parsed = None if descriptor is None else parse_descriptor(descriptor)
    context = AdapterContext(parsed, mode, model)

    async def main() -> T:
        calls = CallRunner(CallLimits(first_wait_s=0, longest_wait_s=0))
        async with open_harness(
            parsed, location, context, runtime(model), calls, time_out_s=time_out_s
        ) as harness:
            return await use(harness)

    return asyncio.run(main())


def harness_run(
    adapter: str,
    folder: Path,
    baseline: RunRecord,
    *,
    descriptor: str | None = None,
    mode: ReplayMode = "strict",
    model: str | None = None,
    time_out_s: float = 60,
) -> CandidateRun:
    """Run the harness of an adapter's text on a baseline."""

    async def use(harness: CandidateHarness) -> CandidateRun:
        case = CaseContext("a", "a case", 1, baseline, harness.context)
        return await harness.run(case, ReplayOptions(mode=mode))

    return with_harness(
        adapter, folder, use, descriptor=descriptor, mode=mode, model=model, time_out_s=time_out_s
    )
