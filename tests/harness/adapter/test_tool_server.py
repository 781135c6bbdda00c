"""The tools of a run over HTTP: real sockets, on this machine only."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from urllib.parse import quote, urlsplit

import pytest

from regress_core.harness import serve_tools
from regress_core.harness.adapter.agent_tools import AgentTools
from regress_core.harness.adapter.own_agent import AgentRequest
from regress_core.harness.adapter.tool_server import LARGEST_REQUEST
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.tools import Tool, ToolError
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.harness.adapter.support import ANSWER, LIVE, QUESTION, own_run, recorded, with_tools
from tests.support.records import message, record_json, tool_call, tool_output

Reply = tuple[int, JsonValue]


def post(
    url: str, body: bytes | None, *, method: str = "POST", headers: Mapping[str, str] | None = None
) -> Reply:
    """Send a request; give the status and the JSON of the answer."""
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)) as connection:
        connection.request(method, parts.path, body, dict(headers or {}))
        answer = connection.getresponse()
        assert answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(answer.read())


def call(url: str, name: str, number: int | None = None) -> Reply:
    """Call a tool, about a number if there is one."""
    arguments = {} if number is None else {"id": number}
    return post(f"{url}/{quote(name, safe='')}", json.dumps(arguments).encode())


Ask = Callable[[str], JsonValue]


def address(url: str) -> tuple[str, int]:
    """Give host and port of a URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


def calls(name: str, number: int | None = None) -> Ask:
    """Give what calls a tool."""
    return lambda url: call(url, name, number)


def posts(
    path: str, body: bytes | None, *, method: str = "POST", headers: Mapping[str, str] | None = None
) -> Ask:
    """Give what sends a request to a path below the URL."""
    return lambda url: post(url + path, body, method=method, headers=headers)


def served(
    ask: Ask,
    baseline: RunRecord,
    options: ReplayOptions | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
) -> tuple[JsonValue, AgentTools]:
    """Serve the tools of a run on a baseline, and ask them from another thread."""

    async def use(agent_tools: AgentTools) -> tuple[JsonValue, AgentTools]:
        async with serve_tools(agent_tools) as url:
            return await asyncio.to_thread(ask, url), agent_tools

    return with_tools(use, baseline, options, tools=tools)


ITEMS = [
    tool_call("b1", "find", arguments={"id": 7}),
    tool_output("b1", output={"state": "sent"}),
    tool_call("b2", "find", arguments={"id": 8}),
    tool_output("b2", output="no such order", isError=True),
    tool_call("b3", "an odd/name é", arguments={}),
    tool_output("b3", output=None),
]
BASELINE = RunRecord.parse(record_json(items=ITEMS))

# What is asked, and the answer.
ANSWERED = [
    pytest.param(calls("find", 7), (200, {"output": {"state": "sent"}}), id="an output"),
    pytest.param(
        calls("find", 8),
        (200, {"output": "no such order", "isError": True}),
        id="a tool's error",
    ),
    pytest.param(calls("an odd/name é"), (200, {"output": None}), id="an odd name"),
    pytest.param(
        posts("/an%20odd/name%20%C3%A9?x=1", b""),
        (200, {"output": None}),
        id="no arguments at all",
    ),
    pytest.param(
        posts("/find", b'{"id":7}', headers={"Expect": "100-continue"}),
        (200, {"output": {"state": "sent"}}),
        id="a client that waits to be let on",
    ),
]


@pytest.mark.parametrize(("ask", "expected"), ANSWERED)
def test_a_call_is_answered(ask: Ask, expected: Reply) -> None:
    reply, _ = served(ask, BASELINE)

    assert reply == expected


