"""The gate: the application's release policy over the cases of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Literal

from regress_core.judge.contract import Status
from regress_core.suite.config import GateConfig
from regress_core.suite.contract import GateSummary, RunRegressionCaseSummary, RunRegressionSummary
from regress_core.suite.summary import worst

FailOn = Literal["fail", "warn", "never"]


class ExitCode(IntEnum):
    """What a command's exit code says. When several apply: 130, then 2, 4, 1, 3, 0."""

    OK = 0
    GATE = 1
    INVALID_INPUT = 2
    NOTHING_KNOWN = 3
    NO_CASES = 4
    INTERRUPTED = 130


def decide_gate(cases: Sequence[RunRegressionCaseSummary], gate: GateConfig) -> GateSummary:
    """Decide an evaluation.

    Without a pass-rate floor the gate is the worst case's status. With one, failed cases count against the
    rate only: below the floor the gate fails, at or above it they warn. Inconclusive cases are outside it.
    """
    failed = sum(case.status == "fail" for case in cases)
    warned = sum(case.status == "warn" and not case.inconclusive for case in cases)
    inconclusive = sum(case.inconclusive for case in cases)
    conclusive = len(cases) - inconclusive
    reasons: list[str] = []
    status = worst(case.status for case in cases)
    if gate.min_pass_rate is not None and conclusive:
        rate = (conclusive - failed) / conclusive
        held = rate >= gate.min_pass_rate
        if failed:
            status = "warn" if held else "fail"
        reasons.append(
            f"pass rate {rate:.3f} of {conclusive} conclusive cases, "
            f"{'at or above' if held else 'below'} the floor {gate.min_pass_rate:g}"
        )
    for count, what in ((failed, "failed"), (warned, "warned"), (inconclusive, "inconclusive")):
        if count:
            reasons.append(f"{count} of {len(cases)} cases {what}")
    return GateSummary(status=status, reasons=reasons)


def exit_code(summary: RunRegressionSummary, *, fail_on: FailOn, allow_empty: bool) -> ExitCode:
    """Give the exit code of an evaluation; one that is not complete is never fine.

    A wrong key or an unknown model is told by its own code, also where other cases were conclusive.

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
    misconfigured = any(case.trouble and case.trouble.kind == "configuration" for case in summary.cases)
    reached = status == "fail" or (status == "warn" and fail_on == "warn")
    if reached and fail_on != "never":
        return ExitCode.GATE
    if nothing_known or (misconfigured and fail_on != "never"):
        return ExitCode.NOTHING_KNOWN
    return ExitCode.OK
