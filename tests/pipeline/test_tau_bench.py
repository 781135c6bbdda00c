"""Real runs of tau-bench, all the way: import, `regress run`, `regress pipeline run`, `regress sql`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipeline.bench import CASE_ASSETS, Bench
from tests.pipeline.builders import evaluation_states, read_json
from tests.pipeline.processes import run_here
from tests.support.suites import lasting

_SOURCE = "tau-bench/airline__gpt-4o_4trials.json.gz"
_TASKS = 50
_SPLIT = "select evaluation_id, status, count(*) n from case_results group by all"


@pytest.fixture
def source(data_dir: Path) -> Path:
    file = data_dir / _SOURCE
    if not file.is_file():
        pytest.skip(f"no real data: {file} is missing")
    return file


def _import(bench: Bench, source: Path, trial: int, suite: Path) -> None:
    options = ["--where", f"trial = {trial}", "--name", "{task_id}", "--messages", "traj"]
    done = run_here(bench, "import", "openai-chat", source, "--suite", suite, *options)
    assert done.returncode == 0, done.stderr
    assert len(list((suite / "records").iterdir())) == _TASKS


def test_one_trial_against_another_on_the_command_line_and_through_dagster(
    bench: Bench, source: Path, tmp_path: Path
) -> None:
    suite, other, out = bench.suites_root / "airline", tmp_path / "trial1", tmp_path / "out"
    _import(bench, source, 0, suite)
    _import(bench, source, 1, other)
    (suite / "suite.yaml").write_text("name: airline\n", encoding="utf-8")
    candidate = f"records: {other / 'records'}\nlabel: gpt-4o@trial-1\n"
    (suite / "candidate.yaml").write_text(candidate, encoding="utf-8")
    options = ["--candidate-records", other / "records", "--out", out, "--store", bench.store]

    ran = run_here(bench, "run", "--records", suite / "records", *options)
    piped = run_here(bench, "pipeline", "run", "airline", "--store", bench.store)

    assert (ran.returncode, piped.returncode) == (0, 0), ran.stderr + piped.stderr  # signals only warn
    on_the_command_line = read_json(out / "summary.json")
    assert on_the_command_line["totals"]["cases"] == _TASKS
    assert on_the_command_line["totals"]["inconclusive"] == 0
    assert {case["caseId"] for case in on_the_command_line["cases"]} == {str(n) for n in range(_TASKS)}
    [through_dagster] = [read_json(file) for file in (bench.store / "outputs").glob("*/summary.json")]
    for key in ("status", "totals", "cases", "gate"):
        assert lasting(through_dagster)[key] == lasting(on_the_command_line)[key], key
    for asset in CASE_ASSETS:
        assert bench.materialized("airline", asset) == {str(n) for n in range(_TASKS)}, asset

    asked = run_here(bench, "sql", _SPLIT, "--store", bench.store, "--json")
    assert asked.returncode == 0, asked.stderr
    splits: dict[str, dict[str, int]] = {}
    for row in json.loads(asked.stdout):
        splits.setdefault(row["evaluation_id"], {})[row["status"]] = row["n"]
    assert splits.keys() == evaluation_states(bench.store).keys()
    first, second = splits.values()
    assert first == second
    assert sum(first.values()) == _TASKS
