"""What a regression judge is shown of two runs: by default the reference's bounded projection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from regress_core.judge.contract import RunJudgeInput
from regress_core.records.envelopes import is_blocked, unwrap_ok
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord

JudgeInputMode = Literal["bounded", "arguments", "full"]
"""How much a judge is shown.

`bounded`: answers, decisions, tool names and hashes, but no context, prompt text, messages, tool outputs or
metadata. `arguments`: that, and the arguments of the tool calls. `full`: everything.
"""

INPUT_SCHEMA_VERSION = "aioc.regression_judge_input.v0"
"""The version of the bounded projection, which is the reference's."""

_DECISION = ("decision", "reason", "publicReason", "policyVersion")
_PROMPT = ("turn", "agentName", "model", "promptVersion", "promptHash")
_REQUEST = ("turn", "agentName", "providerName", "model", "requestHash", "messageCount", "toolCount")
_RUN = (
    "runId",
    "status",
    "agentName",
    "providerName",
    "model",
    "question",
    "response",
    "errorName",
    "errorMessage",
)


def to_bounded_judge_input(asked: RunJudgeInput) -> JsonObject:
    """Give the bounded projection, equal to the reference's `toBoundedRunJudgeInput`.

    In one thing it shows less: where a tool's own data happen to have a `status`, `code` or `publicReason`,
    these are raw output, and only the envelope's are shown.
    """
    return _projected(asked, with_arguments=False)


def projected(asked: RunJudgeInput, mode: JudgeInputMode) -> JsonObject:
    """Give as much as a mode shows."""
    if mode == "full":
        return _everything(asked)
    return _projected(asked, with_arguments=mode == "arguments")


def _projected(asked: RunJudgeInput, *, with_arguments: bool) -> JsonObject:
    comparison = asked.comparison
    expectation = asked.expectation
    return _present(
        schemaVersion=INPUT_SCHEMA_VERSION,
        expectation=None if expectation is None else expectation.to_json(),
        baseline=_run(asked.baseline, with_arguments=with_arguments),
        candidate=_run(asked.candidate, with_arguments=with_arguments),
        comparison={
            "equal": comparison.equal,
            "summary": comparison.summary.to_json(),
            "metrics": comparison.metrics.to_json(),
        },
        baselineDescriptor=_descriptor(asked.baseline_descriptor),
        candidateDescriptor=_descriptor(asked.candidate_descriptor),
    )


def _everything(asked: RunJudgeInput) -> JsonObject:
    expectation = asked.expectation
    return _present(
        expectation=None if expectation is None else expectation.to_json(),
        baseline=asked.baseline.data,
        candidate=asked.candidate.data,
        comparison=asked.comparison.to_json(),
        baselineDescriptor=asked.baseline_descriptor,
        candidateDescriptor=asked.candidate_descriptor,
    )


def _present(**members: JsonValue) -> JsonObject:
    return {key: value for key, value in members.items() if value is not None}


def _picked(entry: Mapping[str, Any], keys: Iterable[str]) -> JsonObject:
    return {key: entry[key] for key in keys if entry.get(key) is not None}


def _run(record: RunRecord, *, with_arguments: bool) -> JsonObject:
    data = record.data
    return {
        **_picked(data, _RUN),
        "toolCalls": _tool_calls(record, with_arguments=with_arguments),
        "policyDecisions": [
            {**_picked(entry, _DECISION), "resource": _picked(entry["resource"], ("kind", "name"))}
            for entry in data["policyDecisions"]
        ],
        "guardrailDecisions": [
            _picked(entry, ("guardrailName", "decision", "reason"))
            for entry in data.get("guardrailDecisions") or ()
        ],
        "promptSnapshots": [_picked(entry, _PROMPT) for entry in data["promptSnapshots"]],
        "requestFingerprints": [_picked(entry, _REQUEST) for entry in data["requestFingerprints"]],
    }


def _tool_calls(record: RunRecord, *, with_arguments: bool) -> list[JsonObject]:
    """List the calls; an output belongs to the latest call with its id, one without a call is left out."""
    calls: list[JsonObject] = []
    latest: dict[str, JsonObject] = {}
    for item in record.items:
        if item["type"] == "tool_call_item":
            call: JsonObject = {"name": item["name"], "hasArguments": "arguments" in item, "hasOutput": False}
            if with_arguments and "arguments" in item:
                call["arguments"] = item["arguments"]
            calls.append(call)
            latest[item["callId"]] = call
        elif item["type"] == "tool_call_output_item" and item["callId"] in latest:
            call = latest[item["callId"]]
            call["hasOutput"] = True
            call["output"] = _output(item["output"]) if "output" in item else {"outputType": "undefined"}
    return calls


def _output(output: JsonValue) -> JsonObject:
    if not isinstance(output, dict):
        return {"outputType": _type_name(output)}
    members = cast("JsonObject", output)
    is_envelope = is_blocked(members) or unwrap_ok(members) is not members
    told = {key: members[key] for key in ("status", "code", "publicReason") if is_envelope}
    told = {key: value for key, value in told.items() if value is None or _is_words(value)}
    return {**told, "outputType": "object", "dataPresent": "data" in members}


def _type_name(value: JsonValue) -> str:
    """Name a value's type as the reference does, by ECMAScript's `typeof`; null is an object there."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_words(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _descriptor(value: JsonValue) -> JsonObject | None:
    """Give a descriptor's name and version, its entry, and what its agents and tools are called."""
    if not isinstance(value, dict):
        return None
    members = cast("JsonObject", value)
    version, runtime = members.get("descriptor_version"), members.get("runtime")
    return _present(
        descriptorVersion=version if _is_words(version) else None,
        metadata=_mapping(members.get("metadata")),
        runtime=_runtime(cast("JsonObject", runtime)) if isinstance(runtime, dict) else None,
        agents=_keys(members.get("agents")),
        tools=_keys(members.get("tools")),
    )


def _runtime(runtime: JsonObject) -> JsonObject:
    entry, turns = runtime.get("entry_agent"), runtime.get("max_turns")
    is_number = isinstance(turns, int | float) and not isinstance(turns, bool) and math.isfinite(turns)
    return _present(
        entryAgent=entry if _is_words(entry) else None,
        maxTurns=turns if is_number else None,
    )


def _mapping(value: JsonValue) -> JsonObject | None:
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _keys(value: JsonValue) -> list[str] | None:
    return list(cast("JsonObject", value)) if isinstance(value, dict) else None
