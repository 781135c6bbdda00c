"""A question to a judge's model, and the protocol of the judges that ask one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from regress_core.checks.outcome import CheckResult
from regress_core.errors import RegressError
from regress_core.judge.contract import RunJudgeInput
from regress_core.judge.outcome import JudgeName, JudgeOutcome
from regress_core.models.client import Usage
from regress_core.records.json_io import JsonObject


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """What a judge may look at: one trial of one case, redacted as the suite says.

    Attributes:
        case_id: The case.
        trial: Counts from 1.
        asked: Both records, their comparison, the expectation, the descriptors.
        checks: What tier 0 found.
    """

    case_id: str
    trial: int
    asked: RunJudgeInput
    checks: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One question to a judge's model.

    Attributes:
        judge: Which judge asks.
        model: Who is asked, `provider:model`.
        prompt_version: The version of the instructions.
        system: The instructions.
        text: The user's message: the case.
        settings: Settings of the model, such as `temperature` and `max_tokens`, which is always there.
        input_mode: How much of the evidence the text shows.
        evidence: All of the case that can change a verdict, whether it is shown in `text` or not: what both
            runs did and said, without run ids and times. Its hash is part of the verdict cache's key.
    """

    judge: JudgeName
    model: str
    prompt_version: str
    system: str
    text: str
    settings: JsonObject
    input_mode: str
    evidence: JsonObject


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """A model's reply to a question.

    Attributes:
        text: What it said.
        usage: Tokens; None where the provider does not tell.
        cut: Why it is not whole, as `ModelReply` says it; such a reply holds no verdict, whatever it says.
    """

    text: str
    usage: Usage | None
    cut: str | None = None


class JudgeReplyError(RegressError):
    """The reply holds no verdict, or more than one; the message says why in one line."""


class ModelJudge(Protocol):
    """A judge that asks a model one question a case."""

    @property
    def name(self) -> JudgeName:
        """Which judge."""
        ...

    def question(self, case: JudgedCase) -> JudgeQuestion:
        """Make the question of a case."""
        ...

    def verdict(self, case: JudgedCase, answer: JudgeAnswer) -> JudgeOutcome:
        """Read a reply: the outcome with its state `verdict`, without model, cost and the like.

        Raises:
            JudgeReplyError: If it holds anything but exactly one valid verdict.
        """
        ...

    def is_fail(self, outcome: JudgeOutcome) -> bool:
        """Tell whether a verdict is to be asked for again, where the suite wants fails confirmed."""
        ...

    def majority(self, outcomes: Sequence[JudgeOutcome]) -> JudgeOutcome:
        """Give the verdict of several, an odd number, each with state `verdict`."""
        ...
