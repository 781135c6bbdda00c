"""The Wilson interval: published values, and what holds of any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.intervals import Interval, Rate, rate, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # With p = 1/2 the centre is 1/2, the margin z / (2 sqrt(n + z^2)): 1.959964 / (2 sqrt(53.841459)).
        (25, 50, 0.5 - 0.133555, 0.5 + 0.133555),
        # n / (n + z^2) for n of n.
        (1, 1, 1 / 4.841459, 1.0),
    ],
)
def test_known_intervals(hits: int, of: int, low: float, high: float) -> None:
    interval = wilson(hits, of)

    assert (interval.low, interval.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize("of", [1, 2, 7, 50, 1000])
def test_none_and_all_end_exactly(of: int) -> None:
    assert wilson(0, of).low == 0.0
    assert wilson(of, of).high == 1.0


@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_it_holds_the_proportion_and_mirrors(counted: tuple[int, int]) -> None:
    hits, of = counted
    interval, mirrored = wilson(hits, of), wilson(of - hits, of)

    assert 0 <= interval.low <= hits / of <= interval.high <= 1
    assert interval.low < interval.high
    assert mirrored.low == pytest.approx(1 - interval.high)
    assert mirrored.high == pytest.approx(1 - interval.low)


def test_a_rate() -> None:
    assert rate(1, 29) == Rate(hits=1, of=29, value=1 / 29, interval=wilson(1, 29))
    assert rate(0, 20).value == 0.0
    assert isinstance(rate(0, 20).interval, Interval)


def test_a_rate_of_nothing_is_no_number() -> None:
    assert rate(0, 0) == Rate(hits=0, of=0, value=None, interval=None)
