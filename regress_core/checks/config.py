"""What suite.yaml and cases/<case>.yaml may say about checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from regress_core.checks.kinds import Assertion
from regress_core.checks.outcome import Severity
from regress_core.checks.wanted import CheckId, Evidence, Words
from regress_core.records.wire import ConfigModel


class SemanticDimension(ConfigModel):
    """A quality of what the assistant says, tied to evidence that can be looked up.

    Attributes:
        id: Names it among the checks of its case.
        quality: The quality that is protected, in words.
        required: What some text of the assistant must hold, each of these.
        forbidden: What none of its texts may hold.
    """

    id: CheckId
    quality: Words
    required: Annotated[tuple[Evidence, ...], Field(strict=False)] = ()
    forbidden: Annotated[tuple[Evidence, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _tied_to_evidence(self) -> SemanticDimension:
        if not self.required and not self.forbidden:
            raise ValueError("no evidence; give required, forbidden or both")
        return self


SemanticRubric = Annotated[tuple[SemanticDimension, ...], Field(strict=False)]
"""The dimensions of a suite or a case."""


class Stall(ConfigModel):
    """So many turns with calls in a row that bring nothing new are too many."""

    turns: Annotated[int, Field(ge=1)]
    severity: Severity = "warn"


class Anomalies(ConfigModel):
    """Signs of an agent that gets nowhere; each is off unless it is given.

    Attributes:
        repeated_calls: The same call gives the same again, and nothing new was learnt in between.
        blind_retries: A call that failed is made again, and nothing new was learnt in between.
        stall: Turns in a row bring nothing new.
    """

    repeated_calls: Severity | None = None
    blind_retries: Severity | None = None
    stall: Stall | None = None

    @property
    def any(self) -> bool:
        """Whether anything is looked out for."""
        return any(sign is not None for sign in (self.repeated_calls, self.blind_retries, self.stall))


class ChecksConfig(ConfigModel):
    """The `checks` mapping.

    Attributes:
        require_rubric: Whether a case without any semantic dimension is an error.
        anomalies: What to look out for.
    """

    require_rubric: bool = False
    anomalies: Anomalies = Anomalies()


class CheckKeys(ConfigModel):
    """The keys about checks that one file has: suite.yaml for all cases, cases/<case>.yaml for one.

    Attributes:
        assertions: What must hold.
        semantic_rubric: Qualities of what the assistant says; `semanticRubric` in the file.
        checks: The rest.
    """

    assertions: Annotated[tuple[Assertion, ...], Field(strict=False)] = ()
    semantic_rubric: SemanticRubric = Field(default=(), alias="semanticRubric")
    checks: ChecksConfig = ChecksConfig()

    @model_validator(mode="after")
    def _ids_once(self) -> CheckKeys:
        twice = repeated(self.given_ids)
        if twice is not None:
            raise ValueError(f"the id {twice} stands twice among assertions and semanticRubric")
        return self

    @property
    def given_ids(self) -> Sequence[str]:
        """The ids that the file gives to its checks."""
        ids = (entry.id for entry in (*self.assertions, *self.semantic_rubric))
        return [check_id for check_id in ids if check_id is not None]


def repeated(ids: Iterable[str]) -> str | None:
    """Give the first id that stands a second time."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None