# What is asked, the status, and what the error says.
REFUSED = [
    pytest.param(calls("find", 9), 404, 'Missing recorded tool output for "find"', id="not recorded"),
    pytest.param(calls("lose"), 404, 'Missing recorded tool output for "lose"', id="a tool nobody knows"),
    pytest.param(posts("x/find", b"{}"), 404, "no such address", id="a wrong token"),
    pytest.param(posts("", b"{}"), 404, "no such address", id="no tool"),
    pytest.param(posts("/find", b'{"id":'), 400, "arguments: $: not JSON", id="no JSON"),
    pytest.param(posts("/find", b"[7]"), 400, "arguments are a JSON object", id="a list"),
    pytest.param(posts("/find", b'{"id":NaN}'), 400, "arguments: ", id="no number"),
    pytest.param(posts("/find", b"\xff"), 400, "not UTF-8", id="no text"),
    pytest.param(posts("/find", None, method="GET"), 501, "GET", id="another method"),
    pytest.param(
        posts("/find", None, headers={"Content-Length": "many"}),
        411,
        "Content-Length",
        id="no length",
    ),
    pytest.param(
        posts("/find", None, headers={"Content-Length": "-1"}),
        411,
        "Content-Length",
        id="a negative length",
    ),
    pytest.param(
        posts("/find", None, headers={"Transfer-Encoding": "chunked"}),
        411,
        "Content-Length",
        id="in chunks",
    ),
    pytest.param(
        posts("/find", None, headers={"Content-Length": str(LARGEST_REQUEST + 1)}),
        413,
        "more than 8388608 bytes",
        id="too much",
    ),
]


@pytest.mark.parametrize(("ask", "status", "text"), REFUSED)
def test_what_is_refused_says_why(ask: Ask, status: int, text: str) -> None:
    reply, _ = served(ask, BASELINE)

    assert reply[0] == status
    assert reply[1].keys() == {"error"}
    assert text in reply[1]["error"]


def _failing(error: Exception) -> dict[str, Tool]:
    def execute(_: JsonValue, __: object) -> None:
        raise error

    return {"find": Tool("find", "", execute)}


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param({}, (404, {"error": 'Tool "find" is not registered.'}), id="no such tool"),
        pytest.param(
            _failing(ToolError({"code": 7})),
            (200, {"output": {"code": 7}, "isError": True}),
            id="a tool's error",
        ),
        pytest.param(
            _failing(ValueError("no idea")), (500, {"error": "ValueError: no idea"}), id="a failure"
        ),
        pytest.param(
            {"find": Tool("find", "", lambda asked, _: [asked])},
            (200, {"output": [{"id": 7}]}),
            id="an output",
        ),
    ],
)
def test_a_live_tool_is_called(tools: dict[str, Tool], expected: Reply) -> None:
    reply, _ = served(calls("find", 7), recorded(), LIVE, tools=tools)

    assert reply == expected


def test_it_listens_on_this_machine_only_under_a_name_nobody_guesses() -> None:
    def ask(url: str) -> JsonValue:
        with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", address(url)[1])):
            pass
        return url

    one, other = (str(served(ask, recorded())[0]) for _ in range(2))

    for url in (one, other):
        assert address(url)[0] == "127.0.0.1"
        assert len(url.partition("127.0.0.1:")[2]) > 32  # the port, a slash and 24 random bytes
    assert urlsplit(one).path != urlsplit(other).path


def test_many_calls_at_once() -> None:
    known = [("find", {"id": number}, f"old {number}") for number in range(200)]

    def ask(url: str) -> JsonValue:
        with ThreadPoolExecutor(50) as pool:
            return list(pool.map(partial(call, url, "find"), range(200)))

    replies, tools = served(ask, recorded(*known))

    assert replies == [(200, {"output": f"old {number}"}) for number in range(200)]
    assert sum(item["type"] == "tool_call_item" for item in tools.items()) == 200


def test_calls_that_are_made_before_the_others_answer_are_one_turn() -> None:
    both_asked = threading.Barrier(2)

    async def slow(arguments: JsonObject, _: object) -> JsonValue:
        await asyncio.to_thread(both_asked.wait, 10)
        return arguments["id"]

    def ask(url: str) -> JsonValue:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(partial(call, url, "slow"), (1, 2)))

    _, tools = served(ask, recorded(), LIVE, tools={"slow": Tool("slow", "", slow)})

    kinds = [item["type"] for item in tools.items()]
    assert kinds == ["tool_call_item"] * 2 + ["tool_call_output_item"] * 2


# How it is entered and left.


