"""Real models, through pydantic-ai, which is imported when a client is made (extra `live`)."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from regress_core.errors import InputError
from regress_core.models.client import ModelError, ModelReply, ModelRequest
from regress_core.models.errors_of import model_error_of, one_line
from regress_core.records.json_io import JsonObject

if TYPE_CHECKING:
    from regress_core.models.pydantic_ai_providers import LiveModel

_SECRET_NAMES = ("_KEY", "_TOKEN", "_SECRET")
_READ_HERE = ("openai:", "openai-chat:")
_UNAUTHORISED = 401


class PydanticAIClient:
    """Asks models of any provider that pydantic-ai knows, by `provider:model`, such as `openai:gpt-4.1-mini`.

    `openai:` speaks the Chat Completions protocol (`openai-responses:` the Responses one), so that any
    compatible server can be asked. Each request is one HTTP request: the caller retries, and limits the time.
    For `openai:` the library's own retries and time-outs are off altogether. For other providers that is done
    by the library's `max_retries` and `timeout` settings; models without these settings (Bedrock, Hugging
    Face and xAI; Cohere without `timeout`) keep what their own libraries do, and connecting may never take
    longer than the 5 seconds that the library allows.

    What is sent is what the record says: tools without strict mode, texts without framing notes. Settings
    have pydantic-ai's names or, where they differ, OpenAI's; one that would be left out is refused. A
    reasoning model takes no sampling settings: the library leaves those out, with a Python warning.

    A client belongs to one event loop until it is closed. It serves any number of requests at a time.

    Args:
        base_url: Where `openai:` models are asked; without it `OPENAI_BASE_URL`, else OpenAI's own address.
        api_key: The key for `openai:` models; without it `OPENAI_API_KEY`. Other providers read their own
            environment variables.

    Raises:
        InputError: If pydantic-ai is not installed.
    """

    def __init__(self, *, base_url: str | None = None, api_key: str | None = None) -> None:
        try:
            from regress_core.models import (  # noqa: PLC0415 - half a second, and an extra that may be missing
                pydantic_ai_providers,
                pydantic_ai_wire,
            )
        except ImportError as error:
            raise InputError(
                "real models need pydantic-ai, which is not installed", remedy="pip install 'regress[live]'"
            ) from error
        self._wire = pydantic_ai_wire
        self._providers = pydantic_ai_providers
        self._access = pydantic_ai_providers.OpenAIAccess(base_url, api_key)
        self._models: dict[str, LiveModel] = {}

    @property
    def provider_name(self) -> str:
        """The name that records give the provider."""
        return "pydantic-ai"

    @property
    def base_url(self) -> str | None:
        """Where `openai:` models are asked; None for OpenAI's own address."""
        return self._access.address

    def check(self, model: str, settings: JsonObject) -> None:
        """Make sure that a model can be asked with some settings; nothing is sent.

        Raises:
            ModelError: Kind `configuration`: no such provider, no key. Kind `refused request`: a setting that
                the library, or this model, would leave out or trip over.
        """
        self._wire.settings_of(settings, self._model_of(model).model)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one turn, with one HTTP request.

        Raises:
            ModelError: If there is no answer. One that cannot be read is the provider's fault: an `outage`.
        """
        live = self._model_of(request.model)
        try:
            settings = live.settings | self._wire.settings_of(request.settings, live.model)
            messages = self._wire.messages_of(request)
        except ModelError as error:
            raise ModelError(error.kind, f"{request.model}: {error.message}", never_sent=True) from error
        parameters = self._wire.parameters_of(request.tools)
        try:
            # Not through `pydantic_ai.direct`: it changes texts that look like a chat template's tokens.
            response = await live.model.request(messages, settings, parameters)
        except Exception as error:
            trouble = self._trouble(request.model, error)
            if trouble is None:
                raise
            # Not `from error`: a traceback would show the server's own text, which may repeat the key.
            raise trouble from None
        return self._wire.reply_of(response)

    async def close(self) -> None:
        """Close all connections. The client can be used again afterwards, in another event loop too."""
        async with AsyncExitStack() as stack:
            while self._models:
                stack.push_async_callback(self._models.popitem()[1].close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def _model_of(self, name: str) -> LiveModel:
        live = self._models.get(name)
        if live is None:
            live = self._models[name] = self._providers.live_model(name, self._access, self._secrets())
        return live

    def _trouble(self, model: str, error: Exception) -> ModelError | None:
        secrets = self._secrets()
        found = model_error_of(error, secrets=secrets)
        if found is None and isinstance(error, self._wire.REFUSED):
            found = ModelError("refused request", one_line(str(error), secrets), never_sent=True)
        if found is None and isinstance(error, self._wire.UNREADABLE):
            reason = one_line(str(error) or type(error).__name__, secrets)
            found = ModelError("outage", f"the answer cannot be read: {reason}")
        if found is None:
            return None
        return ModelError(
            found.kind,
            f"{model}: {found.message}{self._place_of_key(model, found)}",
            status=found.status,
            retry_after_s=found.retry_after_s,
            never_sent=found.never_sent,
        )

    def _place_of_key(self, model: str, error: ModelError) -> str:
        """Say where a key was read that the provider does not know, as far as it is us who read it."""
        ours = model.startswith(_READ_HERE) and self._access.api_key is None
        return "; the key is OPENAI_API_KEY's" if error.status == _UNAUTHORISED and ours else ""

    def _secrets(self) -> list[str]:
        from_environment = [value for name, value in os.environ.items() if name.endswith(_SECRET_NAMES)]
        return [*from_environment, *([self._access.api_key] if self._access.api_key else [])]
