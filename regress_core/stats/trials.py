"""What several trials of one case tell: how often it passes, and whether it can be relied on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Trials(NamedTuple):
    """How many trials of a case passed, of those that told whether it does; `passed` is at most `of`."""

    passed: int
    of: int


def pass_rate(trials: Trials) -> float | None:
    """Give the share of the trials that passed; None without a trial."""
    return trials.passed / trials.of if trials.of else None


def pass_hat_k(trials: Trials, k: int) -> float | None:
    """Estimate pass^k, the chance that k further trials all pass, without bias.

    It is the share of all choices of k of the trials in which each one passed; None with fewer than k trials.
    Source: S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains"
    (2024), section 4.

    Raises:
        ValueError: If k is less than 1.
    """
    return _share(trials.passed, trials.of, k)


def pass_at_k(trials: Trials, k: int) -> float | None:
    """Estimate pass@k, the chance that any of k further trials passes, without bias.

    It is the share of all choices of k of the trials in which any passed; None with fewer than k trials.
    Source: M. Chen et al., "Evaluating large language models trained on code" (2021), equation 1.

    Raises:
        ValueError: If k is less than 1.
    """
    all_failed = _share(trials.of - trials.passed, trials.of, k)
    return None if all_failed is None else 1 - all_failed


def _share(such: int, of: int, k: int) -> float | None:
    """Give the share of the choices of k that hold such trials only."""
    if k < 1:
        raise ValueError("k counts from 1")
    return math.comb(such, k) / math.comb(of, k) if k <= of else None


def is_flaky(trials: Trials) -> bool:
    """Tell whether a case came out both ways on the same candidate."""
    return 0 < trials.passed < trials.of


def change_rate(results: Sequence[bool]) -> float | None:
    """Give the share of results, oldest first, that are not what the one before was.

    0 is a case that always comes out the same, 1 one that changes every time; a single lasting change in a
    long history counts little. None with fewer than two results.
    """
    if len(results) < 2:
        return None
    return sum(before != after for before, after in pairwise(results)) / (len(results) - 1)
