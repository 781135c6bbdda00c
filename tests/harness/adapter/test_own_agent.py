"""Agents of your own: what they are asked, what their record holds, and what becomes of what they raise."""

from __future__ import annotations

import asyncio
import http.client
import sys
import threading
import urllib.error
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from email.message import Message
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.exceptions import ModelHTTPError, UserError

from regress_core.calls.trouble import Trouble, TroubleError, TroubleKind
from regress_core.compare.comparison import compare_run_records
from regress_core.harness.adapter.adapter import CaseContext
from regress_core.harness.adapter.own_agent import UNRECORDED, AgentRequest, OwnAgent, run_own_agent
from regress_core.harness.replay.recorded_tools import MissingToolCallResolution
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.run_options import RecordOptions, RunOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.models.client import ModelError
from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from regress_core.records.model import RunRecord
from tests.harness.adapter.support import (
    ANSWER,
    LIVE,
    QUESTION,
    case_of,
    own_run,
    plain,
    recorded,
)
from tests.support.harness import runtime
from tests.support.records import message, record_json, tool_call, tool_output

BASELINE = recorded(("plain", {"a": 1}, "old"), contextSnapshot={"user": {"id": 7}})


async def answering(request: AgentRequest) -> str:
    """Make the recorded call and give the recorded answer."""
    await request.tools.call("plain", {"a": 1})
    return ANSWER


def test_the_record_is_built_of_what_the_tools_saw() -> None:
    run = own_run(answering, BASELINE, model="openai:small")

    assert run.record.data == record_json(
        startedAt="2026-05-01T00:00:00.000Z",
        completedAt="2026-05-01T00:00:00.001Z",
        agentName="router",
        providerName="own agent",
        model="openai:small",
        question=QUESTION,
        response=ANSWER,
        contextSnapshot={"user": {"id": 7}},
        contextRedacted=False,
        items=[
            message(QUESTION),
            tool_call("call-1", "plain", arguments={"a": 1}),
            tool_output("call-1", output="old"),
            message(ANSWER, "assistant"),
        ],
        inputItemCount=1,
        metadata={"regress": {"unrecorded": list(UNRECORDED)}},
    )
    assert RunRecord.parse(loads(dumps(run.record.data))) == run.record
    assert (run.error, run.replay_miss, run.replay_stats.replayed_from_record) == (None, False, 1)
    assert compare_run_records(BASELINE, run.record).equal


def test_without_a_model_the_record_has_none() -> None:
    assert "model" not in own_run(answering, BASELINE).record.data


def _plain_function(request: AgentRequest) -> str:
    return request.tools.wrap(plain)(1)


async def _async_function(request: AgentRequest) -> str:
    return request.tools.wrap(plain)(1)


def _gives_a_coroutine(request: AgentRequest) -> Awaitable[str]:
    return _async_function(request)


class _Sync:
    def __call__(self, request: AgentRequest) -> str:
        return request.tools.wrap(plain)(1)

    async def later(self, request: AgentRequest) -> str:
        return request.tools.wrap(plain)(1)


class _Async:
    async def __call__(self, request: AgentRequest) -> str:
        return request.tools.wrap(plain)(1)


def _runs_a_loop_of_its_own(request: AgentRequest) -> str:
    return asyncio.run(_async_function(request))


AGENTS = [
    pytest.param(_plain_function, id="a function"),
    pytest.param(_async_function, id="an async function"),
    pytest.param(_gives_a_coroutine, id="a function that gives a coroutine"),
    pytest.param(_Sync(), id="an object"),
    pytest.param(_Async(), id="an async object"),
    pytest.param(_Sync().later, id="an async method"),
    pytest.param(_runs_a_loop_of_its_own, id="a function with a loop of its own"),
]


@pytest.mark.parametrize("agent", AGENTS)
def test_all_that_can_be_called_is_an_agent(agent: OwnAgent) -> None:
    run = own_run(agent, BASELINE)

    assert (run.error, run.record.response) == (None, "old")


def test_what_an_agent_is_asked() -> None:
    asked: list[AgentRequest] = []

    def agent(request: AgentRequest) -> str:
        asked.append(request)
        request.context["user"]["id"] = 8  # its own copy
        return ANSWER

    run = own_run(agent, BASELINE, model="openai:small")

    (request,) = asked
    assert (request.case_id, request.case_name, request.trial) == ("a", "a case", 1)
    assert (request.question, request.messages) == (QUESTION, (message(QUESTION),))
    assert request.model == "openai:small"
    assert BASELINE.data["contextSnapshot"] == run.record.data["contextSnapshot"] == {"user": {"id": 7}}


