"""The agent loop: turns, calls, what ends a run, and what of it is this run's own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regress_core.harness.agent import Agent
from regress_core.harness.loop import run_agent
from regress_core.harness.run import RunInput
from regress_core.harness.run_options import RunOptions
from regress_core.harness.tools import RunContext, Tool, ToolError
from regress_core.models.client import ModelError, ModelReply, ModelRequest, Usage
from regress_core.models.scripted import FunctionClient
from regress_core.records.json_io import JsonValue
from regress_core.records.model import Item
from tests.harness.support import ALLOWING, allowing, ended, ok, output_items, outputs, run, sha256
from tests.support.harness import WatchedClient, agent, asks, call, runtime, says, scripted, tool


def test_the_whole_record_of_a_run_with_one_call() -> None:
    entry = agent({"lookup": {"n": 1}}, prompt_version="v1", model_settings={"temperature": 0})

    done = run(entry, [asks(call("lookup", q="a")), says("Done.")])

    call_item = (
        '{"arguments":{"q":"a"},"callId":"c1","name":"lookup","rawItem":{"arguments":"{\\"q\\":\\"a\\"}",'
        '"id":"c1","name":"lookup","type":"function_call"},"type":"tool_call_item"}'
    )
    envelope = '{"code":null,"data":{"n":1},"publicReason":null,"status":"ok"}'
    output_item = (
        f'{{"callId":"c1","output":{envelope},"rawItem":{{"call_id":"c1","output":{envelope},'
        '"type":"function_call_result"},"type":"tool_call_output_item"}'
    )
    question = '{"content":"hello","role":"user","type":"message"}'
    tools = '[{"description":"Tool lookup.","name":"lookup","parameters":{"type":"object"}}]'

    def snapshot(turn: int, milliseconds: int) -> dict[str, Any]:
        return {
            "timestamp": f"2026-05-01T00:00:00.{milliseconds:03}Z",
            "turn": turn,
            "agentName": "helper",
            "model": "m-small",
            "promptVersion": "v1",
            "promptHash": sha256("Be brief."),
        }

    def fingerprint(turn: int, milliseconds: int, messages: list[str]) -> dict[str, Any]:
        joined = f"[{','.join(messages)}]"
        return {
            "timestamp": f"2026-05-01T00:00:00.{milliseconds:03}Z",
            "turn": turn,
            "agentName": "helper",
            "providerName": "ScriptedProvider",
            "model": "m-small",
            "fingerprintSchemaVersion": "request-fingerprint.v1",
            "requestHash": sha256(
                f'{{"messages":{joined},"model":"m-small","modelSettings":{{"temperature":0}},'
                f'"systemPrompt":"Be brief.","tools":{tools}}}'
            ),
            "systemPromptHash": sha256('"Be brief."'),
            "messagesHash": sha256(joined),
            "toolsHash": sha256(tools),
            "modelSettingsHash": sha256('{"temperature":0}'),
            "messageCount": len(messages),
            "toolCount": 1,
        }

    record: dict[str, Any] = dict(done.record.data)
    versions = {entry.pop("runtimeVersion") for entry in record["requestFingerprints"]}
    assert len(versions) == 1
    assert record == {
        "runId": "run-1",
        "startedAt": "2026-05-01T00:00:00.000Z",
        "completedAt": "2026-05-01T00:00:00.006Z",
        "status": "completed",
        "agentName": "helper",
        "providerName": "ScriptedProvider",
        "model": "m-small",
        "question": "hello",
        "response": "Done.",
        "contextSnapshot": {},
        "contextRedacted": False,
        "items": [
            {"type": "message", "role": "user", "content": "hello"},
            {
                "type": "tool_call_item",
                "callId": "c1",
                "name": "lookup",
                "arguments": {"q": "a"},
                "rawItem": {"type": "function_call", "id": "c1", "name": "lookup", "arguments": '{"q":"a"}'},
            },
            {
                "type": "tool_call_output_item",
                "callId": "c1",
                "output": ok({"n": 1}),
                "rawItem": {"type": "function_call_result", "call_id": "c1", "output": ok({"n": 1})},
            },
            {"type": "message", "role": "assistant", "content": "Done."},
        ],
        "inputItemCount": 1,
        "promptSnapshots": [snapshot(1, 1), snapshot(2, 4)],
        "requestFingerprints": [
            fingerprint(1, 2, [question]),
            fingerprint(2, 5, [question, call_item, output_item]),
        ],
        "policyDecisions": [
            {
                "timestamp": "2026-05-01T00:00:00.003Z",
                "turn": 1,
                "callId": "c1",
                "decision": "allow",
                "reason": "allowed",
                "resource": {"kind": "tool", "name": "lookup"},
            }
        ],
    }


def test_a_conversation_is_input_as_it_is() -> None:
    conversation: list[Item] = [
        {"type": "message", "role": "system", "content": "Internal."},
        {"type": "message", "role": "user", "content": "  First?  "},
        {"type": "message", "role": "assistant", "content": "Answer."},
        {"type": "message", "role": "user", "content": "\n"},
        {"type": "message", "role": "user", "content": "Second?"},
    ]
    model = WatchedClient(scripted(says("Yes.")))

    record = run(agent(), model, start=RunInput.of(conversation)).record

    assert record.data["question"] == "First?\n\nSecond?"
    assert record.data.get("inputItemCount") == 5
    assert record.items == [*conversation, {"type": "message", "role": "assistant", "content": "Yes."}]
    assert model.requests[0]["messages"] == conversation


def test_text_beside_calls_is_no_answer() -> None:
    replies = [ModelReply("Let me look.", (call("lookup"),)), says("Found.")]

    record = run(agent({"lookup": 1}), replies).record

    assert record.response == "Found."
    assert [item["type"] for item in record.items] == [
        "message",
        "tool_call_item",
        "tool_call_output_item",
        "message",
    ]


def test_calls_of_one_reply_run_in_order_each_with_its_output() -> None:
    replies = [asks(call("a", "c1"), call("b", "c2"), call("a", "c1")), says("Done.")]

    record = run(agent({"a": "A", "b": "B"}), replies).record

    assert [item.get("callId") for item in record.items] == [None, "c1", "c1", "c2", "c2", "c1", "c1", None]
    assert output_items(record) == [
        {"callId": "c1", "output": ok("A")},
        {"callId": "c2", "output": ok("B")},
        {"callId": "c1", "output": ok("A")},
    ]
    assert [(d["turn"], d["callId"]) for d in record.policy_decisions] == [(1, "c1"), (1, "c2"), (1, "c1")]


@pytest.mark.parametrize(
    ("max_turns", "turns_asked", "message"),
    [
        pytest.param(None, 10, "Max turns exceeded: 10", id="ten by default"),
        pytest.param(2, 2, "Max turns exceeded: 2", id="two"),
        pytest.param(0, 0, "Max turns exceeded: 0", id="none"),
    ],
)
def test_max_turns(max_turns: int | None, turns_asked: int, message: str) -> None:
    model = WatchedClient(FunctionClient(lambda _: asks(call("again"))))

    done = run(agent({"again": None}), model, allowing(max_turns=max_turns))

    assert ended(done) == ("failed", "MaxTurnsExceededError", message)
    assert len(model.requests) == turns_asked
    assert done.record.response == ""


def test_the_last_turn_may_answer() -> None:
    done = run(agent({"again": None}), [asks(call("again")), says("Done.")], allowing(max_turns=2))

    assert ended(done) == ("completed", None, None)


@pytest.mark.parametrize("model", [None, "", "  "], ids=["none", "empty", "blank"])
def test_an_agent_without_a_model_fails(model: str | None) -> None:
    done = run(agent(model=model), [says("Hi.")])

    message = 'Agent "helper" has no model configured. Set "model" explicitly.'
    assert ended(done) == ("failed", "Error", message)
    assert done.record.data["promptSnapshots"] == []


def test_a_given_model_takes_the_place_of_every_agents_own() -> None:
    record = run(agent(model=None), [says("Hi.")], model_name="openai:big").record

    assert record.data.get("model") == "openai:big"
    assert record.data["promptSnapshots"][0].get("model") == "openai:big"
    assert record.data["requestFingerprints"][0]["model"] == "openai:big"


def test_an_unknown_tool_ends_the_run_before_any_policy_is_asked() -> None:
    done = run(agent({"known": 1}), [asks(call("known", "c1"), call("unknown", "c2")), says("Done.")])

    assert ended(done) == ("failed", "ToolCallError", 'Tool "unknown" is not registered.')
    assert [decision["callId"] for decision in done.record.policy_decisions] == ["c1"]
    assert [item.get("callId") for item in done.record.items] == [None, "c1", "c1", "c2"]


def test_a_model_that_fails_ends_the_run_with_all_that_was_done() -> None:
    replies = iter([asks(call("lookup"))])

    def answer(_: ModelRequest) -> ModelReply:
        reply = next(replies, None)
        if reply is None:
            raise ModelError("refused request", "context too long", status=400)
        return reply

    done = run(agent({"lookup": 1}), FunctionClient(answer))

    assert ended(done) == ("failed", "ModelError", "context too long")
    assert outputs(done.record) == [ok(1)]
    assert len(done.record.data["requestFingerprints"]) == 2


def test_usage_is_summed_also_of_a_failed_run() -> None:
    replies = [
        ModelReply(tool_calls=(call("lookup"),), usage=Usage(10, 5, 1, 2)),
        ModelReply(tool_calls=(call("unknown"),), usage=Usage(20, 7, 3, 4)),
    ]

    assert run(agent({"lookup": 1}), replies).usage == Usage(30, 12, 4, 6)


def test_usage_is_of_the_turns_that_tell_it() -> None:
    replies = [ModelReply(tool_calls=(call("lookup"),)), ModelReply("Done.", usage=Usage(20, 7, 3, 4))]

    assert run(agent({"lookup": 1}), replies).usage == Usage(20, 7, 3, 4)


def _cancels_itself(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise asyncio.CancelledError


def _exits(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("execute", "message"), [(_cancels_itself, "CancelledError: "), (_exits, "SystemExit: 0")]
)
def test_a_tool_that_breaks_off_what_is_not_its_own_fails_its_run_only(execute: Any, message: str) -> None:  # noqa: ANN401 - a tool
    done = run(agent([Tool("leave", "", execute)]), [asks(call("leave")), says("Done.")])

    assert ended(done) == ("failed", "BrokenOffError", message)


def test_cancelling_a_run_cancels_it() -> None:
    async def wait(_arguments: JsonValue, _context: RunContext) -> JsonValue:
        started.set()
        await asyncio.sleep(60)

    started = asyncio.Event()

    async def main() -> None:
        task = asyncio.create_task(
            run_agent(
                agent([Tool("wait", "", wait)]),
                RunInput.of_text("hello"),
                model=scripted(asks(call("wait"))),
                runtime=runtime(),
                options=ALLOWING,
            )
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_an_error_meant_for_the_model_does_not_end_the_run() -> None:
    def fail(_arguments: JsonValue, _context: RunContext) -> JsonValue:
        raise ToolError({"error": "no such order"})

    model = WatchedClient(scripted(asks(call("fail", "c1"), call("fine", "c2")), says("Sorry.")))

    record = run(agent([Tool("fail", "", fail), tool("fine", 1)]), model).record

    error = {"error": "no such order"}
    assert record.status == "completed"
    assert output_items(record) == [
        {"callId": "c1", "output": error, "isError": True},
        {"callId": "c2", "output": ok(1)},
    ]
    assert model.requests[1]["messages"][2] == {
        "type": "tool_call_output_item",
        "callId": "c1",
        "output": error,
        "isError": True,
        "rawItem": {"type": "function_call_result", "call_id": "c1", "output": error},
    }


def test_nothing_is_allowed_by_default() -> None:
    entry: Agent = agent({"lookup": 1})

    done = run(entry, [asks(call("lookup")), says("Done.")], RunOptions())

    message = 'Tool "lookup" denied by policy: policy_not_configured'
    assert ended(done) == ("failed", "ToolCallPolicyDeniedError", message)
