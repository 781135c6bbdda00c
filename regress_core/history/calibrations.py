"""Calibrations of judges in the history, and the one that holds for a judge as it is configured now."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from regress_core.history.store import History, Row
from regress_core.history.tables import SCHEMA_VERSION
from regress_core.records.json_io import dumps_text, loads_own
from regress_core.stats.agreement import Kappa
from regress_core.stats.calibration import Calibration
from regress_core.stats.intervals import Rate


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """A calibration in the history.

    Attributes:
        calibration_id: All judges of one reading of labels share it.
        source: The file or folder of the labels, as it was named.
        created_at: When it was made.
        calibration: What it found.
    """

    calibration_id: str
    source: str
    created_at: datetime
    calibration: Calibration


def keep_calibrations(
    history: History, calibrations: Sequence[Calibration], *, calibration_id: str, source: str, now: datetime
) -> None:
    """Write the calibrations of one reading of labels. Judges without a compared row are left out."""
    rows = [
        {
            "calibration_id": calibration_id,
            "schema_version": SCHEMA_VERSION,
            "source": source,
            "created_at": now,
            **_columns(calibration),
        }
        for calibration in calibrations
        if calibration.compared
    ]
    with history.lock(), history.calibration_writer(f"{now:%Y-%m}", calibration_id) as writer:
        writer.write("calibrations", rows)


def calibration_of(
    history: History, judge: str, model: str | None, prompt_version: str | None
) -> KeptCalibration | None:
    """Give the newest calibration of exactly this judge, or None: then it is uncalibrated.

    A judge that does not name its model or its instructions is uncalibrated: either can change unseen.

    Raises:
        InputError: If a file of the history was written by a newer major version.
    """
    if model is None or prompt_version is None:
        return None
    version = (judge, model, prompt_version)
    rows = [
        row
        for row in history.table("calibrations").to_pylist()
        if (row["judge"], row["model"], row["prompt_version"]) == version
    ]
    if not rows:
        return None
    newest = max(rows, key=lambda row: (row["created_at"], row["calibration_id"]))
    return KeptCalibration(
        calibration_id=newest["calibration_id"],
        source=newest["source"],
        created_at=newest["created_at"],
        calibration=Calibration.from_json(loads_own(newest["calibration_json"])),
    )


def _columns(calibration: Calibration) -> Row:
    return {
        "judge": calibration.judge,
        "model": calibration.model,
        "prompt_version": calibration.prompt_version,
        "rows": calibration.rows,
        "compared": calibration.compared,
        **calibration.confusion.model_dump(),
        **_with_interval("agreement", calibration.agreement),
        **_with_interval("kappa", calibration.kappa),
        **_with_interval("false_pass_rate", calibration.false_pass_rate),
        **_with_interval("false_fail_rate", calibration.false_fail_rate),
        "calibration_json": dumps_text(calibration.to_json()),
    }


def _with_interval(name: str, figure: Rate | Kappa) -> Row:
    interval = figure.interval
    return {
        name: figure.value,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }
