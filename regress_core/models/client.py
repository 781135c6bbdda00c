"""The protocol between the agent loop and whatever answers as the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Literal, Protocol, runtime_checkable

from regress_core.errors import RegressError
from regress_core.records.json_io import JsonObject
from regress_core.records.model import Item


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One turn's question to the model.

    Attributes:
        model: The model's name, `provider:model` where a real provider is to answer.
        system_prompt: The rendered instructions; None without any.
        messages: The conversation so far, as record items. Not to be changed.
        tools: What the model may call, in the agent's order.
        settings: Settings such as `temperature`, as the descriptor has them.
    """

    model: str
    system_prompt: str | None
    messages: Sequence[Item]
    tools: Sequence[ToolSpec]
    settings: JsonObject


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A call the model asks for. `arguments` is the model's text, which may be no JSON at all."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls, each counted in one class only.

    Attributes:
        input_tokens: Input tokens that no cache served.
        output_tokens: Output tokens, reasoning included.
        cache_read_tokens: Input tokens read from the provider's cache.
        cache_write_tokens: Input tokens written to the provider's cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model answered: text, calls, or both.

    Attributes:
        text: What it said.
        tool_calls: What it wants to have called.
        usage: Tokens of the request and its answer; None where the provider does not tell. Unmeasured is not
            free.
        cut: Why it is not all that the model would have said: `length`, `content filter` or `refusal`. None
            for an ordinary end, and where the provider does not tell.
    """

    text: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    usage: Usage | None = None
    cut: str | None = None


_MOST_TOKENS = 10**12


def is_plausible(usage: Usage) -> bool:
    """Tell whether counts of tokens are counts, of what anybody could have used."""
    return all(type(count) is int and 0 <= count <= _MOST_TOKENS for count in astuple(usage))


def checked_reply(reply: object) -> ModelReply:
    """Check what a client gave, and make plain texts of its texts.

    Raises:
        TypeError: If it is no reply, or holds anything but texts and counts where these belong.
    """
    if not isinstance(reply, ModelReply):
        raise TypeError(f"the model client gave {type(reply).__name__}, not ModelReply")
    if reply.usage is not None and not is_plausible(reply.usage):
        raise TypeError(f"the model client gave no counts of tokens: {reply.usage}")
    calls = tuple(
        ModelToolCall(_plain(call.call_id), _plain(call.name), _plain(call.arguments))
        for call in reply.tool_calls
    )
    cut = None if reply.cut is None else _plain(reply.cut)
    return ModelReply(_plain(reply.text), calls, reply.usage, cut)


def _plain(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"the model client gave {type(text).__name__} in place of a text")
    return str.__str__(text)


@runtime_checkable
class ModelClient(Protocol):
    """Answers as a model. One client serves many runs at a time."""

    @property
    def provider_name(self) -> str:
        """The name that request fingerprints and records give the provider."""
        ...

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one turn.

        Raises:
            ModelError: If there is no answer.
        """
        ...


ModelErrorKind = Literal[
    "rate limit", "quota", "outage", "time-out", "connection", "configuration", "refused request"
]
"""Why a model gave no answer.

`rate limit` (429), `outage` (5xx, an answer that cannot be read), `time-out` and `connection` may pass;
`quota` (`insufficient_quota`) and `configuration` (401, 403, unknown model) will not by themselves;
`refused request` (any other 4xx) is the fault of what was asked.
"""


class ModelError(RegressError):
    """The model gave no answer.

    Attributes:
        kind: Why.
        message: One line for a person.
        status: The HTTP status, where there was one.
        retry_after_s: Seconds the provider asks to wait, where it said so.
        never_sent: Whether it is certain that no request has reached the provider.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        never_sent: bool = False,
    ) -> None:
        self.kind: ModelErrorKind = kind
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s
        self.never_sent = never_sent
        super().__init__(message)

    @property
    def may_have_cost(self) -> bool:
        """Whether the provider may bill the request all the same: it may have worked on an answer."""
        if self.never_sent or self.status is not None:
            return False
        return self.kind in {"outage", "time-out", "connection"}
