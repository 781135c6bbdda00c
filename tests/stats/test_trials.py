"""Pass rates, pass^k and pass@k by counting all choices, and flakiness by hand."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.trials import Trials, change_rate, is_flaky, pass_at_k, pass_hat_k, pass_rate


@pytest.mark.parametrize(
    ("passed", "of", "k", "all_pass", "any_passes"),
    [
        # Of 4 trials 3 passed: 6 pairs, 3 of them without the failed one.
        pytest.param(3, 4, 1, 0.75, 0.75, id="one is the pass rate"),
        pytest.param(3, 4, 2, 0.5, 1.0, id="two of four"),
        pytest.param(3, 4, 4, 0.0, 1.0, id="all four"),
        pytest.param(2, 4, 2, 1 / 6, 5 / 6, id="half passed"),
        pytest.param(5, 5, 5, 1.0, 1.0, id="all passed"),
        pytest.param(0, 5, 3, 0.0, 0.0, id="none passed"),
        pytest.param(3, 4, 5, None, None, id="more than there are"),
        pytest.param(0, 0, 1, None, None, id="no trial"),
    ],
)
def test_by_hand(passed: int, of: int, k: int, all_pass: float | None, any_passes: float | None) -> None:
    assert pass_hat_k(Trials(passed, of), k) == pytest.approx(all_pass)
    assert pass_at_k(Trials(passed, of), k) == pytest.approx(any_passes)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 9))
def test_they_are_shares_of_all_choices(results: list[bool], k: int) -> None:
    trials = Trials(sum(results), len(results))
    choices = list(combinations(results, k))

    if not choices:
        assert pass_hat_k(trials, k) is None
        assert pass_at_k(trials, k) is None
    else:
        assert pass_hat_k(trials, k) == pytest.approx(sum(map(all, choices)) / len(choices))
        assert pass_at_k(trials, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_many_trials() -> None:
    assert pass_hat_k(Trials(5000, 10_000), 2) == pytest.approx(4999 / 9999 / 2)


@pytest.mark.parametrize("k", [0, -1])
def test_k_counts_from_1(k: int) -> None:
    for estimate in (pass_hat_k, pass_at_k):
        with pytest.raises(ValueError, match="k counts from 1"):
            estimate(Trials(1, 2), k)


@pytest.mark.parametrize(
    ("passed", "of", "share", "flaky"),
    [(0, 0, None, False), (0, 3, 0.0, False), (1, 3, 1 / 3, True), (3, 3, 1.0, False), (1, 1, 1.0, False)],
)
def test_pass_rate_and_flakiness(passed: int, of: int, share: float | None, flaky: bool) -> None:  # noqa: FBT001 - a column of the table
    assert pass_rate(Trials(passed, of)) == share
    assert is_flaky(Trials(passed, of)) is flaky


@pytest.mark.parametrize(
    ("results", "share"),
    [
        pytest.param("", None, id="no result"),
        pytest.param("+", None, id="one result"),
        pytest.param("++++", 0.0, id="always passed"),
        pytest.param("----", 0.0, id="always failed"),
        pytest.param("+-+-+", 1.0, id="changes every time"),
        pytest.param("+++--", 0.25, id="broke once"),
        pytest.param("+-+++", 0.5, id="failed once"),
    ],
)
def test_changes_in_a_history(results: str, share: float | None) -> None:
    assert change_rate([result == "+" for result in results]) == share
