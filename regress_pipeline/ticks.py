"""When a schedule ticks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from dagster._utils.schedules import is_valid_cron_string, schedule_execution_time_iterator

from regress_core.errors import InputError
from regress_core.suite.nightly import ScheduleConfig


def ticks_from(schedule: ScheduleConfig, start: datetime) -> Iterator[datetime]:
    """Give the ticks of a schedule after a moment, UTC, without end.

    Raises:
        InputError: If the cron is none.
    """
    if not is_valid_cron_string(schedule.cron):
        raise InputError(f"{schedule.cron!r} is no cron", field="$.schedule.cron")
    ticks = schedule_execution_time_iterator(
        start.timestamp(), schedule.cron, schedule.timezone, ascending=True
    )
    return (tick.astimezone(UTC) for tick in ticks if tick > start)
