"""The RFC's output folder: summary.json, candidates/, comparisons/, judges/, results/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from regress_core.errors import InputError
from regress_core.evaluation.judge_outputs import checks_of, verdicts_of, verdicts_text
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.files import replacing_folder
from regress_core.history.store import History
from regress_core.history.tables import TableName
from regress_core.records.json_io import JsonError, JsonObject, dumps_text, loads
from regress_core.suite.contract import RunRegressionCaseSummary, RunRegressionSummary

SUMMARY_FILE = "summary.json"
_SUFFIXES = {
    "candidates": "runrecord",
    "comparisons": "comparison",
    "judges": "judge",
    "results": "result",
}
_FILES: tuple[tuple[TableName, str, str], ...] = (
    ("candidate_records", "candidates", "record_json"),
    ("comparisons", "comparisons", "comparison_json"),
)
_FOLDERS = tuple(_SUFFIXES)


def check_out(out: Path, store: Path, plan: EvaluationPlan) -> None:
    """Make sure that a folder may be replaced by the outputs: a new one, an empty one, or an earlier output.

    Raises:
        InputError: If it cannot be replaced, holds anything that regress did not write, or overlaps the store
            or the records of the plan.
    """
    place, working, base = out.resolve(), Path.cwd(), store.resolve()
    if out.exists() and not out.is_dir():
        raise _refused(out, "not a folder")
    blocked = next((parent for parent in place.parents if parent.exists()), place)
    if not blocked.is_dir():
        raise _refused(blocked, "not a folder")
    if not os.access(blocked, os.W_OK):
        raise _refused(blocked, "not writable")
    if working.is_relative_to(place) or place.is_mount():
        what = "the working folder" if working.is_relative_to(place) else "a mount point"
        raise _refused(out, f"{what} cannot be replaced", "name a folder inside it")
    inside_outputs = place.is_relative_to(base / "outputs") and place != base / "outputs"
    if base.is_relative_to(place) or (place.is_relative_to(base) and not inside_outputs):
        raise _refused(out, f"it overlaps the store {store}")
    refs = [case.baseline for case in plan.suite.cases]
    for folder in {Path(ref.path).resolve().parent for ref in (*refs, *plan.candidate.records.values())}:
        if folder.is_relative_to(place) or place.is_relative_to(folder):
            raise _refused(out, f"it overlaps the records in {folder}")
    _check_content(out)


def _refused(out: Path, message: str, remedy: str = "name another folder") -> InputError:
    return InputError(message, file=out, field="--out", remedy=remedy)


def _check_content(out: Path) -> None:
    """Make sure that a folder holds nothing, or nothing but an earlier output."""
    if not out.is_dir() or not any(out.iterdir()):
        return
    strange = sorted({entry.name for entry in out.iterdir()} - {SUMMARY_FILE, *_FOLDERS})
    if strange or not _is_our_summary(out / SUMMARY_FILE):
        what = f"it holds {strange[0]}" if strange else f"it has no {SUMMARY_FILE} of an evaluation"
        message = f"not empty and not an earlier output: {what}"
        raise _refused(out, message, "name another folder, or empty it")


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

    Raises:
        InputError: If the folder has come to hold something else meanwhile; it is left alone.
    """
    with replacing_folder(out) as folder:
        for name in _FOLDERS:
            (folder / name).mkdir()
        cases = {case.case_id: case for case in summary.cases}
        stats: dict[str, JsonObject] = {}
        for table, name, column in _FILES:
            for row in history.rows_of(table, plan.evaluation_id):
                case = cases[row["case_id"]]
                _write(folder / name / _file_name(case, row["trial"], name), row[column])
                if table == "candidate_records" and row["trial"] == _counted_trial(case):
                    stats[row["case_id"]] = _replay_stats(row)
        judged = history.rows_by_trial("judge_results", plan.evaluation_id)
        for (case_id, trial), rows in judged.items():
            case = cases[case_id]
            _write(folder / "judges" / _file_name(case, trial, "judges"), verdicts_text(rows))
        checked = history.rows_by_trial("check_results", plan.evaluation_id)
        for row in history.rows_of("baseline_records", plan.evaluation_id):
            case = cases[row["case_id"]]
            place = (row["case_id"], _counted_trial(case))
            members: JsonObject = {
                "replayStats": stats.get(row["case_id"], {}),
                "checks": checks_of(checked.get(place, [])),
                **verdicts_of(judged.get(place, [])),
            }
            text = _result(folder, row, plan, case, members)
            _write(folder / "results" / _file_name(case, _counted_trial(case), "results"), text)
        write_summary(folder / SUMMARY_FILE, summary)
        _check_content(out)  # once more: it may be long since the evaluation began


