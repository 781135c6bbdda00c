"""The agent loop: turn by turn until the model answers, every step recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from regress_core.foreign import passes_through, settled
from regress_core.harness.agent import Agent, GuardrailInput, GuardrailResult
from regress_core.harness.errors import (
    HarnessError,
    MaxTurnsExceededError,
    OutputGuardrailTripwireTriggered,
    ToolArgumentsError,
    ToolCallError,
    failure_of,
)
from regress_core.harness.fingerprints import MessageHashes
from regress_core.harness.governance import (
    blocked_call,
    blocked_envelope,
    blocked_handoff,
    decide,
)
from regress_core.harness.policy import HandoffPolicyInput, PolicyResult, ToolPolicyInput
from regress_core.harness.proposals import Proposal, handoff_proposal, suspended, tool_proposal
from regress_core.harness.recorder import Recorder
from regress_core.harness.run import AgentRun, RunInput, Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.harness.toolbox import Toolbox
from regress_core.harness.tools import RunContext, Tool, ToolError, as_json, call_tool
from regress_core.models.client import ModelClient, ModelReply, ModelRequest, ModelToolCall, Usage
from regress_core.records.envelopes import ok_envelope
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, loads
from regress_core.records.model import Item, RunRecord

DEFAULT_MAX_TURNS = 10

ToolRunner = Callable[[Tool, JsonValue, RunContext], Awaitable[JsonValue]]
"""Gives a tool's output for checked arguments: by running the tool, or from a record."""


async def run_live(tool: Tool, arguments: JsonValue, context: RunContext) -> JsonValue:
    """Run the tool."""
    return await call_tool(tool.execute, arguments, context)


async def run_agent(
    entry: Agent,
    start: RunInput,
    *,
    model: ModelClient,
    runtime: Runtime,
    options: RunOptions,
    run_tool: ToolRunner = run_live,
) -> AgentRun:
    """Run an agent until it answers, fails or has no turns left. Only the caller's cancellation is raised."""
    run = _Run(entry, start, model, runtime, options, run_tool)
    error: Exception | None = None
    try:
        await run.to_the_end()
    except BaseException as raised:
        if passes_through(raised):
            raise
        error = failure_of(raised)
    return AgentRun(await run.finish(error), error, run.usage)


