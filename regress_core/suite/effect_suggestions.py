"""Which tools of a suite write: proposed from their names, their schemas and recorded calls.

A person confirms it. What a name says goes first, since it is what the tool's author meant; recorded calls
decide where it says nothing, and are counted everywhere.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, cast

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.harness.descriptor.outline import Effect
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.tool_calls import ExtractedToolCall
from regress_core.suite.effect_evidence import Kind, ToolEvidence, gather_evidence
from regress_core.suite.effect_names import NamedEffect, NameSays, effect_of_name

SuggestedEffect = Literal["write", "read", "unsure"]
_ORDER: Sequence[SuggestedEffect] = ("write", "unsure", "read")
_KINDS: Mapping[NameSays, Kind] = {"read": "lookup", "speech": "silent"}
_AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What is proposed of one tool.

    Attributes:
        tool: Its name.
        effect: What is proposed.
        reasons: Why, in words.
        calls: How many calls of it are recorded.
        evidence: How many of them speak for what is proposed; where it is unsure, for a write.
        defaults: What an argument is that a call leaves out, as the tool's schema says; of writes only.
    """

    tool: str
    effect: SuggestedEffect
    reasons: Sequence[str]
    calls: int
    evidence: int
    defaults: JsonObject = field(default_factory=dict[str, JsonValue])

    def to_json(self) -> JsonObject:
        """Give it as JSON."""
        return {
            "tool": self.tool,
            "effect": self.effect,
            "reasons": list(self.reasons),
            "calls": self.calls,
            "evidence": self.evidence,
            "defaults": self.defaults,
        }


def suggest_effects(
    calls_by_run: Iterable[Sequence[ExtractedToolCall]],
    schemas: Mapping[str, JsonObject] = {},
    declared: Mapping[str, Effect] = {},
) -> Sequence[Suggestion]:
    """Propose for each tool whether it writes.

    Args:
        calls_by_run: The calls of each recorded run, in order.
        schemas: JSON Schemas of the tools' arguments, by the tools' names, as far as they are known.
        declared: Effects that a descriptor declares, by the tools' names; they are taken as they are.

    Returns:
        A suggestion for every tool that is called or has a schema: writes, then the unsure, then reads, each
        by name.
    """
    name_says = cache(effect_of_name)

    def kind_of(tool: str) -> Kind:
        if tool in declared:
            return "lookup" if declared[tool] == "read" else "open"
        return _KINDS.get(name_says(tool).says, "open")

    evidence = gather_evidence(calls_by_run, kind_of)
    known = {tool: NamedEffect(effect, "its descriptor declares it") for tool, effect in declared.items()}
    suggestions = [
        _suggestion(
            tool,
            known.get(tool) or name_says(tool),
            evidence.get(tool, ToolEvidence()),
            schemas.get(tool, {}),
        )
        for tool in {*evidence, *schemas}
    ]
    return sorted(suggestions, key=lambda one: (_ORDER.index(one.effect), one.tool))


def as_config(suggestions: Iterable[Suggestion]) -> EffectsConfig:
    """Give the `effects` mapping that says what is proposed; what is unsure is no write."""
    writes = [one for one in suggestions if one.effect == "write"]
    return EffectsConfig(
        write=tuple(glob.escape(one.tool) for one in writes),
        defaults={glob.escape(one.tool): one.defaults for one in writes if one.defaults},
    )


def _suggestion(tool: str, named: NamedEffect, evidence: ToolEvidence, schema: JsonObject) -> Suggestion:
    arguments = evidence.arguments | _properties(schema).keys()
    if named.says == "speech" and _AMOUNT in arguments:
        named = NamedEffect("write", f"it is given an argument `{_AMOUNT}`, so that it moves something")
    effect = _effect(named, evidence)
    return Suggestion(
        tool=tool,
        effect=effect,
        reasons=(named.reason, *_told_by_calls(evidence)),
        calls=evidence.calls,
        evidence=evidence.of_read if effect == "read" else len(evidence.of_write),
        defaults=_defaults(schema) if effect == "write" else {},
    )


def _effect(named: NamedEffect, evidence: ToolEvidence) -> SuggestedEffect:
    if named.says == "write":
        return "write"
    if named.says in {"read", "speech"}:
        return "read"
    if named.says == "nothing":
        for_write = len(evidence.of_write)
        made = evidence.calls - evidence.failed
        if (for_write > 1 or for_write == made > 0) and not evidence.of_read:
            return "write"
        if evidence.of_read > 1 and not for_write:
            return "read"
    return "unsure"


def _told_by_calls(evidence: ToolEvidence) -> Iterator[str]:
    made = evidence.calls - evidence.failed
    if not evidence.calls:
        yield "no call of it is recorded"
    if evidence.done:
        yield f"{len(evidence.done)} of {made} calls say that something was done"
    if evidence.minted:
        yield f"{len(evidence.minted)} of {made} calls give a new id to what they were called with"
    for lookup, calls in sorted(evidence.changed.items()):
        yield f"after {len(calls)} of {made} calls `{lookup}` gave another output than before"
    if evidence.of_read:
        yield f"{evidence.of_read} calls repeat one of their run, always with the same output"
    if evidence.failed:
        yield f"{evidence.failed} of {evidence.calls} calls failed"


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return cast("JsonObject", properties) if isinstance(properties, dict) else {}


def _defaults(schema: JsonObject) -> JsonObject:
    return {
        name: cast("JsonObject", argument)["default"]
        for name, argument in _properties(schema).items()
        if isinstance(argument, dict) and "default" in argument
    }
