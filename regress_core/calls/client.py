"""A model client whose calls go through the runner."""

from __future__ import annotations

from dataclasses import dataclass

from regress_core.calls.meter import Meter
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import TroubleStage
from regress_core.models.client import ModelClient, ModelReply, ModelRequest, checked_reply


@dataclass(frozen=True, slots=True)
class RunnerClient:
    """Sends each turn of another client through a runner, as one call.

    Attributes:
        client: Sends one request a turn, without retries of its own.
        runner: Limits, retries and tells trouble.
        stage: Where the cases are that the calls are made for.
        meter: Pays for the calls; None where somebody else does, or nobody.
    """

    client: ModelClient
    runner: CallRunner
    stage: TroubleStage
    meter: Meter | None = None

    @property
    def provider_name(self) -> str:
        """The other client's."""
        return self.client.provider_name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one turn.

        Raises:
            ModelError: If the provider refused the request.
            TypeError: If the client gives what is no reply.
            TroubleError: If there is no answer for a reason that is not the request's.
        """
        charge = None if self.meter is None else self.meter.charge(request)
        return await self.runner.run(lambda: self._once(request), stage=self.stage, charge=charge)

    async def _once(self, request: ModelRequest) -> ModelReply:
        return checked_reply(await self.client.complete(request))
