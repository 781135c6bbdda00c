"""pydantic-ai's model objects by name. Importing this imports pydantic-ai."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from pydantic_ai.models import Model, infer_model
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.settings import ModelSettings

from regress_core.models.client import ModelError
from regress_core.models.errors_of import one_line

_CHAT_COMPLETIONS = ("openai", "openai-chat")
_EXAMPLE = "openai:gpt-4.1-mini"
_VERBATIM = ModelProfile(json_schema_transformer=None, may_tokenize_special_tokens_in_content=False)
"""Tools' schemas are sent as the harness has them, and replies read as they came."""

_A_DAY_S = 24 * 60 * 60.0
"""Longer than any caller waits; other providers' clients would give up after their own, shorter time."""


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A model that can be asked.

    Attributes:
        model: The library's object.
        settings: What every request to it sets: no retries and no time-out of the library's own.
        close: Closes its connections.
    """

    model: Model
    settings: ModelSettings
    close: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OpenAIAccess:
    """How `openai:` models are reached; what is None is read from the environment.

    Attributes:
        base_url: An OpenAI-compatible address, such as `http://127.0.0.1:8000/v1`; else `OPENAI_BASE_URL`,
            else OpenAI's own.
        api_key: The key; else `OPENAI_API_KEY`. Another address than OpenAI's own may need none.
    """

    base_url: str | None = None
    api_key: str | None = None

    @property
    def address(self) -> str | None:
        """The address that is asked; None for OpenAI's own."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or None


def live_model(name: str, access: OpenAIAccess, secrets: Iterable[str]) -> LiveModel:
    """Make the model object of a name, `provider:model`.

    Raises:
        ModelError: Kind `configuration`: no provider, an unknown one, one whose package or key is missing.
    """
    provider, colon, model_name = name.partition(":")
    if not (provider and colon and model_name):
        raise _unusable(f"model {name!r} names no provider; write provider:model, such as {_EXAMPLE}")
    try:
        if provider in _CHAT_COMPLETIONS:
            return _chat_completions(model_name, access)
        infer_provider_class(provider)
    except ImportError as error:
        raise _not_installed(name, error) from error
    except ValueError as error:
        raise _unusable(f"model {name!r}: unknown provider {provider!r}; check its spelling") from error
    return _other(name, secrets)


def _chat_completions(model_name: str, access: OpenAIAccess) -> LiveModel:
    from openai import AsyncOpenAI  # noqa: PLC0415 - an extra of pydantic-ai, which may be missing
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - as above

    base_url = _usable_url(access.address)
    api_key = (access.api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not api_key:
        if base_url is None:
            raise _unusable("no API key for OpenAI; set OPENAI_API_KEY")
        api_key = "none"  # the library wants one, servers of one's own often do not
    if not (api_key.isascii() and api_key.isprintable()):
        raise _unusable("the API key for OpenAI holds characters no key has; check OPENAI_API_KEY")
    client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=None)
    model = OpenAIChatModel(model_name, provider=OpenAIProvider(openai_client=client), profile=_VERBATIM)
    return LiveModel(model, {}, client.close)


def _usable_url(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise _unusable("the base URL is no http address; check OPENAI_BASE_URL")
    return url


def _other(name: str, secrets: Iterable[str]) -> LiveModel:
    try:
        model = infer_model(name)
    except ImportError as error:
        raise _not_installed(name, error) from error
    except Exception as error:
        # Each provider's library has an error of its own for a missing key, region or address.
        reason = one_line(str(error), secrets).split(". ")[0]
        raise _unusable(f"model {name!r} cannot be set up: {reason}") from error
    settings = ModelSettings()
    if "max_retries" not in model.unsupported_settings:
        settings["max_retries"] = 0
    if "timeout" not in model.unsupported_settings:
        settings["timeout"] = _A_DAY_S
    return LiveModel(model, settings, partial(_close, model))


async def _close(model: Model) -> None:
    async with model:  # leaving the context closes the connections, also those of requests made outside it
        pass


def _not_installed(name: str, error: ImportError) -> ModelError:
    # The library says which package is missing and how to install it.
    return _unusable(f"model {name!r} cannot be set up: {one_line(str(error))}")


def _unusable(message: str) -> ModelError:
    return ModelError("configuration", message, never_sent=True)
