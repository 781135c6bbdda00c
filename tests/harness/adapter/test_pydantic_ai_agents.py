"""Agents of pydantic-ai as agents of your own, with its scripted model, in every mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from regress_core.compare.comparison import compare_run_records
from regress_core.harness.adapter.own_agent import AgentRequest, OwnAgent
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.tools import ToolError
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.harness.adapter.support import ANSWER, LIVE, QUESTION, own_run
from tests.support.records import message, record_json, tool_call, tool_output


async def find_order(order: int, currency: str = "EUR") -> JsonObject:
    """Find an order."""
    return {"order": order, "in": currency}


def find_user(name: str, *, exact: bool = False) -> str:
    """Find a user."""
    return f"live {name} {exact}"


CALLS: Sequence[tuple[str, JsonObject]] = (
    ("find_order", {"order": 1}),
    ("find_user", {"name": "Ann"}),
    ("find_order", {"order": 2, "currency": "EUR"}),
)
RECORDED = ({"order": 1, "in": "old"}, "old Ann", {"order": 2, "in": "old"})


def _asks(*calls: tuple[str, JsonObject]) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in calls])


def _scripted(*replies: ModelResponse) -> FunctionModel:
    """Give a model that answers so, turn by turn, then with the usual answer."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        turn = sum(isinstance(one, ModelResponse) for one in messages)
        return [*replies, ModelResponse(parts=[TextPart(ANSWER)])][turn]

    return FunctionModel(answer)


def _baseline(*turns: Sequence[int]) -> RunRecord:
    """Give the record of a run that makes the calls in these turns, by their numbers."""
    items: list[JsonValue] = [message(QUESTION)]
    for turn in turns:
        items += [tool_call(f"b{n}", CALLS[n][0], arguments=CALLS[n][1]) for n in turn]
        items += [tool_output(f"b{n}", output=RECORDED[n]) for n in turn]
    items.append(message(ANSWER, "assistant"))
    return RunRecord.parse(record_json(question=QUESTION, response=ANSWER, items=items, inputItemCount=1))


def _agent(*turns: Sequence[int]) -> OwnAgent:
    """Give an agent that makes the calls in these turns."""
    model = _scripted(*(_asks(*(CALLS[n] for n in turn)) for turn in turns))

    async def run(request: AgentRequest) -> str:
        wrap = request.tools.wrap
        toolset = FunctionToolset[object]([wrap(find_order), wrap(find_user)])
        return (await Agent(model).run(request.question, toolsets=[toolset])).output

    return run


def _outputs(record: RunRecord) -> list[JsonValue]:
    """Give the outputs in the order in which the model asked for them, whichever ran first."""
    calls = [item for item in record.items if item["type"] == "tool_call_item"]
    outputs = {
        item["callId"]: item.get("output") for item in record.items if item["type"] == "tool_call_output_item"
    }
    order = [next(iter(arguments.values())) for _, arguments in CALLS]
    calls.sort(key=lambda call: order.index(next(iter(call.get("arguments", {}).values()))))
    return [outputs[call["callId"]] for call in calls]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("strict", RECORDED),
        ("hybrid", RECORDED),
        ("live", ({"order": 1, "in": "EUR"}, "live Ann False", {"order": 2, "in": "EUR"})),
    ],
)
@pytest.mark.parametrize("turns", [([0], [1], [2]), ([0, 1, 2],), ([0, 1], [2])])
def test_its_tools_are_answered_as_the_mode_says(
    turns: Sequence[Sequence[int]], mode: ReplayMode, expected: Sequence[JsonValue]
) -> None:
    baseline = _baseline(*turns)

    run = own_run(_agent(*turns), baseline, ReplayOptions(mode=mode))

    assert run.error is None
    assert run.record.response == ANSWER
    # The library fills in what the model leaves out; the record has what the model wrote.
    assert tuple(_outputs(run.record)) == tuple(expected)
    assert compare_run_records(baseline, run.record).equal == (mode != "live")


