"""Assertions on the calls that the candidate made and on what it said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import assert_never

from regress_core.checks.kinds import (
    Arguments,
    Assertion,
    CallCount,
    CallOrder,
    JsonAnswer,
    MarkdownAnswer,
    MaxTurns,
    TextContains,
    TextMatches,
    TextNotContains,
    ToolCalled,
    ToolNotCalled,
)
from regress_core.checks.outcome import Finding
from regress_core.checks.own_part import OwnCall, OwnPart, Said
from regress_core.checks.structure import LONGEST_FAULT, find_json, find_markdown
from regress_core.checks.texts import cut, excerpt, quoted
from regress_core.records.json_io import JsonError
from regress_core.records.json_schema import schema_violation
from regress_core.records.patterns import Holds

_SHOWN_TOOLS = 10


def find(assertion: Assertion, own: OwnPart) -> Finding:  # noqa: PLR0911 - one return a sort of assertion
    """Look for what an assertion wants."""
    match assertion:
        case ToolCalled() | ToolNotCalled():
            return _called(assertion, own.calls)
        case CallCount():
            return _call_count(assertion, own.calls)
        case CallOrder():
            return _call_order(assertion, own.calls)
        case Arguments():
            return _arguments(assertion, own.calls)
        case MaxTurns():
            return _max_turns(assertion, own.calls)
        case TextContains() | TextNotContains() | TextMatches():
            return _text(assertion, own)
        case JsonAnswer():
            return find_json(assertion, own.response)
        case MarkdownAnswer():
            return find_markdown(assertion, own.response)
        case _:
            assert_never(assertion)


def _called(assertion: ToolCalled | ToolNotCalled, calls: Sequence[OwnCall]) -> Finding:
    wanted = isinstance(assertion, ToolCalled)
    looked_for = f"{'a' if wanted else 'no'} call of {assertion.tool}"
    made = [call for call in calls if assertion.is_about(call.name)]
    if not made:
        return Finding(looked_for, _called_instead(calls), holds=not wanted)
    found = f"{_calls(made)}; the first is {_shown(made[0])}"
    return Finding(looked_for, found, made[0].where, holds=wanted)


def _called_instead(calls: Iterable[OwnCall]) -> str:
    names = list(dict.fromkeys(call.name for call in calls))
    if not names:
        return "no call of any tool"
    more = f" and {len(names) - _SHOWN_TOOLS} more" if len(names) > _SHOWN_TOOLS else ""
    return f"no call of it; called were {', '.join(names[:_SHOWN_TOOLS])}{more}"


def _call_count(assertion: CallCount, calls: Sequence[OwnCall]) -> Finding:
    made = [call for call in calls if assertion.is_about(call.name)]
    low, high = assertion.min or 0, assertion.max
    too_many = made[high:] if high is not None else []
    if high is None:
        wanted = f"at least {low}"
    elif low == high:
        wanted = f"exactly {low}"
    else:
        wanted = f"{low} to {high}" if low else f"at most {high}"
    where = too_many[0].where if too_many else None
    found = f"{_calls(made)}; too many from {_shown(too_many[0])} on" if too_many else _calls(made)
    looked_for = f"{wanted} calls of {assertion.tool}"
    return Finding(looked_for, found, where, holds=low <= len(made) and not too_many)


def _call_order(assertion: CallOrder, calls: Sequence[OwnCall]) -> Finding:
    looked_for = f"first calls in the order {', '.join(assertion.tools)}"
    found: list[str] = []
    before: OwnCall | None = None
    for tool in assertion.tools:
        first = next((call for call in calls if fnmatchcase(call.name, tool)), None)
        if first is None:
            return Finding(looked_for, f"no call of {tool}", holds=False)
        found.append(f"{tool} at {first.where}")
        if before is not None and first.index <= before.index:
            return Finding(looked_for, ", ".join(found), first.where, holds=False)
        before = first
    return Finding(looked_for, ", ".join(found), holds=True)


def _arguments(assertion: Arguments, calls: Sequence[OwnCall]) -> Finding:
    looked_for = f"every call of {assertion.tool} with arguments that fit the schema"
    made = [call for call in calls if assertion.is_about(call.name)]
    faults = [(call, fault) for call in made if (fault := _fault(assertion, call)) is not None]
    if not faults:
        return Finding(looked_for, _calls(made), holds=True)
    call, fault = faults[0]
    found = f"{fault.path}: {cut(fault.reason, LONGEST_FAULT)}; {len(faults)} of {_calls(made)} at fault"
    return Finding(looked_for, found, f"{call.where}.arguments{fault.path.removeprefix('$')}", holds=False)


def _fault(assertion: Arguments, call: OwnCall) -> JsonError | None:
    if call.arguments is None:
        return JsonError("$", "no arguments")
    if isinstance(call.arguments, str):
        return JsonError("$", f"arguments that were never parsed, {quoted(call.arguments)}")
    return schema_violation(assertion.validator, call.arguments)


def _max_turns(assertion: MaxTurns, calls: Sequence[OwnCall]) -> Finding:
    firsts: dict[int, OwnCall] = {}
    for call in calls:
        firsts.setdefault(call.group, call)
    too_many = list(firsts.values())[assertion.turns :]
    return Finding(
        holds=not too_many,
        looked_for=f"at most {assertion.turns} turns with calls",
        found="1 turn" if len(firsts) == 1 else f"{len(firsts)} turns",
        where=too_many[0].where if too_many else None,
    )


def _text(assertion: TextContains | TextNotContains | TextMatches, own: OwnPart) -> Finding:
    texts = (own.response,) if assertion.place == "response" else own.transcript
    place = "the answer" if assertion.place == "response" else "all that the assistant said"
    unwanted = isinstance(assertion, TextNotContains)
    looked_for = f"{'no ' if unwanted else ''}{assertion.wording} in {place}"
    said = next(holding(texts, assertion.holds), None)
    if said is not None:
        return Finding(looked_for, excerpt(said.text, assertion.holds), said.where, holds=not unwanted)
    where = own.response.where if assertion.place == "response" else None
    found = f"not in {quoted(own.response.text)}" if where else "nowhere"
    return Finding(looked_for, found, where, holds=unwanted)


def holding(texts: Iterable[Said], holds: Holds) -> Iterator[Said]:
    """Give the texts that hold what is wanted."""
    return (said for said in texts if holds(said.text))


def _calls(made: Sequence[OwnCall]) -> str:
    return "1 call" if len(made) == 1 else f"{len(made)} calls"


def _shown(call: OwnCall) -> str:
    return f"{call.name} {cut(call.args_text)}"
