from __future__ import annotations

import pytest

from regress_core.calls.pace import Pace
from tests.calls.support import VirtualTime


@pytest.mark.parametrize(
    ("rate", "ready_at", "left_at"),
    [
        pytest.param(2, [0] * 10, [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5], id="ten at two a second"),
        pytest.param(0.25, [0, 0, 0], [0, 4, 8], id="one in four seconds"),
        pytest.param(2, [0, 10, 10, 10], [0, 10, 10.5, 11], id="no burst after a pause"),
        pytest.param(2, [0, 0.25, 0.75, 2], [0, 0.5, 1, 2], id="late ones are not put off"),
        pytest.param(None, [0, 0, 1, 1], [0, 0, 1, 1], id="no limit"),
    ],
)
def test_departures(rate: float | None, ready_at: list[float], left_at: list[float]) -> None:
    time = VirtualTime()
    pace = Pace(rate, time.clock)
    left: list[float] = []

    for ready in ready_at:
        time.now = max(time.now, ready)
        time.now += pace.wait_s()
        pace.leave()
        left.append(time.now)

    assert left == left_at


@pytest.mark.parametrize(
    ("rate", "held_back", "wait_s"),
    [
        pytest.param(None, [3], 3, id="without a rate"),
        pytest.param(2, [3], 3, id="longer than the spacing"),
        pytest.param(0.25, [3], 4, id="shorter than the spacing"),
        pytest.param(2, [3, 1], 3, id="a shorter one later takes nothing off"),
        pytest.param(2, [1, 3], 3, id="a longer one adds"),
        pytest.param(2, [0], 0.5, id="for no time"),
        pytest.param(2, [-1], 0.5, id="until a time that is past"),
    ],
)
def test_holding_back(rate: float | None, held_back: list[float], wait_s: float) -> None:
    pace = Pace(rate, VirtualTime().clock)
    pace.leave()

    for seconds in held_back:
        pace.hold_back(seconds)

    assert pace.wait_s() == wait_s
