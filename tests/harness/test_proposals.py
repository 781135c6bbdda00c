"""Proposals: the hash that names a call or handoff, and what waits for a person's approval."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.errors import HandoffApprovalRequiredError, ToolCallApprovalRequiredError
from regress_core.harness.policy import Policies, PolicyResult, ToolPolicyInput, allow, require_approval
from regress_core.harness.proposals import handoff_proposal, tool_proposal
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.models.client import ModelToolCall
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.harness.support import canonical, ended, ok, outputs, policies_answering, run, sha256
from tests.support.harness import agent, asks, call, says

EXPIRES = "2026-04-01T00:00:00Z"


def tool_hash(agent_name: str, tool_name: str, arguments: str) -> str:
    return sha256(
        canonical(
            {"kind": "tool", "agentName": agent_name, "toolName": tool_name, "argsCanonicalJson": arguments}
        )
    )


def handoff_hash(from_agent: str, to_agent: str, payload: str) -> str:
    return sha256(
        canonical(
            {
                "kind": "handoff",
                "fromAgentName": from_agent,
                "toAgentName": to_agent,
                "payloadCanonicalJson": payload,
            }
        )
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "{}"),
        ({"b": 2, "a": 1}, '{"a":1,"b":2}'),
        ({"b": {"y": [1, {"d": 0, "c": 1}], "x": None}}, '{"b":{"x":null,"y":[1,{"c":1,"d":0}]}}'),
        ({"q": 'é "quoted" \n'}, '{"q":"é \\"quoted\\" \\n"}'),
        ({"n": 1.0}, '{"n":1}'),
        ({"n": 10**20}, '{"n":100000000000000000000}'),
        ("text", '"text"'),
        ({"__raw": "{'a':"}, '{"__raw":"{\'a\':"}'),
    ],
)
def test_the_hash_of_a_proposal(arguments: JsonValue, text: str) -> None:
    about_tool = tool_proposal("Agent", "ping", arguments)
    about_handoff = handoff_proposal("Agent", "Other", arguments)

    assert (about_tool.canonical_json, about_handoff.canonical_json) == (text, text)
    assert about_tool.proposal_hash == tool_hash("Agent", "ping", text)
    assert about_handoff.proposal_hash == handoff_hash("Agent", "Other", text)


def test_agent_tool_and_arguments_make_the_hash() -> None:
    hashes = [
        tool_proposal("A", "ping", {"n": 1}).proposal_hash,
        tool_proposal("B", "ping", {"n": 1}).proposal_hash,
        tool_proposal("A", "pong", {"n": 1}).proposal_hash,
        tool_proposal("A", "ping", {"n": True}).proposal_hash,
        tool_proposal("A", "ping", {"n": "1"}).proposal_hash,
        handoff_proposal("A", "ping", {"n": 1}).proposal_hash,
        handoff_proposal("ping", "A", {"n": 1}).proposal_hash,
    ]

    assert len(set(hashes)) == len(hashes)


def harness() -> Agent:
    return agent({"ping": 1}, name="Source", handoffs=[Handoff(agent(name="Target"))])


def suspended(record: RunRecord) -> list[JsonObject]:
    return [dict(proposal) for proposal in record.data.get("suspendedProposals") or ()]


def asking(**more: Any) -> RunOptions:  # noqa: ANN401 - any field of a decision
    return RunOptions(
        policies=policies_answering(require_approval("manager", **more)), record=RecordOptions(run_id="r-7")
    )


FULL: JsonObject = {
    "public_reason": "Ask your manager.",
    "policy_version": "approval.v1",
    "expires_at": EXPIRES,
    "metadata": {"limit": 100},
}
SHOWN: JsonObject = {
    "publicReason": "Ask your manager.",
    "policyVersion": "approval.v1",
    "expiresAt": EXPIRES,
    "metadata": {"limit": 100},
}


@pytest.mark.parametrize("mode", ["throw", "tool_result", None])
@pytest.mark.parametrize(
    ("given", "shown"), [(FULL, SHOWN), ({}, {})], ids=["all fields", "no more than must be"]
)
def test_a_suspended_call(mode: str | None, given: JsonObject, shown: JsonObject) -> None:
    text = '{"b": 2, "a": "é"}'

    done = run(
        harness(), [asks(ModelToolCall("c9", "ping", text)), says("Done.")], asking(result_mode=mode, **given)
    )

    arguments = '{"a":"é","b":2}'
    assert suspended(done.record) == [
        {
            "timestamp": "2026-05-01T00:00:00.004Z",
            "kind": "tool",
            "runId": "r-7",
            "turn": 1,
            "callId": "c9",
            "agentName": "Source",
            "proposalHash": tool_hash("Source", "ping", arguments),
            "reason": "manager",
            "toolName": "ping",
            "rawArguments": text,
            "parsedArguments": {"a": "é", "b": 2},
            "argsCanonicalJson": arguments,
            **shown,
        }
    ]
    assert done.record.status == ("completed" if mode == "tool_result" else "failed")


@pytest.mark.parametrize("mode", ["throw", "tool_result", None])
@pytest.mark.parametrize(
    ("given", "shown"), [(FULL, SHOWN), ({}, {})], ids=["all fields", "no more than must be"]
)
def test_a_suspended_handoff(mode: str | None, given: JsonObject, shown: JsonObject) -> None:
    reply = asks(call("handoff_to_target", "h1", reason="route"))

    done = run(harness(), [reply, says("Done.")], asking(result_mode=mode, **given))

    assert suspended(done.record) == [
        {
            "timestamp": "2026-05-01T00:00:00.004Z",
            "kind": "handoff",
            "runId": "r-7",
            "turn": 1,
            "callId": "h1",
            "agentName": "Source",
            "proposalHash": handoff_hash("Source", "Target", '{"reason":"route"}'),
            "reason": "manager",
            "fromAgentName": "Source",
            "toAgentName": "Target",
            "handoffPayload": {"reason": "route"},
            "payloadCanonicalJson": '{"reason":"route"}',
            **shown,
        }
    ]
    assert done.record.data["agentName"] == "Source"


def test_denied_and_allowed_calls_suspend_nothing() -> None:
    def by_argument(asked: ToolPolicyInput) -> PolicyResult:
        return PolicyResult(asked.parsed_arguments["be"], "asked for", result_mode="tool_result")

    calls = asks(call("ping", "c1", be="allow"), call("ping", "c2", be="deny"))

    record = run(harness(), [calls, says("")], RunOptions(policies=Policies(tool=by_argument))).record

    assert "suspendedProposals" not in record.data


def test_several_proposals_are_kept_in_order() -> None:
    calls = asks(call("ping", "c1", n=1), call("handoff_to_target", "c2"), call("ping", "c3", n=2))

    record = run(harness(), [calls, says("")], asking(result_mode="tool_result")).record

    assert [(entry["callId"], entry["kind"]) for entry in suspended(record)] == [
        ("c1", "tool"),
        ("c2", "handoff"),
        ("c3", "tool"),
    ]


def test_the_error_holds_the_proposal() -> None:
    about_call = run(harness(), [asks(call("ping"))], asking()).error
    about_handoff = run(harness(), [asks(call("handoff_to_target"))], asking()).error

    assert isinstance(about_call, ToolCallApprovalRequiredError)
    assert about_call.suspended_proposal["toolName"] == "ping"
    assert isinstance(about_handoff, HandoffApprovalRequiredError)
    assert about_handoff.suspended_proposal["toAgentName"] == "Target"


def test_an_approved_proposal_is_allowed_in_the_next_run() -> None:
    async def policy(asked: ToolPolicyInput) -> PolicyResult:
        await asyncio.sleep(0)
        approved: list[str] = asked.context.context["approved"]
        return allow("approved") if asked.proposal_hash in approved else require_approval("manager")

    def attempt(approved: list[str], call_id: str) -> RunRecord:
        options = RunOptions(policies=Policies(tool=policy), context={"approved": approved})
        return run(harness(), [asks(call("ping", call_id, amount=10)), says("Done.")], options).record

    first = attempt([], "c1")
    again = attempt(["another"], "c2")
    (waiting,), (still_waiting,) = suspended(first), suspended(again)
    assert waiting["proposalHash"] == still_waiting["proposalHash"]

    approved = attempt([waiting["proposalHash"]], "c3")
    assert approved.status == "completed"
    assert outputs(approved) == [ok(1)]
    assert (
        ended(run(harness(), [asks(call("ping", amount=11))], asking()))[1] == "ToolCallApprovalRequiredError"
    )
