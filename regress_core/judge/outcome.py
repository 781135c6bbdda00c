"""What became of a judge on one case."""

from __future__ import annotations

from typing import Literal

from regress_core.judge.contract import RunJudgeResult
from regress_core.records.wire import WireModel

JudgeState = Literal["verdict", "error"]
"""A judge that gave no verdict is an error; it never counts as a pass."""


class JudgeOutcome(WireModel):
    """A judge's verdict, or why there is none. Advisory.

    Attributes:
        judge: Which judge; `regression` is the one that compares two runs.
        state: Whether there is a verdict.
        result: The verdict, if there is one.
        reason: Why there is none.
        advisory: Always true: a judge informs, it never decides alone.
    """

    judge: Literal["regression"] = "regression"
    state: JudgeState
    result: RunJudgeResult | None = None
    reason: str | None = None
    advisory: Literal[True] = True
