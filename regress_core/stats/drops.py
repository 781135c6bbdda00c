"""Whether a case's pass rate has dropped by more than its own noise explains, over many cases at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from regress_core.records.wire import WireModel
from regress_core.stats.intervals import Rate, rate
from regress_core.stats.trials import Trials

Correction = Literal["holm", "bh"]
"""Across cases: Holm bounds the chance of any false alarm, Benjamini-Hochberg the share of false ones."""


class CaseDrop(WireModel):
    """One case's pass rates, and whether the second is lower beyond chance.

    Attributes:
        case_id: The case.
        first: Of the trials the first time, how many passed.
        second: The same, the second time.
        p_value: The chance of such a drop or a larger one if nothing has changed.
        adjusted_p_value: The same, adjusted for the number of cases.
        dropped: Whether the adjusted value is at or below the level.
    """

    case_id: str
    first: Rate
    second: Rate
    p_value: float
    adjusted_p_value: float
    dropped: bool


def case_drops(
    cases: Mapping[str, tuple[Trials, Trials]], *, alpha: float = 0.05, correction: Correction = "holm"
) -> list[CaseDrop]:
    """Test every case for a drop of its pass rate, and adjust for their number.

    Args:
        cases: By case id, the trials of the first and the second time. All that were looked at belong here,
            those that did not drop too: leaving them out makes chance look like an effect.
        alpha: The level, such as 0.05.
        correction: How to adjust.

    Returns:
        One entry a case, in the order of `cases`.
    """
    p_values = [drop_p_value(first, second) for first, second in cases.values()]
    adjusted = CORRECTIONS[correction](p_values)
    return [
        CaseDrop(
            case_id=case_id,
            first=rate(*first),
            second=rate(*second),
            p_value=p_value,
            adjusted_p_value=corrected,
            dropped=corrected <= alpha,
        )
        for (case_id, (first, second)), p_value, corrected in zip(
            cases.items(), p_values, adjusted, strict=True
        )
    ]


def drop_p_value(first: Trials, second: Trials) -> float:
    """Give Fisher's exact p value, one-sided, for a drop of the pass rate; 1 where a side has no trial.

    If nothing has changed, any of all trials may be those that passed: the count of the second time is
    hypergeometric. One trial each gives 0.5 at best, so that a single flip is never a drop. Source:
    R. A. Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935),
    39-82.
    """
    passed = first.passed + second.passed
    fewest = max(0, passed - first.of)
    ways = sum(
        math.comb(second.of, count) * math.comb(first.of, passed - count)
        for count in range(fewest, second.passed + 1)
    )
    return ways / math.comb(first.of + second.of, passed)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values so that at a level alpha the chance of any false alarm is at most alpha.

    It holds whatever the tests have to do with each other. Source: S. Holm, "A simple sequentially rejective
    multiple test procedure", Scandinavian Journal of Statistics 6 (1979), 65-70.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for position, index in enumerate(_ascending(p_values)):
        least = max(least, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p values so that at a level alpha at most a share alpha of the alarms is false, on average.

    It holds for tests that are independent or positively dependent. Source: Y. Benjamini and Y. Hochberg,
    "Controlling the false discovery rate: a practical and powerful approach to multiple testing", Journal of
    the Royal Statistical Society B 57 (1995), 289-300.
    """
    adjusted = [0.0] * len(p_values)
    most = 1.0
    for position, index in reversed(list(enumerate(_ascending(p_values)))):
        most = min(most, len(p_values) / (position + 1) * p_values[index])
        adjusted[index] = most
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: p_values[index])


CORRECTIONS: Mapping[Correction, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
}
