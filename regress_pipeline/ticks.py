"""When a schedule ticks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from dagster._utils.schedules import is_valid_cron_string, schedule_execution_time_iterator

from regress_core.errors import InputError
from regress_core.suite.nightly import ScheduleConfig


def check_schedule(schedule: ScheduleConfig, file: Path) -> None:
    """See whether a schedule is one that Dagster takes.

    Args:
        schedule: The schedule.
        file: The suite.yaml that has it.

    Raises:
        InputError: If the cron is none.
    """
    if not is_valid_cron_string(schedule.cron):
        remedy = "write minute, hour, day, month and weekday, such as 0 2 * * *"
        raise InputError(f"{schedule.cron!r} is no cron", file=file, field="$.schedule.cron", remedy=remedy)


def ticks_from(schedule: ScheduleConfig, start: datetime) -> Iterator[datetime]:
    """Give the ticks of a schedule that has been checked, after a moment, UTC, without end."""
    ticks = schedule_execution_time_iterator(
        start.timestamp(), schedule.cron, schedule.timezone, ascending=True
    )
    return (tick.astimezone(UTC) for tick in ticks if tick > start)
