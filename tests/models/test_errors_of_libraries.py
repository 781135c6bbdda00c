"""Provider trouble from the real libraries, which an application's own agent may use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionUserMessageParam
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.models.errors_of import model_error_of
from tests.support.openai_server import (
    KEY,
    Answer,
    OpenAIServer,
    after,
    broken_json,
    cut,
    error,
    out_of_quota,
    rate_limited,
    text,
    unauthorised,
    unknown_model,
)


async def _by_openai(base_url: str) -> None:
    async with AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=0.2) as client:
        messages = [ChatCompletionUserMessageParam(role="user", content="hi")]
        await client.chat.completions.create(model="m", messages=messages)


async def _by_pydantic_ai(base_url: str) -> None:
    async with AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0, timeout=0.2) as client:
        model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
        await Agent(model).run("hi")


async def _by_httpx(base_url: str) -> None:
    async with httpx2.AsyncClient(timeout=0.2) as client:
        reply = await client.post(f"{base_url}/chat/completions", json={"model": "m", "messages": []})
        reply.raise_for_status()
        reply.json()


_HANGING = after(30, text("late"))

# What the server does, what it is with a client that knows the protocol, and with plain HTTP.
REAL: list[tuple[str, Answer, ModelErrorKind, ModelErrorKind | None]] = [
    ("500", error(500), "outage", "outage"),
    ("429", rate_limited("3"), "rate limit", "rate limit"),
    ("quota", out_of_quota(), "quota", "rate limit"),
    ("401", unauthorised(), "configuration", "configuration"),
    ("404", unknown_model(), "configuration", "configuration"),
    ("400", error(400), "refused request", "refused request"),
    ("hang", _HANGING, "time-out", "time-out"),
    ("cut at once", cut("before the answer"), "connection", "connection"),
    ("cut within", cut("within the body"), "connection", "connection"),
]


def _trouble_with(call: Callable[[str], Awaitable[None]], answer: Answer) -> ModelError | None:
    async def run(base_url: str) -> None:
        await call(base_url)

    # Whatever the library raises: what it is, is the question.
    with OpenAIServer(answer) as server, pytest.raises(Exception) as raised:  # noqa: PT011 - as above
        asyncio.run(run(server.base_url))
    return model_error_of(raised.value)


@pytest.mark.parametrize("call", [_by_openai, _by_pydantic_ai])
@pytest.mark.parametrize(("answer", "kind"), [pytest.param(*case[1:3], id=case[0]) for case in REAL])
def test_trouble_of_the_real_libraries(
    call: Callable[[str], Awaitable[None]], answer: Answer, kind: ModelErrorKind
) -> None:
    found = _trouble_with(call, answer)

    assert found is not None
    assert found.kind == kind
    assert KEY not in found.message


@pytest.mark.parametrize(("answer", "kind"), [pytest.param(case[1], case[3], id=case[0]) for case in REAL])
def test_trouble_of_plain_http(answer: Answer, kind: ModelErrorKind) -> None:
    found = _trouble_with(_by_httpx, answer)

    assert found is not None
    assert found.kind == kind


def test_an_answer_that_is_no_json_is_told_by_pydantic_ai() -> None:
    found = _trouble_with(_by_pydantic_ai, broken_json())

    assert found is not None
    assert found.kind == "outage"


def test_a_real_rate_limit_has_its_wait() -> None:
    found = _trouble_with(_by_openai, rate_limited("3"))

    assert found is not None
    assert (found.status, found.retry_after_s) == (429, 3)
    assert found.message.endswith("(429 rate_limit_exceeded): Rate limit reached")
