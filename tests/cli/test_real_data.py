"""Runs that none of us made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.support import Command

CASES = [
    "compare-v1",
    "compare-v2",
    "handoff-allow",
    "handoff-deny",
    "reported-runrecord-1",
    "simple-run",
    "tool-allow",
]


@pytest.fixture
def records(data_dir: Path, tmp_path: Path) -> Path:
    source = data_dir / "aioc-runrecords"
    if not source.is_dir():
        pytest.skip(f"no real data: {source} is missing")
    return Path(shutil.copytree(source, tmp_path / "aioc"))


def test_the_index_is_no_record(regress: Command, records: Path) -> None:
    fault = regress("run", "--records", records, "--candidate-records", records).fault

    assert f"{records / 'index.json'}: $.runId: case index: the field is missing" in fault
    assert not (regress.folder / ".regress").exists()


def test_each_run_is_equal_to_itself(regress: Command, records: Path) -> None:
    """Invariant 1, as far as recorded candidates go; a failed baseline would not pass."""
    (records / "index.json").unlink()

    result = regress("run", "--records", records, "--candidate-records", records, "--json")

    assert result.code == 0
    assert [(case["name"], case["status"], case["reasons"]) for case in result.json["cases"]] == [
        (case, "pass", []) for case in CASES
    ]
    counts = regress("sql", "SELECT count(*) n, bool_and(equal) AS all_equal FROM comparisons", "--json").json
    assert counts == [{"n": 7, "all_equal": True}]
