from __future__ import annotations

import asyncio

import pytest

from regress_core.calls.client import RunnerClient
from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import TroubleError, TroubleStage
from regress_core.models.client import ModelClient, ModelError, ModelErrorKind, ModelReply, ModelRequest
from regress_core.models.scripted import FunctionClient, ScriptedClient

REQUEST = ModelRequest("scripted:one", "Be brief.", (), (), {})
NO_WAITS = CallLimits(attempts=2, first_wait_s=0)


def _failing(kind: ModelErrorKind, asked: list[ModelRequest]) -> ModelClient:
    def answer(request: ModelRequest) -> ModelReply:
        asked.append(request)
        raise ModelError(kind, "no")

    return FunctionClient(answer)


def test_it_is_a_client_with_the_others_name() -> None:
    client = RunnerClient(ScriptedClient([], provider_name="Acme"), CallRunner(NO_WAITS), "judge")

    assert isinstance(client, ModelClient)
    assert client.provider_name == "Acme"


def test_each_turn_is_a_call() -> None:
    replies = [ModelReply("one"), ModelReply("two")]
    client = RunnerClient(ScriptedClient(replies), CallRunner(NO_WAITS), "candidate")

    async def turns() -> list[ModelReply]:
        return [await client.complete(REQUEST), await client.complete(REQUEST)]

    assert asyncio.run(turns()) == replies


@pytest.mark.parametrize("stage", ["candidate", "judge"])
def test_trouble_is_told_with_its_stage(stage: TroubleStage) -> None:
    asked: list[ModelRequest] = []
    client = RunnerClient(_failing("outage", asked), CallRunner(NO_WAITS), stage)

    with pytest.raises(TroubleError) as caught:
        asyncio.run(client.complete(REQUEST))

    assert caught.value.trouble.stage == stage
    assert asked == [REQUEST, REQUEST]


def test_a_refused_request_comes_out_as_it_is() -> None:
    asked: list[ModelRequest] = []
    client = RunnerClient(_failing("refused request", asked), CallRunner(NO_WAITS), "candidate")

    with pytest.raises(ModelError) as caught:
        asyncio.run(client.complete(REQUEST))

    assert caught.value.kind == "refused request"
    assert asked == [REQUEST]
