"""Runs whose process is gone are told from runs that work."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from filelock import FileLock

from regress_pipeline.assets import define_suite, job_name
from regress_pipeline.care import DEAD_RUNS
from regress_pipeline.definitions import build_definitions
from regress_pipeline.suites import suite_folder
from regress_pipeline.workers import STARTS_WITHIN, at_work, fail_dead_runs
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, write_suite

SOON, LATER = timedelta(seconds=1), timedelta(seconds=30)
_WORK = """
import sys
from pathlib import Path
from regress_pipeline.workers import at_work
with at_work(Path(sys.argv[1]), sys.argv[2]):
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def suite(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", ["a"]), alike("new", ["a"]))


def _begun(bench: Bench, *, canceling: bool = False) -> dg.DagsterRun:
    """Have a run in Dagster's books that has started just now."""
    job = define_suite(suite_folder(bench.suites_root / "shop"), bench.settings)
    run = bench.instance.create_run_for_job(
        job.resolve_job_def(job_name("shop")), status=dg.DagsterRunStatus.STARTED
    )
    bench.instance.report_engine_event("begun", run)
    if canceling:
        bench.instance.report_run_canceling(run)
    return run


@contextmanager
def _worker(bench: Bench, run: dg.DagsterRun) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _WORK, str(bench.store), run.run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "at work\n"
        try:
            yield process
        finally:
            process.kill()


def _dead(bench: Bench, later: timedelta) -> list[str]:
    return fail_dead_runs(bench.instance, bench.store, datetime.now(UTC) + later)


def test_a_run_at_work_is_left_alone_however_long_it_is_silent(bench: Bench) -> None:
    run = _begun(bench)
    with _worker(bench, run):
        assert _dead(bench, timedelta(hours=3)) == []


@pytest.mark.parametrize(("canceling", "status"), [(False, "FAILURE"), (True, "CANCELED")])
def test_a_run_whose_process_was_killed(bench: Bench, canceling: bool, status: str) -> None:  # noqa: FBT001 - a case of the table
    run = _begun(bench, canceling=canceling)
    with _worker(bench, run) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()

    assert _dead(bench, SOON) == []  # its last words may still come
    assert _dead(bench, LATER) == [run.run_id]
    assert bench.read(run.run_id).status == status
    assert _dead(bench, LATER) == []
    assert list((bench.store / "dagster" / "workers").iterdir()) == []


def test_a_run_that_has_not_begun_to_work_yet(bench: Bench) -> None:
    run = _begun(bench)
    assert _dead(bench, STARTS_WITHIN - LATER) == []
    assert _dead(bench, STARTS_WITHIN + LATER) == [run.run_id]


def test_a_run_that_ends_by_itself_is_none(bench: Bench) -> None:
    bench.register("shop", ["a"])
    run = bench.run("shop", "a")

    assert _dead(bench, timedelta(hours=3)) == []
    assert bench.read(run.run_id).status == "SUCCESS"


def test_the_lock_is_let_go_at_the_end(tmp_path: Path) -> None:
    with at_work(tmp_path, "r"):
        pass
    with FileLock(tmp_path / "dagster" / "workers" / "r.lock").acquire(blocking=False):
        pass


def test_the_daemon_notices_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regress_pipeline.workers.QUIET_FOR", timedelta(0))
    run = _begun(bench)
    with _worker(bench, run) as process:
        process.kill()
        process.wait()
    sensor = build_definitions(bench.settings).get_repository_def().get_sensor_def(DEAD_RUNS)

    with dg.build_sensor_context(instance=bench.instance) as context:
        first, second = sensor(context), sensor(context)

    assert isinstance(first, dg.SkipReason)
    assert first.skip_message == f"failed: {run.run_id}"
    assert isinstance(second, dg.SkipReason)
    assert second.skip_message == "no run has lost its process"
    assert bench.read(run.run_id).status == "FAILURE"
