"""How a suite has fared over its evaluations, and when a slow decline is told of."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from regress_core.history.store import History
from regress_core.suite.nightly import TrendConfig


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One finished evaluation; the fields are columns of `evaluations`."""

    evaluation_id: str
    created_at: datetime
    candidate_label: str
    trigger: str
    gate_status: str | None
    cases: int
    passed: int
    warned: int
    failed: int
    inconclusive: int
    pass_rate: float | None
    composite_score: float | None
    cost_usd: float | None


_COLUMNS = tuple(field.name for field in fields(TrendPoint))


def finished_evaluations(history: History, suite: str) -> tuple[TrendPoint, ...]:
    """Give the finished evaluations of a suite, oldest first, each in its newest revision."""
    newest: dict[str, tuple[int, TrendPoint]] = {}
    for row in history.columns_of("evaluations", suite, (*_COLUMNS, "revision")).to_pylist():
        revision = row.pop("revision")
        if newest.get(row["evaluation_id"], (0,))[0] <= revision:
            newest[row["evaluation_id"]] = (revision, TrendPoint(**row))
    points = (point for _, point in newest.values())
    return tuple(sorted(points, key=lambda one: (one.created_at, one.evaluation_id)))


def last_of(points: Sequence[TrendPoint], trigger: str, most: int) -> tuple[TrendPoint, ...]:
    """Give the last evaluations with a trigger, oldest first.

    Only those are set beside each other: a night is of the whole suite, what a sensor or a person starts may
    be of a few cases.
    """
    return tuple([point for point in points if point.trigger == trigger][-most:])


def trend_alarm(points: Sequence[TrendPoint], config: TrendConfig) -> str | None:
    """Say how far the newest evaluation stands below the best of the last ones; None if that is not far.

    Every evaluation is compared with the accepted baselines, never with the one before, so that a point lost
    a night adds up here.
    """
    window = points[-config.evaluations :]
    found = (
        _fall("pass rate", [point.pass_rate for point in window], config, scale=1.0),
        _fall("composite score", [point.composite_score for point in window], config, scale=4.0),
    )
    told = [text for text in found if text is not None]
    return "; ".join(told) or None


def _fall(name: str, values: Sequence[float | None], config: TrendConfig, *, scale: float) -> str | None:
    known = [value for value in values[:-1] if value is not None]
    newest = values[-1] if values else None
    if newest is None or not known:
        return None
    best = max(known)
    # In whole billionths, so that a fall by exactly what is allowed is one whatever its digits are.
    if round((best - newest) / scale * 1e9) < round(config.max_drop * 1e9):
        return None
    return f"{name} {newest:.3f} is {best - newest:.3f} below the best of the last {len(values)} ({best:.3f})"
