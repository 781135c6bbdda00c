"""One run of an agent: what it begins with, what it shares with others, what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regress_core.harness.recorder import question_of
from regress_core.harness.toolbox import Toolboxes
from regress_core.ids import Clock
from regress_core.models.client import Usage
from regress_core.records.json_io import JsonObject
from regress_core.records.model import Item, MessageItem, RunRecord


@dataclass(frozen=True, slots=True)
class Runtime:
    """What every run of one harness shares.

    Attributes:
        clock: Gives the time.
        new_run_id: Gives the id of a run.
        toolboxes: The agents' toolboxes, made once.
        model: A model name that takes the place of every agent's own; None to leave them.
    """

    clock: Clock
    new_run_id: Callable[[], str]
    toolboxes: Toolboxes = field(default_factory=Toolboxes)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class RunInput:
    """Where a run begins.

    Attributes:
        question: What it is asked, for the record.
        items: The conversation so far.
        input_item_count: How many of the items are the input; what follows was recorded in an earlier run.
        turns_done: How many turns that earlier run made.
        recorded: What it recorded of these turns, by the name of the record's list.
    """

    question: str
    items: tuple[Item, ...]
    input_item_count: int
    turns_done: int = 0
    recorded: dict[str, list[JsonObject]] = field(default_factory=dict[str, list[JsonObject]])

    @classmethod
    def of(cls, items: Sequence[Item]) -> RunInput:
        """Begin with a conversation."""
        return cls(question_of(items), tuple(items), len(items))

    @classmethod
    def of_text(cls, text: str) -> RunInput:
        """Begin with one message of the user."""
        item: MessageItem = {"type": "message", "role": "user", "content": text}
        return cls(text, (item,), 1)


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What a run came to.

    Attributes:
        record: Its record; of a failed run with all it did until then.
        error: What ended it, if it failed.
        usage: Tokens of all its turns that tell them.
    """

    record: RunRecord
    error: Exception | None
    usage: Usage
