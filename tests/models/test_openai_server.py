"""The server that other tests rely on: it misbehaves as told, counts, and goes away at once."""

from __future__ import annotations

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.openai_server import (
    PATH,
    Answer,
    OpenAIServer,
    after,
    broken_json,
    cut,
    error,
    in_turn,
    out_of_quota,
    rate_limited,
    text,
    unauthorised,
)


def _connect(server: OpenAIServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", urlsplit(server.base_url).port or 0, timeout=10)


def _post(server: OpenAIServer, value: Any = None, path: str = PATH) -> tuple[int, bytes]:  # noqa: ANN401 - JSON
    connection = _connect(server)
    try:
        connection.request("POST", path, json.dumps(value or {}), {"X-Test": "yes"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


STATUSES: list[tuple[str, Answer, int]] = [
    ("text", text("hello"), 200),
    ("broken JSON", broken_json(), 200),
    ("an error", error(500), 500),
    ("a rate limit", rate_limited("3"), 429),
    ("no quota", out_of_quota(), 429),
    ("a wrong key", unauthorised(), 401),
]


@pytest.mark.parametrize(("answer", "status"), [pytest.param(*case[1:], id=case[0]) for case in STATUSES])
def test_it_answers_as_told(answer: Answer, status: int) -> None:
    with OpenAIServer(answer) as server:
        assert _post(server) == (status, answer.body)


def test_it_answers_by_request_and_number() -> None:
    with OpenAIServer(lambda request, number: text(f"{request['model']} {number}")) as server:
        bodies = [json.loads(_post(server, {"model": model})[1]) for model in ("a", "b")]

    assert [body["choices"][0]["message"]["content"] for body in bodies] == ["a 1", "b 2"]


def test_it_answers_in_turn() -> None:
    with OpenAIServer(in_turn([error(500), error(503), text("hello")])) as server:
        assert [_post(server)[0] for _ in range(4)] == [500, 503, 200, 200]


def test_it_remembers_what_it_was_asked() -> None:
    with OpenAIServer(text("hello")) as server:
        _post(server, {"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
        (received,) = server.requests

    assert received.number == 1
    assert received.messages == [{"role": "user", "content": "Hi"}]
    assert received.headers["x-test"] == "yes"


def test_another_path_is_not_found_and_not_counted() -> None:
    with OpenAIServer(text("hello")) as server:
        assert _post(server, path="/v1/models")[0] == 404
        assert server.count == 0


def test_it_answers_at_the_same_time() -> None:
    with OpenAIServer(after(0.2, text("hello"))) as server, ThreadPoolExecutor(10) as pool:
        assert {status for status, _ in pool.map(_post, [server] * 10)} == {200}
        assert server.count == 10
        assert server.peak > 1


def test_it_cuts_before_the_answer() -> None:
    with OpenAIServer(cut("before the answer")) as server, pytest.raises(http.client.RemoteDisconnected):
        _post(server)


def test_it_cuts_within_the_body() -> None:
    with OpenAIServer(cut("within the body")) as server, pytest.raises(http.client.IncompleteRead) as raised:
        _post(server)

    assert raised.value.partial


def test_closing_ends_a_hanging_answer_and_leaves_no_thread() -> None:
    before = threading.active_count()
    began = time.monotonic()
    with OpenAIServer(after(60, text("late"))) as server:
        connection = _connect(server)
        connection.request("POST", PATH, "{}")
        while not server.count:
            time.sleep(0.001)
    connection.close()

    assert time.monotonic() - began < 5
    assert threading.active_count() == before


def test_a_fault_of_the_behaviour_is_raised_at_the_end() -> None:
    server = OpenAIServer(lambda request, _: text(request["no such member"]))

    assert _post(server)[0] == 500
    with pytest.raises(KeyError, match="no such member"):
        server.close()
