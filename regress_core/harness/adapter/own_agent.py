"""An agent of your own: any code that answers, while its tool calls are answered by the replay."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace

from regress_core.calls.trouble import TROUBLE_KINDS, TroubleError, trouble_of
from regress_core.foreign import passes_through
from regress_core.harness.adapter.adapter import CaseContext
from regress_core.harness.adapter.agent_tools import AgentTools
from regress_core.harness.errors import failure_of
from regress_core.harness.recorder import Recorder
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions, replaying_tools
from regress_core.harness.replay.start import replay_input
from regress_core.harness.run import RunInput, Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.harness.threads import call_apart
from regress_core.harness.tools import RunContext, Tool, as_json
from regress_core.models.client import Usage
from regress_core.models.errors_of import model_error_of
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text, loads_own
from regress_core.records.model import Item, RunRecord

UNRECORDED = ("policy", "suspendedProposals", "guardrails", "prompts", "fingerprints", "descriptor")
"""The sections that cannot be seen from outside of an agent, and so are not compared."""


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What an agent of your own is asked.

    Attributes:
        case_id: The case.
        case_name: What people call it.
        trial: Counts from 1.
        question: The question.
        messages: The recorded input, as record items; the question is its last message as a rule. With
            `--from-turn` the recorded turns follow, and the agent goes on after them.
        context: The run's context: a copy, to be used freely.
        tools: The tools, answered as the mode says.
        model: The model that `--model` or candidate.yaml names; None for none.
    """

    case_id: str
    case_name: str
    trial: int
    question: str
    messages: tuple[Item, ...]
    context: JsonValue
    tools: AgentTools
    model: str | None


OwnAgent = Callable[[AgentRequest], Awaitable[RunRecord | str] | RunRecord | str]
"""Answers a request: with its text, or with a whole record of the run. Sync ones run in a thread each."""


async def run_own_agent(
    agent: OwnAgent,
    case: CaseContext,
    *,
    tools: Mapping[str, Tool],
    runtime: Runtime,
    options: ReplayOptions,
    run_options: RunOptions,
) -> CandidateRun:
    """Run an agent of your own on a case's baseline. Whatever it raises is a failed record.

    From a text the record is built of what the tools saw, under the baseline's agent name: the agent answers
    in that one's place. A record that it gives itself is taken as it is.

    Args:
        agent: The agent.
        case: The case and its baseline.
        tools: The adapter's tools by name.
        runtime: What all runs share.
        options: How the record is replayed.
        run_options: Context (the baseline's, when left out) and what is recorded.

    Raises:
        TroubleError: If the baseline cannot be replayed this way.
    """
    started = time.perf_counter()
    begin = replay_input(case.baseline, options.input_mode, options.from_turn)
    replaying = replaying_tools(case.baseline, begin, options)
    context = case.baseline.data["contextSnapshot"] if run_options.context is None else run_options.context
    run_context = RunContext(as_json({} if context is None else context))
    agent_tools = AgentTools(replaying, case.baseline, rules=options.rules, tools=tools, context=run_context)
    recorder = _recorder(run_options, begin.start, runtime)
    answer: RunRecord | str | None = None
    error: Exception | None = None
    try:
        await recorder.begin(run_context.context)
        answer = await _answer(agent, _request(case, begin.start, run_context, agent_tools))
    except BaseException as raised:
        if passes_through(raised):
            raise
        error = _failure(raised)
    finally:
        agent_tools.close()
    if agent_tools.miss is not None and not isinstance(answer, RunRecord):
        error = agent_tools.miss  # whatever the agent made of it
    if isinstance(answer, RunRecord):
        record = answer
    else:
        record = await _built(recorder, case, begin.start, agent_tools, answer, error)
    return CandidateRun(
        record=record,
        replay_stats=replaying.stats,
        error=error,
        replay_miss=replaying.missed,
        usage=Usage(),
        duration_s=time.perf_counter() - started,
    )


def _recorder(options: RunOptions, start: RunInput, runtime: Runtime) -> Recorder:
    regress: JsonObject = {"unrecorded": list(UNRECORDED)}
    record = replace(options.record, metadata={**(options.record.metadata or {}), "regress": regress})
    run_id = record.run_id or runtime.new_run_id()
    return Recorder(record, run_id, start.question, "own agent", runtime.clock, start.recorded)


def _request(case: CaseContext, start: RunInput, context: RunContext, tools: AgentTools) -> AgentRequest:
    return AgentRequest(
        case_id=case.case_id,
        case_name=case.case_name,
        trial=case.trial,
        question=start.question,
        messages=deepcopy(start.items),
        context=context.context,
        tools=tools,
        model=case.evaluation.model,
    )


async def _built(
    recorder: Recorder,
    case: CaseContext,
    start: RunInput,
    tools: AgentTools,
    answer: str | None,
    error: Exception | None,
) -> RunRecord:
    taken = [item["callId"] for item in start.items if item["type"] != "message"]
    items: list[Item] = [*start.items, *tools.items(taken)]
    if answer is not None:
        recorder.response = answer
        items.append({"type": "message", "role": "assistant", "content": answer})
    return await recorder.finish(
        agent_name=case.baseline.data["agentName"],
        model=case.evaluation.model,
        items=items,
        input_item_count=start.input_item_count,
        error=error,
    )


async def _answer(agent: OwnAgent, request: AgentRequest) -> RunRecord | str:
    answer = await call_apart(agent, request)
    if isinstance(answer, RunRecord):  # checked, and a copy: the agent may go on with its own
        return RunRecord.parse(loads_own(dumps_text(answer.data)))
    if not isinstance(answer, str):
        raise TypeError(f"the agent gave {type(answer).__name__}, neither a text nor a RunRecord")
    return str.__str__(answer)  # of a class of its own a plain text


def _failure(raised: BaseException) -> Exception:
    """Give what ended the run: the trouble that a provider's error is, any other error as it is."""
    error = failure_of(raised)
    known = None if isinstance(error, TroubleError) else model_error_of(error)
    if known is None or known.kind not in TROUBLE_KINDS:
        return error
    return TroubleError(trouble_of(known, "candidate", known.message))
