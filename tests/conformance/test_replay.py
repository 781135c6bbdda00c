"""Replaying a record against the reference's: statistics, answer, candidate record, requests, errors."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import pytest

from regress_core.harness.agent import Agent
from regress_core.harness.errors import name_in_record
from regress_core.harness.policy import Policies, PolicyResult, ToolPolicyInput
from regress_core.harness.replay.recorded_tools import MissingToolCallResolution, OnMissingToolCall
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.models.client import ModelReply, ModelToolCall
from regress_core.models.scripted import ScriptedClient
from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from tests.support.conformance import Row, row_params
from tests.support.harness import WatchedClient, replay, tool
from tests.support.json_compare import json_difference

_REASONS = {"allow": "ok", "deny": "blocked", "require_approval": "needs_human"}
_VOLATILE = {"runId", "startedAt", "completedAt", "timestamp", "runtimeVersion", "toolsHash", "requestHash"}


def _replies(row: Row) -> list[ModelReply]:
    return [
        ModelReply(
            text="".join(event["message"] for event in turn if event["type"] == "completed"),
            tool_calls=tuple(
                ModelToolCall(event["callId"], event["name"], event["arguments"])
                for event in turn
                if event["type"] == "tool_call"
            ),
        )
        for turn in row["script"]
    ]


def _policies(row: Row) -> Policies:
    configured = row["policies"]
    if configured is None:
        return Policies()

    def decide(asked: ToolPolicyInput) -> PolicyResult:
        decision = configured["decisions"][asked.tool_name]
        if decision == "allow":
            return PolicyResult("allow", "ok")
        public_reason = "no" if decision == "deny" else None
        return PolicyResult(decision, _REASONS[decision], public_reason, configured["resultMode"])

    return Policies(tool=decide)


def _on_missing(row: Row) -> OnMissingToolCall | None:
    given = row.get("onMissingToolCall")
    if given is None:
        return None
    return lambda _: MissingToolCallResolution(given["action"], given.get("output"))


def _run(row: Row, model: WatchedClient) -> CandidateRun:
    described: dict[str, Any] = row["agent"]
    candidate = Agent(
        name=described["name"],
        model=described["model"],
        instructions=described["instructions"],
        prompt_version=described["promptVersion"],
        tools=[tool(name, row["liveToolOutputs"][name], parameters={}) for name in described["tools"]],
    )
    return replay(
        row["baseline"],
        candidate,
        model,
        options=ReplayOptions(
            mode=row["mode"],
            input_mode=row.get("inputMode") or "recorded",
            on_missing_tool_call=_on_missing(row),
        ),
        run_options=RunOptions(
            policies=_policies(row), max_turns=row["maxTurns"], record=RecordOptions(metadata={})
        ),
    )


def _lasting(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return {key: _lasting(child) for key, child in members.items() if key not in _VOLATILE}
    return [_lasting(child) for child in cast("list[JsonValue]", value)] if isinstance(value, list) else value


def _describe(row: Row) -> str:
    return f"{row['mode']}-{'fails' if 'error' in row['expected'] else 'completes'}"


@pytest.mark.parametrize("row", row_params("replay", _describe))
def test_a_replay_gives_what_the_reference_gives(row: Row) -> None:
    expected: JsonObject = deepcopy(row["expected"])
    model = WatchedClient(ScriptedClient(_replies(row)))

    run = _run(row, model)

    got = loads(dumps(run.record.data))
    message = expected["candidate"].pop("errorMessage", "")
    assert (got.pop("errorMessage", "")).startswith(message)  # ours may say more
    assert json_difference(_lasting(expected["candidate"]), _lasting(got)) is None
    assert json_difference(expected["modelRequests"], model.requests) is None
    if "error" in expected:
        assert run.error is not None
        assert name_in_record(run.error) == expected["error"]["name"]
        assert str(run.error).startswith(expected["error"]["message"])
    else:
        assert run.error is None
        assert run.record.response == expected["finalOutput"]
        assert json_difference(expected["replayStats"], run.replay_stats.to_json()) is None
