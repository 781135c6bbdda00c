"""The cheapest pairs, by hand, against every way there is, and against scipy."""

# scipy comes without types.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any, cast

import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.assignment import cheapest_pairs

_SCIPY = cast("Any", scipy.optimize)

Costs = Sequence[Sequence[float]]

CASES: list[tuple[str, Costs, list[tuple[int, int]]]] = [
    ("nothing", [], []),
    ("no column", [[], []], []),
    ("one", [[5]], [(0, 0)]),
    ("straight", [[0, 1], [1, 0]], [(0, 0), (1, 1)]),
    ("crossed", [[1, 0], [0, 1]], [(0, 1), (1, 0)]),
    ("first come is dear", [[1, 2], [1, 9]], [(0, 1), (1, 0)]),
    ("a row too many", [[3], [1], [2]], [(1, 0)]),
    ("a column too many", [[3, 1, 2]], [(0, 1)]),
    # All three rows want the first column; moving two of them along is the cheapest.
    ("a chain", [[1, 2, 9], [1, 9, 3], [1, 9, 9]], [(0, 1), (1, 2), (2, 0)]),
    ("negative", [[-1, -5], [-2, -9]], [(0, 0), (1, 1)]),
    ("fractions", [[0.5, 0.25], [0.5, 0.5]], [(0, 1), (1, 0)]),
]


@pytest.mark.parametrize(("costs", "pairs"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_pairs(costs: Costs, pairs: list[tuple[int, int]]) -> None:
    assert cheapest_pairs(costs) == pairs


def _matrices(most: int, entries: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
    sizes = st.tuples(st.integers(1, most), st.integers(1, most))
    return sizes.flatmap(
        lambda size: st.lists(
            st.lists(entries, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )


def _total(costs: Costs, pairs: Sequence[tuple[int, int]]) -> float:
    return sum(costs[row][column] for row, column in pairs)


def _least(costs: Costs) -> float:
    """Try every way to give the shorter side's entries partners."""
    if len(costs) > len(costs[0]):
        costs = list(zip(*costs, strict=True))
    ways = permutations(range(len(costs[0])), len(costs))
    return min(sum(row[column] for row, column in zip(costs, way, strict=True)) for way in ways)


_WHOLE = st.integers(-3, 6).map(float)  # sums of these are exact, and ties are many
_SHARES = st.integers(0, 12).map(lambda twelfths: twelfths / 12)


@given(_matrices(5, _WHOLE))
def test_no_other_way_costs_less(costs: Costs) -> None:
    assert _total(costs, cheapest_pairs(costs)) == _least(costs)


@given(_matrices(12, _WHOLE) | _matrices(12, _SHARES))
def test_it_costs_what_scipy_finds(costs: Costs) -> None:
    rows, columns = _SCIPY.linear_sum_assignment(costs)
    expected = _total(costs, list(zip(rows.tolist(), columns.tolist(), strict=True)))

    assert _total(costs, cheapest_pairs(costs)) == pytest.approx(expected)


@given(_matrices(8, _WHOLE))
def test_the_shorter_side_is_paired_whole_and_nothing_twice(costs: Costs) -> None:
    pairs = cheapest_pairs(costs)

    assert len(pairs) == min(len(costs), len(costs[0]))
    assert [row for row, _ in pairs] == sorted({row for row, _ in pairs})
    assert len({column for _, column in pairs}) == len(pairs)
    assert all(0 <= row < len(costs) and 0 <= column < len(costs[0]) for row, column in pairs)
