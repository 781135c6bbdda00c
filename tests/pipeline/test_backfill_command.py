"""`regress pipeline backfill` with a daemon: what it hands over, and how it waits.

The daemon is a fresh heartbeat in the store's own instance, so that nothing takes up what is handed over; a
real one works through a backfill in test_daemon.py.
"""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import signal
import time
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._daemon.types import DaemonHeartbeat

from regress_core.evaluation.plan_rows import trigger_of
from regress_core.evaluation.ports import Ports
from regress_core.suite.selection import Selection
from regress_pipeline.assets import define_suite, job_name
from regress_pipeline.backfill import plan_backfills, wait
from regress_pipeline.launch import Wanted
from regress_pipeline.partitions import EVALUATION, cases_of_backfill
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import CASE_ASSETS, Bench
from tests.pipeline.builders import alike, evaluation_states, outcome_rows, write_suite
from tests.pipeline.processes import end_of, regress_started, run_here
from tests.support.suites import write_records

CASES = ["a", "b", "c", "d", "e"]
GAPPED = ["a", "c", "d"]
_PICK = ("--cases", "[acd]")


@pytest.fixture(autouse=True)
def suites(bench: Bench) -> None:
    for name in ("shop", "bank"):
        write_suite(bench.suites_root, name, alike("old", CASES), alike("new", CASES))


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    return write_records(tmp_path / "newer", alike("newer", CASES))


def _beat(bench: Bench, *, seconds_ago: float = 0) -> None:
    for daemon in ("BACKFILL", "QUEUED_RUN_COORDINATOR"):
        beat = DaemonHeartbeat(time.time() - seconds_ago, daemon, "test")
        bench.instance.add_daemon_heartbeat(beat)


def _backfills(bench: Bench) -> dict[str, PartitionBackfill]:
    """Give the backfills by the evaluation that they are tagged with; no evaluation has two."""
    found = bench.instance.get_backfills()
    by_evaluation = {one.tags[EVALUATION]: one for one in found}
    assert len(by_evaluation) == len(found)
    return by_evaluation


def _suite_of(bench: Bench, evaluation_id: str) -> str:
    with Ports.open(bench.store) as ports:
        row = ports.journal.evaluation(evaluation_id)
    assert row is not None
    assert trigger_of(row) == "backfill"
    return row.suite


def test_each_suite_is_handed_over_as_one_backfill_and_only_once(bench: Bench, newer: Path) -> None:
    _beat(bench)
    command = ("pipeline", "backfill", "--suite", "shop", "--suite", "bank", "--candidate", newer, *_PICK)

    done = run_here(bench, *command)

    assert done.returncode == 0, done.stderr
    backfills = _backfills(bench)
    suites = {_suite_of(bench, evaluation_id): evaluation_id for evaluation_id in backfills}
    assert done.stdout.splitlines() == [
        f"{suite}: 3 cases, evaluation {suites[suite]}, backfill {backfills[suites[suite]].backfill_id}"
        for suite in ("shop", "bank")
    ]
    assert "regress pipeline status" in done.stderr
    for suite, evaluation_id in suites.items():
        backfill = backfills[evaluation_id]
        assert backfill.status is BulkActionStatus.REQUESTED
        assert cases_of_backfill(backfill.backfill_id, bench.instance, suite) == set(GAPPED)
        assert set(backfill.asset_selection or ()) == {
            bench.key(suite, asset) for asset in (*CASE_ASSETS, "suite_summary")
        }
        config = {"evaluation_id": evaluation_id}
        assert backfill.run_config == {"ops": {f"evaluate_{suite}": {"config": config}}}
        assert (backfill.title or "").startswith(f"{suite} against ")
    assert outcome_rows(bench.store) == []  # that is the daemon's to do

    again = run_here(bench, *command)

    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert _backfills(bench).keys() == backfills.keys()


