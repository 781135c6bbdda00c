"""How well two opinions on pass or fail agree: a judge's and the truth."""

from __future__ import annotations

import math
from fractions import Fraction

from regress_core.records.wire import WireModel
from regress_core.stats.intervals import Z_95, Interval


class Confusion(WireModel):
    """How often a judge says what, and what is true.

    Attributes:
        true_pass: The judge says pass, and so it is.
        false_pass: The judge says pass, in truth it is fail.
        false_fail: The judge says fail, in truth it is pass.
        true_fail: The judge says fail, and so it is.
    """

    true_pass: int
    false_pass: int
    false_fail: int
    true_fail: int

    @property
    def count(self) -> int:
        """How many were compared."""
        return self.true_pass + self.false_pass + self.false_fail + self.true_fail


class Kappa(WireModel):
    """Cohen's kappa: agreement beyond what two such opinions share by chance.

    Attributes:
        value: 1 is full agreement, 0 no more than chance; None where that cannot be told.
        interval: How sure it is; None where that cannot be told.
        reason: Why something cannot be told.
    """

    value: float | None
    interval: Interval | None
    reason: str | None


def cohen_kappa(confusion: Confusion) -> Kappa:
    """Give Cohen's kappa with its large-sample interval, cut at -1 and 1.

    Where one side holds one class only, the formula gives 0 or nothing at all, whatever the judge is worth;
    so there is no value then. Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educational
    and Psychological Measurement 20 (1960), 37-46; the variance is that of J. L. Fleiss, J. Cohen and
    B. S. Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72
    (1969), 323-327.
    """
    reason = _one_class(confusion)
    if reason is not None:
        return Kappa(value=None, interval=None, reason=reason)
    value, variance = _kappa_and_variance(confusion)
    if variance == 0:
        return Kappa(value=float(value), interval=None, reason="its large-sample variance is 0")
    margin = Z_95 * math.sqrt(variance)
    interval = Interval(low=max(-1.0, float(value) - margin), high=min(1.0, float(value) + margin))
    return Kappa(value=float(value), interval=interval, reason=None)


def _one_class(confusion: Confusion) -> str | None:
    if confusion.count == 0:
        return "nothing to compare"
    judged_pass = confusion.true_pass + confusion.false_pass
    truly_pass = confusion.true_pass + confusion.false_fail
    for what, passes in (("label", truly_pass), ("verdict", judged_pass)):
        if passes in (0, confusion.count):
            return f"every {what} is {'pass' if passes else 'fail'}"
    return None


def _kappa_and_variance(confusion: Confusion) -> tuple[Fraction, Fraction]:
    """Compute both exactly, so that a variance of 0 is 0."""
    count = confusion.count
    true_pass, false_pass = Fraction(confusion.true_pass, count), Fraction(confusion.false_pass, count)
    false_fail, true_fail = Fraction(confusion.false_fail, count), Fraction(confusion.true_fail, count)
    judged_pass, truly_pass = true_pass + false_pass, true_pass + false_fail
    judged_fail, truly_fail = 1 - judged_pass, 1 - truly_pass
    by_chance = judged_pass * truly_pass + judged_fail * truly_fail
    beyond_chance = 1 - by_chance
    kappa = (true_pass + true_fail - by_chance) / beyond_chance
    rest = 1 - kappa
    agreeing = (
        true_pass * (1 - (judged_pass + truly_pass) * rest) ** 2
        + true_fail * (1 - (judged_fail + truly_fail) * rest) ** 2
    )
    # The margins of a cell off the diagonal are those of the opposite opinions.
    differing = rest**2 * (
        false_pass * (truly_pass + judged_fail) ** 2 + false_fail * (truly_fail + judged_pass) ** 2
    )
    variance = agreeing + differing - (kappa - by_chance * rest) ** 2
    return kappa, variance / (count * beyond_chance**2)
