"""The reference's judge contract: data shapes only, no model and no prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from pydantic import ConfigDict

from regress_core.compare.model import Comparison
from regress_core.records.json_io import JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.wire import WireModel

Status = Literal["pass", "warn", "fail"]
"""What a case, a verdict, a suite and a gate come to."""

SEVERITY: Mapping[Status, int] = {"pass": 0, "warn": 1, "fail": 2}
"""How bad each of them is."""


class RunRegressionExpectation(WireModel):
    """What the change is meant to do. Hints for reports and judges, no policy."""

    model_config = ConfigDict(extra="forbid")

    intent: str | None = None
    should_use_tools: list[str] | None = None
    should_avoid_tools: list[str] | None = None
    should_preserve: list[str] | None = None
    should_improve: list[str] | None = None
    notes: str | None = None


class RunJudgeFinding(WireModel):
    """One observation of a judge."""

    severity: Literal["info", "warn", "error"]
    reason: str
    evidence: str | None = None


class RunJudgeResult(WireModel):
    """A judge's verdict: advisory and probabilistic."""

    verdict: Status
    summary: str
    findings: list[RunJudgeFinding]
    score: float | None = None
    judge_model: str | None = None
    judge_prompt_version: str | None = None


class RunJudgeInput(WireModel):
    """All that a judge may look at, unredacted; a judge projects it before anything is sent."""

    baseline: RunRecord
    candidate: RunRecord
    comparison: Comparison
    expectation: RunRegressionExpectation | None = None
    baseline_descriptor: JsonValue = None
    candidate_descriptor: JsonValue = None


RunJudge = Callable[[RunJudgeInput], Awaitable[RunJudgeResult] | RunJudgeResult]
"""An application's judge."""
