"""A real daemon on a real store: the sensor, a night, a backfill, and a run that is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
import pytest

from regress_core.history.store import History
from regress_pipeline.home import dagster_environment
from regress_pipeline.partitions import EVALUATION, PARTITION, RANGE_END, RANGE_START
from regress_pipeline.schedules import night_name
from regress_pipeline.sensors import watch_name
from tests.pipeline.bench import CASE_ASSETS, Bench
from tests.pipeline.builders import evaluation_states, revisions
from tests.pipeline.processes import run_regress
from tests.support import openai_server as openai
from tests.support.judges import JudgeServer, judged_suite, says, verdict
from tests.support.openai_server import KEY, OpenAIServer
from tests.support.suites import Kind, write_suite

CASES = [f"case-{number:02}" for number in range(1, 25)]
GAPPED = ["case-01", "case-02", "case-03", "case-07", "case-10", "case-20", "case-21"]
HANGS = "case-24"
_GIVE_UP_AFTER_S = 170
_PASS = says(verdict("pass"))
_REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[JudgeServer]:
    """Give a judges' model whose first answer about one case never comes."""
    server = JudgeServer({(HANGS, "regression"): [openai.after(600, _PASS), _PASS]})
    with OpenAIServer(server) as listening:
        monkeypatch.setenv("OPENAI_BASE_URL", listening.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


@pytest.fixture
def suite(bench: Bench) -> Path:
    kinds: dict[str, Kind] = dict.fromkeys(CASES, "reworded")
    config = judged_suite("schedule: {cron: '* * * * *', timezone: Europe/Berlin}")
    root = write_suite(bench.suites_root / "shop", kinds, config=config)
    for path in (root / "records").iterdir():
        os.utime(path, (0, 0))  # nobody is still writing them
    return root


@contextmanager
def _daemon(bench: Bench, log: Path) -> Generator[None]:
    program = Path(sys.executable).with_name("dagster-daemon")
    with (
        log.open("w", encoding="utf-8") as output,
        subprocess.Popen(
            [program, "run", "-m", "regress_pipeline.definitions"],
            cwd=_REPOSITORY,
            env={**dagster_environment(bench.settings), "REGRESS_CALL_TIME_OUT_S": "600"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _until(what: str, reached: Callable[[], bool], begun: float) -> None:
    while not reached():
        assert time.monotonic() - begun < _GIVE_UP_AFTER_S, f"it takes too long until {what}"
        time.sleep(0.2)


def _runs_of(bench: Bench, tag: str, name: str) -> list[dg.DagsterRun]:
    return list(bench.instance.get_runs(dg.RunsFilter(tags={tag: name})))


def _process_of(bench: Bench, run_id: str) -> int:
    """Give the process of a run, which Dagster's event log names."""
    events = bench.instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    found = [re.search(r"pid: (\d+)", event.message or event.user_message) for event in events]
    told = [dg_event.message or "" for event in events if (dg_event := event.dagster_event) is not None]
    found += [re.search(r"pid: (\d+)", text) for text in told]
    return int(next(match for match in found if match)[1])


@pytest.mark.usefixtures("suite")
def test_register_tick_run_backfill_kill_and_resume(
    bench: Bench, server: JudgeServer, tmp_path: Path
) -> None:
    begun = time.monotonic()
    with _daemon(bench, tmp_path / "daemon.log"):
        # The sensor registers the cases and has them evaluated; a judge hangs, and the run is killed.
        _until("the sensor's run hangs", lambda: server.asked[HANGS, "regression"] >= 1, begun)
        (first,) = _runs_of(bench, "dagster/sensor_name", watch_name("shop"))
        evaluation_id = first.tags[EVALUATION]
        _until("its other cases are done", lambda: _committed(bench, evaluation_id) == len(CASES) - 1, begun)
        os.kill(_process_of(bench, first.run_id), signal.SIGKILL)
        assert bench.instance.get_dynamic_partitions("cases/shop") == CASES

        # A night, whose judges' verdicts are there already.
        night = ("dagster/schedule_name", night_name("shop"))
        _until("a night is done", lambda: any(run.is_success for run in _runs_of(bench, *night)), begun)
        nights = {run.tags[EVALUATION] for run in _runs_of(bench, *night) if run.is_success}

        # A gapped backfill against another candidate, by the daemon.
        new = write_suite(tmp_path / "newer", dict.fromkeys(CASES, "same")) / "new"
        options = [option for case in GAPPED for option in ("--cases", case)]
        command = ("pipeline", "backfill", "--suite", "shop", "--candidate", new, *options, "--wait")
        done = run_regress(bench, *command)
        assert done.returncode == 0, done.stderr
        assert "7 cases: 7 passed, 0 warned, 0 failed" in done.stdout
        (backfilled,) = evaluation_states(bench.store).keys() - {evaluation_id} - _nights(bench)

        # What was killed is noticed, taken up, and pays for no committed reply again.
        state = ("finished", 1)
        _until("it is resumed", lambda: evaluation_states(bench.store)[evaluation_id] == state, begun)
        retries = [run for run in bench.instance.get_runs() if run.parent_run_id == first.run_id]
        _until("its run has ended", lambda: _status(bench, retries[0].run_id) == "SUCCESS", begun)

    assert _status(bench, first.run_id) == "FAILURE"
    assert revisions(bench.store, evaluation_id) == {case: [1] for case in CASES}
    asked = {case: server.asked[case, "regression"] for case in CASES}
    # Once about the suite's candidate, once about the other one; what hung was asked again.
    assert asked == {case: 1 + (case in GAPPED) + (case == HANGS) for case in CASES}
    for asset in CASE_ASSETS:
        assert bench.materialized("shop", asset) == set(CASES), asset
    rows = History.open(bench.store).rows_of("case_results", backfilled)
    assert [row["case_id"] for row in rows] == GAPPED
    parts = _runs_of(bench, EVALUATION, backfilled)
    assert sorted(_range(run) for run in parts) == [
        ("", ""),  # of suite_summary, which has no partitions
        ("case-01", "case-03"),
        ("case-07", "case-07"),
        ("case-10", "case-10"),
        ("case-20", "case-21"),
    ]
    assert nights


def _range(run: dg.DagsterRun) -> tuple[str, str]:
    """Give first and last partition of a run; Dagster names a single one otherwise."""
    single = run.tags.get(PARTITION, "")
    return run.tags.get(RANGE_START, single), run.tags.get(RANGE_END, single)


def _committed(bench: Bench, evaluation_id: str) -> int:
    return len(revisions(bench.store, evaluation_id))


def _status(bench: Bench, run_id: str) -> str:
    return bench.read(run_id).status


def _nights(bench: Bench) -> set[str]:
    night = ("dagster/schedule_name", night_name("shop"))
    return {run.tags[EVALUATION] for run in _runs_of(bench, *night)}
