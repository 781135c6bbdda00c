"""What recorded calls tell of a tool's effect: what it gives back, and what lookups show after it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from regress_core.compare.failures import says_failed
from regress_core.records.canonical import canonical_json
from regress_core.records.envelopes import read_output
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.tool_calls import ExtractedToolCall

Kind = Literal["lookup", "silent", "open"]
"""What a tool is known for: it looks something up, it does neither that nor write, or it may write."""

_DONE = re.compile(
    r"""
      \W*(?:ok|okay|done|success|succeeded)\W*$
    | .*(?<!not\ )\bsuccess(?:ful|fully)?\b
    | \W*(?:added|created|deleted|removed|saved|updated)\s\S
    | .*\bis\ now\ (?:on|off|enabled|disabled)\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_LOOKED_UP = re.compile(
    r"\b(?:calculated|computed|fetched|found|listed|loaded|matches|read|results?|retrieved|returned|searched)\b",
    re.IGNORECASE,
)
_LONGEST_NOTICE = 300  # characters; what is longer has something to tell
_FLAGS = ("success", "ok", "succeeded", "status", "result")
_NOTICES = ("message", "msg", "detail", "result")
_ID_KEY = re.compile(r"(?:^|_)(?:id|uuid|key|number|ref|reference)$|(?<=[a-z])(?:Id|ID|Uuid|Number)$")
_ENOUGH_REPEATED = 2  # arguments that an output has to repeat, since a lookup repeats the one it went by


@dataclass(slots=True)
class ToolEvidence:
    """What the recorded calls of one tool tell. Calls are told apart by a number of their own.

    Attributes:
        calls: How many there are.
        failed: How many of them came to nothing, or were blocked; they tell nothing else.
        arguments: The names of their arguments.
        done: Calls whose output says that something was done, and has nothing else to tell.
        minted: Calls whose output is an object with a new id of its own, and repeats the arguments.
        changed: Calls after which a lookup gave another output than before, by the lookup's name.
        same_again: Repeated calls, in one run, that gave the same output again.
        other_again: Those that gave another one.
    """

    calls: int = 0
    failed: int = 0
    arguments: set[str] = field(default_factory=set[str])
    done: set[int] = field(default_factory=set[int])
    minted: set[int] = field(default_factory=set[int])
    changed: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    same_again: int = 0
    other_again: int = 0

    @property
    def of_write(self) -> set[int]:
        """The calls that speak for a write."""
        return self.done.union(self.minted, *self.changed.values())

    @property
    def of_read(self) -> int:
        """How many calls speak for a read: repeats, as long as none gave another output."""
        return 0 if self.other_again else self.same_again


def gather_evidence(
    runs: Iterable[Sequence[ExtractedToolCall]], kind_of: Callable[[str], Kind]
) -> dict[str, ToolEvidence]:
    """Look at the calls of some runs.

    A lookup that gives another output than the same lookup before it shows a write, if only one tool was
    called in between that may have written. A lookup that changes by itself, as one of the time does, shows
    nothing.

    Args:
        runs: The calls of each run, in order.
        kind_of: What a tool is known for by its name.
    """
    gathering = _Gathering(kind_of)
    for calls in runs:
        gathering.add(calls)
    for evidence in gathering.tools.values():
        for lookup in gathering.unsteady.intersection(evidence.changed):
            del evidence.changed[lookup]
    return dict(gathering.tools)


