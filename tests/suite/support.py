"""Helpers of these tests: suite folders, and the summaries of cases by letter."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from regress_core.compare.model import NO_SIGNALS
from regress_core.errors import InputError
from regress_core.judge.contract import Status
from regress_core.records.json_io import JsonObject, dumps
from regress_core.suite.contract import RunRegressionCaseSummary
from tests.support.records import record_json

_STATUSES: dict[str, Status] = {"p": "pass", "w": "warn", "f": "fail", "i": "warn"}


def cases_of(letters: str) -> list[RunRegressionCaseSummary]:
    """Give a case for each letter: p passed, w warned, f failed, i inconclusive."""
    return [
        RunRegressionCaseSummary(
            name=f"case-{number}",
            status=_STATUSES[letter],
            baseline_run_id="run-1",
            candidate_run_id="" if letter == "i" else "run-2",
            signals=NO_SIGNALS,
            inconclusive=letter == "i",
        )
        for number, letter in enumerate(letters)
    ]


def write_record(folder: Path, file_name: str, **changes: object) -> str:
    """Write a record file and give the SHA-256 of its bytes."""
    data = dumps(record_json(**changes))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file_name).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def write_suite(root: Path, suite_yaml: str = "", **records: JsonObject) -> Path:
    """Write a suite folder: suite.yaml, and records/<name>.json with the changes given for each name."""
    (root / "records").mkdir(parents=True)
    (root / "suite.yaml").write_text(suite_yaml, encoding="utf-8")
    for name, changes in (records or {"a": {}}).items():
        write_record(root / "records", f"{name}.json", **changes)
    return root


def refusal(error: pytest.ExceptionInfo[InputError]) -> InputError:
    """Give the error after a look at its text: one line, which begins with the place it names."""
    text = str(error.value)
    place = [part for part in (error.value.file, error.value.field) if part]
    assert "\n" not in text
    assert place
    assert text.startswith(": ".join(place) + ": ")
    return error.value
