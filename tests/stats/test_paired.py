"""McNemar's exact test and the difference of paired rates, by hand, by publication and by scipy."""

# scipy and statsmodels come without types.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import math
from itertools import product
from typing import Any, cast

import pytest
import scipy.stats
import statsmodels.stats.contingency_tables
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.intervals import Interval, wilson
from regress_core.stats.paired import (
    PairedOutcomes,
    PairedTest,
    RateDifference,
    mcnemar,
    paired_test,
    rate_difference,
)

_SCIPY = cast("Any", scipy.stats)
_TABLES = cast("Any", statsmodels.stats.contingency_tables)


def outcomes(passed_both: int, regressed: int, fixed: int, failed_both: int) -> PairedOutcomes:
    return PairedOutcomes(passed_both=passed_both, regressed=regressed, fixed=fixed, failed_both=failed_both)


@pytest.mark.parametrize(
    ("regressed", "fixed", "exact", "mid_p"),
    [
        pytest.param(0, 0, 1.0, 1.0, id="no pair differs"),
        pytest.param(1, 0, 1.0, 0.5, id="one regression"),
        pytest.param(1, 1, 1.0, 1.0, id="one of each"),
        # 2 / 2^5 and 1 / 2^5; 2 / 2^6.
        pytest.param(5, 0, 0.0625, 0.03125, id="five regressions"),
        pytest.param(6, 0, 0.03125, 0.015625, id="six regressions"),
        pytest.param(0, 6, 0.03125, 0.015625, id="six fixes"),
        # 2 * (1 + 8) / 2^8, less 8 / 2^8.
        pytest.param(7, 1, 18 / 256, 10 / 256, id="seven and one"),
        # 2 * (1 + 10 + 45) / 2^10, less 45 / 2^10.
        pytest.param(2, 8, 112 / 1024, 67 / 1024, id="two and eight"),
    ],
)
def test_by_hand(regressed: int, fixed: int, exact: float, mid_p: float) -> None:
    assert mcnemar(regressed, fixed) == exact
    assert mcnemar(regressed, fixed, mid_p=True) == mid_p


@pytest.mark.parametrize(
    ("regressed", "fixed", "exact", "mid_p"),
    [
        # The two examples of M. W. Fagerland et al., BMC Medical Research Methodology 13:91 (2013).
        pytest.param(1, 7, 0.0703, 0.0391, id="airway hyper-responsiveness"),
        pytest.param(6, 16, 0.0525, 0.0347, id="complete response"),
    ],
)
def test_published_values(regressed: int, fixed: int, exact: float, mid_p: float) -> None:
    assert mcnemar(regressed, fixed) == pytest.approx(exact, abs=5e-5)
    assert mcnemar(regressed, fixed, mid_p=True) == pytest.approx(mid_p, abs=5e-5)


def test_pairs_on_the_same_cases_are_no_independent_proportions() -> None:
    """H71: 60 of 100 passed, then 50, ten cases the worse; as independent rates that looks like chance."""
    paired = paired_test(outcomes(50, 10, 0, 40))

    assert paired.p_value == 2 / 1024
    assert _SCIPY.fisher_exact([[60, 40], [50, 50]]).pvalue > 0.15
    difference = rate_difference(paired.outcomes)
    assert difference.interval is not None
    assert difference.interval.high < 0


_COUNTS = st.integers(0, 300)


@given(_COUNTS, _COUNTS)
def test_it_is_the_binomial_test_at_one_half(regressed: int, fixed: int) -> None:
    pairs = regressed + fixed
    expected = _SCIPY.binomtest(regressed, pairs, 0.5).pvalue if pairs else 1.0
    other = _TABLES.mcnemar([[0, regressed], [fixed, 0]], exact=True).pvalue if pairs else 1.0

    assert mcnemar(regressed, fixed) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(regressed, fixed) == pytest.approx(other, rel=1e-9)


@given(_COUNTS, _COUNTS)
def test_mid_p_leaves_out_the_observed_point_once(regressed: int, fixed: int) -> None:
    pairs = regressed + fixed
    fewer = min(regressed, fixed)
    point = float(_SCIPY.binom.pmf(fewer, pairs, 0.5))
    expected = 2 * float(_SCIPY.binom.cdf(fewer, pairs, 0.5)) - point

    assert mcnemar(regressed, fixed, mid_p=True) == pytest.approx(expected, rel=1e-9)


@given(_COUNTS, _COUNTS)
def test_neither_direction_is_favoured(regressed: int, fixed: int) -> None:
    assert mcnemar(regressed, fixed) == mcnemar(fixed, regressed)
    assert mcnemar(regressed, fixed, mid_p=True) <= mcnemar(regressed, fixed) <= 1


