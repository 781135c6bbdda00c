"""A client that answers from a script: for tests, examples and runs without a network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from regress_core.foreign import settled
from regress_core.models.client import ModelError, ModelReply, ModelRequest


class ScriptedClient:
    """Answers one run's turns with the given replies, in order.

    Args:
        replies: A reply a turn.
        provider_name: The name that records give the provider.
    """

    def __init__(self, replies: Iterable[ModelReply], *, provider_name: str = "ScriptedProvider") -> None:
        self._replies = iter(replies)
        self._provider_name = provider_name

    @property
    def provider_name(self) -> str:
        """The name that records give the provider."""
        return self._provider_name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Give the next reply.

        Raises:
            ModelError: If the script has ended.
        """
        reply = next(self._replies, None)
        if reply is None:
            message = f"the script has no reply for another turn of {request.model}"
            raise ModelError("refused request", message, never_sent=True)
        return reply


class FunctionClient:
    """Answers every turn of every run with what a function makes of the request.

    Args:
        function: Takes the request, gives the reply. Sync or async.
        provider_name: The name that records give the provider.
    """

    def __init__(
        self,
        function: Callable[[ModelRequest], ModelReply | Awaitable[ModelReply]],
        *,
        provider_name: str = "ScriptedProvider",
    ) -> None:
        self._function = function
        self._provider_name = provider_name

    @property
    def provider_name(self) -> str:
        """The name that records give the provider."""
        return self._provider_name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Give what the function makes of the request."""
        return await settled(self._function(request))
