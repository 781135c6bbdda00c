"""Handoffs: their names, when they are offered, and whose calls are whose."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.harness.agent import Agent, Handoff
from regress_core.harness.errors import HarnessError
from regress_core.harness.policy import Policies, ToolPolicyInput, allow, allow_all, deny
from regress_core.harness.run_options import RunOptions
from regress_core.harness.toolbox import Toolboxes
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelReply, ModelRequest, ModelToolCall, ToolSpec
from regress_core.models.scripted import FunctionClient
from regress_core.records.json_io import JsonValue
from tests.harness.support import allowing, ended, ok, outputs, run
from tests.support.harness import WatchedClient, agent, asks, call, runtime, says, scripted, tool


def offered(entry: Agent, context: JsonValue = None) -> list[ToolSpec]:
    return list(Toolboxes().of(entry, RunContext(context)).specs)


@pytest.mark.parametrize(
    ("agent_name", "call_name"),
    [
        ("Target Agent", "handoff_to_target_agent"),
        ("billing", "handoff_to_billing"),
        ("  Tier-2 / Support!  ", "handoff_to_tier_2_support"),
        ("A__B--C", "handoff_to_a_b_c"),
        ("Ünïcode", "handoff_to_n_code"),
        ("_private_", "handoff_to_private"),
        ("日本", "handoff_to_agent"),
        ("", "handoff_to_agent"),
    ],
)
def test_the_name_of_a_handoff(agent_name: str, call_name: str) -> None:
    entry = agent(handoffs=[Handoff(Agent(agent_name))])

    assert [spec.name for spec in offered(entry)] == [call_name]


@pytest.mark.parametrize(
    ("tools", "targets", "names"),
    [
        pytest.param(
            [],
            ["A b", "a-B", "A.B"],
            ["handoff_to_a_b", "handoff_to_a_b_2", "handoff_to_a_b_3"],
            id="alike agents",
        ),
        pytest.param(["handoff_to_a"], ["A"], ["handoff_to_a_2"], id="a tool has the name"),
        pytest.param(
            ["handoff_to_a", "handoff_to_a_2"],
            ["A", "a"],
            ["handoff_to_a_3", "handoff_to_a_4"],
            id="tools have both names",
        ),
        pytest.param(
            [],
            ["A", "A 2", "a"],
            ["handoff_to_a", "handoff_to_a_2", "handoff_to_a_3"],
            id="an agent has the suffix",
        ),
    ],
)
def test_names_that_are_taken(tools: list[str], targets: list[str], names: list[str]) -> None:
    entry = agent(dict.fromkeys(tools, 1), handoffs=[Handoff(Agent(target)) for target in targets])

    assert [spec.name for spec in offered(entry)] == [*tools, *names]


def test_a_handoff_is_told_of_by_its_description() -> None:
    described = Agent("Billing", handoff_description="Knows invoices.")
    entry = agent([tool("lookup", 1)], handoffs=[Handoff(described), Handoff(Agent("Support"))])

    anything = {"type": "object", "additionalProperties": True}
    assert offered(entry) == [
        ToolSpec("lookup", "Tool lookup.", {"type": "object"}),
        ToolSpec("handoff_to_billing", 'Handoff to agent "Billing". Knows invoices.', anything),
        ToolSpec("handoff_to_support", 'Handoff to agent "Support".', anything),
    ]


@pytest.mark.parametrize(
    ("arguments", "payload"),
    [
        ('{"reason": "route"}', {"reason": "route"}),
        ("", {}),
        ('{"reason":', {"__raw": '{"reason":'}),
        ('"go"', "go"),
    ],
)
def test_an_allowed_handoff(arguments: str, payload: JsonValue) -> None:
    target = agent(name="Target Agent", model="m-target", instructions="Take over.")
    entry = agent(name="Source", handoffs=[Handoff(target)])
    handoff = asks(ModelToolCall("h1", "handoff_to_target_agent", arguments))
    model = WatchedClient(scripted(handoff, says("Handled.")))

    record = run(entry, model).record

    assert record.response == "Handled."
    assert (record.data["agentName"], record.data.get("model")) == ("Target Agent", "m-target")
    assert outputs(record) == [ok({"handoffTo": "Target Agent", "accepted": True, "payload": payload})]
    assert [(p["turn"], p["agentName"]) for p in record.data["promptSnapshots"]] == [
        (1, "Source"),
        (2, "Target Agent"),
    ]
    assert [request["systemPrompt"] for request in model.requests] == ["Be brief.", "Take over."]
    assert record.policy_decisions[0]["resource"] == {"kind": "handoff", "name": "Target Agent"}


def test_a_handoff_is_not_a_tool_of_the_agent_that_took_over() -> None:
    target = agent(name="Target")
    entry = agent(name="Source", handoffs=[Handoff(target)])
    again = [asks(call("handoff_to_target")), asks(call("handoff_to_target"))]

    done = run(entry, again)

    message = 'Tool "handoff_to_target" is not registered.'
    assert ended(done) == ("failed", "ToolCallError", message)
    assert done.record.data["agentName"] == "Target"


def test_agents_may_hand_over_in_circles() -> None:
    first, second = agent(name="First"), agent(name="Second")
    first.handoffs, second.handoffs = [Handoff(second)], [Handoff(first)]
    there_and_back = [asks(call("handoff_to_second")), asks(call("handoff_to_first")), says("Done.")]

    record = run(first, there_and_back).record

    names = [snapshot["agentName"] for snapshot in record.data["promptSnapshots"]]
    assert names == ["First", "Second", "First"]


def test_a_handoff_to_an_agent_without_a_model_fails_in_its_turn() -> None:
    entry = agent(name="Source", handoffs=[Handoff(agent(name="Target", model=None))])

    done = run(entry, [asks(call("handoff_to_target")), says("Done.")])

    message = 'Agent "Target" has no model configured. Set "model" explicitly.'
    assert ended(done) == ("failed", "Error", message)
    assert done.record.data["agentName"] == "Target"


def _unlocked(context: RunContext) -> bool:
    return context.context["unlocked"]


def _unlock(_: JsonValue, context: RunContext) -> None:
    context.context["unlocked"] = not context.context["unlocked"]


def test_a_handoff_is_offered_while_its_condition_holds() -> None:
    target = agent(name="Target")
    entry = agent(
        [Tool("unlock", "", _unlock)],
        name="Source",
        handoffs=[Handoff(target, _unlocked), Handoff(agent(name="B"))],
    )
    model = WatchedClient(scripted(*[asks(call("unlock"))] * 2, says("Done.")))

    run(entry, model, allowing(context={"unlocked": False}))

    always = ["unlock", "handoff_to_b"]
    with_target = ["unlock", "handoff_to_target", "handoff_to_b"]
    assert [request["tools"] for request in model.requests] == [always, with_target, always]


def test_a_handoff_that_is_not_offered_cannot_be_made() -> None:
    entry = agent(name="Source", handoffs=[Handoff(agent(name="Target"), _unlocked)])

    done = run(entry, [asks(call("handoff_to_target"))], allowing(context={"unlocked": False}))

    assert ended(done) == ("failed", "ToolCallError", 'Tool "handoff_to_target" is not registered.')


def test_a_handoff_stays_offered_for_all_calls_of_a_reply() -> None:
    entry = agent([Tool("unlock", "", _unlock)], handoffs=[Handoff(agent(name="Target"), _unlocked)])
    both = asks(call("unlock", "c1"), call("handoff_to_target", "c2"))

    record = run(entry, [both, says("Done.")], allowing(context={"unlocked": True})).record

    assert record.data["agentName"] == "Target"


def test_a_condition_that_cannot_be_decided_fails_the_run() -> None:
    def undecided(_: RunContext) -> bool:
        raise HarnessError('Unknown context field "tier".')

    done = run(agent(handoffs=[Handoff(agent(name="Target"), undecided)]), [says("Hi.")])

    assert ended(done) == ("failed", "Error", 'Unknown context field "tier".')


def test_calls_after_a_handoff_in_the_same_reply_are_the_asking_agents() -> None:
    asked_by: list[str] = []

    def policy(asked: ToolPolicyInput) -> Any:  # noqa: ANN401 - a decision
        asked_by.append(asked.agent_name)
        return allow("fine")

    target = agent({"theirs": 2}, name="Target")
    entry = agent({"ours": 1}, name="Source", handoffs=[Handoff(target)])
    reply = asks(call("handoff_to_target", "c1"), call("ours", "c2"))
    options = RunOptions(policies=Policies(policy, allow_all().handoff))

    record = run(entry, [reply, asks(call("theirs", "c3")), says("Done.")], options).record

    assert asked_by == ["Source", "Target"]
    assert outputs(record)[1:] == [ok(1), ok(2)]

    theirs_at_once = asks(call("handoff_to_target", "c1"), call("theirs", "c2"))
    done = run(entry, [theirs_at_once], options)
    assert ended(done) == ("failed", "ToolCallError", 'Tool "theirs" is not registered.')


def test_of_several_handoffs_in_one_reply_the_last_allowed_one_counts() -> None:
    def only_two(handoff: Any) -> Any:  # noqa: ANN401 - a question and its answer
        if handoff.to_agent_name == "C":
            return deny("not_c", result_mode="tool_result")
        return allow(f"from {handoff.from_agent_name}")

    targets = [Handoff(agent(name=name)) for name in ("A", "B", "C")]
    entry = agent(name="Source", handoffs=targets)
    reply = asks(*(call(f"handoff_to_{name}", name) for name in ("a", "b", "c")))

    record = run(entry, [reply, says("Done.")], RunOptions(policies=Policies(handoff=only_two))).record

    assert record.data["agentName"] == "B"
    assert [d["reason"] for d in record.policy_decisions] == ["from Source", "from Source", "not_c"]


def test_one_harness_offers_each_run_its_own_handoffs() -> None:
    entry = agent(handoffs=[Handoff(agent(name="Target"), _unlocked)])
    tools: list[int] = []

    def answer(request: ModelRequest) -> ModelReply:
        tools.append(len(request.tools))
        return says("Hi.")

    shared = runtime()
    first = shared.toolboxes.of(entry, RunContext({"unlocked": True}))
    for unlocked in (True, False, True):
        run(entry, FunctionClient(answer), allowing(context={"unlocked": unlocked}))

    assert tools == [1, 0, 1]
    assert shared.toolboxes.of(entry, RunContext({"unlocked": True})) is first
    assert shared.toolboxes.of(entry, RunContext({"unlocked": False})) is not first