def test_large_counts() -> None:
    # The normal approximation with continuity correction: z = (1000 - 1) / sqrt(50000).
    expected = math.erfc(999 / math.sqrt(50_000) / math.sqrt(2))

    assert mcnemar(25_500, 24_500) == pytest.approx(expected, rel=1e-3)
    assert mcnemar(50_000, 0) == 0.0  # below every positive float


def test_the_result() -> None:
    table = outcomes(30, 7, 1, 2)

    assert paired_test(table) == PairedTest(outcomes=table, p_value=18 / 256, mid_p=False)
    assert paired_test(table, mid_p=True) == PairedTest(outcomes=table, p_value=10 / 256, mid_p=True)
    assert table.pairs == 40


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [
        # D. G. Altman et al., "Statistics with confidence" (2000), table 6.2.
        pytest.param((14, 0, 5, 22), 0.122, 0.011, 0.226, id="Altman"),
        # M. W. Fagerland et al., Statistics in Medicine 33 (2014), 2850-2875: Newcombe's square-and-add.
        pytest.param((1, 7, 1, 12), -0.286, -0.507, -0.026, id="airway hyper-responsiveness"),
        pytest.param((59, 16, 6, 80), -0.062, -0.119, -0.005, id="complete response"),
    ],
)
def test_published_intervals(table: tuple[int, int, int, int], value: float, low: float, high: float) -> None:
    found = rate_difference(outcomes(*table))

    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx(
        (value, low, high), abs=6e-4
    )


def test_an_interval_by_hand() -> None:
    # 10 of 10, then 0 of 10: no correlation, each side's Wilson interval reaches z^2 / (10 + z^2) inwards.
    reach = 3.841459 / 13.841459
    found = rate_difference(outcomes(0, 10, 0, 0))
    assert found.value == -1.0
    assert found.interval is not None
    assert found.interval.low == -1.0
    assert found.interval.high == pytest.approx(-1 + math.sqrt(2) * reach, abs=1e-6)


def test_an_interval_has_a_width_where_no_pair_differs() -> None:
    low = wilson(20, 20).low

    assert rate_difference(outcomes(20, 0, 0, 0)) == RateDifference(
        value=0.0, interval=Interval(low=low - 1, high=1 - low)
    )


def test_nothing_is_no_number() -> None:
    assert rate_difference(outcomes(0, 0, 0, 0)) == RateDifference(value=None, interval=None)


_TABLES_OF_COUNTS = st.lists(st.integers(0, 80), min_size=4, max_size=4).filter(any)


@given(_TABLES_OF_COUNTS)
def test_the_interval_holds_the_difference_and_mirrors(cells: list[int]) -> None:
    passed, regressed, fixed, failed = cells
    found = rate_difference(outcomes(passed, regressed, fixed, failed))
    mirrored = rate_difference(outcomes(passed, fixed, regressed, failed))

    assert found.value is not None
    assert found.interval is not None
    assert mirrored.interval is not None
    assert -1 - 1e-9 <= found.interval.low <= found.value <= found.interval.high <= 1 + 1e-9
    assert found.interval.low < found.interval.high
    assert mirrored.interval.low == pytest.approx(-found.interval.high)
    assert mirrored.interval.high == pytest.approx(-found.interval.low)


@pytest.mark.parametrize(
    "chances",
    [
        pytest.param((0.70, 0.10, 0.10, 0.10), id="no difference"),
        pytest.param((0.60, 0.25, 0.05, 0.10), id="a drop"),
        pytest.param((0.40, 0.05, 0.15, 0.40), id="a rise"),
    ],
)
def test_it_covers_the_truth_as_often_as_it_says(chances: tuple[float, float, float, float]) -> None:
    """Every table of 20 pairs with its chance: the sum over those whose interval holds the truth."""
    pairs, truth = 20, chances[2] - chances[1]
    covered = 0.0
    for passed, regressed, fixed in product(range(pairs + 1), repeat=3):
        failed = pairs - passed - regressed - fixed
        if failed < 0:
            continue
        cells = (passed, regressed, fixed, failed)
        interval = rate_difference(outcomes(*cells)).interval
        if interval is not None and interval.low <= truth <= interval.high:
            ways = math.factorial(pairs) // math.prod(map(math.factorial, cells))
            covered += ways * math.prod(chance**cell for chance, cell in zip(chances, cells, strict=True))

    assert 0.94 < covered < 0.985
