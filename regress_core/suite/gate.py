"""The gate: the application's release policy over the cases of an evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Literal

from regress_core.calls.trouble import CAP_EXCEEDED
from regress_core.judge.axes_report import AxesReport
from regress_core.judge.contract import Status
from regress_core.judge.outcome import JudgeName
from regress_core.stats.intervals import Rate, rate
from regress_core.suite.config import GateConfig
from regress_core.suite.contract import GateSummary, RunRegressionCaseSummary, RunRegressionSummary
from regress_core.suite.summary import counting_cases, worst

FailOn = Literal["fail", "warn", "never"]


class ExitCode(IntEnum):
    """What a command's exit code says. When several apply: 130, then 2, 4, 1, 3, 0."""

    OK = 0
    GATE = 1
    INVALID_INPUT = 2
    NOTHING_KNOWN = 3
    NO_CASES = 4
    INTERRUPTED = 130


def decide_gate(
    cases: Sequence[RunRegressionCaseSummary], gate: GateConfig, axes: AxesReport | None = None
) -> GateSummary:
    """Decide an evaluation; `axes` is what the scores of its cases come to, where there are some.

    Without a pass-rate floor the gate is the worst case's status. With one, failed cases count against the
    rate only: below the floor the gate fails, at or above it they warn. Inconclusive cases are outside it,
    and cases with an override are outside of everything. The composite score of the axes judge comes on top.
    """
    counting = counting_cases(cases)
    failed = sum(case.status == "fail" for case in counting)
    warned = sum(case.status == "warn" and not case.inconclusive for case in counting)
    inconclusive = sum(case.inconclusive for case in counting)
    reasons: list[str] = []
    status = worst(case.status for case in counting)
    passed = pass_rate(cases)
    if gate.min_pass_rate is not None and passed.value is not None:
        held = passed.value >= gate.min_pass_rate
        if failed:
            status = "warn" if held else "fail"
        reasons.append(
            f"pass rate {passed.value:.3f} of {passed.of} conclusive cases, "
            f"{'at or above' if held else 'below'} the floor {gate.min_pass_rate:g}"
        )
    breach = _composite(axes, gate)
    if breach is not None:
        status = worst((status, breach[0]))
        reasons.append(breach[1])
    for count, what in ((failed, "failed"), (warned, "warned"), (inconclusive, "inconclusive")):
        if count:
            reasons.append(f"{count} of {len(cases)} cases {what}")
    if len(counting) < len(cases):
        reasons.append(f"{len(cases) - len(counting)} of {len(cases)} cases do not count, by override")
    return GateSummary(status=status, reasons=[*reasons, *_unavailable(counting)])


def pass_rate(cases: Sequence[RunRegressionCaseSummary]) -> Rate:
    """Give the share of the conclusive cases that did not fail; cases with an override do not count."""
    conclusive = [case for case in counting_cases(cases) if not case.inconclusive]
    return rate(sum(case.status != "fail" for case in conclusive), len(conclusive))


def _composite(axes: AxesReport | None, gate: GateConfig) -> tuple[Status, str] | None:
    """Give what a composite score below a threshold does."""
    if axes is None or axes.composite_score is None:
        return None
    for threshold, status in ((gate.composite_block, "fail"), (gate.composite_warn, "warn")):
        if axes.composite_score < threshold:
            severity: Status = "fail" if status == "fail" and gate.fail_on_threshold_breach else "warn"
            text = f"composite score {axes.composite_score:.2f} of {axes.total} cases is below {threshold:g}"
            return severity, text
    return None


def _unavailable(cases: Sequence[RunRegressionCaseSummary]) -> Iterator[str]:
    """Name the judges that could not be asked, with the reason of the first case."""
    first: dict[JudgeName, str] = {}
    counts = Counter[JudgeName]()
    for case in cases:
        troubled: dict[JudgeName, str] = {
            one.judge: one.reason or one.trouble for one in case.judging if one.trouble is not None
        }
        first = troubled | first
        counts.update(troubled.keys())
    for judge, reason in first.items():
        yield f"{judge} judge unavailable on {counts[judge]} of {len(cases)} cases: {reason}"


def exit_code(summary: RunRegressionSummary, *, fail_on: FailOn, allow_empty: bool) -> ExitCode:
    """Give the exit code of an evaluation; one that is not complete is never fine.

    A wrong key or an unknown model is told by its own code, also where other cases were conclusive; and so is
    a cap on money that kept the candidate from a case, or a judge: only cases that have passed their checks
    are judged.

    Args:
        summary: What the evaluation came to.
        fail_on: The gate status from which on the code is 1; `never` turns 1 and 3 into 0, unless no case was
            conclusive.
        allow_empty: Whether an evaluation of no cases is fine.
    """
    totals = summary.totals
    if totals.cases == 0 and summary.complete:
        return ExitCode.OK if allow_empty else ExitCode.NO_CASES
    status: Status = summary.gate.status if summary.gate else summary.status
    nothing_known = totals.inconclusive == totals.cases or not summary.complete
    not_as_asked = any(_lacks_money_or_key(case) for case in summary.cases)
    reached = status == "fail" or (status == "warn" and fail_on == "warn")
    if reached and fail_on != "never":
        return ExitCode.GATE
    if nothing_known or (not_as_asked and fail_on != "never"):
        return ExitCode.NOTHING_KNOWN
    return ExitCode.OK


def _lacks_money_or_key(case: RunRegressionCaseSummary) -> bool:
    trouble = case.trouble
    if trouble is not None and (trouble.kind == "configuration" or trouble.code == CAP_EXCEEDED):
        return True
    return any(one.trouble in ("configuration", "cap") for one in case.judging)
