"""A case regresses when it passes less often than its own noise explains: evaluations of a real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.suite.contract import RunRegressionSummary
from tests.evaluation.support import by_case, plan_of, run, taken_up
from tests.support.candidates import Does, write_candidate_suite, write_script

TEN = "name: shop\ntrials: 10\ngate: {trials: {rule: %s}}\n"


def trials(passed: int, down: int = 0) -> list[Does]:
    """Say what the candidate does in ten trials."""
    does: list[tuple[Does, int]] = [("same", passed), ("down", down), ("raises", 10 - passed - down)]
    return [word for word, times in does for _ in range(times)]


class Nights:
    """One evaluation after the other of two cases."""

    def __init__(self, tmp_path: Path, rule: str) -> None:
        self._root = write_candidate_suite(
            tmp_path / "suite", {"a": "same", "steady": "same"}, config=TEN % rule
        )
        self._store = tmp_path / "store"

    def next(self, passed: int, down: int = 0) -> RunRegressionSummary:
        write_script(self._root, {"a": trials(passed, down), "steady": "same"})
        return run(taken_up(plan_of(self._root), self._store, fresh=True), self._store)


@pytest.mark.parametrize(
    ("rule", "statuses"),
    [
        ("noise", ["pass", "warn", "warn", "fail", "warn"]),
        ("worst", ["pass", "fail", "fail", "fail", "fail"]),
    ],
)
def test_a_case_that_flickers_and_then_breaks(tmp_path: Path, rule: str, statuses: list[str]) -> None:
    """Beside 10 of 10, 9 have p = 1/2; beside 19 of 20, 8 have p = 0.25; beside 27 of 30, 2 have p = 1e-4."""
    nights = Nights(tmp_path, rule)

    came_to = [by_case(nights.next(passed))["a"] for passed in (10, 9, 8, 2, 9)]

    assert [case["status"] for case in came_to] == statuses
    if rule == "noise":
        assert came_to[1]["reasons"][0] == (
            "flaky, within its noise: 9 of 10 trials passed, 10 of 10 before; p = 1 (bh), above 0.05"
        )


def test_the_first_evaluation_has_no_noise_to_be_within(tmp_path: Path) -> None:
    assert by_case(Nights(tmp_path, "noise").next(9))["a"]["status"] == "fail"


def test_trials_that_came_to_nothing_do_not_count(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "noise")
    nights.next(10)

    summary = nights.next(7, down=2)

    case = by_case(summary)["a"]
    assert (case["status"], case["trials"]["inconclusive"]) == ("warn", 2)
    assert case["reasons"][0].startswith("flaky, within its noise: 7 of 8 trials passed, 10 of 10 before")
    assert summary.trials is not None
    assert (summary.trials.flaky, summary.trials.pass_rate) == (["a"], (7 / 8 + 1) / 2)