def test_to_stop_waiting_does_not_stop_the_backfill(bench: Bench, newer: Path) -> None:
    _beat(bench)
    command = ("pipeline", "backfill", "--suite", "shop", "--candidate", newer, *_PICK, "--wait")
    with regress_started(bench, *command) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, told = end_of(process)

    assert first == "  shop: 0 of 3 done, $0.0000 spent\n"
    assert process.returncode == 130
    assert "the daemon goes on; cancel it in Dagster (Runs > Backfills)" in told
    assert "regress pipeline status" in told
    (backfill,) = _backfills(bench).values()
    assert backfill.status is BulkActionStatus.REQUESTED


def test_waiting_ends_with_a_backfill_that_is_cancelled(bench: Bench, newer: Path) -> None:
    _beat(bench)
    command = ("pipeline", "backfill", "--suite", "shop", "--candidate", newer, *_PICK, "--wait")
    with regress_started(bench, *command) as process:
        assert process.stderr is not None
        process.stderr.readline()
        ((evaluation_id, backfill),) = _backfills(bench).items()
        bench.instance.update_backfill(backfill.with_status(BulkActionStatus.CANCELED))
        said, told = end_of(process)

    assert process.returncode == 3
    assert "not complete: some planned cases have no outcome yet" in said
    assert f"go on with: regress run --resume {evaluation_id}" in told


def test_waiting_notices_that_a_run_is_dead(
    bench: Bench, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sensor does where a suite has no schedule."""
    monkeypatch.setattr("regress_pipeline.workers.QUIET_FOR", timedelta(0))
    folder = suite_folder(bench.suites_root / "shop")
    (one,) = plan_backfills([Wanted(folder, newer, Selection())], bench.settings, print).backfills
    backfill_id = bench.add_backfill("shop", CASES)
    job = define_suite(folder, bench.settings).resolve_job_def(job_name("shop"))
    run = bench.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    bench.instance.report_engine_event("begun", run)
    (bench.store / "dagster" / "workers").mkdir()
    (bench.store / "dagster" / "workers" / f"{run.run_id}.lock").touch()  # and nobody holds it

    def cancel(_: object) -> None:
        backfill = bench.instance.get_backfill(backfill_id)
        assert backfill is not None
        bench.instance.update_backfill(backfill.with_status(BulkActionStatus.CANCELED))

    _beat(bench)
    wait([one], [backfill_id], bench.settings, cancel)

    assert bench.read(run.run_id).status == "FAILURE"


def test_what_dagster_cannot_load_is_refused_in_one_line(bench: Bench, newer: Path) -> None:
    _beat(bench)
    text = "name: shop\nschedule: {cron: '99 2 * * *'}\n"
    (bench.suites_root / "shop" / "suite.yaml").write_text(text, encoding="utf-8")

    done = run_here(bench, "pipeline", "backfill", "--suite", "shop", "--candidate", newer)

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("regress: ")
    assert "backfill" in line
    assert bench.instance.get_backfills() == []


def test_a_daemon_that_is_silent_is_none(bench: Bench, newer: Path) -> None:
    _beat(bench, seconds_ago=3600)
    _evaluates_here(bench, "shop", newer)


def test_a_suite_the_daemon_does_not_know_is_evaluated_here(
    bench: Bench, newer: Path, tmp_path: Path
) -> None:
    _beat(bench)
    _evaluates_here(bench, write_suite(tmp_path / "elsewhere", "post", alike("old", CASES)), newer)


def _evaluates_here(bench: Bench, suite: str | Path, candidate: Path) -> None:
    done = run_here(bench, "pipeline", "backfill", "--suite", suite, "--candidate", candidate, "--wait")
    assert done.returncode == 0, done.stderr
    assert "no Dagster daemon works on this store and these suites" in done.stderr
    assert list(evaluation_states(bench.store).values()) == [("finished", 1)]
    assert bench.instance.get_backfills() == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_cases_of_a_file_and_those_that_are_not_there(
    bench: Bench, newer: Path, tmp_path: Path, encoding: str
) -> None:
    listed = tmp_path / "cases.txt"
    listed.write_text("a\r\nz\r\n# b\r\n", encoding=encoding)

    done = run_here(bench, "pipeline", "backfill", "--suite", "shop", "--candidate", newer, "--cases", listed)

    assert done.returncode == 0
    assert "suite shop: no case matches z" in done.stderr.splitlines()
    (row,) = outcome_rows(bench.store)
    assert row.case_id == "a"
