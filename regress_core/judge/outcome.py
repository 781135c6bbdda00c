"""What became of a judge on one case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from regress_core.calls.trouble import Trouble, TroubleKind
from regress_core.judge.contract import RunJudgeResult
from regress_core.models.client import Usage
from regress_core.records.wire import WireModel

JudgeName = Literal["regression", "rubric", "axes"]
"""`regression` compares two runs, `rubric` answers questions about one with yes or no, `axes` scores its
answer."""

JudgeState = Literal["verdict", "skipped", "error"]
"""A judge that was not asked is skipped, one that gave no verdict is an error; neither counts as a pass."""

JudgeTrouble = Literal["outage", "quota", "configuration", "cap"]
"""What keeps a judge from being asked: trouble with its provider (`regress_core.calls.trouble`), or the cap
on what may be spent."""


class TokensUsed(WireModel):
    """Tokens of the call that gave a verdict; those of a cache count as input."""

    input: int
    output: int

    @classmethod
    def of(cls, usage: Usage) -> TokensUsed:
        """Sum up the classes of a usage."""
        tokens_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        return cls(input=tokens_in, output=usage.output_tokens)


class RubricVerdict(WireModel):
    """The answer to one question of a rubric.

    Attributes:
        dimension_id: Which question.
        passed: The answer; None where the question does not apply to the run.
        reason: Why, in one sentence.
        judge_model: The model that was configured, `provider:model`.
        judge_tokens_used: Tokens of the call, which answered all questions of the case; None where the
            provider does not tell.
        dimension_hash: SHA-256 of the question and its two rules; None in history of older versions.
    """

    dimension_id: str
    passed: bool | None
    reason: str
    judge_model: str
    judge_tokens_used: TokensUsed | None
    dimension_hash: str | None = None


class AxisScore(WireModel):
    """One axis of an answer's quality.

    Attributes:
        axis: Its name.
        score: 1 to 5; what counts.
        judged: What the judge said, where a failed structure check has forced `score` to 1.
    """

    axis: str
    score: float
    judged: float | None = None


class JudgeOutcome(WireModel):
    """A judge's verdict, or why there is none. Advisory.

    Attributes:
        judge: Which judge.
        state: Whether there is a verdict.
        result: The verdict of `regression`.
        dimensions: The verdict of `rubric`, an entry a dimension.
        axes: The verdict of `axes`, an entry an axis.
        reasoning: Why `axes` scored so.
        reason: Why there is no verdict.
        intended: Whether the suite itself wants the judge left out here: the case is not in the sample, or a
            check has failed already. Such a skip is no news.
        trouble: What kept the judge from being asked, or from answering.
        flags: What a person should look at, such as a verdict that its own findings contradict.
        model: The model that was configured; None for an application's judge.
        prompt_version: The version of its instructions.
        input_mode: How much of the records it was shown.
        evidence_hash: SHA-256 of what it was shown, run ids and times aside.
        cached: Whether the verdict was given in an earlier evaluation.
        calls: How many calls were made for it; a cached verdict takes none.
        cost_usd: What they cost, US dollars.
        advisory: Always true: a judge informs, it never decides alone.
    """

    judge: JudgeName = "regression"
    state: JudgeState
    result: RunJudgeResult | None = None
    dimensions: list[RubricVerdict] | None = None
    axes: list[AxisScore] | None = None
    reasoning: str | None = None
    reason: str | None = None
    intended: bool = False
    trouble: JudgeTrouble | None = None
    flags: list[str] = Field(default_factory=list)
    model: str | None = None
    prompt_version: str | None = None
    input_mode: str | None = None
    evidence_hash: str | None = None
    cached: bool = False
    calls: int = 0
    cost_usd: float = 0.0
    advisory: Literal[True] = True

    @property
    def absence(self) -> str | None:
        """What there is in place of a verdict; None beside one, and where the suite itself wants none."""
        if self.state == "verdict" or self.intended:
            return None
        what = "not asked" if self.state == "skipped" else "no verdict"
        return f"{what}: {self.reason or 'no reason is given'}"


def no_verdict(judge: JudgeName, reason: str) -> JudgeOutcome:
    """Give the outcome of a judge that was asked and gave no verdict."""
    return JudgeOutcome(judge=judge, state="error", reason=reason, advisory=True)


def left_out(judge: JudgeName, reason: str) -> JudgeOutcome:
    """Give the outcome of a judge that the suite itself does not want asked."""
    return JudgeOutcome(judge=judge, state="skipped", reason=reason, intended=True, advisory=True)


def skipped(judge: JudgeName, met: Trouble, *, trouble: JudgeTrouble | None = None) -> JudgeOutcome:
    """Give the outcome of a judge that could not be asked.

    Args:
        judge: Which judge.
        met: What kept it from being asked.
        trouble: What that is to a judge, where its kind does not tell.
    """
    known = trouble or _TROUBLE.get(met.kind, "outage")
    reason = f"provider unreachable: {met.message}" if known == "outage" else met.message
    return JudgeOutcome(judge=judge, state="skipped", reason=reason, trouble=known, advisory=True)


_TROUBLE: Mapping[TroubleKind, JudgeTrouble] = {"quota": "quota", "configuration": "configuration"}
