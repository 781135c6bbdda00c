"""What checks and judges say about a case, and what that means for its status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from regress_core.checks.outcome import CheckResult
from regress_core.judge.contract import Status
from regress_core.judge.outcome import AxisScore, JudgeName, JudgeOutcome
from regress_core.suite.config import GateConfig
from regress_core.suite.contract import CaseDimension, CaseJudgeSummary, CaseJudging
from regress_core.suite.outcome import NO_FINDINGS, CaseFindings
from regress_core.suite.verdict_diff import change_of
from regress_core.suite.wording import in_one_line

Weight = tuple[Status, str]
"""A status, and why in words."""

_LABELS: dict[JudgeName, str] = {"regression": "judge", "rubric": "rubric", "axes": "axes"}


@dataclass(frozen=True, slots=True)
class Judged:
    """What checks and judges came to on one trial.

    Attributes:
        checks: The results of all checks.
        judges: What became of each judge.
        rubric: The verdict of the rubric judge, with what people have decided; None without one.
    """

    checks: tuple[CheckResult, ...] = ()
    judges: tuple[JudgeOutcome, ...] = ()
    rubric: tuple[CaseDimension, ...] | None = None

    @property
    def verdict(self) -> CaseJudgeSummary | None:
        """The verdict of the regression judge, for the summary."""
        found = self._of("regression")
        result = None if found is None else found.result
        return None if result is None else CaseJudgeSummary(verdict=result.verdict, summary=result.summary)

    def findings(self) -> CaseFindings:
        """Give what the case's outcome keeps of it."""
        if not self.judges and not any(check.outcome == "fail" for check in self.checks):
            return NO_FINDINGS
        axes = self._of("axes")
        return CaseFindings(
            failed_checks=tuple(check.check_id for check in self.checks if check.outcome == "fail"),
            judging=tuple(_judging(outcome) for outcome in self.judges),
            rubric=self.rubric,
            axes=None if axes is None or axes.axes is None else {one.axis: one.score for one in axes.axes},
        )

    def weights(self, gate: GateConfig) -> Iterator[Weight]:
        """Give what warns or fails the case, with its reasons."""
        for check in self.checks:
            if check.outcome in ("warn", "fail"):
                place = f" (at {check.where})" if check.where else ""
                text = f"check {check.check_id}: looked for {check.looked_for}; found {check.found}{place}"
                yield check.outcome, in_one_line(text)
        for outcome in self.judges:
            if outcome.state == "verdict":
                yield from self._of_verdict(outcome, gate)
            elif outcome.absence is not None:
                yield "warn", f"{_LABELS[outcome.judge]}: {in_one_line(outcome.absence)}"

    def _of_verdict(self, outcome: JudgeOutcome, gate: GateConfig) -> Iterator[Weight]:
        if outcome.result is not None and outcome.result.verdict != "pass":
            yield outcome.result.verdict, f"judge: {in_one_line(outcome.result.summary)}"
        if outcome.judge == "rubric" and self.rubric is not None:
            yield from _of_rubric(self.rubric)
        for score in outcome.axes or ():
            yield from _of_axis(score, gate)

    def _of(self, judge: JudgeName) -> JudgeOutcome | None:
        return next((outcome for outcome in self.judges if outcome.judge == judge), None)


NOT_JUDGED = Judged()


def _judging(outcome: JudgeOutcome) -> CaseJudging:
    """Leave out what has its default, so that a summary of many cases stays short."""
    fields = {
        "model": outcome.model,
        "prompt_version": outcome.prompt_version,
        "reason": outcome.reason,
        "intended": outcome.intended,
        "trouble": outcome.trouble,
        "flags": outcome.flags,
        "cached": outcome.cached,
        "cost_usd": outcome.cost_usd,
    }
    told = {name: value for name, value in fields.items() if value}
    return CaseJudging.model_validate({"judge": outcome.judge, "state": outcome.state, **told})


def _of_rubric(dimensions: tuple[CaseDimension, ...]) -> Iterator[Weight]:
    if all(dimension.passed is None for dimension in dimensions):
        yield "warn", "rubric: none of its questions applies to this run"
    for dimension in dimensions:
        if dimension.flipped:
            change = change_of(passed=bool(dimension.passed))
            rejected = dimension.decision == "rejected"
            state = "rejected" if rejected else "not signed off"
            text = in_one_line(dimension.reason)
            yield (
                "fail" if rejected else "warn",
                f"rubric {dimension.dimension_id}: {change}, {state}: {text}",
            )


def _of_axis(score: AxisScore, gate: GateConfig) -> Iterator[Weight]:
    if score.score < gate.axis_minimum:
        judged = "" if score.judged is None else f" (a structure check failed; judged {score.judged:g})"
        severity = "fail" if gate.fail_on_threshold_breach else "warn"
        yield (
            severity,
            f"axes: {score.axis} {score.score:g} is below the minimum {gate.axis_minimum:g}{judged}",
        )
