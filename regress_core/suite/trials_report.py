"""What several trials of every case tell together: how often cases pass, and which cannot be relied on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regress_core.records.wire import WireModel
from regress_core.stats.trials import Trials, is_flaky, pass_at_k, pass_hat_k, pass_rate

_MOST_K = 10


class TrialsReport(WireModel):
    """The trials of an evaluation; a trial passes if it is conclusive and does not fail.

    Attributes:
        trials: How many there are of each case.
        pass_rate: Mean over the cases of the share of trials that passed; None without a conclusive one.
        pass_hat_k: By k, the chance that k trials of a case all pass (pass^k), mean over the cases that have
            as many conclusive ones; up to 10, and the number of trials.
        pass_at_k: By k, the chance that any of k trials passes (pass@k), likewise.
        flaky: The ids of the cases that came out both ways.
    """

    trials: int
    pass_rate: float | None
    pass_hat_k: dict[str, float]
    pass_at_k: dict[str, float]
    flaky: list[str]


def trials_report(cases: Mapping[str, Trials], trials: int) -> TrialsReport:
    """Sum up the trials of all cases.

    Args:
        cases: By case id, its conclusive trials.
        trials: How many there were to be of each.
    """
    every = list(cases.values())
    ks = [*range(1, min(trials, _MOST_K) + 1), *([trials] if trials > _MOST_K else [])]
    all_pass = {str(k): _mean([pass_hat_k(one, k) for one in every]) for k in ks}
    any_passes = {str(k): _mean([pass_at_k(one, k) for one in every]) for k in ks}
    return TrialsReport(
        trials=trials,
        pass_rate=_mean([pass_rate(one) for one in every]),
        pass_hat_k={k: value for k, value in all_pass.items() if value is not None},
        pass_at_k={k: value for k, value in any_passes.items() if value is not None},
        flaky=[case_id for case_id, one in cases.items() if is_flaky(one)],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
