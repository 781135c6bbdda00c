"""Where a replay begins: the recorded input, the question, or the first turns of the recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.harness.recorder import RECORDED_LISTS
from regress_core.harness.run import RunInput
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.records.turn_groups import InputScope, input_scope, turn_starts

InputMode = Literal["recorded", "question"]
"""What the candidate is given: the items that were the run's input, or the question alone."""

InputSource = Literal["inputItemCount", "requestFingerprint", "questionFallback", "question"]
"""Where the recorded input was found, as the reference names it."""


@dataclass(frozen=True, slots=True)
class ReplayInput:
    """What a replay begins with.

    Attributes:
        start: The run's input.
        source: Where it was found.
        agent_name: The agent whose turn it is; None for the entry agent.
    """

    start: RunInput
    source: InputSource
    agent_name: str | None = None


def replay_input(record: RunRecord, mode: InputMode, from_turn: int = 0) -> ReplayInput:
    """Find what a replay of a record begins with.

    Args:
        record: The baseline.
        mode: What the candidate is given.
        from_turn: How many turns of the recorded run are given as done; 0 for none.

    Raises:
        TroubleError: If the record has no more turns than that.
    """
    question = record.question
    if mode == "question":
        return ReplayInput(RunInput.of_text(question), "question")
    scope = input_scope(record)
    if from_turn:
        return _after_turns(record, scope, from_turn)
    if scope.source == "questionFallback":
        return ReplayInput(RunInput.of_text(question), scope.source)
    return ReplayInput(RunInput.of(record.items[: scope.items]), scope.source)


def refuse_multi_turn(record: RunRecord) -> None:
    """Refuse a record whose user speaks again after the input: the agent loop ends at the first answer.

    Raises:
        TroubleError: If it is one.
    """
    if is_multi_turn(record):
        message = "multi-turn record: import with --turns each"
        raise TroubleError(Trouble("input", "candidate", "multi-turn record", message, retryable=False))


def is_multi_turn(record: RunRecord) -> bool:
    """Tell whether the user speaks again after the input scope of a record."""
    after = record.items[input_scope(record).items :]
    return any(item["type"] == "message" and item["role"] == "user" for item in after)


def _after_turns(record: RunRecord, scope: InputScope, turns: int) -> ReplayInput:
    starts = turn_starts(record)
    if turns >= len(starts):
        message = f"the baseline has {len(starts)} turns, so that none is left to run after {turns}"
        raise TroubleError(Trouble("input", "candidate", "no such turn", message, retryable=False))
    data = cast("dict[str, Any]", record.data)
    recorded: dict[str, list[JsonObject]] = {
        name: [entry for entry in data.get(name) or () if entry["turn"] <= turns] for name in RECORDED_LISTS
    }
    start = RunInput(
        question=RunInput.of(record.items[: scope.items]).question,
        items=tuple(record.items[: starts[turns]]),
        input_item_count=scope.items,
        turns_done=turns,
        recorded=recorded,
    )
    return ReplayInput(start, scope.source, _agent_after(record, turns))


def _agent_after(record: RunRecord, turns: int) -> str | None:
    """Name the agent that made the turn after so many; None where the record does not say."""
    for prompt in record.data["promptSnapshots"]:
        if prompt["turn"] == turns + 1:
            return prompt["agentName"]
    return None
