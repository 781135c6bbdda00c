"""Helpers of these tests: records of several turns, parts of a record, a copy as of another run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import Comparison, Difference
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json, tool_call, tool_output

REFERENCE = CompareOptions(ignore_volatile=False)


def compare(left: JsonObject, right: JsonObject, options: CompareOptions | None = None) -> Comparison:
    return compare_run_records(RunRecord.parse(left), RunRecord.parse(right), options)


def found(differences: Iterable[Difference]) -> list[JsonObject]:
    return [difference.to_json() for difference in differences]


def places(differences: Iterable[Difference]) -> list[str]:
    return [difference.path for difference in differences]


def changed(path: str, left: JsonValue, right: JsonValue) -> JsonObject:
    return {"path": path, "kind": "mismatch", "left": left, "right": right}


def gone(path: str, left: JsonValue) -> JsonObject:
    return {"path": path, "kind": "missing_right", "left": left}


def new(path: str, right: JsonValue) -> JsonObject:
    return {"path": path, "kind": "missing_left", "right": right}


def decision(call_id: str = "c1", turn: int = 1, name: str = "f", **more: JsonValue) -> JsonObject:
    """Give a policy decision; `resource=` replaces the one of the tool `name`."""
    return {
        "timestamp": "2026-01-01T00:00:00.100Z",
        "turn": turn,
        "callId": call_id,
        "decision": "allow",
        "reason": "ok",
        "resource": {"kind": "tool", "name": name},
    } | more


def proposal(call_id: str = "c1", turn: int = 1, **more: JsonValue) -> JsonObject:
    """Give a suspended proposal of a tool call."""
    return {
        "timestamp": "2026-01-01T00:00:00.200Z",
        "runId": "run-1",
        "turn": turn,
        "callId": call_id,
        "agentName": "router",
        "proposalHash": "h",
        "reason": "needs a person",
        "kind": "tool",
        "toolName": "f",
    } | more


def guardrail(**more: JsonValue) -> JsonObject:
    return {
        "timestamp": "2026-01-01T00:00:00.300Z",
        "turn": 1,
        "guardrailName": "tone",
        "decision": "pass",
    } | more


def prompt(**more: JsonValue) -> JsonObject:
    return {
        "timestamp": "2026-01-01T00:00:00.400Z",
        "turn": 1,
        "agentName": "router",
        "promptHash": "h",
    } | more


def fingerprint(**more: JsonValue) -> JsonObject:
    return {
        "timestamp": "2026-01-01T00:00:00.500Z",
        "turn": 1,
        "agentName": "router",
        "providerName": "p",
        "model": "m",
        "runtimeVersion": "0.2.8",
        "fingerprintSchemaVersion": "request-fingerprint.v1",
        "requestHash": "a",
        "systemPromptHash": "b",
        "messagesHash": "c",
        "toolsHash": "d",
        "modelSettingsHash": "e",
        "messageCount": 1,
        "toolCount": 0,
    } | more


def ok_envelope(data: JsonValue, **changes: JsonValue) -> JsonObject:
    """Give the envelope of a tool result that succeeded, then `changes`."""
    return {"status": "ok", "code": None, "publicReason": None, "data": data} | changes


@dataclass(frozen=True)
class Call:
    """A call of the tool `name` with the argument `n`; None has no output."""

    name: str
    n: int
    output: str | None = "done"
    is_error: bool = False


Turns = Sequence[Sequence[Call]]


def turns(notation: str) -> Turns:
    """Read `a1 b2 | c3`: in the first turn the tools a and b are called, in the second c."""
    return [[Call(word[0], int(word[1:])) for word in turn.split()] for turn in notation.split("|")]


def run_of(calls: Turns, *, decided: bool, **changes: JsonValue) -> JsonObject:
    """Give the record of a run: call ids c1, c2, …, the calls of a turn, then their outputs and a message.

    Args:
        calls: The calls, turn by turn.
        decided: Whether every call has its policy decision.
        changes: More fields of the record.
    """
    items, decisions = [message("Where is my order?")], list[JsonObject]()
    number = 0
    for turn, group in enumerate(calls, start=1):
        outputs: list[JsonObject] = []
        for call in group:
            number += 1
            call_id = f"c{number}"
            items.append(tool_call(call_id, call.name, arguments={"n": call.n}))
            if call.output is not None:
                flag = {"isError": True} if call.is_error else {}
                outputs.append(tool_output(call_id, output=call.output, **flag))
            if decided:
                decisions.append(decision(call_id, turn, call.name))
        items += [*outputs, message("One moment.", role="assistant")]
    return record_json(items=items, policyDecisions=decisions) | changes


_PARTS = (
    "items",
    "promptSnapshots",
    "requestFingerprints",
    "policyDecisions",
    "suspendedProposals",
    "guardrailDecisions",
)


def rerun(record: JsonObject) -> JsonObject:
    """Copy a record as if the same harness had run again: other ids and times, nothing else."""
    copy = deepcopy(record)
    copy["runId"] = f"again-{copy['runId']}"
    copy["startedAt"], copy["completedAt"] = "2027-02-03T04:05:06.000Z", "2027-02-03T04:05:09.000Z"
    for field in _PARTS:
        part: JsonObject
        for index, part in enumerate(copy.get(field) or []):
            if "callId" in part:
                part["callId"] = f"again-{part['callId']}"
            if "runId" in part:
                part["runId"] = copy["runId"]
            if "rawItem" in part:
                part["rawItem"] = {"id": f"raw-{index}"}
            for time in ("timestamp", "expiresAt"):
                if isinstance(part.get(time), str):
                    part[time] = f"2027-02-03T04:05:07.{index:03}Z"
    return copy


def text_of(value: JsonValue) -> str:
    """Give a text that is the same for the same value, to sort and count values by."""
    return dumps(value).decode("utf-8")
