"""A suite whose candidate is a harness, in Dagster: a case is run once, whatever Dagster does again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.pipeline.bench import CASE_ASSETS, Bench
from tests.pipeline.builders import evaluation_states, read_json, revisions
from tests.support.candidates import (
    ADAPTER,
    EVERYTHING,
    LABEL,
    asked,
    tools_run,
    write_candidate_suite,
    write_script,
)

JUDGE = """

from regress_core.judge.contract import RunJudgeResult


def create_judge(context):
    return lambda asked: RunJudgeResult(verdict="pass", summary="as good", findings=[])
"""
CASES = list(EVERYTHING)
DECIDED = {case for case, does in EVERYTHING.items() if does != "down"}


@pytest.fixture
def suite(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the adapter's folder is added
    root = write_candidate_suite(bench.suites_root / "shop", EVERYTHING, adapter=ADAPTER + JUDGE)
    bench.register("shop", CASES)
    return root


def test_a_run_of_every_kind_of_case(bench: Bench, suite: Path) -> None:
    run = bench.run("shop", CASES[0], CASES[-1])

    assert (run.status, run.failure_metadata) == ("FAILURE", {"f-down": "the provider is down"})
    assert bench.materialized("shop", "baseline_records") == set(CASES)
    for asset in CASE_ASSETS[1:]:
        assert bench.materialized("shop", asset) == DECIDED, asset
    assert {check.partition: (check.passed, check.metadata["status"]) for check in run.case_checks} == {
        "a-same": (True, "pass"),
        "b-reworded": (False, "warn"),
        "c-no-tool": (False, "warn"),
        "d-raises": (False, "fail"),
        "e-strays": (False, "fail"),
    }
    judges = {case: event.metadata["judge"] for case, event in run.of("judge_results").items()}
    assert {case for case, verdict in judges.items() if verdict == "pass"} == {
        "a-same",
        "b-reworded",
        "c-no-tool",
    }
    [summary] = run.of("suite_summary").values()
    counts = ("cases", "passed", "warned", "failed", "inconclusive")
    assert [summary.metadata[name] for name in counts] == [6, 1, 3, 2, 1]
    assert summary.metadata["candidate"] == LABEL
    outputs = bench.store / "outputs" / run.evaluation_id()
    assert {file.name for file in (outputs / "judges").iterdir()} == {
        f"{case}.judge.json" for case in ("a-same", "b-reworded", "c-no-tool", "d-raises", "e-strays")
    }
    assert tools_run(suite) == []


def test_an_adapter_that_cancels_every_task_ends_the_run(bench: Bench, suite: Path) -> None:
    cancels = (
        "\n\nasync def create_judge(context):\n    for task in asyncio.all_tasks():\n        task.cancel()\n"
    )
    adapter = suite / "adapter.py"
    adapter.write_text(f"import asyncio\n{adapter.read_text(encoding='utf-8')}{cancels}", encoding="utf-8")

    run = bench.run("shop", "a-same")

    assert run.status == "FAILURE"
    assert run.failure.startswith("candidate: its code cancelled the evaluation")


def test_the_record_that_dagster_shows_is_the_one_that_was_made(bench: Bench, suite: Path) -> None:
    run = bench.run("shop", "a-same")

    event = run.of("candidate_records")["a-same"]
    outputs = bench.store / "outputs" / run.evaluation_id()
    record = read_json(outputs / "candidates" / "a-same.runrecord.json")
    assert event.metadata["run_id"] == record["runId"]
    assert event.data_version == event.metadata["sha256"]
    assert asked(suite) == ["a-same/1"] * 2


def test_a_reexecution_runs_the_inconclusive_case_only(bench: Bench, suite: Path) -> None:
    first = bench.run("shop", CASES[0], CASES[-1])
    before = asked(suite)
    write_script(suite, {**EVERYTHING, "f-down": "same"})

    again = bench.reexecute("shop", first.run_id)

    assert again.status == "SUCCESS"
    assert asked(suite) == sorted([*before, "f-down/1", "f-down/1"])
    assert again.evaluation_id() == first.evaluation_id()
    resumed = {case for case, event in again.of("case_summaries").items() if event.metadata["resumed"]}
    assert resumed == DECIDED
    for case in DECIDED:
        version = first.of("candidate_records")[case].data_version
        assert again.of("candidate_records")[case].data_version == version
    assert bench.materialized("shop", "case_summaries") == set(CASES)
    assert revisions(bench.store, first.evaluation_id()) == {
        case: [1, 2] if case == "f-down" else [1] for case in CASES
    }
    assert evaluation_states(bench.store) == {first.evaluation_id(): ("finished", 2)}


def test_a_reexecution_while_the_evaluation_goes_on_redoes_what_met_trouble(
    bench: Bench, suite: Path
) -> None:
    """The run was one of several: other cases of the evaluation have not been evaluated yet."""
    evaluation_id = bench.enter_plan("shop")
    first = bench.run("shop", "f-down", config={"evaluation_id": evaluation_id})
    assert (first.status, evaluation_states(bench.store)) == ("FAILURE", {evaluation_id: ("running", 1)})
    write_script(suite, {**EVERYTHING, "f-down": "same"})

    again = bench.reexecute("shop", first.run_id)

    assert again.status == "SUCCESS"
    assert again.of("case_summaries")["f-down"].metadata["status"] == "pass"
    assert evaluation_states(bench.store) == {evaluation_id: ("running", 1)}
    bench.run("shop", CASES[0], CASES[-2], config={"evaluation_id": evaluation_id})
    summary = read_json(bench.store / "outputs" / evaluation_id / "summary.json")
    assert summary["totals"] == {"cases": 6, "passed": 2, "warned": 2, "failed": 2, "inconclusive": 0}


def test_trials(bench: Bench, suite: Path) -> None:
    (suite / "suite.yaml").write_text("name: shop\ntrials: 2\n", encoding="utf-8")
    write_script(suite, {**EVERYTHING, "a-same": ["same", "raises"]})

    run = bench.run("shop", "a-same")

    [check] = run.case_checks
    assert (check.passed, check.metadata["status"]) == (False, "fail")
    summary = read_json(bench.store / "outputs" / run.evaluation_id() / "summary.json")
    assert summary["cases"][0]["trials"]["counted"] == 2


def test_a_candidate_that_cannot_be_opened_is_told_in_one_line(bench: Bench, suite: Path) -> None:
    (suite / "adapter.py").write_text("def setup(context):\n    raise OSError('no net')\n", encoding="utf-8")

    run = bench.run("shop", "a-same")

    assert run.status == "FAILURE"
    assert run.failure == f"{suite / 'adapter.py'}: setup: raised OSError: no net; mend the adapter"
    assert run.materializations == ()


def test_a_candidate_of_the_run_config(bench: Bench, suite: Path) -> None:
    """What a backfill against a new candidate says."""
    other = suite / "v3.yaml"
    other.write_text("descriptor: harness.yaml\nadapter: adapter.py\nlabel: shop@3\n", encoding="utf-8")

    run = bench.run("shop", "a-same", config={"candidate": str(other)})

    assert run.of("suite_summary")[None].metadata["candidate"] == "shop@3"
    summary = read_json(bench.store / "outputs" / run.evaluation_id() / "summary.json")
    assert summary["candidate"]["label"] == "shop@3"
