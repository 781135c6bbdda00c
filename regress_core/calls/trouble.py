"""Trouble: why we could not know how a case behaves. It is never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from regress_core.errors import RegressError
from regress_core.models.client import ModelError, ModelErrorKind
from regress_core.records.json_io import JsonObject

TroubleKind = Literal["input", "outage", "quota", "configuration", "internal error"]
"""`input`: a file that is missing, changed or cannot be compared or replayed. `outage`: a provider that
limits, fails, hangs or cannot be reached. `quota`: the account has no money left, or the cost cap
is reached. `configuration`: a wrong
key or an unknown model. `internal error`: a fault of this program."""

TroubleStage = Literal["baseline", "candidate", "comparison", "judge"]
"""Where a case was when it met the trouble."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a case is inconclusive: infrastructure, a missing or changed file.

    Attributes:
        kind: What sort of trouble.
        stage: Where the case was.
        code: A short word for tables: an HTTP status, or such as `no candidate record`.
        message: One line for a person.
        retryable: Whether the same command may come to know.
    """

    kind: TroubleKind
    stage: TroubleStage
    code: str
    message: str
    retryable: bool

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {
            "kind": self.kind,
            "stage": self.stage,
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
        }


TROUBLE_KINDS: Mapping[ModelErrorKind, TroubleKind] = {
    "rate limit": "outage",
    "outage": "outage",
    "time-out": "outage",
    "connection": "outage",
    "quota": "quota",
    "configuration": "configuration",
}
"""What each error of a model is to a case. `refused request` is missing: it is the asker's own fault."""


def trouble_of(error: ModelError, stage: TroubleStage, message: str) -> Trouble:
    """Give the trouble that a model's error is; of one whose kind is in `TROUBLE_KINDS`."""
    return Trouble(
        kind=TROUBLE_KINDS[error.kind],
        stage=stage,
        code=error.kind if error.status is None else str(error.status),
        message=" ".join(message.split()),
        retryable=True,
    )


CAP_EXCEEDED = "cost cap exceeded"
"""The code of the trouble that there is no money left."""


class TroubleError(RegressError):
    """Ends what it interrupts as inconclusive."""

    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble
        super().__init__(trouble.message)


class CapExceededError(TroubleError):
    """The call may cost more than is left, or nobody knows what it costs; nothing was sent."""
