"""Suites on disk, case by case of a known kind, and what each kind comes to, written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from regress_core.records.json_io import JsonObject, JsonValue, dumps, loads
from regress_core.suite.contract import RunRegressionSummary
from tests.support.records import record_json, tool_call, tool_output

Kind = Literal["same", "reworded", "other_tool", "failed", "missing"]
"""What the candidate did: the same, another answer, another tool, an error, or nothing at all."""

MIXED: Mapping[str, Kind] = {
    "a-same": "same",
    "b-reworded": "reworded",
    "c-failed": "failed",
    "d-missing": "missing",
    "e-other-tool": "other_tool",
}
"""A suite with a case of every kind."""

LABEL = "shop@2"


def baseline(case: str) -> JsonObject:
    """Give the baseline of a case: a question, a tool call, an answer."""
    return record_json(
        runId=f"baseline of {case}",
        question=f"Where is order {case}?",
        items=[tool_call("b1", "find_order", arguments={"id": case}), tool_output("b1", output="sent")],
    )


def candidate(case: str, kind: Kind) -> JsonObject | None:
    """Give the candidate's record: other times, run id and call ids, and what its kind says."""
    name = "cancel_order" if kind == "other_tool" else "find_order"
    record = baseline(case) | {
        "runId": f"candidate of {case}",
        "startedAt": "2026-02-03T04:05:06.000Z",
        "completedAt": "2026-02-03T04:05:07.000Z",
        "items": [tool_call("c1", name, arguments={"id": case}), tool_output("c1", output="sent")],
    }
    if kind == "reworded":
        return record | {"response": "It is on its way."}
    if kind == "failed":
        return record | {"status": "failed", "errorName": "ModelError", "errorMessage": "no answer"}
    return None if kind == "missing" else record


def write_record(path: Path, record: JsonValue) -> Path:
    """Write one record file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dumps(record, indent=2) + b"\n")
    return path


def write_records(folder: Path, records: Mapping[str, JsonValue]) -> Path:
    """Write a folder of records, one file a case."""
    folder.mkdir(parents=True, exist_ok=True)
    for case, record in records.items():
        write_record(folder / f"{case}.json", record)
    return folder


def write_suite(
    root: Path, kinds: Mapping[str, Kind], *, orphans: Sequence[str] = (), config: str = "name: shop\n"
) -> Path:
    """Write a suite folder with records/, new/ (the candidate's records), candidate.yaml and suite.yaml."""
    write_records(root / "records", {case: baseline(case) for case in kinds})
    made = {case: candidate(case, kind) for case, kind in kinds.items()}
    made |= {case: candidate(case, "same") for case in orphans}
    write_records(root / "new", {case: record for case, record in made.items() if record is not None})
    (root / "candidate.yaml").write_text(f"records: new\nlabel: {LABEL}\n", encoding="utf-8")
    (root / "suite.yaml").write_text(config, encoding="utf-8")
    return root


def expected_case(case: str, kind: Kind) -> JsonObject:
    """Give the entry of the summary that a case of this kind comes to, its reasons aside."""
    raised = {"reworded": "finalOutputChanged", "other_tool": "toolsChanged", "failed": "statusChanged"}
    signals = ("statusChanged", "toolsChanged", "policyChanged", "finalOutputChanged")
    missing = {"trouble": {"kind": "input", "code": "no candidate record", "retryable": False}}
    return {
        **(missing if kind == "missing" else {}),
        "name": case,
        "caseId": case,
        "status": {"same": "pass", "failed": "fail"}.get(kind, "warn"),
        "inconclusive": kind == "missing",
        "baselineRunId": f"baseline of {case}",
        "candidateRunId": "" if kind == "missing" else f"candidate of {case}",
        "signals": {name: name == raised.get(kind) for name in signals},
    }


def as_json(summary: RunRegressionSummary) -> JsonObject:
    """Give a summary as a reader of its JSON text gets it."""
    return loads(dumps(summary.to_json()))


def without_reasons(case: JsonObject) -> JsonObject:
    """Give an entry of the summary without its reasons, whose wording is nobody's contract."""
    return {key: value for key, value in case.items() if key != "reasons"}


def lasting(summary: JsonObject) -> JsonObject:
    """Take off a summary what invariant 3 lets differ: evaluation id, times and candidate run ids."""
    cases = [
        {key: value for key, value in case.items() if key != "candidateRunId"} for case in summary["cases"]
    ]
    kept = {key: value for key, value in summary.items() if key != "evaluationId" and key[-2:] != "At"}
    return {**kept, "cases": cases}


def tree(folder: Path) -> dict[str, bytes]:
    """Give every file below a folder, by its relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
