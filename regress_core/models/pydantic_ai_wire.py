"""Requests and replies in pydantic-ai's types. Importing this imports pydantic-ai."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as RequestMessage
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from regress_core.models.client import (
    ModelError,
    ModelReply,
    ModelRequest,
    ModelToolCall,
    ToolSpec,
    Usage,
    is_plausible,
)
from regress_core.models.conversation import Called, Said, conversation_of
from regress_core.records.json_io import JsonObject, JsonValue, clean_text, dumps_text

UNREADABLE = (UnexpectedModelBehavior, LookupError, ValueError, TypeError, AttributeError)
"""What the library raises when it trips over an answer: its own word for it, or the fault it ran into."""

REFUSED = UserError
"""What the library raises for a request that the model cannot be asked."""

_OPENAI_NAMES: Mapping[str, str] = {
    "stop": "stop_sequences",
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "openai_reasoning_effort",
}
"""What settings are called in OpenAI's API, where pydantic-ai has another name."""

_CUT: Mapping[str | None, str] = {"length": "length", "content_filter": "content filter"}
"""What the library's reasons to finish say of a reply that is not whole."""

_OURS = ("max_retries", "timeout", "request_timeout", "first_event_timeout")
"""Settings that are the run's, not the model's."""


@dataclass(repr=False)
class _VerbatimToolCall(ToolCallPart):
    """A call whose argument text is sent as it is; the library reformats it, and wraps what is no JSON."""

    def args_as_json_str(self) -> str:
        return self.args if isinstance(self.args, str) else super().args_as_json_str()


def messages_of(request: ModelRequest) -> list[ModelMessage]:
    """Write the system prompt and the conversation as pydantic-ai's messages.

    Raises:
        ModelError: If the conversation cannot be sent: an output without its call.
    """
    messages: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    if request.system_prompt:
        asked.append(SystemPromptPart(clean_text(request.system_prompt)))

    def answer(parts: list[ModelResponsePart]) -> None:
        if asked:
            messages.append(RequestMessage([*asked]))
            asked.clear()
        messages.append(ModelResponse(parts))

    for message in conversation_of(request.messages):
        if isinstance(message, Called):
            said: list[ModelResponsePart] = [] if message.text is None else [TextPart(message.text)]
            answer(
                [*said, *(_VerbatimToolCall(one.name, one.arguments, one.call_id) for one in message.calls)]
            )
            asked += [ToolReturnPart(one.name, one.text, one.call_id) for one in message.outputs]
        elif message.role == "assistant":
            answer([TextPart(message.text)])
        else:
            asked.append(_asked(message))
    if asked:
        messages.append(RequestMessage(asked))
    return messages


def _asked(message: Said) -> ModelRequestPart:
    return SystemPromptPart(message.text) if message.role == "system" else UserPromptPart(message.text)


def parameters_of(tools: Iterable[ToolSpec]) -> ModelRequestParameters:
    """Write the tools as pydantic-ai's definitions."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
                strict=False,  # strict mode rewrites the schema, and the model's behaviour is what we test
            )
            for tool in tools
        ]
    )


def settings_of(settings: JsonObject, model: Model) -> ModelSettings:
    """Write settings under pydantic-ai's names; a null sets nothing.

    Raises:
        ModelError: At a setting that the library, or this model, would leave out.
    """
    known = _known_settings(type(model))
    written: dict[str, Any] = {}
    for name, value in settings.items():
        key = _OPENAI_NAMES.get(name, name)
        if key in _OURS:
            raise ModelError(
                "refused request", f"setting {name} is not the model's; it is set for the whole run"
            )
        if key not in known:
            raise ModelError(
                "refused request", f"unknown setting {name}; remove it from the model's settings"
            )
        if key in model.unsupported_settings:
            raise ModelError(
                "refused request", f"setting {name} is not supported by this provider; remove it"
            )
        if key in written:
            raise ModelError("refused request", f"setting {name} is given twice, under two names")
        if value is not None:
            written[key] = _checked(name, key, value)
    return cast("ModelSettings", written)


def _checked(name: str, key: str, value: JsonValue) -> JsonValue:
    """Check what the library does not: it would trip over a wrong value as if over the answer."""
    if key == "stop_sequences" and isinstance(value, str):  # OpenAI's `stop` may be one text
        value = [value]
    if key in ModelSettings.__annotations__:
        try:
            _adapter_of(key).validate_python(value)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]["msg"]
            raise ModelError("refused request", f"setting {name}: {fault}") from error
    return value


@cache
def _adapter_of(key: str) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(ModelSettings)[key])


@cache
def _known_settings(model_class: type[Model]) -> frozenset[str]:
    """Give the library's settings, and the provider's: a TypedDict beside the class of the model."""
    known = set(ModelSettings.__annotations__)
    for cls in model_class.__mro__:
        for name, value in vars(sys.modules[cls.__module__]).items():
            if name.endswith("ModelSettings") and isinstance(value, type):
                known |= value.__annotations__.keys()
    return frozenset(known)


def reply_of(response: ModelResponse) -> ModelReply:
    """Read the model's answer. Its reasoning is no part of the text; a refusal is the text."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    refusal = (response.provider_details or {}).get("refusal")
    return ModelReply(
        text=refusal if not text and isinstance(refusal, str) else text,
        tool_calls=tuple(
            ModelToolCall(part.tool_call_id, part.tool_name, _arguments_of(part))
            for part in response.parts
            if isinstance(part, ToolCallPart)
        ),
        usage=_usage_of(response.usage),
        cut="refusal" if refusal else _CUT.get(response.finish_reason),
    )


def _arguments_of(part: ToolCallPart) -> str:
    if isinstance(part.args, dict):
        return dumps_text(part.args)
    return part.args or ""


def _usage_of(usage: RequestUsage) -> Usage | None:
    # The library's input tokens include those of the cache, whatever the provider's own count does.
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    counts = Usage(
        input_tokens=max(0, usage.input_tokens - cached),
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    if not is_plausible(counts):
        raise ModelError("outage", f"the provider's answer cannot be read: it counts tokens so: {counts}")
    return None if counts == Usage() else counts  # the library counts nothing where nothing was told
