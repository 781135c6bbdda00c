"""Whether a case passes less often than chance explains, beside how often it used to."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.json_io import JsonObject
from regress_core.stats.trials import Trials
from regress_core.suite.noise import TrialGate, within_noise

Pair = tuple[tuple[int, int], tuple[int, int]]
"""Passed and of: earlier, and now."""

STEADY: Pair = ((20, 20), (5, 5))


def excused(*pairs: Pair, **gate: object) -> list[int]:
    """Give the numbers, from 0, of the cases whose failed trials are their noise."""
    cases = {str(number): (Trials(*earlier), Trials(*now)) for number, (earlier, now) in enumerate(pairs)}
    return [int(case) for case in within_noise(cases, TrialGate.from_json(dict(gate)))]


@pytest.mark.parametrize(
    ("pair", "is_excused"),
    [
        # 1/C(25,5) = 0.00002: a drop.
        (((20, 20), (0, 5)), False),
        # C(5,4)/C(25,24) = 5/25.
        (((20, 20), (4, 5)), True),
        # (C(5,0)C(20,14) + C(5,1)C(20,13) + C(5,2)C(20,12))/C(25,14) = 0.38.
        (((12, 20), (2, 5)), True),
        # At best C(20,10)/C(25,10) = 0.057: not even no pass at all could have told.
        (((10, 20), (2, 5)), False),
        # C(5,2)/C(25,22) = 10/2300 = 0.004.
        (((20, 20), (2, 5)), False),
        # C(5,3)/C(25,23) = 10/300 = 0.033.
        (((20, 20), (3, 5)), False),
        # None failed: there is nothing to excuse.
        (((20, 20), (5, 5)), False),
        (((10, 20), (5, 5)), False),
        # Nothing is known of before, or nothing of now.
        (((0, 0), (4, 5)), False),
        (((20, 20), (0, 0)), False),
        # No count could have told: 1/C(5,2) = 0.1 at best.
        (((3, 3), (1, 2)), False),
        # At best 1/C(6,3) = 0.05, which is significant; 3/6 is not.
        (((3, 3), (2, 3)), True),
        # It never passed: no drop can be seen, so that the worst counts.
        (((0, 20), (0, 5)), False),
    ],
)
def test_one_case(pair: Pair, is_excused: bool) -> None:  # noqa: FBT001 - a column of the table
    assert excused(pair) == ([0] if is_excused else [])


@pytest.mark.parametrize(
    ("correction", "others", "is_excused"),
    [
        # 1/C(6,3) = 0.05 at best, times the number of cases.
        ("bh", 0, True),
        ("bh", 1, False),
        ("holm", 0, True),
        ("holm", 1, False),
    ],
)
def test_the_number_of_cases_counts(correction: str, others: int, is_excused: bool) -> None:  # noqa: FBT001 - a column of the table
    pairs = [((3, 3), (2, 3)), *[STEADY] * others]
    assert excused(*pairs, correction=correction) == ([0] if is_excused else [])


@pytest.mark.parametrize(("alpha", "is_excused"), [(0.03, True), (0.04, False), (0.00001, False)])
def test_the_level(alpha: float, is_excused: bool) -> None:  # noqa: FBT001 - a column of the table
    """3 of 5 after 20 of 20 has p = 10/300; the least there could be is 1/53130 = 0.00002."""
    assert excused(((20, 20), (3, 5)), alpha=alpha) == ([0] if is_excused else [])


def test_bh_and_holm_differ_where_several_drop() -> None:
    """Each has p = 10/300 = 0.033; bh leaves it, since both are that small, and holm doubles it."""
    pair: Pair = ((20, 20), (3, 5))
    assert excused(pair, pair, correction="bh") == []
    assert excused(pair, pair, correction="holm") == [0, 1]


def test_the_reason_in_words() -> None:
    cases = {"a": (Trials(20, 20), Trials(4, 5)), "b": (Trials(20, 20), Trials(5, 5))}
    assert within_noise(cases, TrialGate()) == {
        # p = 5/25; of two cases, the smaller p doubles.
        "a": "flaky, within its noise: 4 of 5 trials passed, 20 of 20 before; p = 0.4 (bh), above 0.05"
    }


_TRIALS = st.integers(0, 8).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


def _p_value(earlier: tuple[int, int], now: tuple[int, int]) -> Fraction:
    """Give the chance of so few passes now, if any of all trials could have been those that passed."""
    passed, of = earlier[0] + now[0], earlier[1] + now[1]
    ways = sum(
        comb(now[1], count) * comb(earlier[1], passed - count)
        for count in range(now[0] + 1)
        if passed - count <= earlier[1]
    )
    return Fraction(ways, comb(of, passed))


@given(_TRIALS, _TRIALS)
def test_one_case_by_fractions(earlier: tuple[int, int], now: tuple[int, int]) -> None:
    level = Fraction(0.05)
    fails = now[0] < now[1]
    could_tell = _p_value(earlier, (0, now[1])) <= level
    expected = fails and could_tell and _p_value(earlier, now) > level

    assert excused((earlier, now)) == ([0] if expected else [])


FAULTS: Mapping[str, JsonObject] = {
    "a rule that is none": {"rule": "best"},
    "a level of 1": {"alpha": 1},
    "no level": {"alpha": 0},
    "no evaluations": {"evaluations": 0},
    "another correction": {"correction": "none"},
}


@pytest.mark.parametrize("gate", FAULTS.values(), ids=list(FAULTS))
def test_what_is_no_rule(gate: JsonObject) -> None:
    with pytest.raises(ValueError, match=next(iter(gate))):
        TrialGate.from_json(gate)
