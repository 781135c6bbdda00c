"""The last evaluations of a suite, and the alarm about a slow decline (H54)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.history.sql import query
from regress_core.history.store import History, Row
from regress_core.history.trends import TrendPoint, finished_evaluations, last_of, trend_alarm
from regress_core.suite.nightly import TrendConfig

BEGIN = datetime(2026, 3, 1, 2, tzinfo=UTC)


def _point(number: int, rate: float | None, composite: float | None = None) -> TrendPoint:
    return TrendPoint(
        f"e{number}",
        BEGIN + timedelta(days=number),
        "shop@2",
        "night",
        "pass",
        100,
        100,
        0,
        0,
        0,
        rate,
        composite,
        0.0,
    )


def _rates(*rates: float | None) -> list[TrendPoint]:
    return [_point(number, rate) for number, rate in enumerate(rates)]


@pytest.mark.parametrize(
    ("rates", "alarm"),
    [
        ([], None),
        ([0.5], None),
        ([1.0, 0.96], None),
        ([1.0, 0.95], "pass rate 0.950 is 0.050 below the best of the last 2 (1.000)"),
        ([1.0, 0.99, 0.98, 0.97, 0.96], None),
        (
            [1.0, 0.99, 0.98, 0.97, 0.96, 0.95],
            "pass rate 0.950 is 0.050 below the best of the last 6 (1.000)",
        ),
        ([0.9, 1.0, 0.97, 0.9], "pass rate 0.900 is 0.100 below the best of the last 4 (1.000)"),
        ([0.8, 0.9, 1.0], None),
        ([1.0, None], None),
        ([None, 0.9], None),
        ([1.0, *[0.9] * 13], "pass rate 0.900 is 0.100 below the best of the last 14 (1.000)"),
        ([1.0, *[0.9] * 14], None),  # the best is out of the window
        ([0.3, 0.25], "pass rate 0.250 is 0.050 below the best of the last 2 (0.300)"),
    ],
)
def test_the_alarm_over_the_pass_rate(rates: list[float | None], alarm: str | None) -> None:
    assert trend_alarm(_rates(*rates), TrendConfig()) == alarm


@pytest.mark.parametrize(
    ("scores", "alarm"),
    [
        ([4.5, 4.31], None),
        ([4.5, 4.3], "composite score 4.300 is 0.200 below the best of the last 2 (4.500)"),
    ],
)
def test_the_composite_score_counts_as_a_share_of_its_range(scores: list[float], alarm: str | None) -> None:
    points = [_point(number, 1.0, score) for number, score in enumerate(scores)]
    assert trend_alarm(points, TrendConfig()) == alarm


@given(st.integers(2, 30), st.integers(1, 20))
def test_one_point_a_night_raises_it_once_the_sum_is_too_much(nights: int, allowed: int) -> None:
    """Whole points of a hundred cases, so that the sum is exact."""
    points = _rates(*((100 - night) / 100 for night in range(nights)))
    config = TrendConfig(evaluations=30, max_drop=allowed / 100)

    assert (trend_alarm(points, config) is not None) == (nights - 1 >= allowed)


@given(st.lists(st.integers(96, 100), min_size=1, max_size=20))
def test_noise_within_what_is_allowed_never_does(rates: list[int]) -> None:
    assert trend_alarm(_rates(*(rate / 100 for rate in rates)), TrendConfig()) is None


def _row(number: int, rate: float, *, trigger: str = "night", revision: int = 1) -> Row:
    return {
        "evaluation_id": f"e{number:02}",
        "suite": "shop",
        "candidate_id": "c",
        "revision": revision,
        "candidate_label": "shop@2",
        "trigger": trigger,
        "gate_status": "pass",
        "cases": 100,
        "passed": 100,
        "warned": 0,
        "failed": 0,
        "inconclusive": 0,
        "pass_rate": rate,
        "created_at": BEGIN + timedelta(days=number),
    }


def _write(history: History, *rows: Row, suite: str = "shop") -> None:
    for row in rows:
        with history.writer(suite, "2026-03", row["evaluation_id"], row["revision"]) as writer:
            writer.write("evaluations", [row])


def test_the_last_evaluations_of_one_trigger_in_their_newest_revision(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    _write(history, _row(3, 0.7), _row(1, 0.9), _row(2, 0.1), _row(2, 0.8, revision=2))
    _write(history, _row(4, 0.5, trigger="cases"))
    _write(history, _row(5, 0.4), suite="bank")

    found = last_of(finished_evaluations(history, "shop"), "night", 2)

    assert [(point.evaluation_id, point.pass_rate) for point in found] == [("e02", 0.8), ("e03", 0.7)]
    assert last_of(finished_evaluations(history, "post"), "night", 2) == ()


def test_the_view_sets_each_beside_the_best_of_14(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    _write(history, _row(0, 1.0), *(_row(number, 0.75) for number in range(1, 15)), _row(15, 0.5))
    sql = "SELECT pass_rate, previous_pass_rate, below_best_pass_rate FROM trends ORDER BY created_at"

    rows = query(history, sql).table.to_pylist()

    assert [tuple(row.values()) for row in rows] == [
        (1.0, None, 0.0),
        (0.75, 1.0, 0.25),
        *[(0.75, 0.75, 0.25)] * 12,
        (0.75, 0.75, 0.0),
        (0.5, 0.75, 0.25),
    ]