class _Run:
    """One run while it goes on."""

    def __init__(
        self,
        entry: Agent,
        start: RunInput,
        model: ModelClient,
        runtime: Runtime,
        options: RunOptions,
        run_tool: ToolRunner,
    ) -> None:
        self.usage = Usage()
        self._agent = entry
        self._start = start
        self._model = model
        self._runtime = runtime
        self._options = options
        self._run_tool = run_tool
        self._items: list[Item] = list(start.items)
        self._context = RunContext({})
        record = options.record
        self._recorder = Recorder(
            record,
            record.run_id or runtime.new_run_id(),
            start.question,
            model.provider_name,
            runtime.clock,
            start.recorded,
        )

    async def to_the_end(self) -> None:
        """Go through the turns; return with the answer, or raise what ended the run."""
        if self._options.context is not None:
            # A copy: what tools change is this run's own.
            self._context = RunContext(as_json(self._options.context))
        await self._recorder.begin(self._context.context)
        self._hashes = MessageHashes(self._items)
        max_turns = DEFAULT_MAX_TURNS if self._options.max_turns is None else self._options.max_turns
        for turn in range(self._start.turns_done + 1, max_turns + 1):
            toolbox = self._runtime.toolboxes.of(self._agent, self._context)
            reply = await self._ask(turn, toolbox)
            await self._guard(turn, reply.text)
            if not reply.tool_calls:
                self._recorder.response = reply.text
                self._items.append({"type": "message", "role": "assistant", "content": reply.text})
                return
            # The calls of one reply are the asking agent's, also after a handoff among them.
            caller = self._agent
            for call in reply.tool_calls:
                await self._call(turn, caller, toolbox, call)
        raise MaxTurnsExceededError(max_turns)

    async def finish(self, error: Exception | None) -> RunRecord:
        """Give the record."""
        return await self._recorder.finish(
            agent_name=self._agent.name,
            model=self._runtime.model or self._agent.model,
            items=self._items,
            input_item_count=self._start.input_item_count,
            error=error,
        )

    async def _ask(self, turn: int, toolbox: Toolbox) -> ModelReply:
        agent = self._agent
        model = self._runtime.model or (agent.model or "").strip()
        if not model:
            raise HarnessError(f'Agent "{agent.name}" has no model configured. Set "model" explicitly.')
        prompt = await self._instructions(agent)
        self._recorder.prompt(
            turn=turn,
            agent_name=agent.name,
            model=model,
            prompt_version=agent.prompt_version,
            text=prompt or "",
        )
        request = ModelRequest(model, prompt, self._items, toolbox.specs, agent.model_settings or {})
        self._recorder.request(
            turn=turn, agent_name=agent.name, request=request, toolbox=toolbox, messages=self._hashes
        )
        reply = await self._model.complete(request)
        if reply.usage is not None:
            self.usage += reply.usage
        return reply

    async def _instructions(self, agent: Agent) -> str | None:
        if agent.instructions is None or isinstance(agent.instructions, str):
            return agent.instructions
        return await settled(agent.instructions(self._context))

    async def _guard(self, turn: int, text: str) -> None:
        for guardrail in self._agent.output_guardrails:
            asked = GuardrailInput(self._agent, self._context, text, tuple(self._items))
            result = await settled(guardrail.execute(asked))
            if not isinstance(result, GuardrailResult):  # pyright: ignore[reportUnnecessaryIsInstance] - an adapter made it
                raise TypeError(f'guardrail "{guardrail.name}" gave {type(result).__name__}')
            triggered = result.tripwire_triggered
            self._recorder.guardrail(
                turn=turn,
                name=guardrail.name,
                triggered=triggered,
                reason=result.reason if triggered else None,
                metadata=result.metadata if triggered else None,
            )
            if triggered:
                raise OutputGuardrailTripwireTriggered(guardrail.name, result.reason)

    async def _call(self, turn: int, caller: Agent, toolbox: Toolbox, call: ModelToolCall) -> None:
        arguments = parse_arguments(call.arguments)
        self._add(
            {
                "type": "tool_call_item",
                "callId": call.call_id,
                "name": call.name,
                "arguments": arguments,
                "rawItem": {
                    "type": "function_call",
                    "id": call.call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                },
            }
        )
        target = toolbox.handoffs.get(call.name)
        failed = False
        if target is not None:
            output = await self._hand_over(turn, caller, target, call, arguments)
        else:
            try:
                output = await self._use_tool(turn, caller, toolbox, call, arguments)
            except ToolError as error:  # meant for the model
                output, failed = error.output, True
        item: dict[str, Any] = {"type": "tool_call_output_item", "callId": call.call_id, "output": output}
        if failed:
            item["isError"] = True
        item["rawItem"] = {"type": "function_call_result", "call_id": call.call_id, "output": output}
        self._add(cast("Item", item))

    def _add(self, item: Item) -> None:
        self._hashes.add(item)  # first, since it refuses what JSON does not hold
        self._items.append(item)

    async def _use_tool(
        self, turn: int, caller: Agent, toolbox: Toolbox, call: ModelToolCall, arguments: JsonValue
    ) -> JsonValue:
        tool = toolbox.tools.get(call.name)
        if tool is None:
            raise ToolCallError(f'Tool "{call.name}" is not registered.')
        proposal = tool_proposal(caller.name, call.name, arguments)
        result = await decide(
            self._options.policies.tool,
            ToolPolicyInput(
                agent_name=caller.name,
                tool_name=call.name,
                raw_arguments=call.arguments,
                parsed_arguments=as_json(arguments),
                proposal_hash=proposal.proposal_hash,
                args_canonical_json=proposal.canonical_json,
                context=self._context,
                turn=turn,
            ),
        )
        self._recorder.policy(turn=turn, call_id=call.call_id, kind="tool", name=call.name, result=result)
        if result.decision != "allow":
            details: JsonObject = {"rawArguments": call.arguments, "parsedArguments": arguments}
            waiting = self._suspend(turn, call, proposal, result, details)
            if result.result_mode != "tool_result":
                raise blocked_call(call.name, result, waiting)
            return blocked_envelope(result)
        fault = next(tool.validator.iter_errors(arguments), None)
        if fault is not None:
            raise ToolArgumentsError(f'Arguments of tool "{tool.name}": {fault.json_path}: {fault.message}')
        return ok_envelope(await self._run_tool(tool, arguments, self._context))

    async def _hand_over(
        self, turn: int, caller: Agent, target: Agent, call: ModelToolCall, payload: JsonValue
    ) -> JsonValue:
        proposal = handoff_proposal(caller.name, target.name, payload)
        result = await decide(
            self._options.policies.handoff,
            HandoffPolicyInput(
                from_agent_name=caller.name,
                to_agent_name=target.name,
                handoff_payload=as_json(payload),
                proposal_hash=proposal.proposal_hash,
                payload_canonical_json=proposal.canonical_json,
                context=self._context,
                turn=turn,
            ),
        )
        self._recorder.policy(
            turn=turn, call_id=call.call_id, kind="handoff", name=target.name, result=result
        )
        if result.decision != "allow":
            waiting = self._suspend(turn, call, proposal, result, {"handoffPayload": payload})
            if result.result_mode != "tool_result":
                raise blocked_handoff(caller.name, target.name, result, waiting)
            return blocked_envelope(result)
        self._agent = target
        return ok_envelope({"handoffTo": target.name, "accepted": True, "payload": payload})

    def _suspend(
        self, turn: int, call: ModelToolCall, proposal: Proposal, result: PolicyResult, details: JsonObject
    ) -> JsonObject | None:
        """Record the proposal of a call or handoff that waits for approval; None for one that is denied."""
        if result.decision != "require_approval":
            return None
        entry = suspended(
            proposal,
            result,
            timestamp=self._recorder.now(),
            run_id=self._recorder.run_id,
            turn=turn,
            call_id=call.call_id,
            details=details,
        )
        self._recorder.proposal(entry)
        return entry


def parse_arguments(text: str) -> JsonValue:
    """Read the model's text of a call's arguments: none are `{}`, no JSON becomes `{"__raw": text}`."""
    if not text.strip():
        return {}
    try:
        return as_json(loads(text.strip()))
    except (JsonError, TypeError):  # TypeError: JSON, but deeper than a record holds
        return {"__raw": text}