class Service:
    """An agent that works elsewhere: told a question and where the tools are, it calls one and answers."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    def answer(self, url: str, order: int) -> str:
        """Look an order up."""
        status, body = call(url, "find", order)
        self.replies.append((status, body))
        return ANSWER if status == 200 else "I do not know."


def _async_agent(service: Service, order: int) -> Callable[[AgentRequest], Awaitable[str]]:
    async def agent(request: AgentRequest) -> str:
        async with serve_tools(request.tools) as url:
            return await asyncio.to_thread(service.answer, url, order)

    return agent


def _sync_agent(service: Service, order: int) -> Callable[[AgentRequest], str]:
    def agent(request: AgentRequest) -> str:
        with serve_tools(request.tools) as url:
            return service.answer(url, order)

    return agent


@pytest.mark.parametrize("kind", [_async_agent, _sync_agent])
def test_a_service_is_an_agent(kind: Callable[[Service, int], Callable[[AgentRequest], JsonValue]]) -> None:
    run = own_run(kind(Service(), 7), recorded(("find", {"id": 7}, "sent")))

    assert (run.error, run.record.response) == (None, ANSWER)
    assert run.record.items == [
        message(QUESTION),
        tool_call("call-1", "find", arguments={"id": 7}),
        tool_output("call-1", output="sent"),
        message(ANSWER, "assistant"),
    ]


@pytest.mark.parametrize("kind", [_async_agent, _sync_agent])
def test_a_service_that_swallows_a_missing_output_fails(
    kind: Callable[[Service, int], Callable[[AgentRequest], JsonValue]],
) -> None:
    service = Service()

    run = own_run(kind(service, 9), recorded(("find", {"id": 7}, "sent")))

    assert [status for status, _ in service.replies] == [404]
    assert (run.replay_miss, run.record.status, run.record.response) == (True, "failed", "I do not know.")


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def test_when_it_is_left_nothing_listens_and_no_thread_stays() -> None:
    before = _threads()

    def ask(url: str) -> JsonValue:
        call(url, "find", 7)
        return url

    url, _ = served(ask, BASELINE)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(url), timeout=1)
    _until(lambda: _threads() <= before)


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("sent", [b"", b"POST /x HTTP/1.1\r\nContent-Le", b"POST "])
def test_a_client_that_says_nothing_does_not_hold_it_up(sent: bytes) -> None:
    before = _threads()
    clients: list[socket.socket] = []

    def ask(url: str) -> JsonValue:
        client = socket.create_connection(address(url), timeout=10)
        clients.append(client)
        client.sendall(sent)
        return call(url, "find", 7)[0]

    started = time.monotonic()
    status, _ = served(ask, BASELINE)

    assert status == 200
    assert time.monotonic() - started < 5  # it would wait half a minute for the rest
    with closing(clients[0]):
        _until(lambda: _threads() <= before)


def test_a_client_that_goes_away_does_not_hold_it_up(capfd: pytest.CaptureFixture[str]) -> None:
    def ask(url: str) -> JsonValue:
        with socket.create_connection(address(url), timeout=10) as client:
            client.sendall(f"POST {urlsplit(url).path}/find HTTP/1.1\r\nContent-Length: 100\r\n\r\n".encode())
            client.sendall(b'{"id"')
        return call(url, "find", 7)[0]

    status, tools = served(ask, BASELINE)

    assert status == 200
    assert sum(item["type"] == "tool_call_item" for item in tools.items()) == 1
    assert capfd.readouterr() == ("", "")


def test_after_the_run_a_call_is_refused() -> None:
    async def use(tools: AgentTools) -> Reply:
        async with serve_tools(tools) as url:
            tools.close()
            return await asyncio.to_thread(call, url, "find", 7)

    assert with_tools(use, BASELINE) == (503, {"error": "the run is over"})


def test_a_run_that_is_cancelled_closes_it() -> None:
    urls: list[str] = []

    async def use(tools: AgentTools) -> None:
        async def agent() -> None:
            async with serve_tools(tools) as url:
                urls.append(url)
                await asyncio.sleep(60)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent(), 0.05)

    with_tools(use, recorded())

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(urls[0]), timeout=1)
