"""What the axes judge's scores come to over a suite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from regress_core.records.wire import WireModel

PASSING_SCORE = 3
"""A case passes when every axis has this score or more."""


class AxesReport(WireModel):
    """Scores over a suite. Every mean is over the `total` judged cases.

    Attributes:
        total: Cases that were judged.
        passed: Of these, those whose every axis is 3 or more.
        failed: Of these, the others.
        composite_score: Mean of the axis means, two decimals; None where no case was judged.
        axis_breakdown: The mean of each axis, in the order of the axes.
        not_judged: Cases without a judgement; they are in no mean.
    """

    total: int
    passed: int
    failed: int
    composite_score: float | None
    axis_breakdown: dict[str, float]
    not_judged: int


def axes_report(cases: Iterable[Mapping[str, float] | None]) -> AxesReport:
    """Sum up a suite.

    Args:
        cases: What counts of each case: its scores by axis, the same axes; None where it was not judged.

    Raises:
        ValueError: If cases are scored on different axes, so that their means are not comparable.
    """
    all_cases = list(cases)
    judged = [case for case in all_cases if case is not None]
    if any(case.keys() != judged[0].keys() for case in judged):
        raise ValueError("cases are scored on different axes")
    names = list(judged[0]) if judged else []
    means = {name: _mean([_exact(case[name]) for case in judged]) for name in names}
    passed = sum(min(case.values()) >= PASSING_SCORE for case in judged)
    return AxesReport(
        total=len(judged),
        passed=passed,
        failed=len(judged) - passed,
        composite_score=_two_decimals(_mean(list(means.values()))) if judged else None,
        axis_breakdown={name: float(mean) for name, mean in means.items()},
        not_judged=len(all_cases) - len(judged),
    )


def _exact(score: float) -> Fraction:
    """Take a score for the decimal number that the judge wrote: 3.005, not the double just below it."""
    return Fraction(repr(score))


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    # Exact, so that half a hundredth is rounded up and never just missed.
    return sum(numbers, Fraction()) / len(numbers)


def _two_decimals(number: Fraction) -> float:
    return math.floor(number * 100 + Fraction(1, 2)) / 100
