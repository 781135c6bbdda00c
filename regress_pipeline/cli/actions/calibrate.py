"""What `regress calibrate` does once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder
from regress_core.history.calibrations import keep_calibrations
from regress_core.history.store import History
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.json_io import dumps
from regress_core.stats.agreement import Confusion, Kappa
from regress_core.stats.calibration import Calibration, GapCount, calibrate, count_gaps, items_in_common
from regress_core.stats.intervals import Interval, Rate
from regress_core.stats.labels import LabelFields, read_labelled
from regress_pipeline.cli.render import note, say
from regress_pipeline.settings import load_settings

_MOST_GAPS = 5  # of a kind
_MOST_ITEMS = 20  # the JSON has them all


def calibrate_judges(labels: Path, fields: LabelFields, *, store: Path | None, as_json: bool) -> None:
    """Read labelled verdicts, keep the figures in the history, print them.

    Raises:
        InputError: If the labels cannot be read, or there is nothing to compare.
    """
    folder = load_settings(store=store).store
    verdicts = read_labelled(labels, fields)
    calibrations = calibrate(verdicts)
    if not any(calibration.compared for calibration in calibrations):
        gaps = "; ".join(_gap_texts(count_gaps(verdicts)))
        raise InputError(
            f"none of {len(verdicts)} rows can be compared: {gaps}",
            file=labels,
            remedy="say what their words mean with --map-verdict and --map-label",
        )
    now = utc_now()
    calibration_id = new_evaluation_id(now)
    source = relative_to_working_folder(labels)
    keep_calibrations(
        History.open(folder), calibrations, calibration_id=calibration_id, source=source, now=now
    )
    if as_json:
        told = {
            "calibrationId": calibration_id,
            "source": source,
            "createdAt": now.isoformat(),
            "calibrations": [calibration.to_json() for calibration in calibrations],
        }
        sys.stdout.buffer.write(dumps(told, indent=2) + b"\n")
    else:
        for calibration in calibrations:
            for line in _lines(calibration):
                say(line)
        say(f"kept as calibration {calibration_id}")
    _warn(calibrations, items_in_common(verdicts))


def _lines(calibration: Calibration) -> Iterator[str]:
    yield (
        f"judge {calibration.judge or '(not named)'}, model {calibration.model or '(not named)'}, "
        f"prompt version {calibration.prompt_version or '(not named)'}"
    )
    yield f"  {calibration.compared} of {calibration.rows} rows compared"
    for text in _gap_texts(calibration.gaps):
        yield f"    not compared: {text}"
    yield from _matrix_lines(calibration.confusion)
    yield f"  agreement        {_rate_text(calibration.agreement)}"
    yield f"  Cohen's kappa    {_kappa_text(calibration.kappa)}"
    yield f"  false-pass rate  {_rate_text(calibration.false_pass_rate)}"
    yield f"  false-fail rate  {_rate_text(calibration.false_fail_rate)}"
    for what, items in (("passes", calibration.false_passes), ("fails", calibration.false_fails)):
        if items:
            yield f"  false {what}: {_listed(items)}"


def _matrix_lines(confusion: Confusion) -> Iterator[str]:
    yield "                   truly pass  truly fail"
    yield f"    judged pass  {confusion.true_pass:>12}{confusion.false_pass:>12}"
    yield f"    judged fail  {confusion.false_fail:>12}{confusion.true_fail:>12}"


def _rate_text(rate: Rate) -> str:
    if rate.value is None:
        return "none (no such row)"
    return f"{rate.value:.3f} ({rate.hits} of {rate.of}){_interval_text(rate.interval)}"


def _kappa_text(kappa: Kappa) -> str:
    value = "none" if kappa.value is None else f"{kappa.value:.3f}"
    reason = f" ({kappa.reason})" if kappa.reason else ""
    return f"{value}{reason}{_interval_text(kappa.interval)}"


def _interval_text(interval: Interval | None) -> str:
    return f", 95 % interval {interval.low:.3f} to {interval.high:.3f}" if interval else ""


def _gap_texts(gaps: Sequence[GapCount]) -> Iterator[str]:
    """Say how often what is missing, by kind; the order of the gaps is that of their kinds."""
    for kind, of_kind in groupby(gaps, key=lambda gap: gap.kind):
        counted = list(of_kind)
        texts = [f"{gap.text} ({gap.rows})" for gap in counted[:_MOST_GAPS] if gap.text]
        more = [f"and {len(counted) - _MOST_GAPS} more"] if len(counted) > _MOST_GAPS else []
        listed = f": {', '.join([*texts, *more])}" if texts else ""
        yield f"{sum(gap.rows for gap in counted)} with {kind}{listed}"


def _listed(items: Sequence[str]) -> str:
    more = [f"and {len(items) - _MOST_ITEMS} more"] if len(items) > _MOST_ITEMS else []
    return ", ".join([*items[:_MOST_ITEMS], *more])


def _warn(calibrations: Sequence[Calibration], common: tuple[int, int]) -> None:
    """Say on stderr what the figures do not show."""
    shared, compared = common
    if len(calibrations) > 1 and shared < compared:
        note(
            f"warning: of {compared} compared items, {shared} are compared for every judge; figures on "
            "different items rank no judges"
        )
    if any(None in (it.judge, it.model, it.prompt_version) for it in calibrations):
        note(
            "note: a judge counts as calibrated by judge, model and prompt version together; name them with "
            "--judge, --model and --prompt-version, or the fields that hold them"
        )
