"""`regress pipeline status` and `prune`, and the nightly care of a store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from regress_core.history.store import History
from regress_pipeline.care import CARE_JOB, CARE_NIGHT
from regress_pipeline.definitions import build_definitions
from regress_pipeline.prune import prune
from regress_pipeline.schedules import night
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, write_suite
from tests.pipeline.processes import run_regress
from tests.support.suites import tree, write_records

CASES = ["a", "b", "c"]
NIGHTLY = "schedule: {cron: '30 2 * * *', timezone: Europe/Berlin}\n"
FIRST = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)


@pytest.fixture
def suite(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", CASES), more=NIGHTLY)


def _night(bench: Bench, days: int, *, run: bool = True) -> str:
    folder = suite_folder(bench.suites_root / "shop")
    requests = night(folder, bench.settings, bench.instance, FIRST + timedelta(days=days))
    assert isinstance(requests, list)
    evaluation_id = requests[0].tags["regress/evaluation_id"]
    if run:
        bench.run("shop", "a", "c", config={"evaluation_id": evaluation_id})
    return evaluation_id


def _status(bench: Bench, *arguments: str) -> list[str]:
    done = run_regress(bench, "pipeline", "status", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_how_suites_stand(bench: Bench, suite: Path) -> None:
    _night(bench, 0)
    left = _night(bench, 1, run=False)
    write_records(suite / "candidate", {"c": {**alike("newer", ["c"])["c"], "response": "It is lost."}})
    _night(bench, 2)
    (suite / "records" / "b.json").unlink()
    (bench.suites_root / "odd").mkdir()
    (bench.suites_root / "odd" / "suite.yaml").write_text("nam: x\n", encoding="utf-8")

    lines = _status(bench)

    assert lines[0] == "daemon: not running; `regress pipeline dev` starts one"
    assert lines[1].startswith("shop: 2 cases, 3 registered, next night ")
    counts = "(2 passed, 1 warned, 0 failed), pass rate 1.000, $0.0000"
    todo = f"superseded by a newer night; go on with: regress run --resume {left}"
    assert lines[2:5] == [
        f"  last night: 2026-03-03 01:30 UTC, shop@2, gate warn {counts}",
        f"  unfinished night of 2026-03-02 01:30 UTC, shop@2: 0 of 3 done, {todo}",
        "  orphaned, in the history only: b",
    ]
    assert lines[5].startswith("odd: cannot be loaded: ")
    assert "$.nam: unknown key" in lines[5]
    (told,) = json.loads("\n".join(_status(bench, "shop", "--json")))["suites"]
    assert (told["suite"], told["cases"], told["registered"]) == ("shop", 2, 3)
    assert [one["evaluation_id"] for one in told["unfinished"]] == [left]


@pytest.mark.usefixtures("suite")
def test_before_anything_was_evaluated_nothing_is_written(bench: Bench) -> None:
    before = tree(bench.store)

    lines = _status(bench)

    assert lines[1].startswith("shop: 3 cases, 0 registered, next night ")
    assert tree(bench.store) == before


@pytest.mark.usefixtures("suite")
def test_a_suite_that_is_not_there(bench: Bench) -> None:
    done = run_regress(bench, "pipeline", "status", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no suite 'nowhere'" in done.stderr


@pytest.mark.usefixtures("suite")
def test_the_command_that_prunes(bench: Bench) -> None:
    for days in range(2):
        _night(bench, days)
    history = tree(bench.store / "history")

    done = run_regress(bench, "pipeline", "prune", "--keep-days", "1")

    assert done.returncode == 0
    assert done.stdout.splitlines()[0].startswith("0 runs older than 1 days deleted, ")
    assert prune(bench.instance, 1, datetime.now(UTC) + timedelta(days=5)).runs == 1
    assert tree(bench.store / "history") == history
    nothing = run_regress(bench, "pipeline", "prune", "--store", bench.store / "nowhere")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "no Dagster home in this store" in nothing.stderr


@pytest.mark.usefixtures("suite")
def test_the_care_of_a_store_runs_nightly_and_does_both(bench: Bench) -> None:
    for days in range(3):
        _night(bench, days)
    definitions = build_definitions(bench.settings)
    repository = definitions.get_repository_def()
    schedule = repository.get_schedule_def(CARE_NIGHT)
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 4 * * *", "UTC")
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    rows = History.open(bench.store).table("case_results").num_rows

    result = definitions.resolve_job_def(CARE_JOB).execute_in_process(instance=bench.instance)

    assert result.success
    history = History.open(bench.store)
    assert len(history.list("case_results").files) == 1
    assert history.table("case_results").num_rows == rows
    steps = {event.step_key for event in result.all_events if event.is_step_success}
    assert steps == {"compact_history", "prune_event_log"}


@pytest.mark.usefixtures("suite")
def test_what_keeps_one_from_its_end_does_not_keep_the_other(bench: Bench) -> None:
    _night(bench, 0)
    (bench.store / "publish.lock").unlink(missing_ok=True)
    (bench.store / "publish.lock").mkdir()
    job = build_definitions(bench.settings).resolve_job_def(CARE_JOB)

    result = job.execute_in_process(instance=bench.instance, raise_on_error=False)

    assert not result.success
    assert [event.step_key for event in result.all_events if event.is_step_success] == ["prune_event_log"]
