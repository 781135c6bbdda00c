"""Trials of one case against its own noise: a test whether it passes less often than it used to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from regress_core.records.wire import ConfigModel
from regress_core.stats.drops import CORRECTIONS, CaseDrop, Correction, case_drops, drop_p_value
from regress_core.stats.trials import Trials


class TrialGate(ConfigModel):
    """How the trials of a case become its status; the `trials` mapping of the gate.

    Attributes:
        rule: `worst`: the worst trial counts. `noise`: a case some trials of which failed only warns, if its
            pass rate is no lower than chance explains beside its earlier trials.
        alpha: The chance of a false alarm that is accepted, by the test's level.
        correction: Across the cases: `bh` bounds the share of false alarms among the alarms, `holm` the
            chance of any, for which few trials of many cases are never enough.
        evaluations: How many earlier evaluations of the suite are looked at: the last whose gate did not
            fail.
    """

    rule: Literal["worst", "noise"] = "worst"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    correction: Correction = "bh"
    evaluations: Annotated[int, Field(ge=1)] = 14


def within_noise(cases: Mapping[str, tuple[Trials, Trials]], gate: TrialGate) -> dict[str, str]:
    """Find the cases whose failed trials are no more than their noise.

    A case is only excused where the test could have told: if even a failure of every trial would not have
    been significant, the worst trial counts.

    Args:
        cases: By case id, its earlier trials and those of now; of all cases, those that did not fail too.
        gate: The rule.

    Returns:
        By case id, why, in words.
    """
    drops = case_drops(cases, alpha=gate.alpha, correction=gate.correction)
    return {
        drop.case_id: _in_words(drop, gate)
        for drop in drops
        if not drop.dropped
        and drop.second.hits < drop.second.of
        and _can_tell(*cases[drop.case_id], drops, gate)
    }


def _can_tell(earlier: Trials, now: Trials, drops: list[CaseDrop], gate: TrialGate) -> bool:
    """Tell whether no trial passing would be significant, were every other case as it is without a drop."""
    least = drop_p_value(earlier, Trials(0, now.of))
    return CORRECTIONS[gate.correction]([least, *[1.0] * (len(drops) - 1)])[0] <= gate.alpha


def _in_words(drop: CaseDrop, gate: TrialGate) -> str:
    return (
        f"flaky, within its noise: {drop.second.hits} of {drop.second.of} trials passed, "
        f"{drop.first.hits} of {drop.first.of} before; p = {drop.adjusted_p_value:.3g} "
        f"({gate.correction}), above {gate.alpha:g}"
    )
