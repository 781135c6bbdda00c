"""Runs made up by hypothesis: a script says what the model, the policies and the tools do, turn by turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from regress_core.harness.agent import Agent, GuardrailInput, GuardrailResult, Handoff, OutputGuardrail
from regress_core.harness.loop import run_agent
from regress_core.harness.policy import HandoffPolicyInput, Policies, PolicyResult, ToolPolicyInput, allow
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions
from regress_core.harness.run import RunInput
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import Execute, RunContext, Tool, ToolError
from regress_core.models.client import ModelReply, ModelToolCall, Usage
from regress_core.models.scripted import ScriptedClient
from regress_core.records.json_io import JsonValue, dumps_text
from regress_core.records.model import Item, RunRecord
from tests.support.harness import MODEL, replay, runtime
from tests.support.strategies import ALIKE_JSON_VALUES, JSON_VALUES, TEXTS

TOOLS: Mapping[str, Sequence[str]] = {
    "Router": ("look", "write"),
    "Billing Desk": ("look", "páy"),
    "billing-desk": ("look",),
}
"""The tools of each agent; the first agent is the entry."""

HANDOFFS: Mapping[str, Mapping[str, str]] = {
    "Router": {"handoff_to_billing_desk": "Billing Desk", "handoff_to_billing_desk_2": "billing-desk"},
    "Billing Desk": {"handoff_to_router": "Router", "handoff_to_billing_desk": "billing-desk"},
    "billing-desk": {"handoff_to_router": "Router", "handoff_to_billing_desk": "Billing Desk"},
}
"""Whom each agent may hand over to, by the name of the call; two of the agents have names that are alike."""

HISTORY: tuple[Item, ...] = (
    {"type": "message", "role": "user", "content": "Earlier?"},
    {"type": "tool_call_item", "callId": "c1", "name": "look", "arguments": {}},
    {"type": "tool_call_output_item", "callId": "c1", "output": "of an earlier run"},
    {"type": "message", "role": "assistant", "content": "Earlier."},
)
"""A conversation before the question, with a call that runs make too."""

REFUSED = "BAD"
"""A text with this word triggers the guardrails."""

End = Literal["answers", "max turns", "unknown tool", "guardrail"]


@dataclass(frozen=True, slots=True)
class Step:
    """A call, what is decided about it, and what its tool then gives or raises for the model."""

    call: ModelToolCall
    decision: PolicyResult
    output: JsonValue = None
    raises: ToolError | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply of the model."""

    text: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """What happens in a run."""

    history: tuple[Item, ...]
    question: str
    context: JsonValue
    turns: tuple[Turn, ...]
    max_turns: int

    def replies(self) -> list[ModelReply]:
        """Give what the model answers."""
        return [
            ModelReply(turn.text, tuple(step.call for step in turn.steps), Usage(10, 1))
            for turn in self.turns
        ]

    def run(self) -> RunRecord:
        """Run it with live tools and give the record."""
        done = run_agent(
            self._entry(self._live_tool()),
            RunInput.of([*self.history, {"type": "message", "role": "user", "content": self.question}]),
            model=ScriptedClient(self.replies()),
            runtime=runtime(),
            options=self._options(self.context),
        )
        return asyncio.run(done).record

    def replay(self, record: RunRecord, options: ReplayOptions | None = None) -> CandidateRun:
        """Replay a record of it on the same harness, whose tools must not run."""
        options = options or ReplayOptions()
        return replay(
            record,
            self._entry(_never),
            self.replies()[options.from_turn :],
            options=options,
            run_options=self._options(None),
        )

    def _options(self, context: JsonValue) -> RunOptions:
        waiting = {
            number: deque(step.decision for step in turn.steps)
            for number, turn in enumerate(self.turns, start=1)
        }

        def decide(asked: ToolPolicyInput | HandoffPolicyInput) -> PolicyResult:
            return waiting[asked.turn].popleft()

        return RunOptions(
            policies=Policies(decide, decide),
            context=context,
            max_turns=self.max_turns,
            record=RecordOptions(metadata={"scenario": "made up"}, include_prompt_text=True),
        )

    def _live_tool(self) -> Execute:
        steps = [step for turn in self.turns for step in turn.steps]
        waiting = deque(step for step in steps if step.decision.decision == "allow" and _is_tool(step.call))

        async def execute(_arguments: JsonValue, _context: RunContext) -> JsonValue:
            await asyncio.sleep(0)
            step = waiting.popleft()
            if step.raises is not None:
                raise step.raises
            return step.output

        return execute

    def _entry(self, execute: Execute) -> Agent:
        agents = {
            name: Agent(
                name,
                handoff_description=f"Does what {name} does.",
                instructions=f"You are {name}.",
                prompt_version="v1",
                model=MODEL,
                model_settings={"temperature": 0},
                tools=[Tool(tool, f"Tool {tool}.", execute, parameters={}) for tool in tools],
                output_guardrails=[OutputGuardrail("words", _guard), OutputGuardrail("more", _guard)],
            )
            for name, tools in TOOLS.items()
        }
        for name, targets in HANDOFFS.items():
            agents[name].handoffs = [Handoff(agents[target]) for target in targets.values()]
        return next(iter(agents.values()))


