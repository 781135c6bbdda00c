from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.calls.limits import CallLimits


def test_the_defaults_are_the_designs() -> None:
    limits = CallLimits()

    assert (limits.concurrency, limits.attempts, limits.time_out_s) == (8, 4, 60.0)
    assert limits.requests_per_second is None


@pytest.mark.parametrize(
    "given",
    [
        {"concurrency": 1, "attempts": 1, "failures_to_open": 1},
        {"time_out_s": 0.001, "requests_per_second": 0.01},
        {"first_wait_s": 0, "longest_wait_s": 0, "longest_retry_after_s": 0, "cool_down_s": 0},
        {"first_wait_s": 5, "longest_wait_s": 5},
    ],
    ids=",".join,
)
def test_what_is_at_the_edge_is_allowed(given: dict[str, Any]) -> None:
    limits = CallLimits(**given)

    assert {name: getattr(limits, name) for name in given} == given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"concurrency": 0}, "concurrency is 0, and must be 1 or more"),
        ({"attempts": 0}, "attempts is 0, and must be 1 or more"),
        ({"failures_to_open": -1}, "failures_to_open is -1, and must be 1 or more"),
        ({"time_out_s": 0}, "time_out_s is 0, and must be a finite number above 0"),
        ({"time_out_s": math.inf}, "time_out_s is inf, and must be a finite number above 0"),
        ({"time_out_s": math.nan}, "time_out_s is nan, and must be a finite number above 0"),
        ({"requests_per_second": 0}, "requests_per_second is 0, and must be a finite number above 0"),
        ({"requests_per_second": -2}, "requests_per_second is -2, and must be a finite number above 0"),
        ({"first_wait_s": -0.1}, "first_wait_s is -0.1, and must be a finite number, 0 or more"),
        ({"longest_wait_s": math.inf}, "longest_wait_s is inf, and must be a finite number, 0 or more"),
        (
            {"longest_retry_after_s": -1},
            "longest_retry_after_s is -1, and must be a finite number, 0 or more",
        ),
        ({"cool_down_s": math.nan}, "cool_down_s is nan, and must be a finite number, 0 or more"),
        (
            {"first_wait_s": 9, "longest_wait_s": 8},
            "longest_wait_s is 8, and must not be below first_wait_s, 9",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="must") as caught:
        CallLimits(**given)

    assert str(caught.value) == message


# First wait, longest wait, attempts made, random number, seconds.
WAITS: list[tuple[str, float, float, int, float, float]] = [
    ("the first, nothing left out", 1, 30, 1, 1.0, 1),
    ("the first, one half left out", 1, 30, 1, 0.0, 0.5),
    ("the first, a quarter left out", 1, 30, 1, 0.5, 0.75),
    ("the second doubles", 1, 30, 2, 1.0, 2),
    ("the third doubles again", 1, 30, 3, 1.0, 4),
    ("half of the third", 1, 30, 3, 0.0, 2),
    ("the longest", 1, 30, 6, 1.0, 30),
    ("the longest, one half left out", 1, 30, 6, 0.0, 15),
    ("after very many", 1, 30, 10**6, 1.0, 30),
    ("none at all", 0, 30, 5, 1.0, 0),
]


@pytest.mark.parametrize(
    ("first_s", "longest_s", "attempts", "random", "seconds"),
    [pytest.param(*case[1:], id=case[0]) for case in WAITS],
)
def test_waits(first_s: float, longest_s: float, attempts: int, random: float, seconds: float) -> None:
    limits = CallLimits(first_wait_s=first_s, longest_wait_s=longest_s)

    assert limits.wait_s(attempts, random) == seconds


@given(
    st.floats(0, 100),
    st.floats(0, 100),
    st.integers(1, 2000),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_bounded_and_never_shrinks(
    first_s: float, more_s: float, attempts: int, low: float, high: float
) -> None:
    limits = CallLimits(first_wait_s=first_s, longest_wait_s=first_s + more_s)
    low, high = sorted((low, high))

    assert first_s / 2 <= limits.wait_s(attempts, low) <= limits.wait_s(attempts, high)
    assert limits.wait_s(attempts, high) <= min(limits.longest_wait_s, limits.wait_s(attempts + 1, high))
