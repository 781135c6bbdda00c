"""What suite.yaml says of the unattended evaluations: when they run, and what slow decline is told of."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from regress_core.records.wire import ConfigModel


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown, or no name at all
        raise ValueError(f"no time zone {name!r}; name one such as Europe/Berlin") from error
    return name


class ScheduleConfig(ConfigModel):
    """When the suite is evaluated against its candidate.yaml.

    Attributes:
        cron: Minute, hour, day of month, month, day of week; the time is that of the time zone.
        timezone: IANA name of the time zone. Ids and paths are in UTC all the same.
    """

    cron: Annotated[str, Field(pattern=r"^\S+( +\S+){4}$")]
    timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"


class TrendConfig(ConfigModel):
    """When a slow decline is told of, each step of which may be within the gate.

    Attributes:
        evaluations: How many of the last evaluations are looked at, the newest included.
        max_drop: How far pass rate, 0 to 1, and composite score, as a share of its range 1 to 5, may stand
            below the best of them.
    """

    evaluations: Annotated[int, Field(ge=2, le=365)] = 14
    max_drop: Annotated[float, Field(gt=0, le=1)] = 0.05
