"""A loopback HTTP server that speaks the OpenAI Chat Completions protocol and misbehaves on request.

A behaviour is a function of the request's JSON and of its number, counted from 1; it gives the answer:

    def behave(request: JsonObject, number: int) -> Answer:
        return error(500) if number == 1 else text("hello")

    with OpenAIServer(behave) as server:
        client = PydanticAIClient(base_url=server.base_url, api_key=KEY)
        ...
    assert server.count == 2
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal, Self

from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads

KEY = "test-key-that-no-provider-knows"
"""An API key for tests; the server takes any."""

PATH = "/v1/chat/completions"

Cut = Literal["before the answer", "within the body"]
"""Where the server closes the connection instead of going on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends.

    Attributes:
        body: The body's bytes.
        status: The HTTP status.
        headers: More headers than the usual ones.
        delay_s: Seconds to wait before it.
        cut: Where to close the connection; None to send everything.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay_s: float = 0.0
    cut: Cut | None = None


Behaviour = Callable[[JsonObject, int], Answer]
"""Chooses the answer from the request's JSON and its number, counted from 1. It is called by many threads."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server got it; the names of its headers in small letters."""

    number: int
    headers: Mapping[str, str]
    json: JsonObject

    @property
    def messages(self) -> list[JsonObject]:
        """The conversation that was sent."""
        return self.json["messages"]


def tool_call(call_id: str, name: str, arguments: str) -> JsonObject:
    """Give a call as the protocol writes it; `arguments` is any text."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def usage(prompt: int, completion: int, *, cached: int = 0, reasoning: int = 0) -> JsonObject:
    """Give token counts as the protocol writes them: `prompt` includes `cached`, `completion` `reasoning`."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def completion(
    message: JsonObject, *, finish: str | None = "stop", counts: JsonObject | None = None
) -> JsonObject:
    """Give a whole answer around an assistant message; without counts it has used 10 and 5 tokens."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "served-model",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None} | message, "finish_reason": finish}
        ],
        "usage": usage(10, 5) if counts is None else counts,
    }


def raw(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer with any bytes."""
    return Answer(body, status, headers or {})


def json_body(value: JsonValue, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer with any JSON value."""
    return raw(dumps(value), status=status, headers=headers)


def text(content: str, *, counts: JsonObject | None = None) -> Answer:
    """Answer with a text."""
    return json_body(completion({"content": content}, counts=counts))


def calls(*tool_calls: JsonObject, content: str | None = None) -> Answer:
    """Answer with calls (see `tool_call`), and perhaps a text."""
    message: JsonObject = {"content": content, "tool_calls": list(tool_calls)}
    return json_body(completion(message, finish="tool_calls"))


def error(
    status: int,
    message: str = "it went wrong",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Answer with an error as the protocol writes it."""
    body: JsonObject = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return json_body(body, status=status, headers=headers)


def rate_limited(retry_after: str | None = None) -> Answer:
    """Answer 429, with a Retry-After header where one is given."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return error(429, "Rate limit reached", code="rate_limit_exceeded", headers=headers)


def out_of_quota() -> Answer:
    """Answer 429 as OpenAI does when the account has no money left."""
    return error(429, "You exceeded your current quota", code="insufficient_quota")


def unauthorised() -> Answer:
    """Answer 401 as OpenAI does to a wrong key."""
    return error(401, "Incorrect API key provided", code="invalid_api_key")


def unknown_model() -> Answer:
    """Answer 404 as OpenAI does to an unknown model."""
    return error(404, "The model does not exist", code="model_not_found")


def broken_json() -> Answer:
    """Answer 200 with half a JSON value."""
    return raw(b'{"choices": [{"mess')


def after(delay_s: float, answer: Answer) -> Answer:
    """Answer late; with a long delay it is a hang, which ends when the server is closed."""
    return replace(answer, delay_s=delay_s)


def cut(where: Cut) -> Answer:
    """Close the connection instead of answering to the end."""
    return replace(text("never read to its end"), cut=where)


def in_turn(answers: Sequence[Answer]) -> Behaviour:
    """Give the first answer to the first request, and so on; the last one to all that follow."""
    return lambda _, number: answers[min(number, len(answers)) - 1]


class OpenAIServer:
    """The server. It listens from construction on, on a free port of the loopback interface.

    Args:
        behaviour: Chooses the answers; or one answer to every request.
    """

    def __init__(self, behaviour: Behaviour | Answer) -> None:
        self._behaviour: Behaviour = (lambda _, __: behaviour) if isinstance(behaviour, Answer) else behaviour
        self._lock = threading.Condition()
        self._received: list[Received] = []
        self._connections: set[socket.socket] = set()
        self._in_flight = 0
        self._peak = 0
        self._closing = threading.Event()
        self._fault: Exception | None = None
        self._http = _HTTPServer(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.002})
        self._thread.start()

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def requests(self) -> Sequence[Received]:
        """The requests so far, in the order of their arrival."""
        with self._lock:
            return tuple(self._received)

    @property
    def count(self) -> int:
        """How many requests there have been so far."""
        return len(self.requests)

    @property
    def peak(self) -> int:
        """The largest number of requests that were being answered at the same time."""
        with self._lock:
            return self._peak

    @property
    def connections(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._connections)

    def all_left(self, *, within_s: float) -> bool:
        """Wait until no connection is open; tell whether that came in time."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._connections, within_s)

    def close(self) -> None:
        """Stop at once, hanging answers too, and wait for every thread.

        Raises:
            Exception: What a behaviour raised first, if one did; its client was answered 500.
        """
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                _end(connection)
        self._http.server_close()
        if self._fault is not None:
            raise self._fault

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def opened(self, connection: socket.socket) -> None:
        """Remember a connection, so that `close` can end it."""
        with self._lock:
            self._connections.add(connection)
            if self._closing.is_set():
                _end(connection)

    def closed(self, connection: socket.socket) -> None:
        """Forget a connection that is about to be closed."""
        with self._lock:
            self._connections.discard(connection)
            self._lock.notify_all()

    def answer(self, headers: Mapping[str, str], request: JsonObject) -> Answer:
        """Record a request and wait for its answer."""
        with self._lock:
            received = Received(len(self._received) + 1, headers, request)
            self._received.append(received)
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)
        try:
            answer = self._behaviour(request, received.number)
        except Exception as fault:  # noqa: BLE001 - it is a test's own code; `close` raises it in the test
            self._fault = self._fault or fault
            answer = error(500, f"the behaviour of the server raised {fault!r}")
        self._closing.wait(answer.delay_s)
        with self._lock:
            self._in_flight -= 1
        return answer


def _end(connection: socket.socket) -> None:
    """Wake the thread that waits for the connection's next request."""
    with suppress(OSError):  # the client has left already
        connection.shutdown(socket.SHUT_RDWR)


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them
    request_queue_size = 256

    def __init__(self, owner: OpenAIServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _owner(self) -> OpenAIServer:
        assert isinstance(self.server, _HTTPServer)
        return self.server.owner

    def setup(self) -> None:
        super().setup()
        self._owner.opened(self.connection)

    def finish(self) -> None:
        self._owner.closed(self.connection)
        super().finish()

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:  # the client went away, which is its right
            self.close_connection = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path != PATH:
            self._send(error(404, f"there is only {PATH}"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self._owner.answer(headers, loads(body)))

    def _send(self, answer: Answer) -> None:
        if answer.cut is not None:
            self.close_connection = True
            if answer.cut == "before the answer":
                return
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body))}
        for name, value in (headers | dict(answer.headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass
