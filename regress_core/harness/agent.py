"""Agents: instructions, model, tools, handoffs and output guardrails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonObject
from regress_core.records.model import Item

Instructions = str | Callable[[RunContext], str | Awaitable[str]] | None
"""A system prompt, or what renders it from the run's context; None for none."""


@dataclass(frozen=True, slots=True)
class GuardrailResult:
    """What an output guardrail found.

    Attributes:
        tripwire_triggered: Whether the answer is refused; the run fails then.
        reason: Why.
        metadata: What the record keeps of it, a JSON object.
    """

    tripwire_triggered: bool
    reason: str | None = None
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class GuardrailInput:
    """What an output guardrail looks at: the agent's text of this turn and the conversation before it."""

    agent: Agent
    context: RunContext
    output_text: str
    history: Sequence[Item]


@dataclass(frozen=True, slots=True)
class OutputGuardrail:
    """Checks each text that an agent puts out. `execute` may be sync or async."""

    name: str
    execute: Callable[[GuardrailInput], Awaitable[GuardrailResult] | GuardrailResult]


@dataclass(frozen=True, slots=True)
class Handoff:
    """Another agent that may take over.

    Attributes:
        agent: The agent.
        enabled: Whether it is offered in a turn; None for always.
    """

    agent: Agent
    enabled: Callable[[RunContext], bool] | None = None


@dataclass(eq=False)
class Agent:
    """One agent of a harness. Built once; while it runs nothing of it changes.

    Attributes:
        name: Its name in records and handoffs.
        handoff_description: What other agents' models are told about it.
        instructions: Its system prompt.
        prompt_version: What the record notes as the prompt's version.
        model: The model's name; a run needs one.
        model_settings: Settings such as `temperature`.
        tools: What it may call.
        handoffs: Whom it may hand over to.
        output_guardrails: Checks of its texts, in order.
    """

    name: str
    handoff_description: str = ""
    instructions: Instructions = None
    prompt_version: str | None = None
    model: str | None = None
    model_settings: JsonObject | None = None
    tools: Sequence[Tool] = ()
    handoffs: Sequence[Handoff] = ()
    output_guardrails: Sequence[OutputGuardrail] = ()
    # Agents hand over to each other in circles, so that the builder fills `handoffs` in afterwards.
