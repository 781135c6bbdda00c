"""The client of real models: where it asks, when it imports and connects, many turns at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from regress_core.models.client import ModelClient, ModelReply
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.records.json_io import JsonObject
from tests.models.support import request
from tests.support.openai_server import KEY, Answer, OpenAIServer, after, text
from tests.support.records import message


def test_the_address_and_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def complete() -> ModelReply:
        async with PydanticAIClient() as client:
            return await client.complete(request())

    with OpenAIServer(text("hello")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment\n")
        reply = asyncio.run(complete())
        (received,) = server.requests

    assert reply.text == "hello"
    assert received.headers["authorization"] == "Bearer from-the-environment"


def test_arguments_come_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def complete(base_url: str) -> ModelReply:
        async with PydanticAIClient(base_url=base_url, api_key=KEY) as client:
            return await client.complete(request())

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")

    with OpenAIServer(text("hello")) as server:
        asyncio.run(complete(server.base_url))
        (received,) = server.requests

    assert received.headers["authorization"] == f"Bearer {KEY}"


def test_a_server_of_ones_own_needs_no_key() -> None:
    async def complete(base_url: str) -> ModelReply:
        async with PydanticAIClient(base_url=base_url) as client:
            return await client.complete(request())

    with OpenAIServer(text("hello")) as server:
        assert asyncio.run(complete(server.base_url)).text == "hello"


def test_many_turns_at_once_on_one_client() -> None:
    def behave(sent: JsonObject, _: int) -> Answer:
        return after(0.1, text(f"{sent['model']} {sent['messages'][0]['content']}"))

    async def all_at_once(base_url: str) -> Sequence[ModelReply]:
        async with PydanticAIClient(base_url=base_url, api_key=KEY) as client:
            asked = [request(message(str(n)), model=f"openai:gpt-{n % 3}") for n in range(60)]
            return await asyncio.gather(*map(client.complete, asked))

    with OpenAIServer(behave) as server:
        replies = asyncio.run(all_at_once(server.base_url))

        assert server.count == 60
        assert server.peak > 30

    assert [reply.text for reply in replies] == [f"gpt-{n % 3} {n}" for n in range(60)]


def test_a_cancelled_turn_leaves_the_client_usable() -> None:
    def behave(_: JsonObject, number: int) -> Answer:
        return after(60, text("late")) if number == 1 else text("hello")

    async def cancel_then_ask(base_url: str) -> ModelReply:
        async with PydanticAIClient(base_url=base_url, api_key=KEY) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.complete(request())
            task = asyncio.create_task(client.complete(request()))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await client.complete(request())

    began = time.monotonic()
    with OpenAIServer(behave) as server:
        assert asyncio.run(cancel_then_ask(server.base_url)).text == "hello"

    assert time.monotonic() - began < 10  # nothing waited for the hanging answer


def test_a_closed_client_can_be_used_in_another_event_loop() -> None:
    async def complete() -> ModelReply:
        async with client:
            return await client.complete(request())

    with OpenAIServer(text("hello")) as server:
        client = PydanticAIClient(base_url=server.base_url, api_key=KEY)

        assert [asyncio.run(complete()).text for _ in range(3)] == ["hello"] * 3


def test_connections_are_kept_for_the_next_turn_and_closed_at_the_end() -> None:
    async def three_turns(base_url: str) -> None:
        async with PydanticAIClient(base_url=base_url, api_key=KEY) as client:
            for _ in range(3):
                await client.complete(request())
            assert server.connections == 1

    with OpenAIServer(text("hello")) as server:
        asyncio.run(three_turns(server.base_url))

        assert server.count == 3
        assert server.all_left(within_s=5)


_ASK_WITHOUT = """
import sys
from regress_core.errors import InputError
from regress_core.models.pydantic_ai import PydanticAIClient
assert not {"pydantic_ai", "openai", "httpx2"} & sys.modules.keys(), "imported too early"
sys.modules["pydantic_ai"] = None  # as if it was not installed
try:
    PydanticAIClient()
except InputError as error:
    print(error)
"""


def test_the_library_is_imported_when_a_client_is_made() -> None:
    process = subprocess.run(
        [sys.executable, "-c", _ASK_WITHOUT], capture_output=True, text=True, check=False, timeout=60
    )

    assert process.stderr == ""
    assert process.stdout == (
        "real models need pydantic-ai, which is not installed; pip install 'regress[live]'\n"
    )


def test_it_is_a_model_client() -> None:
    client = PydanticAIClient(api_key=KEY)

    assert isinstance(client, ModelClient)
    assert client.provider_name == "pydantic-ai"
