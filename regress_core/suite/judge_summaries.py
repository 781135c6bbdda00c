"""What the judges came to over all cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from regress_core.judge.axes_report import AxesReport, axes_report
from regress_core.judge.outcome import JudgeName
from regress_core.suite.contract import JudgeSummary, RunRegressionCaseSummary
from regress_core.suite.summary import counting_cases

AgreementOf = Callable[[JudgeName, str | None, str | None], float | None]
"""Gives how often a judge, with that model and prompt version, agreed with people's labels."""

_JUDGES: tuple[JudgeName, ...] = ("regression", "rubric", "axes")


def judge_summaries(
    cases: Sequence[RunRegressionCaseSummary], agreement_of: AgreementOf
) -> Iterator[JudgeSummary]:
    """Sum up each judge that any case has to do with."""
    for judge in _JUDGES:
        found = [one for case in cases for one in case.judging if one.judge == judge]
        if not found:
            continue
        asked = next((one for one in found if one.model is not None), None)
        model, version = (asked.model, asked.prompt_version) if asked else (None, None)
        yield JudgeSummary(
            judge=judge,
            model=model,
            prompt_version=version,
            verdicts=sum(one.state == "verdict" for one in found),
            errors=sum(one.state == "error" for one in found),
            skipped=sum(one.state == "skipped" and not one.intended for one in found),
            left_out=sum(one.intended for one in found),
            cached=sum(one.cached for one in found),
            agreement=agreement_of(judge, model, version),
        )


def axes_over(cases: Sequence[RunRegressionCaseSummary]) -> AxesReport | None:
    """Give the scores over the cases that count for the gate; None where no axes judge has to do with any."""
    counting = counting_cases(cases)
    if not any(one.judge == "axes" for case in counting for one in case.judging):
        return None
    return axes_report(case.axes for case in counting)
