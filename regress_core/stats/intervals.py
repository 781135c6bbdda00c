"""How far a proportion counted on a few cases may lie from the true one."""

from __future__ import annotations

import math
from statistics import NormalDist

from regress_core.records.wire import WireModel

Z_95 = NormalDist().inv_cdf(0.975)
"""Between minus this and this lie 95 % of a standard normal distribution."""


class Interval(WireModel):
    """A 95 % confidence interval, both ends in it."""

    low: float
    high: float


class Rate(WireModel):
    """A proportion, with what it was counted on.

    Attributes:
        hits: How many have the property.
        of: How many were looked at.
        value: The proportion; None where there was nothing to look at.
        interval: How sure it is; None likewise.
    """

    hits: int
    of: int
    value: float | None
    interval: Interval | None


def rate(hits: int, of: int) -> Rate:
    """Give a proportion with its Wilson interval."""
    if of == 0:
        return Rate(hits=hits, of=of, value=None, interval=None)
    return Rate(hits=hits, of=of, value=hits / of, interval=wilson(hits, of))


def wilson(hits: int, of: int) -> Interval:
    """Give the Wilson score interval, without continuity correction.

    It is an interval of proportions whatever the count, none and all included, where the usual
    `p ± z sqrt(p (1 - p) / n)` shrinks to a point. Source: E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927), 209-212.

    Args:
        hits: At most `of`.
        of: At least 1.
    """
    proportion, z2 = hits / of, Z_95**2
    centre = proportion + z2 / (2 * of)
    margin = Z_95 * math.sqrt(proportion * (1 - proportion) / of + z2 / (4 * of**2))
    stretch = 1 + z2 / of
    # The ends at none and at all are exact; rounding would leave a trace there.
    low = 0.0 if hits == 0 else (centre - margin) / stretch
    high = 1.0 if hits == of else (centre + margin) / stretch
    return Interval(low=low, high=high)