class _Gathering:
    """The evidence so far."""

    def __init__(self, kind_of: Callable[[str], Kind]) -> None:
        self.tools: defaultdict[str, ToolEvidence] = defaultdict(ToolEvidence)
        self.unsteady: set[str] = set()
        self._kind_of = kind_of
        self._number = 0

    def add(self, calls: Sequence[ExtractedToolCall]) -> None:
        """Look at one run."""
        before: dict[tuple[str, str], tuple[int, str]] = {}
        may_have_written: list[tuple[int, str]] = []
        known: set[JsonValue] = set()
        for call in calls:
            if not call.name:  # an output without its call
                continue
            self._number += 1
            evidence, kind = self.tools[call.name], self._kind_of(call.name)
            evidence.calls += 1
            arguments: JsonValue = call.arguments
            if isinstance(arguments, dict):
                evidence.arguments.update(cast("JsonObject", arguments))
            if says_failed(call):
                evidence.failed += 1
                continue
            if call.has_output:
                output = read_output(call.output)
                self._repeated(call, canonical_json(output), before, may_have_written)
                if kind == "open":
                    self._look_at_output(evidence, call, output, known)
                known.update(_scalars(arguments), _scalars(output))
            if kind == "open":
                may_have_written.append((self._number, call.name))

    def _repeated(
        self,
        call: ExtractedToolCall,
        output: str,
        before: dict[tuple[str, str], tuple[int, str]],
        may_have_written: Sequence[tuple[int, str]],
    ) -> None:
        """Compare a call with the same call before it, if there is one."""
        key = (call.name, call.args_hash)
        earlier = before.get(key)
        before[key] = (self._number, output)
        if earlier is None:
            return
        number, earlier_output = earlier
        evidence = self.tools[call.name]
        if output == earlier_output:
            evidence.same_again += 1
            return
        evidence.other_again += 1
        if self._kind_of(call.name) != "lookup":
            return
        since = [(one, tool) for one, tool in may_have_written if one > number]
        tools = {tool for _, tool in since}
        if not tools:
            self.unsteady.add(call.name)
        elif len(tools) == 1:
            self.tools[since[-1][1]].changed.setdefault(call.name, set()).add(since[-1][0])

    def _look_at_output(
        self, evidence: ToolEvidence, call: ExtractedToolCall, output: JsonValue, known: set[JsonValue]
    ) -> None:
        if _says_done(output):
            evidence.done.add(self._number)
        if _mints(call.arguments, output, known):
            evidence.minted.add(self._number)


def _says_done(output: JsonValue) -> bool:
    """Tell whether an output says that something was done, and has nothing else to tell.

    So it is with short text such as `ok` or `Successfully added 2 GB`, an object with a `message` of that
    kind, or one of nothing but a flag (`success: true`, `status: done`) and ids.
    """
    if isinstance(output, str):
        return _is_notice(output)
    if not isinstance(output, dict):
        return False
    members = cast("JsonObject", output)
    texts = [members[key] for key in _NOTICES if isinstance(members.get(key), str)]
    if any(_is_notice(text) and " " in text for text in texts):
        return True
    flagged = any(members.get(key) is True or _is_flag(members.get(key)) for key in _FLAGS)
    silent = (*_FLAGS, *_NOTICES, "code", "error")
    return flagged and all(
        value is None or key in silent or _ID_KEY.search(key) for key, value in members.items()
    )


def _is_notice(text: str) -> bool:
    return len(text) <= _LONGEST_NOTICE and _DONE.match(text) is not None and not _LOOKED_UP.search(text)


def _is_flag(value: JsonValue) -> bool:
    return isinstance(value, str) and _is_notice(value)


def _mints(arguments: JsonValue, output: JsonValue, known: set[JsonValue]) -> bool:
    """Tell whether an output is a new thing: an id that nobody has named yet, and what the call gave it."""
    if not isinstance(arguments, dict) or not isinstance(output, dict):
        return False
    given, members = cast("JsonObject", arguments), cast("JsonObject", output)
    repeated = sum(members.get(key) == value for key, value in given.items() if value is not None)
    if repeated < _ENOUGH_REPEATED:
        return False
    named = known.union(_scalars(given))
    ids = (value for key, value in members.items() if _ID_KEY.search(key))
    return any(isinstance(value, str | int) and value not in named for value in ids)


def _scalars(value: JsonValue) -> Iterator[JsonValue]:
    """Give the texts and numbers in a value, at any depth."""
    if isinstance(value, dict):
        for child in cast("JsonObject", value).values():
            yield from _scalars(child)
    elif isinstance(value, list):
        for child in cast("list[JsonValue]", value):
            yield from _scalars(child)
    elif value is not None:
        yield value
