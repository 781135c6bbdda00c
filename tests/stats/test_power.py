"""What a paired comparison can see: the smallest drop by hand, the likely one by every possible table."""

# scipy comes without types.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any, cast

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from regress_core.stats.paired import mcnemar
from regress_core.stats.power import DetectableDrop, detectable_drop, regressions_needed, smallest_drop

_SCIPY = cast("Any", scipy.stats)


@pytest.mark.parametrize(
    ("alpha", "exact", "mid_p"),
    [
        # The first power of two that is 2 / alpha or more, or 1 / alpha.
        (0.05, 6, 5),
        (0.01, 8, 7),
        (0.1, 5, 4),
        (0.0625, 5, 4),
        (0.5, 2, 1),
    ],
)
def test_regressions_needed(alpha: float, exact: int, mid_p: int) -> None:
    assert regressions_needed(alpha) == exact
    assert regressions_needed(alpha, mid_p=True) == mid_p


@pytest.mark.parametrize(
    ("cases", "mid_p", "smallest"),
    [
        (40, False, 0.15),
        (40, True, 0.125),
        (200, False, 0.03),
        (6, False, 1.0),
        (5, False, None),
        (0, True, None),
    ],
)
def test_the_smallest_drop_that_can_be_seen(cases: int, mid_p: bool, smallest: float | None) -> None:  # noqa: FBT001 - a column of the table
    assert detectable_drop(cases, mid_p=mid_p).smallest == smallest_drop(cases, mid_p=mid_p) == smallest


@given(st.integers(1, 60), st.floats(0.001, 0.5), st.booleans())
def test_no_smaller_one_is_ever_significant(cases: int, alpha: float, mid_p: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    needed = regressions_needed(alpha, mid_p=mid_p)

    assert mcnemar(needed, 0, mid_p=mid_p) <= alpha
    for fixed in range(cases):
        assert mcnemar(fixed + needed - 1, fixed, mid_p=mid_p) > alpha


def _chance_to_see(cases: int, drop: float, noise: float, alpha: float, *, mid_p: bool) -> float:
    """The same chance, from every possible count of regressions and fixes and its multinomial chance."""
    tables = [
        (regressed, fixed)
        for regressed in range(cases + 1)
        for fixed in range(min(regressed, cases - regressed + 1))
        if mcnemar(regressed, fixed, mid_p=mid_p) <= alpha
    ]
    chances = [noise / 2 + drop, noise / 2, 1 - noise - drop]
    counts = [[regressed, fixed, cases - regressed - fixed] for regressed, fixed in tables]
    return float(sum(_SCIPY.multinomial.pmf(counts, cases, chances))) if counts else 0.0


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(("cases", "alpha"), [(8, 0.05), (25, 0.05), (40, 0.01), (60, 0.05)])
def test_the_likely_drop_is_where_its_chance_is_reached(
    cases: int,
    alpha: float,
    noise: float,
    mid_p: bool,  # noqa: FBT001 - a column of the table
) -> None:
    found = detectable_drop(cases, alpha=alpha, mid_p=mid_p, noise=noise)

    if found.likely is None:
        assert _chance_to_see(cases, 1 - noise, noise, alpha, mid_p=mid_p) < 0.8
    else:
        assert _chance_to_see(cases, found.likely, noise, alpha, mid_p=mid_p) >= 0.8 - 1e-9
        assert _chance_to_see(cases, found.likely - 2e-6, noise, alpha, mid_p=mid_p) < 0.8


def test_of_many_cases_it_is_the_normal_approximation() -> None:
    # Per case: drop d, variance noise + d - d^2 under the change, noise + d without. Connor (1987).
    cases, noise = 4000, 0.2
    found = detectable_drop(cases, noise=noise)

    assert found.likely is not None
    drop = found.likely
    reached = (drop * cases**0.5 - 1.959964 * (noise + drop) ** 0.5) / (noise + drop - drop**2) ** 0.5
    assert reached == pytest.approx(0.841621, abs=0.05)


def test_more_noise_hides_more() -> None:
    likely = [detectable_drop(100, noise=noise).likely or 1.0 for noise in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)]

    assert likely == sorted(likely)
    assert len(set(likely)) == len(likely)


_UNSEEN = "with 40 cases a drop under 15 points cannot be seen (6 regressed, none fixed)"
_CHANCE = " if {} % of the cases differ by chance"


# Without noise by binomial tables: 6 or more of 40 have a chance of 0.7957 at 0.1895, of 0.8002 at 0.1905.
@pytest.mark.parametrize(
    ("cases", "noise", "text"),
    [
        (4, 0.0, "with 4 cases no drop can be seen: 6 must regress to be significant at level 0.05"),
        (40, 0.0, f"{_UNSEEN}; a true drop of 19 points is seen 80 % of the time"),
        (40, 0.05, f"{_UNSEEN}; a true drop of 23.6 points is seen 80 % of the time{_CHANCE.format(5)}"),
        (40, 1.0, f"{_UNSEEN}; none is likely to be seen{_CHANCE.format(100)}"),
    ],
)
def test_in_words(cases: int, noise: float, text: str) -> None:
    assert detectable_drop(cases, noise=noise).text == text


def test_the_whole_result() -> None:
    found = detectable_drop(3, alpha=0.01, mid_p=True, noise=0.1)

    assert found == DetectableDrop(
        cases=3,
        alpha=0.01,
        mid_p=True,
        regressions_needed=7,
        smallest=None,
        noise=0.1,
        likely=None,
        power=0.8,
        text="with 3 cases no drop can be seen: 7 must regress to be significant at level 0.01",
    )
