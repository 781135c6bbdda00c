"""Replaying a recorded run on a harness: its input again, its tool outputs again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.harness.agent import Agent
from regress_core.harness.loop import run_agent
from regress_core.harness.replay.recorded_tools import (
    OnMissingToolCall,
    ReplayingTools,
    ReplayMode,
    ReplayStats,
)
from regress_core.harness.replay.start import InputMode, ReplayInput, replay_input
from regress_core.harness.run import Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool, ToolError, call_tool
from regress_core.models.client import ModelClient, Usage
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonValue
from regress_core.records.model import Item, RunRecord
from regress_core.records.tool_calls import extract_tool_calls


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a record is replayed.

    Attributes:
        mode: Where tool outputs come from. strict never runs a tool unless `on_missing_tool_call` says so.
        input_mode: What the candidate is given.
        from_turn: How many turns of the recorded run are given as done.
        rules: What of a call's arguments does not count when its recorded output is looked up.
        on_missing_tool_call: What to do about a call that has no recorded output left.
    """

    mode: ReplayMode = "strict"
    input_mode: InputMode = "recorded"
    from_turn: int = 0
    rules: ArgumentRules = field(default_factory=ArgumentRules)
    on_missing_tool_call: OnMissingToolCall | None = None


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """What running a candidate on a case came to.

    Attributes:
        record: The candidate's record; of a failed run with all it did until then.
        replay_stats: How its tool outputs came about.
        error: What ended it, if it failed.
        replay_miss: Whether it asked for an output that the record did not have.
        usage: Tokens of all its turns that tell them.
        duration_s: Wall time, seconds.
    """

    record: RunRecord
    replay_stats: ReplayStats
    error: Exception | None
    replay_miss: bool
    usage: Usage
    duration_s: float

    @property
    def trouble(self) -> Trouble | None:
        """What kept us from knowing how the candidate behaves, if anything did."""
        return self.error.trouble if isinstance(self.error, TroubleError) else None


def replaying_tools(record: RunRecord, start: ReplayInput, options: ReplayOptions) -> ReplayingTools:
    """Make the tools of one replayed run of a record."""
    calls = extract_tool_calls(record)
    return ReplayingTools(
        calls,
        input_calls=_calls_in(start.start.items) if options.input_mode == "recorded" else 0,
        mode=options.mode,
        input_source=start.source,
        rules=options.rules,
        on_missing=options.on_missing_tool_call,
    )


def _calls_in(items: tuple[Item, ...]) -> int:
    return sum(item["type"] == "tool_call_item" for item in items)


async def replay_from_run_record(
    baseline: RunRecord,
    agent: Agent,
    *,
    model: ModelClient,
    runtime: Runtime,
    options: ReplayOptions,
    run_options: RunOptions,
) -> CandidateRun:
    """Run an agent on a record's input. Whatever the agent raises is a failed record.

    Args:
        baseline: The recorded run.
        agent: The candidate's entry agent.
        model: Answers the agent's turns.
        runtime: What all runs share.
        options: How the record is replayed.
        run_options: Policies, context (the baseline's, when left out), what is recorded.

    Raises:
        TroubleError: If the record cannot be replayed this way.
    """
    started = time.perf_counter()
    begin = replay_input(baseline, options.input_mode, options.from_turn)
    tools = replaying_tools(baseline, begin, options)

    async def run_tool(tool: Tool, arguments: JsonValue, context: RunContext) -> JsonValue:
        answer = await tools.call(tool.name, arguments, lambda: call_tool(tool.execute, arguments, context))
        if answer.is_error:
            raise ToolError(answer.output)
        return answer.output

    if run_options.context is None:
        run_options = replace(run_options, context=baseline.data["contextSnapshot"])
    run = await run_agent(
        _agent_of_turn(agent, begin.agent_name),
        begin.start,
        model=model,
        runtime=runtime,
        options=run_options,
        run_tool=run_tool,
    )
    return CandidateRun(
        record=run.record,
        replay_stats=tools.stats,
        error=run.error,
        replay_miss=tools.missed,
        usage=run.usage,
        duration_s=time.perf_counter() - started,
    )


def _agent_of_turn(entry: Agent, name: str | None) -> Agent:
    """Find the agent whose turn it is among those that the entry agent can reach."""
    if name is None or name == entry.name:
        return entry
    seen, waiting = {entry}, [entry]
    while waiting:
        for handoff in waiting.pop().handoffs:
            if handoff.agent.name == name:
                return handoff.agent
            if handoff.agent not in seen:
                seen.add(handoff.agent)
                waiting.append(handoff.agent)
    raise TroubleError(
        Trouble(
            "input",
            "candidate",
            "no such agent",
            f'the candidate has no agent "{name}" that could go on with the recorded turns',
            retryable=False,
        )
    )