def _counted_trial(case: RunRegressionCaseSummary) -> int:
    return case.trials.counted if case.trials else 1


def candidate_file(out: Path, case_id: str) -> Path:
    """Give the file of the candidate's record that counts for a case, below an output folder."""
    return out / "candidates" / f"{case_id}.{_SUFFIXES['candidates']}.json"


def _file_name(case: RunRegressionCaseSummary, trial: int, folder: str) -> str:
    """Name a case's file: `case` of the trial that counts, as in the RFC, `case~2` of another one."""
    other = "" if trial == _counted_trial(case) else f"~{trial}"
    return f"{case.case_id}{other}.{_SUFFIXES[folder]}.json"


def _replay_stats(row: dict[str, Any]) -> JsonObject:
    """Give the reference's replay statistics of a run; none for a record made elsewhere."""
    if row["mode"] is None:
        return {}
    return {
        "recordedToolCalls": row["recorded_tool_calls"],
        "replayedFromRecord": row["replayed_from_record"],
        "missingToolCalls": row["missing_tool_calls"],
        "liveFallbackCalls": row["live_fallback_calls"],
        "inputSource": row["input_source"],
    }


def write_summary(path: Path, summary: RunRegressionSummary) -> None:
    """Write summary.json, a case a line: a suite may have ten thousand."""
    head = summary.model_copy(update={"cases": []}).to_json()
    before, after = dumps_text(head, indent=2).split('"cases": []', 1)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{before}"cases": [')
        for number, case in enumerate(summary.cases):
            file.write(f"{',' if number else ''}\n    {dumps_text(case.to_json())}")
        file.write(f"{chr(10) + '  ' if summary.cases else ''}]{after}\n")


def _result(
    folder: Path,
    baseline: dict[str, Any],
    plan: EvaluationPlan,
    case: RunRegressionCaseSummary,
    found: JsonObject,
) -> str:
    """Give the RFC's result of a case, with its expectation, as JSON text; what does not exist is left out.

    Records and comparison go in as the text that stands: parsing and printing them again would take most of
    the time that an evaluation takes.

    Args:
        folder: Where candidates and comparisons have been written.
        baseline: The row of the baseline's record.
        plan: The plan.
        case: The case's entry in the summary.
        found: More members of the result, which are left out where they are empty.
    """
    members = {
        "name": dumps_text(case.name),
        "caseId": dumps_text(case.case_id),
        "status": dumps_text(case.status),
        "inconclusive": dumps_text(case.inconclusive),
        "reasons": dumps_text(case.reasons),
        "baseline": baseline["record_json"],
    }
    trial = _counted_trial(case)
    for key, name in (("candidate", "candidates"), ("comparison", "comparisons")):
        file = folder / name / _file_name(case, trial, name)
        if file.exists():
            members[key] = file.read_text(encoding="utf-8")
    members |= {key: dumps_text(value) for key, value in found.items() if value}
    if plan.suite.expectation is not None:
        members["expectation"] = dumps_text(plan.suite.expectation.to_json())
    return "{\n" + ",\n".join(f'"{key}": {text.strip()}' for key, text in members.items()) + "\n}"


def _write(path: Path, text: str) -> None:
    path.write_text(text.rstrip() + "\n", encoding="utf-8", newline="\n")
