"""Turns asked of a model behind a loopback server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from regress_core.models.client import ModelError, ModelReply, ModelRequest, ToolSpec
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.records.json_io import JsonObject
from regress_core.records.model import Item
from tests.support.openai_server import KEY, Answer, Behaviour, OpenAIServer, Received, text
from tests.support.records import message

MODEL = "openai:gpt-4.1-mini"


def request(
    *items: JsonObject,
    model: str = MODEL,
    system_prompt: str | None = None,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> ModelRequest:
    """Give a request with these items; a single question without any."""
    messages = cast("list[Item]", list(items) or [message("Where is my order?")])
    return ModelRequest(model, system_prompt, messages, tools, settings or {})


class Asker:
    """One server and one client for many tests, since a client takes its time to read its certificates."""

    def __init__(self) -> None:
        self._behaviour: Behaviour = lambda _, __: text("unexpected")
        self._seen = 0
        self._server = OpenAIServer(lambda sent, number: self._behaviour(sent, number - self._seen))
        self._client = PydanticAIClient(base_url=self._server.base_url, api_key=KEY)
        self._runner = asyncio.Runner()

    def ask(
        self, behaviour: Behaviour | Answer, asked: ModelRequest
    ) -> tuple[ModelReply, Sequence[Received]]:
        """Ask one turn; give the reply and the requests that the server has got for it."""
        self._behaviour = (lambda _, __: behaviour) if isinstance(behaviour, Answer) else behaviour
        self._seen = self._server.count
        reply = self._runner.run(self._client.complete(asked))
        return reply, self._server.requests[self._seen :]

    def trouble(
        self, behaviour: Behaviour | Answer, asked: ModelRequest | None = None
    ) -> tuple[ModelError, int]:
        """Ask one turn that gets no reply; give the error and how many requests the server has got for it."""
        with pytest.raises(ModelError) as raised:
            self.ask(behaviour, asked or request())
        return raised.value, self._server.count - self._seen

    def close(self) -> None:
        """Close all of it."""
        with self._runner, self._server:
            self._runner.run(self._client.close())
