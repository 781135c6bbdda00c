"""The bootstrap over cases: against all resamples there are, and never narrowed by repeats of one case."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import product
from random import Random
from statistics import NormalDist, fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.bootstrap import MeanDifference, PairedValues, bootstrap_difference
from regress_core.stats.intervals import Interval


def _rng(seed: int = 1) -> Random:
    return Random(seed)  # noqa: S311 - no secret


def _interval(cases: Sequence[PairedValues], seed: int = 1) -> Interval:
    interval = bootstrap_difference(cases, _rng(seed)).interval
    assert interval is not None
    return interval


def _of_differences(differences: Sequence[float]) -> list[PairedValues]:
    return [PairedValues((1.0,), (1.0 + difference,)) for difference in differences]


@pytest.mark.parametrize(
    ("cases", "first", "second"),
    [
        pytest.param([((2.0,), (1.0,)), ((4.0,), (4.0,))], 3.0, 2.5, id="one trial each"),
        # (2 + 3) / 2, then (1 + 4) / 2: the case with three trials counts no more than the other.
        pytest.param([((2.0,), (1.0,)), ((3.0,), (3.0, 4.0, 5.0))], 2.5, 2.5, id="unequal counts"),
        pytest.param([((2.0, 4.0), (1.0,)), ((), (9.0,)), ((9.0,), ())], 3.0, 1.0, id="one side only"),
    ],
)
def test_means_by_hand(
    cases: list[tuple[Sequence[float], Sequence[float]]], first: float, second: float
) -> None:
    found = bootstrap_difference([PairedValues(*case) for case in cases], _rng())

    assert (found.first, found.second, found.value) == (first, second, second - first)
    assert found.cases == sum(bool(a and b) for a, b in cases)


@pytest.mark.parametrize(
    ("cases", "value"),
    [
        pytest.param([((3.0,), (2.0,))], -1.0, id="one case"),
        pytest.param([((3.0, 2.0, 1.0), (1.0,))], -1.0, id="one case of several trials"),
        pytest.param([((3.0,), (2.0,)), ((5.0,), (4.0,))], -1.0, id="all differ alike"),
        pytest.param([((0.0,), (0.0,))] * 40, 0.0, id="nothing differs"),
        pytest.param([((0.3,), (0.2,)), ((0.2,), (0.1,))], -0.1, id="alike up to rounding"),
    ],
)
def test_no_interval_where_nothing_varies(
    cases: list[tuple[Sequence[float], Sequence[float]]], value: float
) -> None:
    found = bootstrap_difference([PairedValues(*case) for case in cases], _rng())

    assert found.value == pytest.approx(value)
    assert found.interval is None


def test_no_case() -> None:
    nothing = MeanDifference(cases=0, first=None, second=None, value=None, interval=None)

    assert bootstrap_difference([], _rng()) == nothing
    assert bootstrap_difference([PairedValues((), (1.0,))], _rng()) == nothing


@pytest.mark.parametrize(
    "differences", [[0.0, 1.0, 4.0, 9.0, 16.0], [-3.0, -1.0, 0.0, 0.0, 5.0, 5.5], [0.0, 0.0, 0.0, -1.0, -1.0]]
)
def test_its_ends_are_percentiles_of_all_resamples(differences: list[float]) -> None:
    resamples = sorted(map(fmean, product(differences, repeat=len(differences))))
    interval = _interval(_of_differences(differences))

    # 10,000 draws miss a share of 0.025 by 0.0016 as a rule, so by 0.01 never.
    below_low = bisect_left(resamples, interval.low - 1e-9) / len(resamples)
    upto_low = bisect_right(resamples, interval.low + 1e-9) / len(resamples)
    below_high = bisect_left(resamples, interval.high - 1e-9) / len(resamples)
    upto_high = bisect_right(resamples, interval.high + 1e-9) / len(resamples)
    assert below_low - 0.01 <= 0.025 <= upto_low + 0.01
    assert below_high - 0.01 <= 0.975 <= upto_high + 0.01


def test_of_many_cases_it_is_the_normal_one() -> None:
    differences = [NormalDist(0.2, 1.0).inv_cdf((number + 0.5) / 400) for number in range(400)]
    margin = 1.959964 * pstdev(differences) / math.sqrt(400)

    interval = _interval(_of_differences(differences))

    assert (interval.low, interval.high) == pytest.approx((0.2 - margin, 0.2 + margin), abs=0.01)


def test_repeats_of_the_same_50_cases_do_not_narrow_it() -> None:
    """50 tasks of 50 repeats each: what is drawn is the tasks."""
    passed = [float(number % 5 != 0) for number in range(50)]
    once = [PairedValues((1.0,), (result,)) for result in passed]
    repeated = [PairedValues((1.0,) * 50, (result,) * 50) for result in passed]

    assert bootstrap_difference(repeated, _rng(7)) == bootstrap_difference(once, _rng(7))


def test_50_cases_of_50_trials_vary_as_cases_do() -> None:
    """Each case has its own change of rate, from -0.5 to 0.48; trials alone would make it look certain."""
    cases = [PairedValues((1.0, 0.0) * 25, (1.0,) * number + (0.0,) * (50 - number)) for number in range(50)]
    by_cases = 1.959964 * pstdev(number / 50 - 0.5 for number in range(50)) / math.sqrt(50)
    by_trials = 1.959964 * math.sqrt(2 * 0.25 / 2500)

    interval = _interval(cases)
    width = (interval.high - interval.low) / 2

    assert width == pytest.approx(by_cases, rel=0.05)
    assert width > 2.5 * by_trials


def test_the_same_state_gives_the_same_interval() -> None:
    cases = _of_differences([0.0, 0.5, 1.0, 2.5, -1.0])

    assert _interval(cases, seed=3) == _interval(cases, seed=3)
    assert _interval(cases, seed=3).low == pytest.approx(_interval(cases, seed=4).low, abs=0.1)


_CASES = st.lists(
    st.tuples(*[st.lists(st.integers(-20, 20), min_size=1, max_size=4)] * 2), min_size=2, max_size=12
)


@given(_CASES, st.randoms(use_true_random=False))
def test_neither_the_order_of_trials_nor_the_unit_counts(
    cases: list[tuple[list[int], list[int]]], shuffle: Random
) -> None:
    def found(values: Sequence[tuple[list[int], list[int]]], unit: int) -> MeanDifference:
        pairs = [PairedValues([unit * v for v in one], [unit * v for v in other]) for one, other in values]
        return bootstrap_difference(pairs, _rng(5), resamples=200)

    shuffled = [(shuffle.sample(one, len(one)), shuffle.sample(other, len(other))) for one, other in cases]
    plain, other = found(cases, 1), found(shuffled, 8)

    assert plain.value is not None
    assert other.value == 8 * plain.value
    assert (plain.interval is None) == (other.interval is None)
    if plain.interval is not None and other.interval is not None:
        assert (other.interval.low, other.interval.high) == (8 * plain.interval.low, 8 * plain.interval.high)
