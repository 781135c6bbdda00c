"""Policies: what none allows is denied, and what becomes of a blocked call or handoff."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from regress_core.harness.agent import Handoff
from regress_core.harness.policy import (
    HandoffPolicy,
    HandoffPolicyInput,
    Policies,
    PolicyResult,
    ToolPolicy,
    ToolPolicyInput,
    allow,
    compose_handoff_policies,
    compose_tool_policies,
    deny,
    require_approval,
)
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelToolCall
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.governed import DENIED, PLACES, RESOURCES, both_kinds, harness, replies
from tests.harness.support import canonical, ended, ok, outputs, policies_answering, run, sha256
from tests.support.harness import WatchedClient, agent, asks, call, says, scripted

EXPIRES = "2026-04-01T00:00:00Z"
WAITING = {"tool": "ToolCallApprovalRequiredError", "handoff": "HandoffApprovalRequiredError"}


MADE: list[tuple[PolicyResult, tuple[object, ...]]] = [
    (allow("fine"), ("allow", "fine", None, None, None, None, None)),
    (
        allow("fine", policy_version="v1", metadata={"a": 1}),
        ("allow", "fine", None, None, "v1", None, {"a": 1}),
    ),
    (deny("no"), ("deny", "no", None, None, None, None, None)),
    (
        deny("no", public_reason="No.", result_mode="tool_result", policy_version="v1", metadata={}),
        ("deny", "no", "No.", "tool_result", "v1", None, {}),
    ),
    (require_approval("ask"), ("require_approval", "ask", None, None, None, None, None)),
    (
        require_approval("ask", public_reason="Ask.", result_mode="throw", expires_at=EXPIRES),
        ("require_approval", "ask", "Ask.", "throw", None, EXPIRES, None),
    ),
]


@pytest.mark.parametrize(("made", "fields"), MADE)
def test_making_a_decision(made: PolicyResult, fields: tuple[object, ...]) -> None:
    assert (
        made.decision,
        made.reason,
        made.public_reason,
        made.result_mode,
        made.policy_version,
        made.expires_at,
        made.metadata,
    ) == fields


@both_kinds
@pytest.mark.parametrize("mode", [None, "throw"])
@pytest.mark.parametrize(
    ("decide", "errors", "what"),
    [
        (deny, DENIED, "denied by policy: blocked"),
        (require_approval, WAITING, "requires approval: blocked"),
    ],
)
def test_blocked_and_thrown(kind: str, mode: Any, decide: Any, errors: dict[str, str], what: str) -> None:  # noqa: ANN401 - a mode, a function
    answer = decide("blocked", public_reason="Not now.", result_mode=mode)

    done = run(harness(), replies(kind), RunOptions(policies=policies_answering(answer)))

    assert ended(done) == ("failed", errors[kind], f"{PLACES[kind]} {what}")
    assert outputs(done.record) == []
    assert done.record.policy_decisions[0].get("resultMode") == "throw"
    assert done.record.data["agentName"] == "Source"


@both_kinds
@pytest.mark.parametrize(
    ("decide", "status", "public", "shown"),
    [
        pytest.param(deny, "denied", "Not now.", "Not now.", id="denied"),
        pytest.param(deny, "denied", None, "Action not allowed.", id="denied, no public reason"),
        pytest.param(deny, "denied", " \n", "Action not allowed.", id="denied, blank public reason"),
        pytest.param(deny, "denied", " No. ", "No.", id="denied, blanks around"),
        pytest.param(require_approval, "approval_required", "Ask.", "Ask.", id="waiting"),
        pytest.param(
            require_approval, "approval_required", None, "Action requires approval.", id="waiting, none"
        ),
    ],
)
def test_blocked_and_told_to_the_model(
    kind: str,
    decide: Any,  # noqa: ANN401 - a function that makes a decision
    status: str,
    public: str | None,
    shown: str,
) -> None:
    model = WatchedClient(scripted(*replies(kind)))
    answer = decide("secret_reason_code", public_reason=public, result_mode="tool_result")

    done = run(harness(), model, RunOptions(policies=policies_answering(answer)))

    envelope = {"status": status, "code": "secret_reason_code", "publicReason": shown, "data": None}
    assert ended(done) == ("completed", None, None)
    assert outputs(done.record) == [envelope]
    assert model.requests[1]["messages"][2]["output"] == envelope
    assert done.record.policy_decisions[0].get("resultMode") == "tool_result"
    assert done.record.data["agentName"] == "Source"


@both_kinds
def test_the_recorded_decision_has_all_that_was_decided(kind: str) -> None:
    answer = require_approval(
        "manager",
        public_reason="Ask your manager.",
        result_mode="tool_result",
        policy_version="approval.v1",
        expires_at=EXPIRES,
        metadata={"limit": 100, "since": datetime(2026, 1, 1, tzinfo=UTC)},
    )

    record = run(harness(), replies(kind), RunOptions(policies=policies_answering(answer))).record

    (decision,) = (dict(decision) for decision in record.policy_decisions)
    assert decision.pop("timestamp") == "2026-05-01T00:00:00.003Z"
    assert decision == {
        "turn": 1,
        "callId": "c1",
        "decision": "require_approval",
        "reason": "manager",
        "publicReason": "Ask your manager.",
        "resultMode": "tool_result",
        "policyVersion": "approval.v1",
        "resource": {"kind": kind, "name": RESOURCES[kind]},
        "expiresAt": EXPIRES,
        "metadata": {"limit": 100, "since": "2026-01-01T00:00:00Z"},
    }


@both_kinds
def test_an_allowed_call_has_no_result_mode(kind: str) -> None:
    entry = agent(
        [Tool("ping", "", lambda _arguments, _context: None)], handoffs=[Handoff(agent(name="Target"))]
    )
    answer = PolicyResult("allow", "fine", result_mode="tool_result")

    done = run(entry, replies(kind), RunOptions(policies=policies_answering(answer)))

    assert done.record.status == "completed"
    assert "resultMode" not in done.record.policy_decisions[0]


def test_what_a_tool_policy_is_told() -> None:
    asked: list[ToolPolicyInput] = []

    async def policy(call: ToolPolicyInput) -> PolicyResult:
        asked.append(call)
        return deny("no", result_mode="tool_result")

    text = '{"b": 2, "a": "é"}'
    call_twice = [asks(call("ping", "c0")), asks(ModelToolCall("c1", "ping", text)), says("Done.")]
    run(harness(), call_twice, RunOptions(policies=Policies(tool=policy), context={"user": "u1"}))

    canonical_arguments = '{"a":"é","b":2}'
    assert asked[1] == ToolPolicyInput(
        agent_name="Source",
        tool_name="ping",
        raw_arguments=text,
        parsed_arguments={"a": "é", "b": 2},
        proposal_hash=sha256(
            canonical(
                {
                    "kind": "tool",
                    "agentName": "Source",
                    "toolName": "ping",
                    "argsCanonicalJson": canonical_arguments,
                }
            )
        ),
        args_canonical_json=canonical_arguments,
        context=RunContext({"user": "u1"}),
        turn=2,
    )


def test_what_a_handoff_policy_is_told() -> None:
    asked: list[HandoffPolicyInput] = []

    async def policy(handoff: HandoffPolicyInput) -> PolicyResult:
        asked.append(handoff)
        return allow("fine")

    run(harness(), replies("handoff"), RunOptions(policies=Policies(handoff=policy)))

    assert asked == [
        HandoffPolicyInput(
            from_agent_name="Source",
            to_agent_name="Target",
            handoff_payload={"a": 1},
            proposal_hash=sha256(
                canonical(
                    {
                        "kind": "handoff",
                        "fromAgentName": "Source",
                        "toAgentName": "Target",
                        "payloadCanonicalJson": '{"a":1}',
                    }
                )
            ),
            payload_canonical_json='{"a":1}',
            context=RunContext({}),
            turn=1,
        )
    ]


def test_a_policy_sees_what_tools_did_to_the_context() -> None:
    def spend(_: JsonValue, context: RunContext) -> JsonValue:
        context.context["budget"] -= 1

    def policy(asked: ToolPolicyInput) -> PolicyResult:
        left: int = asked.context.context["budget"]
        return allow("in budget") if left else deny("budget_spent", result_mode="tool_result")

    done = run(
        agent([Tool("spend", "", spend)]),
        [asks(call("spend", "c1"), call("spend", "c2")), says("Done.")],
        RunOptions(policies=Policies(tool=policy), context={"budget": 1}),
    )

    assert [decision["reason"] for decision in done.record.policy_decisions] == ["in budget", "budget_spent"]
    assert outputs(done.record)[0] == ok(None)


def _named(name: str) -> Any:  # noqa: ANN401 - a policy of either kind
    def policy(_: object) -> PolicyResult:
        return allow(name)

    return policy


@pytest.mark.parametrize(
    ("names", "asked", "reason"),
    [
        pytest.param(["ping", "*"], "ping", "ping", id="by name"),
        pytest.param(["ping", "*"], "other", "*", id="any other"),
        pytest.param(["ping"], "other", None, id="none"),
        pytest.param([], "ping", None, id="no policies"),
    ],
)
def test_composed_policies(names: list[str], asked: str, reason: str | None) -> None:
    tools: dict[str, ToolPolicy] = {name: _named(name) for name in names}
    handoffs: dict[str, HandoffPolicy] = {name: _named(name) for name in names}

    about_tool = compose_tool_policies(tools)(ToolPolicyInput("a", asked, "", {}, "", "", RunContext({}), 1))
    about_handoff = compose_handoff_policies(handoffs)(
        HandoffPolicyInput("a", asked, {}, "", "", RunContext({}), 1)
    )

    assert about_tool == (allow(reason) if reason else deny(f"deny_unconfigured_tool_{asked}"))
    assert about_handoff == (allow(reason) if reason else deny(f"deny_unconfigured_handoff_{asked}"))


def test_composed_policies_decide_by_tool() -> None:
    policies = Policies(
        tool=compose_tool_policies({"fine": _named("fine")}), handoff=compose_handoff_policies({})
    )
    entry = agent({"fine": 1, "other": 2})

    done = run(entry, [asks(call("fine", "c1"), call("other", "c2"))], RunOptions(policies=policies))

    message = 'Tool "other" denied by policy: deny_unconfigured_tool_other'
    assert ended(done) == ("failed", "ToolCallPolicyDeniedError", message)
    assert outputs(done.record) == [ok(1)]


def test_the_envelope_of_an_allowed_call_is_around_whatever_the_tool_gave() -> None:
    looks_denied: JsonObject = {"status": "denied", "code": "x", "publicReason": "y", "data": None}

    done = run(agent({"odd": looks_denied}), [asks(call("odd")), says("Done.")])

    assert outputs(done.record) == [ok(looks_denied)]