def _is_tool(call: ModelToolCall) -> bool:
    return any(call.name in tools for tools in TOOLS.values())


def _never(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise AssertionError("a strict replay never runs a tool")


def _guard(given: GuardrailInput) -> GuardrailResult:
    if REFUSED in given.output_text:
        return GuardrailResult(tripwire_triggered=True, reason="a bad word", metadata={"word": REFUSED})
    return GuardrailResult(tripwire_triggered=False)


ALLOWED = st.sampled_from([allow("fine"), allow("ünder limit", policy_version="v2", metadata={"n": [2**60]})])

BLOCKED = st.builds(
    PolicyResult,
    st.sampled_from(("deny", "require_approval")),
    st.sampled_from(["no", "a\ud800b"]),
    st.none() | TEXTS,
    st.just("tool_result"),
    st.none() | st.just("v1"),
    st.none() | st.just("2026-04-01T00:00:00Z"),
    st.none() | st.dictionaries(TEXTS, ALIKE_JSON_VALUES, max_size=2),
)
"""Decisions that the model is told of."""

THROWN = st.builds(
    PolicyResult,
    st.sampled_from(("deny", "require_approval")),
    st.just("no"),
    st.none() | TEXTS,
    st.none() | st.just("throw"),
)
"""Decisions that end the run."""

ARGUMENTS = (
    st.dictionaries(st.sampled_from(["a", "b"]), ALIKE_JSON_VALUES, max_size=2).map(dumps_text)
    | st.sampled_from(["", "{}", '{"a":', '""', "null", '{"n": 123456789012345678901234567890, "x": 1.0}'])
    | st.dictionaries(TEXTS, JSON_VALUES, max_size=2).map(dumps_text)
)
"""Texts of arguments, among them many that are alike and some that are no JSON."""

OUTPUTS: st.SearchStrategy[tuple[JsonValue, ToolError | None]] = st.tuples(
    JSON_VALUES | ALIKE_JSON_VALUES | st.just(2**80), st.none()
)
TOOL_ERRORS: st.SearchStrategy[tuple[JsonValue, ToolError | None]] = st.tuples(
    st.none(), st.builds(ToolError, TEXTS | JSON_VALUES)
)
CALL_IDS = st.sampled_from(["c1", "c2", "ïd\ud800"])
"""So few that they repeat inside a turn and across turns."""


@st.composite
def scripts(
    draw: st.DrawFn,
    *,
    decisions: st.SearchStrategy[PolicyResult] = ALLOWED,
    results: st.SearchStrategy[tuple[JsonValue, ToolError | None]] = OUTPUTS,
    handoffs: bool = False,
    end: End = "answers",
    most_turns: int = 4,
) -> Script:
    """Make up a run.

    Args:
        draw: Of hypothesis.
        decisions: What policies decide.
        results: What tools give or the errors they raise for the model.
        handoffs: Whether some calls hand over.
        end: How the run ends, unless a decision ends it before.
        most_turns: Turns before the last one.
    """
    agent_name, turns = next(iter(TOOLS)), list[Turn]()
    for _ in range(draw(st.integers(int(end == "max turns"), most_turns))):
        names = [*TOOLS[agent_name], *(HANDOFFS[agent_name] if handoffs else ())]
        steps: list[Step] = []
        takes_over = agent_name
        for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
            call = ModelToolCall(draw(CALL_IDS), name, draw(ARGUMENTS))
            decision = draw(decisions)
            if name in TOOLS[agent_name]:
                steps.append(Step(call, decision, *draw(results)))
                continue
            steps.append(Step(call, decision))
            if decision.decision == "allow":
                takes_over = HANDOFFS[agent_name][name]
        turns.append(Turn(draw(st.sampled_from(["", "Let me see."])), tuple(steps)))
        agent_name = takes_over
    texts = TEXTS.filter(lambda text: REFUSED not in text)
    if end == "answers":
        turns.append(Turn(draw(texts)))
    elif end == "unknown tool":
        turns.append(Turn("", (Step(ModelToolCall("c9", "nowhere", "{}"), allow("fine")),)))
    elif end == "guardrail":
        step = Step(ModelToolCall("c9", "look", "{}"), allow("fine"))
        turns.append(Turn(f"A {REFUSED} word.", draw(st.sampled_from([(), (step,)]))))
    return Script(
        history=draw(st.sampled_from([(), HISTORY])),
        question=draw(texts),
        context=draw(st.none() | st.dictionaries(TEXTS, ALIKE_JSON_VALUES, max_size=2)),
        turns=tuple(turns),
        max_turns=len(turns),
    )