MESSAGES = [message("Hi"), message("Hello!", "assistant"), message(QUESTION)]
TURNS = [
    *MESSAGES,
    tool_call("call-1", "plain", arguments={"a": 1}),
    tool_output("call-1", output="old"),
    tool_call("call-2", "plain", arguments={"a": 2}),
    tool_output("call-2", output="new"),
    message(ANSWER, "assistant"),
]
LONG = RunRecord.parse(
    record_json(question=f"Hi\n\n{QUESTION}", response=ANSWER, items=TURNS, inputItemCount=3)
)

# How it is replayed, the question and how many of the items the agent is given, and the call that is left.
INPUTS = [
    pytest.param(ReplayOptions(), f"Hi\n\n{QUESTION}", 3, id="recorded"),
    pytest.param(ReplayOptions(from_turn=1), f"Hi\n\n{QUESTION}", 5, id="from the second turn"),
    pytest.param(ReplayOptions(from_turn=2), f"Hi\n\n{QUESTION}", 7, id="from the last turn"),
]


@pytest.mark.parametrize(("options", "question", "known"), INPUTS)
def test_the_input_is_what_was_recorded(options: ReplayOptions, question: str, known: int) -> None:
    asked: list[AgentRequest] = []

    async def agent(request: AgentRequest) -> str:
        asked.append(request)
        for a in range(1 + (known - 3) // 2, 3):
            await request.tools.call("plain", {"a": a})
        return ANSWER

    run = own_run(agent, LONG, options)

    assert (asked[0].question, list(asked[0].messages)) == (question, TURNS[:known])
    assert run.record.data.get("inputItemCount") == 3
    assert run.record.items[:known] == TURNS[:known]
    ids = [item["callId"] for item in run.record.items if item["type"] == "tool_call_item"]
    assert len(ids) == len(set(ids)) == 2
    assert compare_run_records(LONG, run.record).equal


def test_the_question_alone() -> None:
    asked: list[AgentRequest] = []

    def agent(request: AgentRequest) -> str:
        asked.append(request)
        return ANSWER

    run = own_run(agent, LONG, ReplayOptions(input_mode="question"))

    assert asked[0].messages == (message(f"Hi\n\n{QUESTION}"),)
    assert run.record.items == [message(f"Hi\n\n{QUESTION}"), message(ANSWER, "assistant")]


def test_a_turn_that_is_not_there_is_trouble() -> None:
    with pytest.raises(TroubleError, match="the baseline has 3 turns"):
        own_run(answering, LONG, ReplayOptions(from_turn=3))


# The options of a run, and a part of the record.
OPTIONS = [
    pytest.param(RunOptions(context={"x": 1}), {"contextSnapshot": {"x": 1}}, id="context"),
    pytest.param(RunOptions(record=RecordOptions(run_id="mine")), {"runId": "mine"}, id="run id"),
    pytest.param(
        RunOptions(record=RecordOptions(metadata={"build": 5})),
        {"metadata": {"build": 5, "regress": {"unrecorded": list(UNRECORDED)}}},
        id="metadata",
    ),
    pytest.param(
        RunOptions(record=RecordOptions(context_redactor=list)),
        {"contextSnapshot": ["user"], "contextRedacted": True},
        id="redactor",
    ),
]


@pytest.mark.parametrize(("options", "expected"), OPTIONS)
def test_the_options_of_a_run_count(options: RunOptions, expected: JsonObject) -> None:
    record: JsonObject = {**own_run(answering, BASELINE, run_options=options).record.data}

    assert {key: record[key] for key in expected} == expected


def test_the_record_sink_gets_the_record() -> None:
    kept: list[RunRecord] = []

    run = own_run(answering, BASELINE, run_options=RunOptions(record=RecordOptions(sink=kept.append)))

    assert kept == [run.record]


def test_the_adapters_tools_get_the_context_of_the_run() -> None:
    def count(_: JsonValue, context: RunContext) -> JsonValue:
        context.context["count"] += 1
        return context.context["count"]

    def agent(request: AgentRequest) -> str:
        call = request.tools.call_from_thread
        return f"{call('count', {})} {call('count', {})} {request.context['count']}"

    options = RunOptions(context={"count": 0})
    tools = {"count": Tool("count", "", count)}

    assert own_run(agent, recorded(), LIVE, tools=tools, run_options=options).record.response == "1 2 2"


# An agent that does what was recorded, whichever way it makes the calls of a turn.

_CALLS = st.tuples(st.sampled_from(["find", "lose"]), st.integers(0, 2))
_TURNS = st.lists(st.lists(st.tuples(_CALLS, st.integers(0, 9)), min_size=1, max_size=4), max_size=5)


async def _in_order(calls: list[Callable[[], Awaitable[JsonValue]]], _: Random) -> None:
    for call in calls:
        await call()


async def _in_any_order(calls: list[Callable[[], Awaitable[JsonValue]]], random: Random) -> None:
    await _in_order(random.sample(calls, len(calls)), random)


async def _together(calls: list[Callable[[], Awaitable[JsonValue]]], random: Random) -> None:
    await asyncio.gather(*(call() for call in random.sample(calls, len(calls))))


@given(_TURNS, st.sampled_from([_in_order, _in_any_order, _together]), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_an_agent_that_does_what_was_recorded_is_equal(
    turns: list[list[tuple[tuple[str, int], int]]],
    way: Callable[[list[Callable[[], Awaitable[JsonValue]]], Random], Awaitable[None]],
    random: Random,
) -> None:
    items = [message(QUESTION)]
    for number, turn in enumerate(turns):
        calls = [(f"{number}.{n}", name, a) for n, ((name, a), _) in enumerate(turn)]
        items += [tool_call(call_id, name, arguments={"a": a}) for call_id, name, a in calls]
        # Calls that are alike in one turn get one output, since nobody could tell them apart.
        items += [tool_output(call_id, output=dict(turn)[name, a]) for call_id, name, a in calls]
    baseline = RunRecord.parse(record_json(response=ANSWER, items=items, inputItemCount=1))

    async def agent(request: AgentRequest) -> str:
        for turn in turns:
            await way([partial(request.tools.call, name, {"a": a}) for (name, a), _ in turn], random)
        return ANSWER

    run = own_run(agent, baseline)

    assert run.replay_stats.replayed_from_record == sum(map(len, turns))
    assert compare_run_records(baseline, run.record).equal


# A record that the agent gives itself.


def test_a_record_is_taken_as_it_is() -> None:
    own = record_json(runId="own", agentName="mine", response="Mine.", extra=[1])

    async def agent(request: AgentRequest) -> RunRecord:
        await request.tools.call("plain", {"a": 1})
        return RunRecord.parse(own)

    run = own_run(agent, BASELINE)
    kept = run.record
    own["response"] = "Changed."

    assert kept.data == own | {"response": "Mine."}
    assert (run.error, run.replay_miss, run.replay_stats.replayed_from_record) == (None, False, 1)


def test_a_record_does_not_hide_a_missing_output() -> None:
    async def agent(request: AgentRequest) -> RunRecord:
        with suppress(Exception):
            await request.tools.call("plain", {"a": 2})
        return RunRecord.parse(record_json(runId="own"))

    run = own_run(agent, BASELINE)

    assert (run.record.run_id, run.replay_miss) == ("own", True)


# What the agent gives, and the error of the failed record.
NONSENSE = [
    pytest.param(None, "TypeError", "the agent gave NoneType, neither a text nor a RunRecord", id="nothing"),
    pytest.param(b"text", "TypeError", "the agent gave bytes, neither a text nor a RunRecord", id="bytes"),
    pytest.param(
        record_json(),
        "TypeError",
        "the agent gave dict, neither a text nor a RunRecord",
        id="a record's JSON",
    ),
    pytest.param(RunRecord({}), "JsonError", "$.runId: the field is missing", id="no record"),  # pyright: ignore[reportArgumentType] - what is tested
    pytest.param(
        RunRecord(record_json(metadata={"at": object()})),  # pyright: ignore[reportArgumentType] - as above
        "TypeError",
        "Object of type object is not JSON serializable",
        id="a record that is no JSON",
    ),
]


@pytest.mark.parametrize(("answer", "name", "text"), NONSENSE)
def test_what_is_no_answer_is_a_failed_run(answer: JsonValue, name: str, text: str) -> None:
    run = own_run(lambda _: answer, BASELINE)

    assert (run.record.status, run.record.error_name, run.trouble) == ("failed", name, None)
    assert text in (run.record.error_message or "")


# What the agent raises.


def _exits() -> None:
    sys.exit(3)


def _cancels() -> None:
    raise asyncio.CancelledError


def _stops() -> None:
    next(iter(()))


def _raises(error: BaseException) -> Callable[[], None]:
    def do() -> None:
        raise error

    return do


FAILURES = [
    pytest.param(_raises(ValueError("no\nidea")), "ValueError", "no\nidea", id="an error"),
    pytest.param(_raises(UserError("wrong tool")), "UserError", "wrong tool", id="a library's error"),
    pytest.param(
        _raises(ModelError("refused request", "bad schema")), "ModelError", "bad schema", id="a refusal"
    ),
    pytest.param(_exits, "BrokenOffError", "SystemExit: 3", id="it ends Python"),
    pytest.param(_cancels, "BrokenOffError", "CancelledError: ", id="it is cancelled inside"),
    pytest.param(_stops, "RuntimeError", "coroutine raised StopIteration", id="an iterator is at its end"),
    pytest.param(
        _raises(ExceptionGroup("two", [ValueError("a"), KeyError("b")])),
        "ExceptionGroup",
        "two (2 sub-exceptions)",
        id="a group",
    ),
]


def _async(do: Callable[[], None]) -> OwnAgent:
    async def agent(request: AgentRequest) -> str:
        await request.tools.call("plain", {"a": 1})
        do()
        return ANSWER

    return agent


def _sync(do: Callable[[], None]) -> OwnAgent:
    def agent(request: AgentRequest) -> str:
        request.tools.wrap(plain)(1)
        do()
        return ANSWER

    return agent


@pytest.mark.parametrize(("do", "name", "text"), FAILURES)
@pytest.mark.parametrize("kind", [_async, _sync])
def test_what_an_agent_raises_is_a_failed_record(
    kind: Callable[[Callable[[], None]], OwnAgent], do: Callable[[], None], name: str, text: str
) -> None:
    run = own_run(kind(do), BASELINE)

    record = run.record
    assert (record.status, record.error_name, record.error_message) == ("failed", name, text)
    assert (run.trouble, run.replay_miss) == (None, False)
    assert record.response == ""
    assert record.items == [  # all it did until then
        message(QUESTION),
        tool_call("call-1", "plain", arguments={"a": 1}),
        tool_output("call-1", output="old"),
    ]


def _http(status: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("http://127.0.0.1/", status, "", Message(), None)


def _from(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


TROUBLE = [
    pytest.param(ModelError("rate limit", "slow down", status=429), "outage", "429", id="a model's error"),
    pytest.param(ModelHTTPError(503, "m", None), "outage", "503", id="of pydantic-ai"),
    pytest.param(ModelHTTPError(401, "m", None), "configuration", "401", id="a wrong key"),
    pytest.param(_http(500), "outage", "500", id="a service that fails"),
    pytest.param(
        urllib.error.URLError(ConnectionRefusedError()), "outage", "connection", id="a service that is down"
    ),
    pytest.param(http.client.IncompleteRead(b""), "outage", "connection", id="a cut connection"),
    pytest.param(TimeoutError(), "outage", "time-out", id="a time-out"),
    pytest.param(
        _from(ValueError("no answer"), ModelHTTPError(500, "m", None)), "outage", "500", id="as a cause"
    ),
    pytest.param(
        TroubleError(Trouble("quota", "candidate", "429", "no money", retryable=True)),
        "quota",
        "429",
        id="trouble",
    ),
]


@pytest.mark.parametrize(("error", "kind", "code"), TROUBLE)
def test_a_providers_trouble_is_no_failure_of_the_agent(
    error: Exception, kind: TroubleKind, code: str
) -> None:
    run = own_run(_async(_raises(error)), BASELINE)

    assert run.trouble is not None
    assert (run.trouble.kind, run.trouble.stage, run.trouble.code) == (kind, "candidate", code)
    assert run.trouble.retryable
    assert "\n" not in run.trouble.message


# A missing output.


async def _lets_it_pass(request: AgentRequest) -> str:
    return str(await request.tools.call("plain", {"a": 2}))


async def _swallows_it(request: AgentRequest) -> str:
    with suppress(Exception):
        await request.tools.call("plain", {"a": 2})
    return "I do not know."


async def _fails_otherwise(request: AgentRequest) -> str:
    try:
        await request.tools.call("plain", {"a": 2})
    except Exception as error:
        raise ValueError("the tool is broken") from error
    return ""


async def _takes_it_for_trouble(request: AgentRequest) -> str:
    with suppress(Exception):
        await request.tools.call("plain", {"a": 2})
    raise _http(500)  # as a service does that stumbles over it


MISSES = [
    pytest.param(_lets_it_pass, "", id="passes"),
    pytest.param(_swallows_it, "I do not know.", id="is swallowed"),
    pytest.param(_fails_otherwise, "", id="ends in another error"),
    pytest.param(_takes_it_for_trouble, "", id="ends in what looks like trouble"),
]


@pytest.mark.parametrize(("agent", "response"), MISSES)
def test_a_missing_output_fails_the_run_whatever_the_agent_makes_of_it(
    agent: OwnAgent, response: str
) -> None:
    run = own_run(agent, BASELINE)

    assert run.replay_miss
    assert run.trouble is None
    assert (run.record.status, run.record.error_name, run.record.response) == ("failed", "Error", response)
    assert (run.record.error_message or "").startswith('Missing recorded tool output for "plain".')
    assert '(nearest recorded arguments: {"a":1})' in (run.record.error_message or "")


def test_a_missing_output_that_is_given_is_none() -> None:
    options = ReplayOptions(on_missing_tool_call=lambda _: MissingToolCallResolution("use_output", {"b": 1}))

    run = own_run(_lets_it_pass, BASELINE, options)

    assert (run.replay_miss, run.error, run.record.response) == (False, None, "{'b': 1}")
    assert (run.replay_stats.missing_tool_calls, run.replay_stats.replayed_from_record) == (1, 1)


# Many runs at once, and runs that are given up.


def test_many_runs_at_once_are_apart() -> None:
    count = 40  # more than the threads that an event loop's own pool would give
    together = threading.Barrier(count)

    def agent(request: AgentRequest) -> str:
        together.wait(timeout=30)
        return request.tools.wrap(plain)(int(request.case_id))

    async def main() -> list[tuple[str, list[JsonValue]]]:
        async def one(number: int) -> tuple[str, list[JsonValue]]:
            baseline = recorded(("plain", {"a": number}, f"old {number}"))
            run = await run_own_agent(
                agent,
                _case(number, baseline),
                tools={},
                runtime=runtime(),
                options=ReplayOptions(),
                run_options=RunOptions(),
            )
            asked = [item.get("arguments") for item in run.record.items if item["type"] == "tool_call_item"]
            return run.record.response, asked

        return await asyncio.gather(*map(one, range(count)))

    assert asyncio.run(main()) == [(f"old {number}", [{"a": number}]) for number in range(count)]


def _case(number: int, baseline: RunRecord) -> CaseContext:
    return replace(case_of(baseline), case_id=str(number))


async def _until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - what is waited for happens in another thread
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_run_that_is_cancelled_is_over(kind: str) -> None:
    requests: list[AgentRequest] = []
    go_on = threading.Event()
    went: list[str] = []

    def sync_agent(request: AgentRequest) -> str:
        requests.append(request)
        go_on.wait(30)
        try:
            request.tools.wrap(plain)(1)
        except Exception as error:  # noqa: BLE001 - its name is what is tested
            went.append(type(error).__name__)
        return ANSWER

    async def async_agent(request: AgentRequest) -> str:
        requests.append(request)
        await asyncio.sleep(60)
        return ANSWER

    async def main() -> None:
        run = asyncio.ensure_future(
            run_own_agent(
                sync_agent if kind == "sync" else async_agent,
                case_of(BASELINE),
                tools={},
                runtime=runtime(),
                options=ReplayOptions(),
                run_options=RunOptions(),
            )
        )
        await _until(lambda: bool(requests))
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        go_on.set()
        await _until(lambda: kind == "async" or bool(went))

    asyncio.run(main())

    assert went == (["RunOverError"] if kind == "sync" else [])


def test_an_agent_that_hangs_does_not_keep_the_program() -> None:
    go_on = threading.Event()

    def agent(_: AgentRequest) -> str:
        go_on.wait(60)
        return ANSWER

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await run_own_agent(
                    agent,
                    case_of(BASELINE),
                    tools={},
                    runtime=runtime(),
                    options=ReplayOptions(),
                    run_options=RunOptions(),
                )

    asyncio.run(main())  # which waits for the threads of the loop's own pool

    hanging = [thread for thread in threading.enumerate() if thread.name == "agent"]
    assert all(thread.daemon for thread in hanging)
    go_on.set()
    for thread in hanging:
        thread.join(10)
