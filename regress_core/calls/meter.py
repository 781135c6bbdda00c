"""What one run of a candidate is charged for its calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from regress_core.calls.prices import Price
from regress_core.calls.purse import PaidCall, Purse
from regress_core.calls.runner import Charge
from regress_core.journal.ledger import CallEntry
from regress_core.models.client import ModelReply, ModelRequest
from regress_core.records.json_io import dumps

PriceOf = Callable[[str], Price | None]
"""Gives the price of a model, `provider:model`; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Charges every turn of one run to a purse.

    Attributes:
        purse: Pays.
        entry: The run.
        price_of: What models cost; the agents of one run may use several.
    """

    purse: Purse
    entry: CallEntry
    price_of: PriceOf

    def charge(self, request: ModelRequest) -> Charge[ModelReply]:
        """Give what pays for a turn: at most for so many tokens as its settings let the model answer."""
        limit = request.settings.get("max_tokens", request.settings.get("max_completion_tokens"))
        call = PaidCall(
            entry=self.entry,
            model=request.model,
            price=self.price_of(request.model),
            input_bytes=len(dumps(asdict(request))),
            output_tokens=limit if isinstance(limit, int) else None,
        )
        return partial(self.purse.charge, call)
