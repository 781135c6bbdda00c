"""The report over a suite's scores: means over what was judged, two decimals, half up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.judge.axes_report import axes_report
from regress_core.judge.outcome import AxisScore, JudgeOutcome
from regress_core.suite.judged import Judged

_NAMES = ("accuracy", "tone", "format")


def case(*scores: float) -> dict[str, float]:
    return dict(zip(_NAMES, scores, strict=False))


def test_a_report_in_its_json_shape() -> None:
    report = axes_report([case(5, 4, 3), None, case(4, 2.5, 3), case(3, 3, 3)])

    # (4 + 9.5/3 + 3) / 3 = 3.3888...
    assert report.to_json() == {
        "total": 3,
        "passed": 2,
        "failed": 1,
        "compositeScore": 3.39,
        "axisBreakdown": {"accuracy": 4.0, "tone": 9.5 / 3, "format": 3.0},
        "notJudged": 1,
    }


@pytest.mark.parametrize("not_judged", [0, 1, 7])
def test_where_no_case_was_judged_there_is_no_score(not_judged: int) -> None:
    assert axes_report([None] * not_judged).to_json() == {
        "total": 0,
        "passed": 0,
        "failed": 0,
        "compositeScore": None,
        "axisBreakdown": {},
        "notJudged": not_judged,
    }


COMPOSITES: list[tuple[Sequence[Sequence[float]], float]] = [
    ([[1, 1, 1]], 1.0),
    ([[5, 5, 5]], 5.0),
    ([[3.005]], 3.01),
    ([[3.0049]], 3.0),
    ([[1.005]], 1.01),
    ([[4.995]], 5.0),
    ([[3.5, 3.51]], 3.51),
    ([[3], [3.01]], 3.01),
    ([[2], [3], [3]], 2.67),
    ([[4, 4, 3]], 3.67),
    ([[3, 3, 4]], 3.33),
    # A half that parts of a third add up to: (1/3 + 1/3 + 1/3 of 3.005 each) is 3.005.
    ([[3.005, 3.005, 3.005], [3.005, 3.005, 3.005], [3.005, 3.005, 3.005]], 3.01),
    # Seven cases on three axes: 63.105 / 21 = 3.005.
    ([[3, 3, 3]] * 6 + [[3.105, 3, 3]], 3.01),
]


@pytest.mark.parametrize(("scores", "composite"), COMPOSITES)
def test_the_composite_is_rounded_half_up(scores: Sequence[Sequence[float]], composite: float) -> None:
    assert axes_report([case(*row) for row in scores]).composite_score == composite


@pytest.mark.parametrize(
    ("scores", "passed"),
    [((3, 3, 3), 1), ((5, 5, 2.99), 0), ((2, 5, 5), 0), ((3.0, 3.5, 5), 1), ((1, 1, 1), 0)],
)
def test_a_case_passes_when_every_axis_is_three_or_more(scores: Sequence[float], passed: int) -> None:
    report = axes_report([case(*scores)])

    assert (report.total, report.passed, report.failed) == (1, passed, 1 - passed)


def test_a_forced_score_is_what_counts() -> None:
    forced = JudgeOutcome(
        judge="axes", state="verdict", axes=[AxisScore(axis="format", score=1.0, judged=5.0)]
    )

    report = axes_report([Judged(judges=(forced,)).findings().axes])

    assert (report.passed, report.composite_score, report.axis_breakdown) == (0, 1.0, {"format": 1.0})


def test_cases_that_cannot_be_compared_give_no_mean() -> None:
    with pytest.raises(ValueError, match="different axes"):
        axes_report([case(3, 3), case(3, 3, 3)])


# As judges write them: up to four decimals.
_SCORES = st.integers(10_000, 50_000).map(lambda tenthousandths: tenthousandths / 10_000)
_CASES = st.integers(1, 3).flatmap(
    lambda axes: st.lists(
        st.none() | st.lists(_SCORES, min_size=axes, max_size=axes), min_size=1, max_size=12
    ).filter(any)
)


@given(_CASES)
def test_a_composite_is_the_nearest_hundredth_of_the_exact_mean(cases: list[list[float] | None]) -> None:
    report = axes_report([None if scores is None else case(*scores) for scores in cases])

    judged = [scores for scores in cases if scores is not None]
    # Every axis has the same number of scores, so the mean of the means is the mean of all.
    count = sum(len(scores) for scores in judged)
    total = sum(round(score * 10_000) for scores in judged for score in scores)
    exact = Fraction(total, 10_000 * count)
    assert report.composite_score is not None
    hundredths = round(report.composite_score * 100)
    assert report.composite_score == hundredths / 100
    assert hundredths - Fraction(1, 2) <= exact * 100 < hundredths + Fraction(1, 2)
    assert 1 <= report.composite_score <= 5
    assert all(1 <= mean <= 5 for mean in report.axis_breakdown.values())
    assert report.total + report.not_judged == len(cases)
    assert report.passed + report.failed == report.total
