"""A difference of means over the same cases, and how sure it is, whatever the values' distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from regress_core.records.wire import WireModel
from regress_core.stats.intervals import Interval

RESAMPLES = 10_000
"""How often cases are drawn anew; the interval's ends are then steady in their third digit or so."""


class PairedValues(NamedTuple):
    """The values of one case: those of its trials on either side, of which there may be unequally many."""

    first: Sequence[float]
    second: Sequence[float]


class MeanDifference(WireModel):
    """How much higher a mean is the second time; each case counts alike, however many trials it has.

    Attributes:
        cases: Cases with values on both sides.
        first: Mean over the cases' means, the first time; None without a case.
        second: The same, the second time.
        value: The second less the first; None likewise.
        interval: How sure the difference is; None where all cases differ by the same, or there is one only:
            nothing that was seen tells how much they vary then.
    """

    cases: int
    first: float | None
    second: float | None
    value: float | None
    interval: Interval | None


def bootstrap_difference(
    cases: Sequence[PairedValues], rng: Random, *, resamples: int = RESAMPLES
) -> MeanDifference:
    """Give the difference of two means with a percentile bootstrap interval that resamples cases.

    Trials of one case are alike, so that drawing single trials would make the interval too narrow: more
    trials of the same cases tell about these cases, not about others. Whole cases are drawn instead, each
    with all of its trials on both sides, for which the difference of its two means is enough. Sources:
    B. Efron and R. J. Tibshirani, "An introduction to the bootstrap" (1993), section 13.3; A. C. Davison and
    D. V. Hinkley, "Bootstrap methods and their application" (1997), section 3.8, on clusters.

    Args:
        cases: The values by case; cases without any on one side are left out.
        rng: Where chance comes from; the same state gives the same interval.
        resamples: How often to draw, at least 40.
    """
    means = [(_mean(case.first), _mean(case.second)) for case in cases if case.first and case.second]
    if not means:
        return MeanDifference(cases=0, first=None, second=None, value=None, interval=None)
    differences = [second - first for first, second in means]
    return MeanDifference(
        cases=len(means),
        first=_mean([first for first, _ in means]),
        second=_mean([second for _, second in means]),
        value=_mean(differences),
        interval=_percentiles(differences, rng, resamples) if _vary(differences, means) else None,
    )


def _vary(differences: Sequence[float], means: Sequence[tuple[float, float]]) -> bool:
    """Tell whether the differences vary by more than the rounding of what they were made of."""
    largest = max(max(abs(first), abs(second)) for first, second in means)
    return max(differences) - min(differences) > 1e-12 * largest


def _percentiles(differences: Sequence[float], rng: Random, resamples: int) -> Interval:
    count = len(differences)
    sums = sorted(sum(rng.choices(differences, k=count)) for _ in range(resamples))
    rank = math.floor(0.025 * (resamples + 1))  # the interval's ends are as many resamples from either side
    return Interval(low=sums[rank - 1] / count, high=sums[-rank] / count)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
