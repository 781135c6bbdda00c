"""The regression judge: compares two runs of one case, and says whether the candidate got worse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from regress_core.harness.threads import call_apart
from regress_core.judge.contract import SEVERITY, RunJudge, RunJudgeInput, RunJudgeResult
from regress_core.judge.contradictions import contradictions
from regress_core.judge.data import as_data
from regress_core.judge.evidence import evidence_of
from regress_core.judge.instructions import (
    REGRESSION_PROMPT_VERSION,
    regression_instructions,
    regression_prompt_version,
)
from regress_core.judge.outcome import JudgeName, JudgeOutcome
from regress_core.judge.parsing import parse_judge_result
from regress_core.judge.projection import JudgeInputMode, projected
from regress_core.judge.question import JudgeAnswer, JudgedCase, JudgeQuestion, JudgeReplyError
from regress_core.records.json_io import JsonObject, JsonValue

Projection = Callable[[RunJudgeInput], JsonValue]
"""Makes what a judge is shown: JSON."""


class RegressionJudgeMessage(TypedDict):
    """A message to the judge's model, as most providers take it."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class RegressionJudgeRequest:
    """What an application's function is asked to put to a model.

    Attributes:
        prompt_version: The version of the instructions.
        input: What the judge is shown, which the user's message holds as data.
        messages: Instructions and case.
    """

    prompt_version: str
    input: JsonValue
    messages: tuple[RegressionJudgeMessage, RegressionJudgeMessage]


Generate = Callable[[RegressionJudgeRequest], Awaitable[str | JsonObject] | str | JsonObject]
"""An application's way to ask a model: gives the reply's text, or the JSON object in it."""


@dataclass(frozen=True, slots=True)
class RegressionJudge:
    """Asks a model to compare two runs.

    Attributes:
        model: Who is asked, `provider:model`.
        settings: Settings of the model.
        input_mode: How much it is shown.
        projection: Makes what it is shown, in place of `input_mode`.
        system_prompt: An application's own instructions, in place of ours.
        prompt_version: The version of the instructions, as `regression_prompt_version` gives it.

    Raises:
        ValueError: If an application's own instructions go under the version of ours.
    """

    model: str
    settings: JsonObject
    input_mode: JudgeInputMode = "bounded"
    projection: Projection | None = None
    system_prompt: str | None = None
    prompt_version: str = REGRESSION_PROMPT_VERSION

    def __post_init__(self) -> None:
        if self.system_prompt is not None and self.prompt_version == REGRESSION_PROMPT_VERSION:
            raise ValueError(f"own instructions of the regression judge are not {REGRESSION_PROMPT_VERSION}")

    @property
    def name(self) -> JudgeName:
        """Which judge."""
        return "regression"

    def request(self, asked: RunJudgeInput) -> RegressionJudgeRequest:
        """Say what is put to the model: instructions, and what it is shown as data.

        Raises:
            TypeError: If a projection makes what is no JSON value.
            ValueError: If it holds NaN or an infinity.
        """
        shown = projected(asked, self.input_mode) if self.projection is None else self.projection(asked)
        return RegressionJudgeRequest(
            prompt_version=self.prompt_version,
            input=shown,
            messages=(
                {"role": "system", "content": regression_instructions(self.system_prompt)},
                {"role": "user", "content": as_data(shown)},
            ),
        )

    def question(self, case: JudgedCase) -> JudgeQuestion:
        """Ask about both runs."""
        request = self.request(case.asked)
        system, user = request.messages
        evidence = evidence_of(case.asked, whole=self.input_mode == "full")
        if self.projection is not None:  # which may have made it of anything
            evidence = {**evidence, "shown": request.input}
        return JudgeQuestion(
            judge=self.name,
            model=self.model,
            prompt_version=self.prompt_version,
            system=system["content"],
            text=user["content"],
            settings=self.settings,
            input_mode=self.input_mode if self.projection is None else "projection",
            evidence=evidence,
        )

    def verdict(self, case: JudgedCase, answer: JudgeAnswer) -> JudgeOutcome:  # noqa: ARG002 - the protocol's
        """Read a reply. A verdict that speaks against itself stands, and is flagged.

        Raises:
            JudgeReplyError: If it holds anything but exactly one verdict.
        """
        result = self.result(answer.text)
        return JudgeOutcome(
            judge=self.name,
            state="verdict",
            result=result,
            flags=contradictions(result),
            advisory=True,
        )

    def result(self, reply: JsonValue) -> RunJudgeResult:
        """Read a reply, text or JSON.

        Raises:
            JudgeReplyError: If it holds anything but exactly one verdict, with a score from 0 to 1 if any.
        """
        result = parse_judge_result(
            reply, judge_model=self.model or None, judge_prompt_version=self.prompt_version
        )
        if result.score is not None and not 0 <= result.score <= 1:
            raise JudgeReplyError(
                f"the judge gave no verdict: a score from 0 to 1 is wanted, not {result.score}"
            )
        return result

    def is_fail(self, outcome: JudgeOutcome) -> bool:
        """Tell whether the verdict is fail."""
        return _severity(outcome) == SEVERITY["fail"]

    def majority(self, outcomes: Sequence[JudgeOutcome]) -> JudgeOutcome:
        """Give the first outcome with the verdict of most, or with warn where none has a majority."""
        # The middle one of an odd number is just that.
        middle = sorted(_severity(outcome) for outcome in outcomes)[len(outcomes) // 2]
        return next(outcome for outcome in outcomes if _severity(outcome) == middle)


def _severity(outcome: JudgeOutcome) -> int:
    return SEVERITY["warn" if outcome.result is None else outcome.result.verdict]


def create_regression_judge(
    *,
    generate: Generate,
    input_mode: JudgeInputMode = "bounded",
    projection: Projection | None = None,
    system_prompt: str | None = None,
    prompt_version: str | None = None,
    judge_model: str | None = None,
) -> RunJudge:
    """Make an application's judge, which asks a model in its own way.

    Args:
        generate: Puts a request to a model; sync or async. One that is not async runs in a thread of its own.
        input_mode: How much the model is shown; `full` sends both records as they are.
        projection: Makes what the model is shown, in place of `input_mode`.
        system_prompt: Instructions in place of ours; what the data is and how to reply is added.
        prompt_version: Their version; made of their hash when left out.
        judge_model: The model's name, for the verdicts that do not name one.

    Returns:
        The judge. It raises JudgeReplyError for a reply that holds no verdict, and what `generate` raises.
    """
    judge = RegressionJudge(
        model=judge_model or "",
        settings={},
        input_mode=input_mode,
        projection=projection,
        system_prompt=system_prompt,
        prompt_version=regression_prompt_version(system_prompt, prompt_version),
    )

    async def ask(asked: RunJudgeInput) -> RunJudgeResult:
        return judge.result(await call_apart(generate, judge.request(asked)))

    return ask
