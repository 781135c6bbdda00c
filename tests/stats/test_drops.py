"""Drops of single cases: Fisher's test and its adjustments, by hand and by scipy and statsmodels."""

# scipy and statsmodels come without types.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any, cast

import pytest
import scipy.stats
import statsmodels.stats.multitest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.stats.drops import (
    CORRECTIONS,
    CaseDrop,
    Correction,
    benjamini_hochberg,
    case_drops,
    drop_p_value,
    holm,
)
from regress_core.stats.intervals import rate
from regress_core.stats.trials import Trials

_SCIPY = cast("Any", scipy.stats)
_MULTITEST = cast("Any", statsmodels.stats.multitest)


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    [
        # With one trial each, either of the two may be the one that passed.
        pytest.param((1, 1), (0, 1), 1 / 2, id="one trial each"),
        # One way in C(10, 5) = 252 to have all that passed on one side.
        pytest.param((5, 5), (0, 5), 1 / 252, id="all, then none"),
        # Of 10 trials 9 passed: the failed one is among the second five.
        pytest.param((5, 5), (4, 5), 1 / 2, id="one failed"),
        # 6 of 10 passed: (C(5,1) C(5,5)) / C(10,6) = 5 / 210.
        pytest.param((5, 5), (1, 5), 5 / 210, id="four failed"),
        # (C(5,2) C(5,5) + C(5,1) * 0) / C(10,7) = 10 / 120.
        pytest.param((5, 5), (2, 5), 10 / 120, id="three failed"),
        # The tea lady: (1 + 16) / 70.
        pytest.param((3, 4), (1, 4), 17 / 70, id="three, then one of four"),
        pytest.param((3, 3), (3, 3), 1.0, id="all passed"),
        pytest.param((0, 3), (0, 3), 1.0, id="none passed"),
        pytest.param((0, 3), (3, 3), 1.0, id="a rise"),
        pytest.param((0, 0), (0, 3), 1.0, id="no trial before"),
        pytest.param((3, 3), (0, 0), 1.0, id="no trial after"),
        # Unequal numbers: C(4,0) / C(5,1).
        pytest.param((1, 1), (0, 4), 1 / 5, id="one before, four after"),
    ],
)
def test_by_hand(first: tuple[int, int], second: tuple[int, int], p_value: float) -> None:
    assert drop_p_value(Trials(*first), Trials(*second)) == pytest.approx(p_value)


_TRIALS = st.integers(1, 60).flatmap(lambda of: st.builds(Trials, passed=st.integers(0, of), of=st.just(of)))


@given(_TRIALS, _TRIALS)
def test_it_is_fishers_test(first: Trials, second: Trials) -> None:
    table = [[second.passed, second.of - second.passed], [first.passed, first.of - first.passed]]
    expected = float(_SCIPY.fisher_exact(table, alternative="less").pvalue)

    assert drop_p_value(first, second) == pytest.approx(expected, rel=1e-9)


@given(_TRIALS, st.integers(1, 60))
def test_fewer_passes_are_never_more_likely(first: Trials, of: int) -> None:
    p_values = [drop_p_value(first, Trials(passed, of)) for passed in range(of + 1)]

    assert p_values == sorted(p_values)
    assert p_values[-1] == 1.0


@pytest.mark.parametrize(
    ("p_values", "by_holm", "by_bh"),
    [
        pytest.param([], [], [], id="no case"),
        pytest.param([0.04], [0.04], [0.04], id="one case"),
        # Holm: 3 * 0.01, 2 * 0.02, 1 * 0.03 but no less than the one before. BH: 3/1, 3/2, 3/3 times each.
        pytest.param([0.03, 0.01, 0.02], [0.04, 0.03, 0.04], [0.03, 0.03, 0.03], id="three cases"),
        pytest.param([0.5, 1.0, 0.004], [1.0, 1.0, 0.012], [0.75, 1.0, 0.012], id="one drop"),
        pytest.param([0.02, 0.02], [0.04, 0.04], [0.02, 0.02], id="equal values"),
        pytest.param([0.9, 0.8], [1.0, 1.0], [0.9, 0.9], id="at most 1"),
    ],
)
def test_adjusted_by_hand(p_values: list[float], by_holm: list[float], by_bh: list[float]) -> None:
    assert holm(p_values) == pytest.approx(by_holm)
    assert benjamini_hochberg(p_values) == pytest.approx(by_bh)


@pytest.mark.parametrize(("correction", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
@settings(max_examples=25)  # statsmodels collects all garbage of the process each time
@given(p_values=st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), min_size=1, max_size=30))
def test_adjusted_as_statsmodels_does(correction: Correction, method: str, p_values: list[float]) -> None:
    expected = _MULTITEST.multipletests(p_values, method=method)[1].tolist()

    assert CORRECTIONS[correction](p_values) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_cases_are_judged_together() -> None:
    # Alone 5 / 210 is a drop; one of three cases it is none: 3 * 5 / 210 by either way.
    cases = {
        "b": (Trials(5, 5), Trials(1, 5)),
        "a": (Trials(5, 5), Trials(5, 5)),
        "c": (Trials(4, 5), Trials(5, 5)),
    }

    alone = case_drops({"b": cases["b"]})
    together = case_drops(cases)

    assert alone == [
        CaseDrop(
            case_id="b",
            first=rate(5, 5),
            second=rate(1, 5),
            p_value=5 / 210,
            adjusted_p_value=5 / 210,
            dropped=True,
        )
    ]
    assert [drop.case_id for drop in together] == ["b", "a", "c"]
    assert together[0].adjusted_p_value == pytest.approx(15 / 210)
    assert [drop.dropped for drop in together] == [False, False, False]
    assert case_drops(cases, alpha=0.08)[0].dropped


def test_many_drops_are_seen_by_benjamini_hochberg_first() -> None:
    # Twelve cases with 1 / 252 each: Holm 12 / 252 < 0.05; of 20 cases 20 / 252, and 20 / 12 / 252 by BH.
    fell, stayed = (Trials(5, 5), Trials(0, 5)), (Trials(5, 5), Trials(5, 5))
    twelve = {f"d{number}": fell for number in range(12)}
    twenty = twelve | {f"s{number}": stayed for number in range(8)}

    assert sum(drop.dropped for drop in case_drops(twelve)) == 12
    assert sum(drop.dropped for drop in case_drops(twenty)) == 0
    assert sum(drop.dropped for drop in case_drops(twenty, correction="bh")) == 12


def test_scores_around_a_threshold_are_no_drop() -> None:
    """J15: 0.62, 0.58 and 0.61 around 0.60 before, 0.58, 0.61 and 0.59 after; two passed, then one."""
    assert drop_p_value(Trials(2, 3), Trials(1, 3)) == pytest.approx(10 / 20)


def test_no_case() -> None:
    assert case_drops({}) == []
