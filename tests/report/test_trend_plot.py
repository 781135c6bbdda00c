"""The plot of the last evaluations: an SVG that says what it is to say, and stays small."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from regress_core.history.trends import TrendPoint
from regress_core.report.trend_plot import trend_plot

BEGIN = datetime(2026, 3, 28, 2, 30, tzinfo=UTC)


def _points(
    count: int, *, rate: float | None = 0.875, composite: float | None = None, label: str = "shop@2"
) -> list[TrendPoint]:
    return [
        TrendPoint(
            evaluation_id=f"01960000-0000-7000-8000-{number:012}",
            created_at=BEGIN + timedelta(days=number),
            candidate_label=label,
            trigger="night",
            gate_status="warn",
            cases=9,
            passed=5,
            warned=3,
            failed=1,
            inconclusive=1,
            pass_rate=rate,
            composite_score=composite,
            cost_usd=0.25,
        )
        for number in range(count)
    ]


def _texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter() if element.text]  # noqa: S314 - of our own making


@pytest.mark.parametrize(
    ("points", "legend"),
    [
        pytest.param(_points(3), ["pass rate"], id="pass rate"),
        pytest.param(_points(3, composite=3.5), ["pass rate", "composite"], id="composite score too"),
        pytest.param(_points(3, rate=None), [], id="no case conclusive"),
        pytest.param(_points(1), ["pass rate"], id="one evaluation"),
    ],
)
def test_what_it_shows(points: list[TrendPoint], legend: list[str]) -> None:
    texts = _texts(trend_plot(points))
    days = [f"03-{28 + number} 02:30" for number in range(len(points))]
    assert [text for text in texts if text.startswith("03-")] == days
    assert [text for text in texts if text in ("pass rate", "composite")] == legend
    assert {"passed", "warned", "failed", "inconclusive", "evaluation, UTC"} <= set(texts)


def test_fourteen_evaluations_are_a_small_picture() -> None:
    assert len(trend_plot(_points(14, composite=3.5)).encode()) < 30_000


def test_what_a_candidate_is_called_is_not_in_it() -> None:
    assert "alert" not in trend_plot(_points(2, label="</svg><script>alert(1)</script>"))


def test_who_draws_nothing_does_not_load_the_library() -> None:
    code = "import sys, regress_core.report.trend_plot; print('altair' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
