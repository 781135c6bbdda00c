"""Tool outputs from a record: matched by tool and arguments, first in, first out."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from regress_core.foreign import settled
from regress_core.harness.errors import MissingToolOutputError
from regress_core.harness.replay.start import InputSource
from regress_core.harness.tools import as_json
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.envelopes import is_blocked, unwrap_ok
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.tool_calls import ExtractedToolCall

ReplayMode = Literal["strict", "hybrid", "live"]
"""Where tool outputs come from: the record only; the record, else the tool; the tool."""

_SHOWN_CHARACTERS = 200
_COMPARED_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class ReplayStats:
    """How a run's tool outputs came about, counted as the reference counts.

    Attributes:
        recorded_tool_calls: Calls of the record that have an output.
        replayed_from_record: Outputs taken from the record, or given by the application for a missing one.
        missing_tool_calls: Calls that the record had no output left for.
        live_fallback_calls: Of these, how many the tool itself answered.
        input_source: Where the recorded input was found.
    """

    recorded_tool_calls: int
    input_source: InputSource
    replayed_from_record: int = 0
    missing_tool_calls: int = 0
    live_fallback_calls: int = 0

    def to_json(self) -> JsonObject:
        """Give the reference's JSON shape."""
        return {
            "recordedToolCalls": self.recorded_tool_calls,
            "replayedFromRecord": self.replayed_from_record,
            "missingToolCalls": self.missing_tool_calls,
            "liveFallbackCalls": self.live_fallback_calls,
            "inputSource": self.input_source,
        }


@dataclass(frozen=True, slots=True)
class MissingToolCall:
    """A call that the record has no output left for.

    Attributes:
        explanation: What the record does have: fewer such calls, others of this tool, or none.
    """

    mode: ReplayMode
    tool_name: str
    arguments: JsonValue
    args_canonical_json: str
    args_hash: str
    explanation: str


@dataclass(frozen=True, slots=True)
class MissingToolCallResolution:
    """What becomes of a missing call.

    Attributes:
        action: `throw` fails the run, `use_live` runs the tool, `use_output` takes `output`.
        output: The output to use.
    """

    action: Literal["throw", "use_live", "use_output"]
    output: JsonValue = None


OnMissingToolCall = Callable[
    [MissingToolCall], Awaitable[MissingToolCallResolution] | MissingToolCallResolution
]
"""An application's answer to a missing call. Sync or async."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gets.

    Attributes:
        output: Its output, bare of any envelope.
        is_error: Whether the record flags it as a tool's error.
        recorded: The recorded call it comes from; None for any other source.
    """

    output: JsonValue
    is_error: bool = False
    recorded: ExtractedToolCall | None = None


class ReplayingTools:
    """The tools of one replayed run.

    Args:
        calls: The record's calls in order.
        input_calls: How many of them the candidate is given as input; these are the last to be used.
        mode: Where outputs come from.
        input_source: Where the recorded input was found, for the statistics.
        rules: What of the arguments does not count.
        on_missing: What to do about a missing call; without it strict fails and hybrid runs the tool.
    """

    def __init__(
        self,
        calls: Sequence[ExtractedToolCall],
        *,
        input_calls: int,
        mode: ReplayMode,
        input_source: InputSource,
        rules: ArgumentRules,
        on_missing: OnMissingToolCall | None = None,
    ) -> None:
        self.calls = calls
        self.stats = ReplayStats(sum(call.has_output for call in calls), input_source)
        self.missed = False
        self._mode: ReplayMode = mode
        self._rules = rules
        self._on_missing = on_missing
        self._waiting: defaultdict[tuple[str, str], deque[ExtractedToolCall]] = defaultdict(deque)
        self._recorded: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._asked: defaultdict[tuple[str, str], int] = defaultdict(int)
        for call in sorted(calls, key=lambda call: call.turn is not None and call.turn <= input_calls):
            if _is_replayable(call):
                key = (call.name, rules.key(call.name, call.arguments))
                self._waiting[key].append(call)
                self._recorded[key] += 1

    async def call(
        self, tool_name: str, arguments: JsonValue, live: Callable[[], Awaitable[JsonValue]]
    ) -> Answer:
        """Answer a call.

        Args:
            tool_name: The tool.
            arguments: Its arguments.
            live: Runs the tool itself.

        Raises:
            MissingToolOutputError: If the record has none left and nothing takes its place.
        """
        if self._mode == "live":
            return Answer(await live())
        key = (tool_name, self._rules.key(tool_name, arguments))
        self._asked[key] += 1
        waiting = self._waiting.get(key)
        if not waiting:
            return Answer(await self._resolve_missing(key, arguments, live))
        recorded = waiting.popleft()
        self._count(replayed=1)
        return Answer(_bare(recorded), recorded.is_error, recorded)

    async def _resolve_missing(
        self, key: tuple[str, str], arguments: JsonValue, live: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        self._count(missing=1)
        text = canonical_json(arguments)
        missing = MissingToolCall(
            self._mode, key[0], as_json(arguments), text, hash_text(text), self._explain(key)
        )
        if self._on_missing is None:
            resolution = MissingToolCallResolution("use_live" if self._mode == "hybrid" else "throw")
        else:
            resolution = await settled(self._on_missing(missing))
        if resolution.action == "use_output":
            self._count(replayed=1)
            return as_json(resolution.output)
        if resolution.action == "use_live":
            self._count(live=1)
            return await live()
        self.missed = True
        raise MissingToolOutputError(
            f'Missing recorded tool output for "{missing.tool_name}". argsHash={missing.args_hash}. '
            f"argsCanonicalJson={missing.args_canonical_json} {missing.explanation}"
        )

    def _count(self, *, replayed: int = 0, missing: int = 0, live: int = 0) -> None:
        stats = self.stats
        self.stats = replace(
            stats,
            replayed_from_record=stats.replayed_from_record + replayed,
            missing_tool_calls=stats.missing_tool_calls + missing,
            live_fallback_calls=stats.live_fallback_calls + live,
        )

    def _explain(self, key: tuple[str, str]) -> str:
        """Say what the record has instead."""
        of_tool = [recorded for recorded in self._recorded if recorded[0] == key[0]]
        if not of_tool:
            return f"(no output of {key[0]} is recorded)"
        unused = [recorded for recorded in of_tool if self._waiting[recorded]]
        nearest = max(unused or of_tool, key=lambda recorded: _likeness(recorded[1], key[1]))[1]
        more = "…" if len(nearest) > _SHOWN_CHARACTERS else ""
        text = f"nearest recorded arguments: {nearest[:_SHOWN_CHARACTERS]}{more}"
        if key in self._recorded:
            text = f"exhausted: {self._recorded[key]} recorded, {self._asked[key]} asked; {text}"
        return f"({text})"


def _likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, a[:_COMPARED_CHARACTERS], b[:_COMPARED_CHARACTERS], autojunk=False).ratio()


def _is_replayable(call: ExtractedToolCall) -> bool:
    """Tell whether a tool gave an output; a blocked call has none, and its policy is asked again.

    A tool's error comes without an envelope, so that what looks like one is its own.
    """
    return call.has_output and call.name != "" and (call.is_error or not is_blocked(call.output))


def _bare(call: ExtractedToolCall) -> JsonValue:
    return call.output if call.is_error else unwrap_ok(call.output)
