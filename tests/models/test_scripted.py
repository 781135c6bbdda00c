"""Clients that answer from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from regress_core.models.client import ModelClient, ModelError, ModelReply, ModelRequest, ModelToolCall, Usage
from regress_core.models.scripted import FunctionClient, ScriptedClient
from tests.models.support import request
from tests.support.records import message


async def _turns(client: ModelClient, requests: Sequence[ModelRequest]) -> list[ModelReply]:
    return [await client.complete(one) for one in requests]


def test_replies_come_in_order_whatever_is_asked() -> None:
    replies = [ModelReply(tool_calls=(ModelToolCall("c1", "find_order", "{}"),)), ModelReply("It is here.")]
    requests = [request(message("one")), request(message("two"), model="another")]

    assert asyncio.run(_turns(ScriptedClient(replies), requests)) == replies


def test_a_script_is_read_as_far_as_it_is_asked_for() -> None:
    read: list[int] = []

    def replies() -> Iterator[ModelReply]:
        for number in range(3):
            read.append(number)
            yield ModelReply(str(number))

    asyncio.run(_turns(ScriptedClient(replies()), [request(), request()]))

    assert read == [0, 1]


@pytest.mark.parametrize("length", [0, 2])
def test_the_turn_after_the_last_reply_is_refused(length: int) -> None:
    client = ScriptedClient([ModelReply("hello")] * length)
    asyncio.run(_turns(client, [request()] * length))

    with pytest.raises(ModelError, match="the script has no reply for another turn of some-model") as raised:
        asyncio.run(client.complete(request(model="some-model")))

    assert raised.value.kind == "refused request"


def test_runs_at_the_same_time_share_one_script() -> None:
    client = ScriptedClient(ModelReply(str(number)) for number in range(100))

    async def all_at_once() -> list[ModelReply]:
        return await asyncio.gather(*(client.complete(request()) for _ in range(100)))

    assert {reply.text for reply in asyncio.run(all_at_once())} == {str(number) for number in range(100)}


def test_a_function_answers_what_it_is_asked() -> None:
    client = FunctionClient(lambda one: ModelReply(f"{one.model} of {len(one.messages)}"))

    replies = asyncio.run(_turns(client, [request(), request(message("a"), message("b"), model="m")]))

    assert [reply.text for reply in replies] == ["openai:gpt-4.1-mini of 1", "m of 2"]


def test_what_a_function_raises_is_raised() -> None:
    def fail(_: ModelRequest) -> ModelReply:
        raise ModelError("outage", "the provider failed to answer (500)", status=500)

    with pytest.raises(ModelError, match="500"):
        asyncio.run(FunctionClient(fail).complete(request()))


@pytest.mark.parametrize("client", [ScriptedClient([]), FunctionClient(lambda _: ModelReply())])
def test_a_scripted_client_is_a_model_client(client: ModelClient) -> None:
    assert isinstance(client, ModelClient)
    assert client.provider_name == "ScriptedProvider"  # the reference's own


def test_the_provider_can_be_named() -> None:
    assert ScriptedClient([], provider_name="mine").provider_name == "mine"
    assert FunctionClient(lambda _: ModelReply(), provider_name="mine").provider_name == "mine"


def test_usage_adds_up_class_by_class() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
