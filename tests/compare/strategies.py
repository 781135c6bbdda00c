"""Hypothesis strategies of records: any parts in any order, and runs turn by turn."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from regress_core.records.json_io import JsonObject
from tests.compare.support import Call, Turns, decision, fingerprint, guardrail, prompt, proposal
from tests.support.records import record_json
from tests.support.strategies import ALIKE_JSON_VALUES

_VALUES = ALIKE_JSON_VALUES
_CALL_IDS = st.sampled_from(["c1", "c2", "c3", ""])
_NAMES = st.sampled_from(["f", "g"])
_TEXTS = st.sampled_from(["", "On its way.", "\U0001f600", "Error: boom"])
_TIMES = st.sampled_from(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:09.000Z"])
_TURNS = st.integers(1, 3)
_FLAGS = st.none() | st.booleans()


def _changing(part: JsonObject, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonObject]:
    """Give a part of a record with any of these fields changed."""
    return st.fixed_dictionaries({}, optional=fields).map(lambda changes: part | changes)


_ITEMS = st.one_of(
    _changing({"type": "message", "role": "user", "content": "Hello"}, content=_TEXTS, rawItem=_VALUES),
    _changing(
        {"type": "tool_call_item", "callId": "c1", "name": "f"},
        callId=_CALL_IDS,
        name=_NAMES,
        arguments=_VALUES,
        rawItem=_VALUES,
    ),
    _changing(
        {"type": "tool_call_output_item", "callId": "c1"},
        callId=_CALL_IDS,
        output=_VALUES,
        isError=_FLAGS,
        rawItem=_VALUES,
    ),
)

_DECISIONS = _changing(
    decision(),
    timestamp=_TIMES,
    turn=_TURNS,
    callId=_CALL_IDS,
    decision=st.sampled_from(["allow", "deny", "require_approval"]),
    expiresAt=st.none() | _TIMES,
    metadata=_VALUES,
)

_PROPOSALS = _changing(
    proposal(),
    timestamp=_TIMES,
    turn=_TURNS,
    callId=_CALL_IDS,
    toolName=_NAMES,
    expiresAt=st.none() | _TIMES,
    parsedArguments=_VALUES,
)

_GUARDRAILS = _changing(
    guardrail(), timestamp=_TIMES, turn=_TURNS, decision=st.sampled_from(["pass", "triggered"])
)

RECORDS: st.SearchStrategy[JsonObject] = _changing(
    record_json(),
    startedAt=_TIMES,
    status=st.sampled_from(["completed", "failed"]),
    response=_TEXTS,
    items=st.lists(_ITEMS, max_size=6),
    policyDecisions=st.lists(_DECISIONS, max_size=3),
    suspendedProposals=st.none() | st.lists(_PROPOSALS, max_size=2),
    guardrailDecisions=st.none() | st.lists(_GUARDRAILS, max_size=2),
    promptSnapshots=st.lists(_changing(prompt(), timestamp=_TIMES, promptText=_TEXTS), max_size=2),
    requestFingerprints=st.lists(_changing(fingerprint(), timestamp=_TIMES, toolsHash=_TEXTS), max_size=2),
    errorName=st.none() | _TEXTS,
    errorMessage=st.none() | _TEXTS,
    metadata=st.none() | st.fixed_dictionaries({}, optional={"team": _VALUES, "harness": _VALUES}),
)
"""Any record: ids stand several times, outputs lack their call, decisions are about no call."""

_ENDS: list[tuple[str | None, bool]] = [("done", False), ("gone", False), ("done", True), (None, False)]


@st.composite
def _calls(draw: st.DrawFn) -> Call:
    output, is_error = draw(st.sampled_from(_ENDS))
    return Call(draw(st.sampled_from("ab")), draw(st.integers(0, 1)), output, is_error)


RUNS: st.SearchStrategy[Turns] = st.lists(st.lists(_calls(), min_size=1, max_size=3), max_size=3)
"""The calls of a run, turn by turn; two of them are often alike."""


@st.composite
def shuffled_runs(draw: st.DrawFn) -> tuple[Turns, Turns]:
    """Give a run, and the same run with its calls in another order inside each turn."""
    run = draw(RUNS)
    return run, [draw(st.permutations(turn)) for turn in run]
