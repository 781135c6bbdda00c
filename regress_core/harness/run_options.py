"""What an application says about one run: policies, context, what is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from regress_core.harness.policy import Policies
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord

ContextRedactor = Callable[[Any], Awaitable[Any] | Any]
"""Takes the run's context, gives what the record may keep of it. Sync or async."""

RecordSink = Callable[[RunRecord], Awaitable[None] | None]
"""Takes the finished record. What it raises is logged and changes nothing. Sync or async."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What the record of a run holds and where else it goes.

    Attributes:
        run_id: The run's id; a new one when left out.
        metadata: The application's metadata, a JSON object.
        include_prompt_text: Whether prompt snapshots keep the prompt's text beside its hash.
        context_redactor: What the record keeps of the context. If it raises, the run fails and the record
            keeps nothing of the context.
        sink: Gets the record too.

    Raises:
        TypeError: If the run id is no text, or the metadata no object.
    """

    run_id: str | None = None
    metadata: JsonObject | None = None
    include_prompt_text: bool = False
    context_redactor: ContextRedactor | None = None
    sink: RecordSink | None = None

    def __post_init__(self) -> None:
        for name, kind in (("run_id", str), ("metadata", dict)):
            value: object = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{name} is {type(value).__name__}, not {kind.__name__}")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of one run.

    Attributes:
        policies: What the agent may do; nothing, when left out.
        context: The application's context, a JSON value; in a replay the baseline's, when left out.
        max_turns: Turns before the run fails; the descriptor's, else 10, when left out.
        record: What is recorded.
    """

    policies: Policies = field(default_factory=Policies)
    context: Any = None
    max_turns: int | None = None
    record: RecordOptions = field(default_factory=RecordOptions)
