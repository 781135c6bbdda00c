"""Calibrations in the history: the one that holds for a judge now, and SQL over all."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from regress_core.history.calibrations import calibration_of, keep_calibrations
from regress_core.history.store import History
from regress_core.stats.calibration import (
    Calibration,
    Gap,
    JudgeVersion,
    LabelledVerdict,
    calibrate,
)
from tests.history.support import AT, asked, evaluation, write

TRIAGE = JudgeVersion("triage", "m-1", "v1")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def calibration(right: int, wrong: int, version: JudgeVersion = TRIAGE) -> Calibration:
    """Give one of verdicts `pass`, of which so many are right and so many wrong."""
    truths = [True] * right + [False] * wrong
    rows = [LabelledVerdict(f"i{n}", version, predicted=True, actual=it) for n, it in enumerate(truths)]
    return calibrate(rows)[0]


def keep(history: History, calibration_id: str, *calibrations: Calibration, now: datetime = AT) -> None:
    keep_calibrations(history, calibrations, calibration_id=calibration_id, source="l.csv", now=now)


def test_it_comes_back_as_it_was_kept(history: History) -> None:
    kept = calibration(3, 1)
    keep(history, "c1", kept)

    found = calibration_of(history, "triage", "m-1", "v1")

    assert found is not None
    assert (found.calibration_id, found.source, found.created_at) == ("c1", "l.csv", AT)
    assert found.calibration == kept


@pytest.mark.parametrize(
    ("judge", "model", "prompt_version"),
    [
        pytest.param("rubric", "m-1", "v1", id="another judge"),
        pytest.param("triage", "m-2", "v1", id="another model"),
        pytest.param("triage", "m-1", "v2", id="H73: another prompt version"),
        pytest.param("triage", None, "v1", id="no model named"),
        pytest.param("triage", "m-1", None, id="no prompt version named"),
    ],
)
def test_a_changed_judge_is_uncalibrated(
    history: History, judge: str, model: str | None, prompt_version: str | None
) -> None:
    unnamed = [JudgeVersion("triage", None, "v1"), JudgeVersion("triage", "m-1", None)]
    keep(history, "c1", calibration(3, 1), *(calibration(3, 1, version) for version in unnamed))

    assert calibration_of(history, judge, model, prompt_version) is None


def test_an_empty_history_calibrates_nothing(history: History) -> None:
    assert calibration_of(history, "triage", "m-1", "v1") is None


def test_the_newest_holds(history: History) -> None:
    keep(history, "c2", calibration(2, 0), now=AT)
    keep(history, "c1", calibration(5, 5), now=AT + timedelta(days=1))
    keep(history, "c3", calibration(1, 0, JudgeVersion("triage", "m-2", "v1")), now=AT + timedelta(days=2))

    found = calibration_of(history, "triage", "m-1", "v1")

    assert found is not None
    assert found.calibration_id == "c1"


def test_nothing_compared_is_no_calibration(history: History) -> None:
    nothing = calibrate([LabelledVerdict("i", TRIAGE, None, None, Gap("no verdict"))])

    keep(history, "c1", *nothing)

    assert calibration_of(history, "triage", "m-1", "v1") is None


def test_sql(history: History) -> None:
    other = JudgeVersion("triage", "m-2", "v1")
    keep(history, "c1", calibration(3, 1), calibration(4, 0, other))
    write(history, {"evaluations": [evaluation()]})

    columns = "calibration_id, judge, model, prompt_version, source, rows, compared, true_pass, false_pass"
    assert asked(history, f"SELECT {columns} FROM calibrations ORDER BY model") == [  # noqa: S608 - ours
        ("c1", "triage", "m-1", "v1", "l.csv", 4, 4, 3, 1),
        ("c1", "triage", "m-2", "v1", "l.csv", 4, 4, 4, 0),
    ]
    columns = "agreement, agreement_high, kappa, false_pass_rate, false_pass_rate_high, false_fail_rate"
    assert asked(history, f"SELECT {columns} FROM calibrations ORDER BY model")[1] == (  # noqa: S608 - ours
        1.0,
        1.0,
        None,
        None,
        None,
        0.0,
    )
    assert asked(history, "SELECT created_at, schema_version FROM calibrations LIMIT 1") == [(AT, 1)]


def test_they_lie_beside_the_suites(history: History) -> None:
    keep(history, "c1", calibration(3, 1))

    (file,) = history.root.rglob("*.parquet")
    assert file.relative_to(history.root).as_posix() == "calibrations/suite=-/month=2026-03/c1-1.parquet"
