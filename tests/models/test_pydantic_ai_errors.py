"""A real model that gives no answer: why, told apart, from one request each (R41)."""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.records.json_io import JsonObject, JsonValue
from tests.models.support import MODEL, Asker, request
from tests.support.openai_server import (
    KEY,
    Answer,
    OpenAIServer,
    after,
    broken_json,
    completion,
    cut,
    error,
    json_body,
    out_of_quota,
    rate_limited,
    raw,
    text,
    tool_call,
    unauthorised,
    unknown_model,
)
from tests.support.strategies import JSON_VALUES

_NO_CHOICES = json_body({key: value for key, value in completion({}).items() if key != "choices"})
_EMPTY_CHOICES = json_body(completion({}) | {"choices": []})
_CUSTOM_CALL = json_body(
    completion({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ping"}}]})
)

KINDS: list[tuple[str, Answer, ModelErrorKind, int | None]] = [
    ("429", rate_limited(), "rate limit", 429),
    ("429 without a code", error(429), "rate limit", 429),
    ("quota", out_of_quota(), "quota", 429),
    ("402", error(402), "quota", 402),
    ("401", unauthorised(), "configuration", 401),
    ("403", error(403), "configuration", 403),
    ("404", unknown_model(), "configuration", 404),
    ("404 of another sort", error(404), "configuration", 404),
    ("404 that is a page", raw(b"<html>", status=404), "configuration", 404),
    ("400 for the model", error(400, code="model_not_found"), "configuration", 400),
    ("500", error(500), "outage", 500),
    ("502 that is a page", raw(b"<html>", status=502, headers={"Content-Type": "text/html"}), "outage", 502),
    ("503", error(503), "outage", 503),
    ("529", error(529), "outage", 529),
    ("408", error(408), "time-out", 408),
    ("400", error(400), "refused request", 400),
    ("400 for the length", error(400, code="context_length_exceeded"), "refused request", 400),
    ("409", error(409), "refused request", 409),
    ("413", error(413), "refused request", 413),
    ("422", error(422), "refused request", 422),
    ("cut before the answer", cut("before the answer"), "connection", None),
    ("cut within the body", cut("within the body"), "connection", None),
    ("half a JSON value", broken_json(), "outage", None),
    ("no body", raw(b""), "outage", None),
    ("no UTF-8", raw(b'{"id": "\xff"}'), "outage", None),
    ("text", raw(b"hello", headers={"Content-Type": "text/plain"}), "outage", None),
    ("null", json_body(None), "outage", None),
    ("a list", json_body([completion({"content": "a"})]), "outage", None),
    ("an error in an answer", json_body({"error": {"message": "overloaded"}}), "outage", None),
    ("no choices", _NO_CHOICES, "outage", None),
    ("empty choices", _EMPTY_CHOICES, "outage", None),
    ("a call without arguments", _CUSTOM_CALL, "outage", None),
]


@pytest.mark.parametrize(
    ("answer", "kind", "status"), [pytest.param(*case[1:], id=case[0]) for case in KINDS]
)
def test_why_there_is_no_answer(
    asker: Asker, answer: Answer, kind: ModelErrorKind, status: int | None
) -> None:
    raised, count = asker.trouble(answer)

    assert (raised.kind, raised.status) == (kind, status)
    assert count == 1
    assert str(raised).startswith(f"{MODEL}: ")
    assert str(raised).isprintable()
    assert KEY not in str(raised)


WAITS: list[tuple[str, Answer, float | None]] = [
    ("none", rate_limited(), None),
    ("seconds", rate_limited("3"), 3),
    ("milliseconds", error(429, headers={"retry-after-ms": "250", "Retry-After": "1"}), 0.25),
    ("of an outage", error(503, headers={"Retry-After": "30"}), 30),
    ("past", rate_limited("Wed, 21 Oct 2015 07:28:00 GMT"), 0),
]


@pytest.mark.parametrize(("answer", "seconds"), [pytest.param(*case[1:], id=case[0]) for case in WAITS])
def test_how_long_to_wait(asker: Asker, answer: Answer, seconds: float | None) -> None:
    raised, _ = asker.trouble(answer)

    assert raised.retry_after_s == seconds


def test_until_when_to_wait(asker: Asker) -> None:
    moment = datetime.now(UTC) + timedelta(hours=1)

    raised, _ = asker.trouble(rate_limited(format_datetime(moment, usegmt=True)))

    assert raised.retry_after_s is not None
    assert 3500 < raised.retry_after_s <= 3600


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_a_key_that_the_server_repeats_is_not_told(
    asker: Asker, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "the-other-secret")
    masked = "sk-ab" + "*" * 20 + "wxyz"

    raised, _ = asker.trouble(error(status, f"Wrong: {KEY}, {masked}, the-other-secret"))

    told = "".join(traceback.format_exception(raised))
    assert "Wrong" in told or raised.kind == "configuration"
    for secret in (KEY, masked, "the-other-secret"):
        assert secret not in told


def test_nobody_listens() -> None:
    async def complete(port: int) -> None:
        async with PydanticAIClient(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY) as client:
            await client.complete(request())

    with socket.socket() as unheard:  # bound, so that nobody else takes the port, but not listening
        unheard.bind(("127.0.0.1", 0))
        with pytest.raises(ModelError, match=f"{MODEL}: the connection to the provider failed: ") as raised:
            asyncio.run(complete(unheard.getsockname()[1]))

    assert (raised.value.kind, raised.value.never_sent) == ("connection", True)


# What happens to a request, and whether it may be billed.
COSTS: list[tuple[str, Answer, bool]] = [
    ("an HTTP error", error(503), False),
    ("a limit", rate_limited(), False),
    ("a time-out of the server's own", error(408), False),
    ("cut before the answer", cut("before the answer"), True),
    ("cut within the body", cut("within the body"), True),
    ("an answer that cannot be read", broken_json(), True),
]


@pytest.mark.parametrize(("answer", "may"), [pytest.param(*case[1:], id=case[0]) for case in COSTS])
def test_what_may_have_cost(asker: Asker, answer: Answer, *, may: bool) -> None:
    raised, _ = asker.trouble(answer)

    assert not raised.never_sent
    assert raised.may_have_cost is may


@pytest.mark.parametrize("status", [429, 500])
def test_the_libraries_of_other_providers_do_not_retry_either(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(error(status)) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.base_url)
        with pytest.raises(ModelError) as raised:
            _complete("ollama:llama3")

        assert server.count == 1
        assert server.all_left(within_s=5)

    assert raised.value.status == status


def test_the_caller_limits_the_time_of_a_hanging_answer() -> None:
    async def complete(base_url: str) -> None:
        async with PydanticAIClient(base_url=base_url, api_key=KEY) as client, asyncio.timeout(0.2):
            await client.complete(request())

    with OpenAIServer(after(60, text("late"))) as server:
        with pytest.raises(TimeoutError):
            asyncio.run(complete(server.base_url))

        assert server.count == 1


def _complete(model: str, **access: str | None) -> None:
    async def complete() -> None:
        async with PydanticAIClient(**access) as client:
            await client.complete(request(model=model))

    asyncio.run(complete())


# The model, how it is reached, and what the message says.
CONFIGURATIONS: list[tuple[str, str, dict[str, str | None], str]] = [
    (
        "no provider",
        "gpt-4.1",
        {},
        "model 'gpt-4.1' names no provider; write provider:model, such as openai:",
    ),
    ("no model", "openai:", {}, "model 'openai:' names no provider"),
    ("an empty provider", ":gpt-4.1", {}, "model ':gpt-4.1' names no provider"),
    ("nothing", "", {}, "model '' names no provider"),
    ("an unknown provider", "opanai:gpt-4.1", {}, "unknown provider 'opanai'; check its spelling"),
    ("no key", "openai:gpt-4.1", {}, "no API key for OpenAI; set OPENAI_API_KEY"),
    ("no key of another", "deepseek:chat", {}, "cannot be set up: Set the `DEEPSEEK_API_KEY` environment"),
    ("no package", "anthropic:claude", {}, "cannot be set up: Please install the `anthropic` package"),
    ("no scheme", "openai:m", {"base_url": "127.0.0.1:80/v1"}, "the base URL is no http address"),
    ("no host", "openai:m", {"base_url": "http:///v1"}, "the base URL is no http address"),
    ("no port", "openai:m", {"base_url": "http://127.0.0.1:port/v1"}, "the base URL is no http address"),
    (
        "a broken key",
        "openai:m",
        {"api_key": "se\ncret"},
        "the API key for OpenAI holds characters no key has",
    ),
    ("a key of umlauts", "openai:m", {"api_key": "schlüssel"}, "the API key for OpenAI holds characters"),
]


@pytest.mark.parametrize(
    ("model", "access", "message"), [pytest.param(*case[1:], id=case[0]) for case in CONFIGURATIONS]
)
def test_what_cannot_be_set_up(
    model: str, access: dict[str, str | None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    monkeypatch.setitem(sys.modules, "anthropic", None)  # as if it was not installed

    with pytest.raises(ModelError) as raised:
        _complete(model, **access)

    assert (raised.value.kind, raised.value.never_sent) == ("configuration", True)
    assert message in str(raised.value)
    assert str(raised.value).isprintable()
    assert "cret" not in str(raised.value)
    assert "schlüssel" not in str(raised.value)


_ANSWER = completion(
    {"content": "a", "refusal": None, "tool_calls": [tool_call("c1", "ping", "{}")], "annotations": []}
)


def _places(value: JsonValue, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    yield place
    if isinstance(value, dict):
        for key, member in cast("JsonObject", value).items():
            yield from _places(member, *place, key)
    elif isinstance(value, list):
        for index, member in enumerate(cast("list[JsonValue]", value)):
            yield from _places(member, *place, index)


def _put(value: JsonValue, place: tuple[str | int, ...], new: JsonValue) -> JsonValue:
    if not place:
        return new
    changed = value.copy()
    changed[place[0]] = _put(value[place[0]], place[1:], new)
    return changed


# The library warns of counts that it cannot read; they are left out.
@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@settings(max_examples=200)
@given(place=st.sampled_from([*_places(_ANSWER)]), value=JSON_VALUES)
def test_an_answer_with_anything_in_any_place_is_read_or_an_outage(
    asker: Asker, place: tuple[str | int, ...], value: JsonValue
) -> None:
    sent: list[int] = []

    def behave(_: JsonObject, number: int) -> Answer:
        sent.append(number)
        return json_body(_put(_ANSWER, place, value))

    try:
        asker.ask(behave, request())
    except ModelError as raised:
        assert raised.kind == "outage"  # noqa: PT017 - a reply is as good

    assert sent == [1]
