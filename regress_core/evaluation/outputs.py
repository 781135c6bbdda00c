"""The RFC's output folder: summary.json, candidates/, comparisons/, results/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.files import replacing_folder
from regress_core.history.store import History
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, dumps, loads
from regress_core.suite.contract import RunRegressionSummary

SUMMARY_FILE = "summary.json"
_FOLDERS = ("candidates", "comparisons", "results")


def check_out(out: Path) -> None:
    """Make sure that the outputs may go there: a new folder, an empty one, or an earlier evaluation's.

    Raises:
        InputError: If it is a file, or holds anything that regress did not write.
    """
    if out.exists() and not out.is_dir():
        raise InputError("not a folder", file=out, field="--out", remedy="name another folder")
    blocked = next((parent for parent in out.resolve().parents if parent.exists()), None)
    if blocked is not None and not blocked.is_dir():
        raise InputError("not a folder", file=blocked, field="--out", remedy="name another folder")
    if not out.is_dir() or not any(out.iterdir()):
        return
    strange = sorted({entry.name for entry in out.iterdir()} - {SUMMARY_FILE, *_FOLDERS})
    if strange or not _is_our_summary(out / SUMMARY_FILE):
        what = f"it holds {strange[0]}" if strange else f"it has no {SUMMARY_FILE} of an evaluation"
        message = f"not empty and not an earlier output: {what}"
        raise InputError(message, file=out, field="--out", remedy="name another folder, or empty it")


def _is_our_summary(path: Path) -> bool:
    try:
        value = loads(path.read_bytes())
    except (OSError, JsonError):
        return False
    return isinstance(value, dict) and "evaluationId" in value


def write_outputs(out: Path, history: History, plan: EvaluationPlan, summary: RunRegressionSummary) -> None:
    """Write the outputs of a published evaluation, in place of what an earlier one left there.

    They are read back from the history, which holds every revision, so that a case evaluated long before is
    written like one of this moment.
    """
    with replacing_folder(out) as folder:
        for name in _FOLDERS:
            (folder / name).mkdir()
        for row in history.rows_of("candidate_records", plan.evaluation_id):
            _write(_candidate_file(folder, row["case_id"]), loads(row["record_json"]))
        for row in history.rows_of("comparisons", plan.evaluation_id):
            _write(_comparison_file(folder, row["case_id"]), loads(row["comparison_json"]))
        outcomes = {case.case_id: case.to_json() for case in summary.cases}
        for row in history.rows_of("baseline_records", plan.evaluation_id):
            _write(folder / "results" / f"{row['case_id']}.result.json", _result(folder, row, plan, outcomes))
        _write(folder / SUMMARY_FILE, summary.to_json())


def _result(
    folder: Path, baseline: dict[str, Any], plan: EvaluationPlan, outcomes: dict[str | None, JsonObject]
) -> JsonObject:
    """Give the RFC's result of a case, with its expectation; what does not exist is left out."""
    name: str = baseline["case_name"]
    case_id: str = baseline["case_id"]
    result: JsonObject = {"name": name, "caseId": case_id, "baseline": loads(baseline["record_json"])}
    for key, file in (
        ("candidate", _candidate_file(folder, case_id)),
        ("comparison", _comparison_file(folder, case_id)),
    ):
        if file.exists():
            result[key] = loads(file.read_bytes())
    if plan.suite.expectation is not None:
        result["expectation"] = plan.suite.expectation.to_json()
    outcome = outcomes[case_id]
    return {**result, **{key: outcome[key] for key in ("status", "inconclusive", "reasons")}}


def _candidate_file(folder: Path, case_id: str) -> Path:
    return folder / "candidates" / f"{case_id}.runrecord.json"


def _comparison_file(folder: Path, case_id: str) -> Path:
    return folder / "comparisons" / f"{case_id}.comparison.json"


def _write(path: Path, value: JsonValue) -> None:
    path.write_bytes(dumps(value, indent=2) + b"\n")