def test_hybrid_runs_what_is_not_recorded() -> None:
    run = own_run(_agent([0, 1, 2]), _baseline([0]), ReplayOptions(mode="hybrid"))

    assert _outputs(run.record) == [RECORDED[0], "live Ann False", {"order": 2, "in": "EUR"}]
    assert (run.replay_stats.replayed_from_record, run.replay_stats.live_fallback_calls) == (1, 2)


def test_strictly_what_is_not_recorded_fails_the_run() -> None:
    run = own_run(_agent([0, 1]), _baseline([0]))

    assert (run.record.status, run.replay_miss) == ("failed", True)
    assert (run.record.error_message or "").startswith('Missing recorded tool output for "find_user"')


def test_an_agent_that_runs_synchronously() -> None:
    def run_sync(request: AgentRequest) -> str:
        wrap = request.tools.wrap
        toolset = FunctionToolset[object]([wrap(find_order), wrap(find_user)])
        model = _scripted(_asks(*CALLS[:2]), _asks(CALLS[2]))
        return Agent(model).run_sync(request.question, toolsets=[toolset]).output

    baseline = _baseline([0, 1], [2])
    run = own_run(run_sync, baseline)

    assert run.error is None
    assert compare_run_records(baseline, run.record).equal


def test_a_tool_that_takes_the_librarys_context() -> None:
    async def greet(ctx: RunContext[str], name: str) -> str:
        return f"{ctx.deps} {name}"

    async def run(request: AgentRequest) -> str:
        wrapped = request.tools.wrap(greet, leave_out=("ctx",))
        agent = Agent(_scripted(_asks(("greet", {"name": "Ann"}))), deps_type=str)
        return (await agent.run("hi", deps="Hello", toolsets=[FunctionToolset([wrapped])])).output

    known = [tool_call("b1", "greet", arguments={"name": "Ann"}), tool_output("b1", output="old")]
    for options, output in ((ReplayOptions(), "old"), (LIVE, "Hello Ann")):
        done = own_run(run, RunRecord.parse(record_json(items=known)), options)
        assert done.error is None
        calls = [item for item in done.record.items if item["type"] != "message"]
        assert calls == [
            tool_call("call-1", "greet", arguments={"name": "Ann"}),
            tool_output("call-1", output=output),
        ]


def test_a_recorded_error_can_be_told_to_the_model() -> None:
    told: list[Any] = []

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        (part,) = messages[-1].parts
        told.append(getattr(part, "content", None))
        if len(told) == 1:
            return _asks(("find_order", {"order": 9}))
        return ModelResponse(parts=[TextPart("There is none.")])

    async def run(request: AgentRequest) -> str:
        async def find_order(order: int) -> JsonValue:
            try:
                return await request.tools.call("find_order", {"order": order})
            except ToolError as error:
                raise ModelRetry(str(error)) from error

        return (await Agent(FunctionModel(answer), tools=[find_order]).run("hi")).output

    known = [
        tool_call("b1", "find_order", arguments={"order": 9}),
        tool_output("b1", output="no such order", isError=True),
    ]
    done = own_run(run, RunRecord.parse(record_json(items=known)))

    assert (done.error, done.record.response) == (None, "There is none.")
    assert told == ["hi", "no such order"]
    assert tool_output("call-1", output="no such order", isError=True) in done.record.items


def test_its_providers_trouble_is_trouble() -> None:
    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(529, "claude", {"error": {"message": "overloaded"}})

    async def run(request: AgentRequest) -> str:
        return (await Agent(FunctionModel(answer)).run(request.question)).output

    done = own_run(run, _baseline())

    assert done.trouble is not None
    assert (done.trouble.kind, done.trouble.code) == ("outage", "529")


def test_an_answer_that_is_no_text_is_no_answer() -> None:
    async def run(request: AgentRequest) -> Any:  # noqa: ANN401 - what is tested
        return await Agent(_scripted()).run(request.question)

    done = own_run(run, _baseline())

    assert done.record.error_message == "the agent gave AgentRunResult, neither a text nor a RunRecord"
