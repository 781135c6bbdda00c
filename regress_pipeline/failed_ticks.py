"""Schedules and sensors whose last look has failed: nothing comes of them until somebody mends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg
from dagster._core.scheduler.instigation import TickStatus
from dagster_shared.error import SerializableErrorInfo

_ENDED = [TickStatus.SUCCESS, TickStatus.SKIPPED, TickStatus.FAILURE]


@dataclass(frozen=True, slots=True)
class FailedTick:
    """The last tick of a schedule or sensor, which failed.

    Attributes:
        name: Of the schedule or sensor.
        at: When it was, UTC.
        error: What went wrong, one line.
    """

    name: str
    at: datetime
    error: str


def failed_ticks(instance: dg.DagsterInstance, names: Sequence[str]) -> tuple[FailedTick, ...]:
    """Give the schedules and sensors of these names whose last tick failed."""
    found: list[FailedTick] = []
    for state in instance.all_instigator_state():
        if state.instigator_name not in names:
            continue
        for tick in instance.get_ticks(
            state.instigator_origin_id, state.selector_id, limit=1, statuses=_ENDED
        ):
            if tick.status is TickStatus.FAILURE:
                at = datetime.fromtimestamp(tick.timestamp, tz=UTC)
                found.append(FailedTick(state.instigator_name, at, _reason(tick.error)))
    return tuple(found)


def _reason(error: SerializableErrorInfo | None) -> str:
    """Give the message at the bottom of Dagster's wrappings, without the name of its type."""
    if error is None:
        return "no reason is known"
    while error.cause is not None:
        error = error.cause
    return " ".join(error.message.removeprefix(f"regress_core.errors.{error.cls_name}: ").split())
