"""`regress pipeline run` killed or interrupted in the middle, then the same command again."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.bench import CASE_ASSETS, Bench, open_bench
from tests.pipeline.builders import (
    alike,
    evaluation_states,
    failed,
    large,
    outcome_rows,
    read_json,
    write_suite,
)
from tests.pipeline.processes import end_of, regress_started, run_regress, run_started, wait_for_outcomes
from tests.support.suites import lasting

CASES = [f"case-{number:02}" for number in range(24)]
MIDDLE = CASES[6:18]
INCONCLUSIVE = {"case-05", "case-20"}  # without a candidate record
CALLS = 1600  # of a case in the middle, so that it takes long enough to be caught at


@pytest.fixture
def crashed(tmp_path: Path) -> Iterator[Bench]:
    """Give a bench with a suite of large records; they are gone when the test is over."""
    bench = open_bench(tmp_path)
    baselines = alike("old", CASES) | large("old", MIDDLE, CALLS)
    candidates = alike("new", CASES) | large("new", MIDDLE, CALLS)
    candidates["case-03"] |= {"response": "It is under way."}
    candidates["case-17"] = failed("new-case-17")
    for case in INCONCLUSIVE:
        del candidates[case]
    write_suite(bench.suites_root, "big", baselines, candidates)
    with bench.instance:
        yield bench
    shutil.rmtree(bench.suites_root)
    shutil.rmtree(bench.store)


def _undisturbed_summary(bench: Bench, tmp_path: Path) -> object:
    other = tmp_path / "undisturbed"
    run_regress(bench, "pipeline", "run", "big", "--store", other)
    [outputs] = (other / "outputs").iterdir()
    summary = lasting(read_json(outputs / "summary.json"))
    shutil.rmtree(other)
    return summary


def test_killed_in_the_middle(crashed: Bench, tmp_path: Path) -> None:
    bench = crashed
    with regress_started(bench, "pipeline", "run", "big") as process:
        wait_for_outcomes(process, bench.store, len(CASES) // 4)
        process.kill()
        process.wait()
    committed = outcome_rows(bench.store)
    assert len(CASES) // 4 <= len(committed) <= len(CASES) * 3 // 4
    [(evaluation_id, state)] = evaluation_states(bench.store).items()
    assert state == ("running", 1)

    done = run_regress(bench, "pipeline", "run", "big")

    assert done.returncode == 1, done.stderr  # case-17 fails
    assert f"evaluation {evaluation_id}: 24 cases, {len(committed)} of them done before" in done.stderr
    assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
    rows = outcome_rows(bench.store)
    assert [(row.case_id, row.trial, row.revision) for row in rows] == [(case, 1, 1) for case in CASES]
    assert [row for row in rows if row in committed] == committed
    summary = read_json(bench.store / "outputs" / evaluation_id / "summary.json")
    assert lasting(summary) == _undisturbed_summary(bench, tmp_path)
    assert summary["totals"] == {"cases": 24, "passed": 20, "warned": 3, "failed": 1, "inconclusive": 2}
    _all_are_materialized(bench, {row.case_id for row in committed})


def test_interrupted_in_the_middle(crashed: Bench) -> None:
    bench = crashed
    with regress_started(bench, "pipeline", "run", "big") as process:
        wait_for_outcomes(process, bench.store, len(CASES) // 4)
        process.send_signal(signal.SIGINT)
        _, stderr = end_of(process)
    committed = outcome_rows(bench.store)
    [evaluation_id] = evaluation_states(bench.store)

    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert len(committed) < len(CASES)  # it stopped, and did not go on to the end behind the scenes
    assert run_regress(bench, "pipeline", "run", "big").returncode == 1
    assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
    rows = outcome_rows(bench.store)
    assert [row.case_id for row in rows] == CASES
    assert [row for row in rows if row in committed] == committed
    _all_are_materialized(bench, {row.case_id for row in committed})


def test_a_run_that_is_terminated_ends_and_is_taken_up_by_its_reexecution(crashed: Bench) -> None:
    """What the user interface's button does: it announces the end and interrupts the run's process."""
    bench = crashed
    bench.register("big", CASES)
    with run_started(bench, "big", CASES[0], CASES[-1]) as process:
        wait_for_outcomes(process, bench.store, len(CASES) // 4)
        [run_id] = bench.run_ids()
        bench.announce_termination(run_id)
        process.send_signal(signal.SIGINT)
        end_of(process)
    committed = outcome_rows(bench.store)
    [evaluation_id] = evaluation_states(bench.store)

    assert bench.read(run_id).status == "CANCELED"
    assert len(committed) < len(CASES)  # the engine stopped too
    again = bench.reexecute("big", run_id)
    assert again.evaluation_id() == evaluation_id
    rows = outcome_rows(bench.store)
    assert [(row.case_id, row.revision) for row in rows] == [(case, 1) for case in CASES]
    kept = [row for row in committed if row.case_id not in INCONCLUSIVE]  # which a re-execution does again
    assert [row for row in rows if row in committed] == kept
    _all_are_materialized(bench, {row.case_id for row in kept})


def _all_are_materialized(bench: Bench, kept: set[str]) -> None:
    """Look whether Dagster shows every case, and which of them the last run took from the journal."""
    last = bench.read(bench.run_ids()[-1])
    conclusive = set(CASES) - INCONCLUSIVE
    for asset in CASE_ASSETS:
        expected = set(CASES) if asset == "baseline_records" else conclusive
        events = last.of(asset)
        assert events.keys() == expected, asset
        assert {case for case, event in events.items() if event.metadata["resumed"]} == kept & expected
        assert bench.materialized("big", asset) == expected
    statuses = bench.statuses("big", "case_summaries")
    assert {case for case, status in statuses.items() if status == "MATERIALIZED"} == conclusive
    assert last.of("suite_summary")[None].metadata["complete"] is True
