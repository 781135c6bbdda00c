"""The last evaluations of a suite as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

from regress_core.history.trends import TrendPoint

_COLOURS = {"passed": "#3a9d5d", "warned": "#e0a72e", "failed": "#c8433a", "inconclusive": "#9aa0a6"}
_SCORES = ("pass rate", "composite")


def trend_plot(points: Sequence[TrendPoint]) -> str:
    """Draw how many cases passed, warned, failed and told nothing, and the scores over them, as SVG.

    The scores are the pass rate and, where there is one, the composite score as a share of its range 1 to 5.

    Args:
        points: The evaluations, oldest first; at least one.
    """
    import altair as alt  # noqa: PLC0415 - it takes half a second and 100 MB, and few who import us draw

    counts = alt.Chart(alt.Data(values=_counts(points))).mark_bar()
    order = [point.evaluation_id for point in points]
    names = {point.evaluation_id: f"{point.created_at:%m-%d %H:%M}" for point in points}
    axis = alt.Axis(labelExpr=_labels(names), labelAngle=-45)
    x = alt.X("evaluation:N", sort=order, title="evaluation, UTC", axis=axis)
    bars = counts.encode(
        x=x,
        y=alt.Y("cases:Q", title="cases"),
        color=alt.Color(
            "came to:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), title=None
        ),
        order=alt.Order("rank:Q"),
    )
    line = (
        alt.Chart(alt.Data(values=_scores(points)))
        .mark_line(point=True, color="#1f4e9c")
        .encode(
            x=x,
            y=alt.Y("score:Q", title="share", scale=alt.Scale(domain=[0, 1])),
            strokeDash=alt.StrokeDash("score of:N", title=None, sort=list(_SCORES)),
        )
    )
    chart = alt.layer(bars, line, resolve=alt.Resolve(scale=alt.ScaleResolveMap(y="independent")))
    picture = StringIO()
    # What it says to screen readers is lost in an `img`, and would be a quarter of it.
    chart.properties(width=520, height=180, config=alt.Config(aria=False)).save(picture, format="svg")
    return picture.getvalue()


def _labels(names: dict[str, str]) -> str:
    """Give Vega's expression that shows an evaluation by its time; ids and times need no escape."""
    pairs = ", ".join(f"'{evaluation_id}': '{name}'" for evaluation_id, name in names.items())
    return f"({{{pairs}}})[datum.value]"


def _counts(points: Sequence[TrendPoint]) -> list[dict[str, Any]]:
    return [
        {"evaluation": point.evaluation_id, "came to": name, "cases": count, "rank": rank}
        for point in points
        for rank, (name, count) in enumerate(
            (
                ("passed", point.passed),
                ("warned", point.warned - point.inconclusive),
                ("failed", point.failed),
                ("inconclusive", point.inconclusive),
            )
        )
    ]


def _scores(points: Sequence[TrendPoint]) -> list[dict[str, Any]]:
    return [
        {"evaluation": point.evaluation_id, "score of": name, "score": score}
        for point in points
        for name, score in zip(_SCORES, (point.pass_rate, _share(point.composite_score)), strict=True)
        if score is not None
    ]


def _share(composite: float | None) -> float | None:
    return None if composite is None else (composite - 1) / 4
