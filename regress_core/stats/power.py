"""What a paired comparison of so many cases can see at all, and what it is likely to see."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from regress_core.records.wire import WireModel

LIKELY = 0.8
"""The chance from which on a drop counts as likely to be seen."""

_STEPS = 20  # of halving: a drop to a millionth


class DetectableDrop(WireModel):
    """How large a drop must be for McNemar's exact test; drops are shares of the cases, from 0 to 1.

    Attributes:
        cases: How many pairs there are.
        alpha: The level of the two-sided test.
        mid_p: Whether it is the mid-p version.
        regressions_needed: How many cases must regress, with none fixed, to be significant.
        smallest: The drop that this is: no smaller one can be seen; None where not even all cases are enough.
        noise: The share of cases that come out otherwise though nothing has changed, half of them either way.
        likely: The drop that is seen with a chance of `power` beside that noise; None where none is.
        power: That chance.
        text: The same in one sentence.
    """

    cases: int
    alpha: float
    mid_p: bool
    regressions_needed: int
    smallest: float | None
    noise: float
    likely: float | None
    power: float
    text: str


def detectable_drop(
    cases: int, *, alpha: float = 0.05, mid_p: bool = False, noise: float = 0.0, power: float = LIKELY
) -> DetectableDrop:
    """Tell what McNemar's exact test on so many pairs can see.

    Args:
        cases: How many pairs there are.
        alpha: The level, above 0 and below 1.
        mid_p: Whether the test is the mid-p version.
        noise: The share of pairs that differ though nothing has changed, below 1. A drop comes on top.
        power: The chance that is asked for.
    """
    needed = regressions_needed(alpha, mid_p=mid_p)
    smallest = smallest_drop(cases, alpha=alpha, mid_p=mid_p)
    likely = _likely_drop(cases, alpha, noise, power, mid_p=mid_p) if smallest is not None else None
    return DetectableDrop(
        cases=cases,
        alpha=alpha,
        mid_p=mid_p,
        regressions_needed=needed,
        smallest=smallest,
        noise=noise,
        likely=likely,
        power=power,
        text=_sentence(cases, alpha, needed, noise, likely, power),
    )


def smallest_drop(cases: int, *, alpha: float = 0.05, mid_p: bool = False) -> float | None:
    """Give the smallest drop, as a share of the cases, that the test can call significant.

    Returns:
        That many regressed and none fixed; None where not even all cases are enough.
    """
    needed = regressions_needed(alpha, mid_p=mid_p)
    return needed / cases if needed <= cases else None


def regressions_needed(alpha: float, *, mid_p: bool = False) -> int:
    """Give the fewest regressions, with nothing fixed, that the test at this level calls significant."""
    level, pairs = Fraction(alpha), 1
    while Fraction(1 if mid_p else 2, 2**pairs) > level:
        pairs += 1
    return pairs


def _likely_drop(cases: int, alpha: float, noise: float, power: float, *, mid_p: bool) -> float | None:
    allowed = list(_allowed_fixes(cases, alpha, mid_p=mid_p))
    low, high = 0.0, 1 - noise
    if _power(cases, high, noise, allowed) < power:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _power(cases, middle, noise, allowed) < power:
            low = middle
        else:
            high = middle
    return high


def _allowed_fixes(cases: int, alpha: float, *, mid_p: bool) -> Iterator[int]:
    """Give, for 0 to `cases` pairs that differ, below how many fixes the test is significant.

    With one pair more the bound stays or grows by one, so that the tail of the coin tosses is carried on
    instead of summed anew. All numbers are whole, over 2 ** pairs.
    """
    level = Fraction(alpha)
    bound, point, tail = 0, 1, 1  # of the fixes: the bound, ways to get it, ways to get it or fewer
    for pairs in range(cases + 1):
        both_tails = 2 * tail - point if mid_p else 2 * tail
        if both_tails * level.denominator <= level.numerator * 2**pairs:
            bound += 1
            point = point * (pairs - bound + 1) // bound
            tail += point
        yield bound
        tail = 2 * tail - point
        point = point * (pairs + 1) // (pairs + 1 - bound)


def _power(cases: int, drop: float, noise: float, allowed: list[int]) -> float:
    """Give the chance that the test is significant for the worse if the true rate is lower by `drop`.

    Exact: the number of pairs that differ is binomial, and so is that of the fixes among them.
    """
    differing = noise + drop
    if differing == 0:
        return 0.0
    fix = noise / 2 / differing  # the chance that a pair that differs is a fix, one half at most
    bound, point, tail = 0, 1.0, 1.0  # as above, as chances; the tail with the bound in it
    seen = 0.0
    for pairs, below in enumerate(allowed):
        if below > bound:
            bound = below
            point = point * (pairs - bound + 1) / bound * fix / (1 - fix)
            tail += point
        seen += _binomial(cases, pairs, differing) * (tail - point)
        tail -= fix * point
        point = point * (1 - fix) * (pairs + 1) / (pairs + 1 - bound)
    return seen


def _binomial(of: int, hits: int, chance: float) -> float:
    if chance >= 1:
        return 1.0 if hits == of else 0.0
    ways = math.lgamma(of + 1) - math.lgamma(hits + 1) - math.lgamma(of - hits + 1)
    return math.exp(ways + hits * math.log(chance) + (of - hits) * math.log1p(-chance))


def _sentence(cases: int, alpha: float, needed: int, noise: float, likely: float | None, power: float) -> str:
    head = f"with {cases} cases"
    if needed > cases:
        return f"{head} no drop can be seen: {needed} must regress to be significant at level {alpha:g}"
    text = f"{head} a drop under {_points(needed / cases)} cannot be seen ({needed} regressed, none fixed)"
    beside = f" if {100 * noise:.3g} % of the cases differ by chance" if noise else ""
    if likely is None:
        return f"{text}; none is likely to be seen{beside}"
    return f"{text}; a true drop of {_points(likely)} is seen {100 * power:.3g} % of the time{beside}"


def _points(drop: float) -> str:
    return f"{100 * drop:.3g} points"
