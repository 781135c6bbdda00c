"""Suites on disk, and what the store holds after they were run."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regress_core.records.json_io import JsonObject
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_records

Records = Mapping[str, JsonObject]
"""Case name to record."""


def write_suite(
    root: Path, name: str, baselines: Records, candidates: Records | None = None, *, more: str = ""
) -> Path:
    """Write the suite `name` below the suites root; the candidate's records lie in the suite's folder.

    Args:
        root: The suites root.
        name: Names the suite and its folder.
        baselines: Records of the suite.
        candidates: Records of its candidate; None for a suite without candidate.yaml.
        more: More lines of suite.yaml.
    """
    folder = root / name
    write_records(folder / "records", baselines)
    (folder / "suite.yaml").write_text(f"name: {name}\n{more}", encoding="utf-8")
    if candidates is not None:
        write_records(folder / "candidate", candidates)
        text = f"records: candidate\nlabel: {name}@2\n"
        (folder / "candidate.yaml").write_text(text, encoding="utf-8")
    return folder


def alike(prefix: str, cases: Sequence[str]) -> dict[str, JsonObject]:
    """Give records that differ in their run ids only: `prefix`, `-`, the case."""
    return {case: record_json(runId=f"{prefix}-{case}") for case in cases}


def failed(run_id: str) -> JsonObject:
    """Give the record of a run that ended in an error."""
    return record_json(runId=run_id, status="failed", errorName="ToolError", errorMessage="no such order")


def large(prefix: str, cases: Sequence[str], calls: int) -> dict[str, JsonObject]:
    """Give records with so many tool calls that evaluating a case takes a while."""
    return {
        case: record_json(
            runId=f"{prefix}-{case}",
            items=[
                message("Where is my order?"),
                *(
                    item
                    for number in range(calls)
                    for item in (
                        tool_call(f"{prefix}{number}", "search", arguments={"case": case, "page": number}),
                        tool_output(f"{prefix}{number}", output={"rows": [f"row {n}" for n in range(5)]}),
                    )
                ),
            ],
        )
        for case in cases
    }


def sha256(path: Path) -> str:
    """Give the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """Read a JSON file."""
    return json.loads(path.read_bytes())


@dataclass(frozen=True)
class OutcomeRow:
    """An outcome as the journal holds it."""

    evaluation_id: str
    case_id: str
    trial: int
    revision: int
    payload: str


def outcome_rows(store: Path) -> list[OutcomeRow]:
    """Read all outcomes of all revisions, without touching the journal; none while there is no journal."""
    statement = """
        select evaluation_id, case_id, trial, revision, payload from steps
        where stage = 'outcome' order by evaluation_id, case_id, trial, revision
    """
    return [OutcomeRow(*row) for row in _read(store, statement)]


def evaluation_states(store: Path) -> dict[str, tuple[str, int]]:
    """Read state and revision of each evaluation."""
    rows = _read(store, "select evaluation_id, state, revision from evaluations")
    return {evaluation_id: (state, revision) for evaluation_id, state, revision in rows}


def revisions(store: Path, evaluation_id: str) -> dict[str, list[int]]:
    """Give the revisions in which each case of an evaluation was evaluated."""
    found: dict[str, list[int]] = {}
    for row in outcome_rows(store):
        if row.evaluation_id == evaluation_id:
            found.setdefault(row.case_id, []).append(row.revision)
    return found


def _read(store: Path, statement: str) -> list[tuple[Any, ...]]:
    try:
        connection = sqlite3.connect(f"file:{store / 'journal.sqlite'}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return []
    try:
        return connection.execute(statement).fetchall()
    except sqlite3.OperationalError:  # the file is there and its tables are not yet
        return []
    finally:
        connection.close()
