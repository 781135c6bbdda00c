"""A suite and its history, written by hand, for people to decide about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regress_core.history.store import History, Row
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text
from tests.history.support import case_result, evaluation, write
from tests.support.suites import candidate, write_suite

EVIDENCE = "e0" * 32
QUESTION = "d0" * 32


def rubric(**passed: bool | None) -> JsonObject:
    """Give the outcome of the rubric judge with these verdicts, by dimension."""
    dimensions: list[JsonValue] = [
        {
            "dimensionId": name.replace("_", "-"),
            "passed": verdict,
            "reason": f"the answer on {name} is what it is",
            "judgeModel": "openai:m",
            "judgeTokensUsed": {"input": 10, "output": 5},
            "dimensionHash": QUESTION,
        }
        for name, verdict in passed.items()
    ]
    return {
        "judge": "rubric",
        "state": "verdict",
        "dimensions": dimensions,
        "model": "openai:m",
        "promptVersion": "rubric-judge.v1",
        "evidenceHash": EVIDENCE,
    }


def regression(verdict: str, **more: JsonValue) -> JsonObject:
    """Give the outcome of the regression judge with a verdict."""
    result: JsonObject = {"verdict": verdict, "summary": f"it looks like a {verdict}", "findings": []}
    return {"judge": "regression", "state": "verdict", "result": result, **more}


def no_verdict(judge: str, state: str, *, intended: bool = False) -> JsonObject:
    """Give the outcome of a judge without a verdict."""
    return {"judge": judge, "state": state, "reason": f"it is {state}", "intended": intended}


@dataclass(frozen=True)
class Trial:
    """One trial of a case, and what became of its judges."""

    judges: Sequence[JsonObject] = ()
    status: str = "warn"
    inconclusive: bool = False
    replay_miss: bool = False
    run_status: str = "completed"
    reasons: Sequence[str] = ("finalOutputChanged: as it is",)
    failed_checks: Sequence[str] = ()
    baseline: str | None = None  # its file among the records, where that is not the case's own
    record: JsonObject = field(default_factory=lambda: candidate("x", "reworded") or {})


def write_reviewed(folder: Path, cases: Mapping[str, Sequence[Trial]]) -> Path:
    """Write the suite `shop` to `suite`, with an evaluation of its cases in the store `.regress`."""
    root = write_suite(folder / "suite", dict.fromkeys(cases, "reworded"))
    publish(folder, cases)
    return root


def publish(folder: Path, cases: Mapping[str, Sequence[Trial]], **changes: Any) -> None:  # noqa: ANN401 - columns
    """Write an evaluation of the suite to the history; `changes` are columns of its row."""
    row = evaluation(**changes)
    rows: dict[str, list[Row]] = {"case_results": [], "candidate_records": [], "judge_results": []}
    for case, trials in cases.items():
        for number, trial in enumerate(trials, start=1):
            baseline = (folder / "suite" / "records" / (trial.baseline or f"{case}.json")).read_bytes()
            whole = case_result(case, evaluation_id=row["evaluation_id"], trial=number)
            keys = {name: value for name, value in whole.items() if name != "status"}
            rows["case_results"].append(
                {
                    **keys,
                    "status": trial.status,
                    "inconclusive": trial.inconclusive,
                    "replay_miss": trial.replay_miss,
                    "reasons": tuple(trial.reasons),
                    "failed_checks": tuple(trial.failed_checks),
                    "baseline_sha256": hashlib.sha256(baseline).hexdigest(),
                }
            )
            if not trial.inconclusive:
                text = dumps_text(trial.record)
                record = {"run_id": trial.record["runId"], "run_status": trial.run_status}
                rows["candidate_records"].append({**keys, **record, "record_json": text})
            rows["judge_results"] += [
                {**keys, "judge": judge["judge"], "state": judge["state"], "result_json": dumps_text(judge)}
                for judge in trial.judges
            ]
    history = History.open(folder / ".regress")
    write(
        history,
        {
            "evaluations": [row],
            "case_results": rows["case_results"],
            "candidate_records": rows["candidate_records"],
            "judge_results": rows["judge_results"],
        },
        evaluation_id=row["evaluation_id"],
    )
