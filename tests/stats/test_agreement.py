"""Cohen's kappa and its interval, and where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.agreement import Confusion, Kappa, cohen_kappa
from regress_core.stats.intervals import Z_95


def confusion(true_pass: int, false_pass: int, false_fail: int, true_fail: int) -> Confusion:
    return Confusion(true_pass=true_pass, false_pass=false_pass, false_fail=false_fail, true_fail=true_fail)


def told(kappa: Kappa) -> tuple[float, float, float]:
    assert kappa.value is not None
    assert kappa.interval is not None
    assert kappa.reason is None
    return kappa.value, kappa.interval.low, kappa.interval.high


@pytest.mark.parametrize(
    ("cells", "value", "standard_error"),
    [
        # po 0.8, pe 0.5; 0.8 * 0.6^2 + 0.4^2 * 0.2 - (0.6 - 0.5 * 0.4)^2 = 0.16, over 100 * 0.5^2.
        pytest.param((40, 10, 10, 40), 0.6, 0.08, id="even margins"),
        # po 0.7, pe 0.5; 0.4 * 0.34^2 + 0.3 * 0.46^2 + 0.6^2 * (0.1 * 1.1^2 + 0.2 * 0.9^2) - 0.1^2 = 0.2016,
        # over 50 * 0.5^2; judged pass is 25, truly pass 30.
        pytest.param((20, 5, 10, 15), 0.4, math.sqrt(0.016128), id="uneven margins"),
        # po 0.5 = pe: 0.25 * 0 + 0.25 * 0 + 1^2 * (0.25 + 0.25) - (0 - 0.5)^2 = 0.25, over 4 * 0.5^2.
        pytest.param((1, 1, 1, 1), 0.0, 0.5, id="chance"),
    ],
)
def test_by_hand(cells: tuple[int, int, int, int], value: float, standard_error: float) -> None:
    assert told(cohen_kappa(confusion(*cells))) == pytest.approx(
        (value, value - Z_95 * standard_error, value + Z_95 * standard_error)
    )


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        pytest.param((0, 0, 0, 0), "nothing to compare", id="nothing"),
        pytest.param((7, 0, 0, 0), "every label is pass", id="all right, all pass"),
        pytest.param((0, 0, 0, 7), "every label is fail", id="all right, all fail"),
        pytest.param((5, 0, 2, 0), "every label is pass", id="truth of one class"),
        pytest.param((0, 3, 0, 4), "every label is fail", id="truth of the other class"),
        pytest.param((5, 3, 0, 0), "every verdict is pass", id="a judge that lets all pass"),
        pytest.param((0, 0, 5, 3), "every verdict is fail", id="a judge that fails all"),
        pytest.param((0, 5, 0, 0), "every label is fail", id="all wrong"),
    ],
)
def test_one_class_has_no_kappa(cells: tuple[int, int, int, int], reason: str) -> None:
    assert cohen_kappa(confusion(*cells)) == Kappa(value=None, interval=None, reason=reason)


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        pytest.param((3, 0, 0, 2), 1.0, id="every verdict true"),
        pytest.param((0, 2, 2, 0), -1.0, id="every verdict false"),
    ],
)
def test_no_interval_of_no_width(cells: tuple[int, int, int, int], value: float) -> None:
    kappa = cohen_kappa(confusion(*cells))

    assert (kappa.value, kappa.interval) == (value, None)
    assert kappa.reason


def test_an_interval_ends_at_full_agreement() -> None:
    assert told(cohen_kappa(confusion(4, 1, 0, 4)))[2] == 1.0


_COUNTS = st.lists(st.integers(1, 60), min_size=4, max_size=4)


@given(_COUNTS)
def test_neither_the_order_of_the_sides_nor_of_the_classes_counts(cells: list[int]) -> None:
    true_pass, false_pass, false_fail, true_fail = cells
    kappa = cohen_kappa(confusion(true_pass, false_pass, false_fail, true_fail))

    assert cohen_kappa(confusion(true_pass, false_fail, false_pass, true_fail)) == kappa
    assert cohen_kappa(confusion(true_fail, false_fail, false_pass, true_pass)) == kappa


def _plain_kappa(cells: Sequence[float]) -> float:
    true_pass, false_pass, false_fail, true_fail = (cell / sum(cells) for cell in cells)
    judged, truly = true_pass + false_pass, true_pass + false_fail
    chance = judged * truly + (1 - judged) * (1 - truly)
    return (true_pass + true_fail - chance) / (1 - chance)


@given(_COUNTS)
def test_the_variance_is_that_of_the_delta_method(cells: list[int]) -> None:
    """Its definition, with slopes taken numerically, instead of the formula that is worked out."""
    count, step = sum(cells), 1e-6
    shares = [cell / count for cell in cells]
    slopes = [
        (
            _plain_kappa([share + step * (i == cell) for i, share in enumerate(shares)])
            - _plain_kappa([share - step * (i == cell) for i, share in enumerate(shares)])
        )
        / (2 * step)
        for cell in range(4)
    ]
    mean = sum(share * slope for share, slope in zip(shares, slopes, strict=True))
    square = sum(share * slope**2 for share, slope in zip(shares, slopes, strict=True))
    margin = Z_95 * math.sqrt((square - mean**2) / count)
    value = _plain_kappa(cells)

    expected = (value, max(-1.0, value - margin), min(1.0, value + margin))
    assert told(cohen_kappa(confusion(*cells))) == pytest.approx(expected, abs=1e-5)
