"""The tools of an agent of your own: where a call may come from, what it gets, what is noted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from regress_core.harness.adapter.agent_tools import AgentTools, RunOverError
from regress_core.harness.errors import MissingToolOutputError, ToolCallError
from regress_core.harness.replay.recorded_tools import (
    MissingToolCall,
    MissingToolCallResolution,
    ReplayMode,
)
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.tools import Tool, ToolError
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.harness.adapter.support import LIVE, agent_tools, plain, recorded, with_tools
from tests.support.records import record_json, tool_call, tool_output

# Where a call is made.


async def _here(call: Callable[[], Awaitable[JsonValue]]) -> JsonValue:
    return await call()


async def _in_another_loop(call: Callable[[], Awaitable[JsonValue]]) -> JsonValue:
    async def run() -> JsonValue:
        return await call()

    return await asyncio.to_thread(lambda: asyncio.run(run()))


@pytest.mark.parametrize("mode", ["strict", "hybrid", "live"])
@pytest.mark.parametrize("where", [_here, _in_another_loop])
def test_an_async_function_runs_in_the_loop_it_was_called_from(
    where: Callable[[Callable[[], Awaitable[JsonValue]]], Awaitable[JsonValue]], mode: ReplayMode
) -> None:
    ran_in: list[object] = []
    called_in: list[object] = []

    async def find(a: int) -> JsonObject:
        ran_in.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return {"live": a}

    async def use(tools: AgentTools) -> tuple[JsonValue, ...]:
        wrapped = tools.wrap(find)

        async def call() -> list[JsonObject]:
            called_in.append(asyncio.get_running_loop())
            return [await wrapped(1), await wrapped(a=2)]

        return await where(call), tools.items()

    options = ReplayOptions(mode=mode, on_missing_tool_call=_use_new)
    outputs, items = with_tools(use, recorded(("find", {"a": 1}, "old")), options)

    assert outputs == ([{"live": 1}, {"live": 2}] if mode == "live" else ["old", "new"])
    assert ran_in == (called_in * 2 if mode == "live" else [])
    assert [item["output"] for item in items if item["type"] == "tool_call_output_item"] == outputs


async def _use_new(_: MissingToolCall) -> MissingToolCallResolution:
    return MissingToolCallResolution("use_output", "new")


def _in_this_thread(call: Callable[[], JsonValue]) -> Awaitable[JsonValue]:
    done: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
    done.set_result(call())
    return done


def _in_a_thread(call: Callable[[], JsonValue]) -> Awaitable[JsonValue]:
    return asyncio.to_thread(call)


def _below_another_loop(call: Callable[[], JsonValue]) -> Awaitable[JsonValue]:
    async def run() -> JsonValue:
        return call()

    return asyncio.to_thread(lambda: asyncio.run(run()))


@pytest.mark.parametrize("mode", ["strict", "hybrid", "live"])
@pytest.mark.parametrize("where", [_in_this_thread, _in_a_thread, _below_another_loop])
def test_a_plain_function_runs_in_the_thread_it_was_called_from(
    where: Callable[[Callable[[], JsonValue]], Awaitable[JsonValue]], mode: ReplayMode
) -> None:
    ran_in: list[int] = []
    called_in: list[int] = []

    def find(a: int) -> JsonObject:
        ran_in.append(threading.get_ident())
        return {"live": a}

    async def use(tools: AgentTools) -> tuple[JsonValue, ...]:
        wrapped = tools.wrap(find)

        def call() -> list[JsonObject]:
            called_in.append(threading.get_ident())
            return [wrapped(1), wrapped(a=2)]

        return await where(call), tools.items()

    known = [("find", {"a": a}, f"old {a}") for a in ((1, 2) if mode == "strict" else (1,))]
    outputs, items = with_tools(use, recorded(*known), ReplayOptions(mode=mode))

    assert (
        outputs
        == {
            "strict": ["old 1", "old 2"],
            "hybrid": ["old 1", {"live": 2}],
            "live": [{"live": 1}, {"live": 2}],
        }[mode]
    )
    assert ran_in == called_in * {"strict": 0, "hybrid": 1, "live": 2}[mode]
    assert [item["output"] for item in items if item["type"] == "tool_call_output_item"] == outputs


@pytest.mark.parametrize("where", [_in_a_thread, _below_another_loop])
def test_an_async_answer_reaches_another_thread(
    where: Callable[[Callable[[], JsonValue]], Awaitable[JsonValue]],
) -> None:
    async def answer(_: MissingToolCall) -> MissingToolCallResolution:
        await asyncio.sleep(0.001)
        return MissingToolCallResolution("use_output", "new")

    async def use(tools: AgentTools) -> JsonValue:
        return await where(lambda: tools.wrap(plain)(1))

    assert with_tools(use, recorded(), ReplayOptions(on_missing_tool_call=answer)) == "new"


def test_in_the_loops_thread_a_plain_function_cannot_wait_for_an_answer() -> None:
    async def answer(_: MissingToolCall) -> MissingToolCallResolution:
        await asyncio.sleep(0)
        return MissingToolCallResolution("use_output", "new")

    async def use(tools: AgentTools) -> None:
        with pytest.raises(RuntimeError, match="takes waiting, which only an async function can do"):
            tools.wrap(plain)(1)

    with_tools(use, recorded(), ReplayOptions(on_missing_tool_call=answer))


def test_a_tools_stop_iteration_ends_the_call() -> None:
    def empty() -> str:
        return next(iter(()))

    async def use(tools: AgentTools) -> str:
        with pytest.raises(RuntimeError) as raised:
            await asyncio.to_thread(tools.wrap(empty))
        return str(raised.value)

    assert with_tools(use, recorded(), LIVE) == "coroutine raised StopIteration"


def test_a_call_that_is_given_up_in_another_loop_is_given_up_here() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")

    async def use(tools: AgentTools) -> None:
        async def impatient() -> None:
            await asyncio.wait_for(tools.wrap(slow)(), 0.01)

        with pytest.raises(TimeoutError):
            await asyncio.to_thread(lambda: asyncio.run(impatient()))

    with_tools(use, recorded(), LIVE)

    assert ended == ["ended"]


# Calls by name.


def _tools(**functions: Callable[[JsonValue], JsonValue]) -> dict[str, Tool]:
    def tool(name: str, function: Callable[[JsonValue], JsonValue]) -> Tool:
        return Tool(name, "", lambda arguments, _: function(arguments))

    return {name: tool(name, function) for name, function in functions.items()}


@pytest.mark.parametrize("mode", ["strict", "hybrid", "live"])
@pytest.mark.parametrize("thread", [False, True])
def test_a_tool_is_called_by_name(mode: ReplayMode, thread: bool) -> None:  # noqa: FBT001 - a column of the table
    async def use(tools: AgentTools) -> list[JsonValue]:
        async def call(a: int) -> JsonValue:
            if thread:
                return await asyncio.to_thread(tools.call_from_thread, "find", {"a": a})
            return await tools.call("find", {"a": a})

        return [await call(1), await call(2)]

    known = [("find", {"a": a}, f"old {a}") for a in ((1, 2) if mode == "strict" else (1,))]
    registered = _tools(find=lambda arguments: (arguments["a"],))

    outputs = with_tools(use, recorded(*known), ReplayOptions(mode=mode), tools=registered)

    assert outputs == {"strict": ["old 1", "old 2"], "hybrid": ["old 1", [2]], "live": [[1], [2]]}[mode]


def test_the_loops_own_thread_may_not_wait() -> None:
    async def use(tools: AgentTools) -> None:
        with pytest.raises(RuntimeError, match=r"use `await tools.call"):
            tools.call_from_thread("find", {})

    with_tools(use, recorded())


def test_a_tool_that_nobody_knows_is_an_error_when_live() -> None:
    async def use(tools: AgentTools) -> None:
        with pytest.raises(ToolCallError, match='Tool "find" is not registered'):
            await tools.call("find", {})

    with_tools(use, recorded(), LIVE)


def test_arguments_are_a_mapping() -> None:
    async def use(tools: AgentTools) -> None:
        with pytest.raises(TypeError, match="arguments of find: list in place of a mapping"):
            await tools.call("find", [1])  # pyright: ignore[reportArgumentType] - what is tested

    with_tools(use, recorded(), LIVE)


# What a tool's error, and what a missing output is to agent and record.


def _item(number: int, name: str, **arguments: JsonValue) -> JsonObject:
    return tool_call(f"call-{number}", name, arguments=arguments)


def test_a_recorded_error_is_the_tools_error() -> None:
    items = [tool_call("b1", "find", arguments={}), tool_output("b1", output={"code": 7}, isError=True)]

    async def use(tools: AgentTools) -> JsonValue:
        def find() -> None: ...

        with pytest.raises(ToolError) as raised:
            tools.wrap(find)()
        return raised.value.output, tools.items()

    error, noted = with_tools(use, RunRecord.parse(record_json(items=items)))

    assert error == {"code": 7}
    assert noted == [_item(1, "find"), tool_output("call-1", output={"code": 7}, isError=True)]


@pytest.mark.parametrize(
    ("error", "output"),
    [
        pytest.param(ToolError({"code": 7}), {"code": 7}, id="meant for the model"),
        pytest.param(ToolError(("a", 1)), ["a", 1], id="of another kind"),
        pytest.param(ValueError("no such order"), "no such order", id="any other"),
        pytest.param(KeyError(), "KeyError", id="without a text"),
    ],
)
def test_what_a_live_tool_raises_is_raised_and_noted(error: Exception, output: JsonValue) -> None:
    async def use(tools: AgentTools) -> JsonValue:
        async def find() -> None:
            raise error

        with pytest.raises(type(error)) as raised:
            await tools.wrap(find)()
        return raised.value, tools.items()

    raised, noted = with_tools(use, recorded(), LIVE)

    assert raised is error
    assert noted == [_item(1, "find"), tool_output("call-1", output=output, isError=True)]


@pytest.mark.parametrize(
    "output", [pytest.param(object(), id="no JSON"), pytest.param(float("inf"), id="no number")]
)
def test_an_output_without_a_json_form_is_an_error(output: object) -> None:
    async def use(tools: AgentTools) -> JsonValue:
        def find() -> object:
            return output

        with pytest.raises(TypeError, match="no JSON value"):
            tools.wrap(find)()
        return tools.items()[1]

    assert with_tools(use, recorded(), LIVE)["isError"] is True


def test_a_missing_output_is_kept_also_if_the_agent_goes_on() -> None:
    async def use(tools: AgentTools) -> JsonValue:
        wrapped = tools.wrap(plain)
        for a in (1, 2):
            with pytest.raises(MissingToolOutputError):
                wrapped(a)
        return str(tools.miss), tools.items()

    miss, noted = with_tools(use, recorded(("plain", {"a": 3}, "x")))

    assert miss.startswith('Missing recorded tool output for "plain".')
    assert 'argsCanonicalJson={"a":1} (nearest recorded arguments: {"a":3})' in miss
    assert noted == [_item(1, "plain", a=1), _item(2, "plain", a=2)]


def test_the_agent_cannot_change_what_is_recorded() -> None:
    baseline = recorded(("find", {"a": [1]}, {"found": [1]}))

    async def use(tools: AgentTools) -> JsonValue:
        asked: JsonObject = {"a": [1]}
        output = await tools.call("find", asked)
        asked["a"].append(2)
        output["found"].append(2)
        return tools.items()

    noted = with_tools(use, baseline)

    assert noted == [_item(1, "find", a=[1]), tool_output("call-1", output={"found": [1]})]
    assert baseline.items[2] == tool_output("b1", output={"found": [1]})


def test_after_the_run_there_are_no_answers() -> None:
    async def use(tools: AgentTools) -> JsonValue:
        tools.close()
        with pytest.raises(RunOverError):
            await tools.call("plain", {"a": 1})
        with pytest.raises(RunOverError):
            await asyncio.to_thread(tools.wrap(plain), 1)
        return tools.items(), tools

    noted, tools = with_tools(use, recorded(("plain", {"a": 1}, "x")))

    assert noted == []
    with pytest.raises(RuntimeError, match="Event loop is closed"):  # and no warning of what nobody awaited
        asyncio.run(tools.call("plain", {"a": 1}))


# Which calls are one turn.


def _asks(*names: str) -> list[JsonObject]:
    return [tool_call(name, name, arguments={}) for name in names]


def _gets(*names: str) -> list[JsonObject]:
    return [tool_output(name, output=name.upper()) for name in names]


APART = [*_asks("a"), *_gets("a"), *_asks("b"), *_gets("b"), *_asks("c"), *_gets("c")]
TOGETHER = [*_asks("a", "b", "c"), *_gets("a", "b", "c")]

# The recorded items, which calls are made together by the agent, and which are one turn then.
TURNS = [
    pytest.param(APART, ["a", "b", "c"], ["a", "b", "c"], id="one after the other"),
    pytest.param(APART, ["ab", "c"], ["ab", "c"], id="together, which is new"),
    pytest.param(APART, ["abc"], ["abc"], id="all together"),
    pytest.param(TOGETHER, ["a", "b", "c"], ["abc"], id="recorded together, and nobody sees"),
    pytest.param(TOGETHER, ["abc"], ["abc"], id="together as recorded"),
    pytest.param(TOGETHER, ["c", "a"], ["ca"], id="recorded together, in another order"),
    pytest.param(
        [*_asks("a", "b"), *_gets("a", "b"), *_asks("c"), *_gets("c")], ["a", "bc"], ["abc"], id="both"
    ),
]


@pytest.mark.parametrize(("items", "made", "turns"), TURNS)
@pytest.mark.parametrize("mode", ["strict", "live"])
def test_calls_that_overlap_are_one_turn(
    mode: ReplayMode, items: list[JsonValue], made: list[str], turns: list[str]
) -> None:
    async def use(tools: AgentTools) -> JsonValue:
        for names in made:
            await asyncio.gather(*(tools.call(name, {}) for name in names))
        return tools.items()

    async def upper(_: JsonValue, __: object, name: str) -> str:
        await asyncio.sleep(0.001)
        return name.upper()

    tools = {name: Tool(name, "", lambda a, c, name=name: upper(a, c, name)) for name in "abc"}
    noted = with_tools(use, RunRecord.parse(record_json(items=items)), ReplayOptions(mode=mode), tools=tools)

    expected = made if mode == "live" else turns  # live outputs come from no recorded call
    assert _turns(noted) == expected
    assert [item["output"] for item in noted if "output" in item] == list("".join(expected).upper())


def _turns(items: list[JsonObject]) -> list[str]:
    """Give the names of the calls that stand side by side."""
    names = [str(item["name"]) if item["type"] == "tool_call_item" else " " for item in items]
    return "".join(names).split()


def test_a_tool_that_uses_another_one_is_one_turn_with_it() -> None:
    async def use(tools: AgentTools) -> JsonValue:
        inner = tools.wrap(plain)

        def outer() -> str:
            return inner(1)

        await asyncio.to_thread(tools.wrap(outer))
        return tools.items()

    assert _turns(with_tools(use, recorded(), LIVE)) == ["outerplain"]


def test_call_ids_of_the_input_are_not_used_again() -> None:
    async def use(tools: AgentTools) -> JsonValue:
        for _ in range(3):
            tools.wrap(plain)(1)
        return [item["callId"] for item in tools.items(["call-2", "x"]) if item["type"] == "tool_call_item"]

    assert with_tools(use, recorded(), LIVE) == ["call-1", "call-3", "call-4"]


def test_many_threads_at_once() -> None:
    known = [("plain", {"a": a}, f"old {a}") for a in range(100)]

    async def use(tools: AgentTools) -> JsonValue:
        wrapped = tools.wrap(plain)
        outputs = await asyncio.gather(*(asyncio.to_thread(wrapped, a) for a in range(100)))
        return outputs, tools.items()

    outputs, noted = with_tools(use, recorded(*known))

    assert outputs == [f"old {a}" for a in range(100)]
    answered = {item["callId"]: item["output"] for item in noted if "output" in item}
    calls = {item["callId"]: item["arguments"]["a"] for item in noted if "name" in item}
    assert answered == {call_id: f"old {a}" for call_id, a in calls.items()}
    assert len(calls) == 100


def test_two_runs_at_once_are_apart() -> None:
    async def main() -> list[JsonValue]:
        runs = [agent_tools(recorded(("plain", {"a": 1}, name))) for name in ("x", "y")]
        return await asyncio.gather(*(run.call("plain", {"a": 1}) for run in runs))

    assert asyncio.run(main()) == ["x", "y"]
