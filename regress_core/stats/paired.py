"""Whether the same cases fare worse the second time: a paired test, and the difference of the two rates."""

from __future__ import annotations

import math

from regress_core.records.wire import WireModel
from regress_core.stats.intervals import Interval, wilson


class PairedOutcomes(WireModel):
    """How often what happened to the same case, first and second time.

    Attributes:
        passed_both: Passed both times.
        regressed: Passed the first time, failed the second; of several trials, fewer passed the second time.
        fixed: The other way round.
        failed_both: Failed both times.
        mixed_both: Of several trials, as many passed both times, and some on either side did not.
    """

    passed_both: int
    regressed: int
    fixed: int
    failed_both: int
    mixed_both: int = 0

    @property
    def pairs(self) -> int:
        """How many cases there are."""
        return self.passed_both + self.regressed + self.fixed + self.failed_both + self.mixed_both


class RateDifference(WireModel):
    """How much higher the pass rate is the second time.

    Attributes:
        value: From -1 to 1, below 0 where the second is worse; None where there is no pair.
        interval: How sure it is; None where that cannot be told.
    """

    value: float | None
    interval: Interval | None


class PairedTest(WireModel):
    """The exact McNemar test on paired outcomes.

    Attributes:
        outcomes: What was tested.
        p_value: Two-sided.
        mid_p: Whether it is the mid-p version.
    """

    outcomes: PairedOutcomes
    p_value: float
    mid_p: bool


def paired_test(outcomes: PairedOutcomes, *, mid_p: bool = False) -> PairedTest:
    """Test whether regressions and fixes are equally likely.

    With several trials of a case this is the sign test on its pass rates, which asks for as many trials on
    both sides: the more there are, the more likely is one that fails.
    """
    p_value = mcnemar(outcomes.regressed, outcomes.fixed, mid_p=mid_p)
    return PairedTest(outcomes=outcomes, p_value=p_value, mid_p=mid_p)


def mcnemar(regressed: int, fixed: int, *, mid_p: bool = False) -> float:
    """Give the two-sided p value of the exact McNemar test; 1 where no pair differs.

    If nothing has changed, each pair that differs is a coin toss: a binomial test at one half. Pairs that
    agree say nothing. The mid-p version counts half of the observed point; it is less conservative, and its
    error rate passes the level by very little. Sources: Q. McNemar, "Note on the sampling error of the
    difference between correlated proportions or percentages", Psychometrika 12 (1947), 153-157;
    M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs data: mid-p and
    asymptotic are better than exact conditional", BMC Medical Research Methodology 13:91 (2013).

    Args:
        regressed: Pairs that passed first and failed then.
        fixed: Pairs that failed first and passed then.
        mid_p: Whether to give the mid-p value.
    """
    pairs, fewer = regressed + fixed, min(regressed, fixed)
    # Whole numbers over 2 ** pairs, so that no count is too large.
    point = tail = 1
    for successes in range(1, fewer + 1):
        point = point * (pairs - successes + 1) // successes
        tail += point
    both_tails = 2 * tail - point if mid_p else 2 * tail
    return min(1.0, both_tails / 2**pairs)


def rate_difference(outcomes: PairedOutcomes) -> RateDifference:
    """Give the second pass rate less the first, with Newcombe's hybrid score interval for paired data.

    The outcomes are those of one trial each: a table of several does not tell the rates.

    It joins the Wilson intervals of the two rates by their correlation, so that it stays within -1 and 1 and
    has a width even where no pair differs. It is no inversion of the test: one may touch 0 where the other is
    just significant. Source: R. G. Newcombe, "Improved confidence intervals for the difference between
    binomial proportions based on paired data", Statistics in Medicine 17 (1998), 2635-2650, method 10.
    """
    pairs = outcomes.pairs
    if pairs == 0:
        return RateDifference(value=None, interval=None)
    first, second = outcomes.passed_both + outcomes.regressed, outcomes.passed_both + outcomes.fixed
    value = (outcomes.fixed - outcomes.regressed) / pairs
    below_first, above_first = _arms(first, pairs)
    below_second, above_second = _arms(second, pairs)
    correlation = _correlation(outcomes)
    return RateDifference(
        value=value,
        interval=Interval(
            low=value - _joined(below_second, above_first, correlation),
            high=value + _joined(above_second, below_first, correlation),
        ),
    )


def _arms(hits: int, of: int) -> tuple[float, float]:
    """Give how far a proportion's interval reaches below and above it."""
    interval = wilson(hits, of)
    return hits / of - interval.low, interval.high - hits / of


def _joined(one: float, other: float, correlation: float) -> float:
    return math.sqrt(one**2 - 2 * correlation * one * other + other**2)


def _correlation(outcomes: PairedOutcomes) -> float:
    """Give the two outcomes' correlation, a positive one with the method's continuity correction."""
    first, second = outcomes.passed_both + outcomes.regressed, outcomes.passed_both + outcomes.fixed
    spread = first * (outcomes.pairs - first) * second * (outcomes.pairs - second)
    if spread == 0:
        return 0.0
    joint = outcomes.passed_both * outcomes.failed_both - outcomes.regressed * outcomes.fixed
    if joint > 0:
        return max(joint - outcomes.pairs / 2, 0.0) / math.sqrt(spread)
    return joint / math.sqrt(spread)
