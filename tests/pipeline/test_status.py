"""`regress pipeline status` and `prune`, and the nightly care of a store."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from traceback import TracebackException

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    ScheduleInstigatorData,
    SensorInstigatorData,
    TickData,
    TickStatus,
)
from dagster_shared.error import SerializableErrorInfo

from regress_core.errors import InputError
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_pipeline.assets import define_suite, job_name
from regress_pipeline.care import CARE_JOB, CARE_NIGHT
from regress_pipeline.definitions import build_definitions
from regress_pipeline.partitions import EVALUATION, RANGE_END, RANGE_START
from regress_pipeline.prune import prune
from regress_pipeline.schedules import night, night_name
from regress_pipeline.sensors import watch_name
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, write_suite
from tests.pipeline.processes import run_here
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
    done = run_here(bench, "pipeline", "status", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_how_suites_stand(bench: Bench, suite: Path) -> None:
    _night(bench, 0)
    left = _night(bench, 1, run=False)
    write_records(suite / "candidate", {"c": {**alike("newer", ["c"])["c"], "response": "It is lost."}})
    last = _night(bench, 2)
    (suite / "records" / "b.json").unlink()
    (bench.suites_root / "odd").mkdir()
    (bench.suites_root / "odd" / "suite.yaml").write_text("nam: x\n", encoding="utf-8")

    lines = _status(bench)

    assert lines[0] == "daemon: not running; `regress pipeline dev` starts one"
    assert lines[1] == "shop: 2 cases, 3 registered"
    assert re.fullmatch(
        r"  next night: \d{4}-\d\d-\d\d 0[01]:30 UTC \(30 2 \* \* \*, Europe/Berlin\)", lines[2]
    )
    assert lines[3:11] == [
        "  last night: 2026-03-03 01:30 UTC, shop@2",
        f"    evaluation {last}, complete",
        "    gate warn: 2 passed, 1 warned, 0 failed, pass rate 1.000, $0.0000",
        "  unfinished night: 2026-03-02 01:30 UTC, shop@2",
        f"    evaluation {left}",
        "    0 of 3 done, superseded by a newer night",
        f"    go on with: regress run --resume {left}",
        "  orphaned, in the history only: b",
    ]
    assert lines[11].startswith("odd: cannot be loaded: ")
    assert "$.nam: unknown key" in lines[11]
    (told,) = json.loads("\n".join(_status(bench, "shop", "--json")))["suites"]
    assert (told["suite"], told["cases"], told["registered"]) == ("shop", 2, 3)
    assert [(one["evaluation_id"], one["complete"]) for one in told["last"]] == [(last, True)]
    assert [one["evaluation_id"] for one in told["unfinished"]] == [left]
    assert (told["next_night"]["cron"], told["next_night"]["timezone"]) == ("30 2 * * *", "Europe/Berlin")


def test_lines_fit_100_columns_and_no_name_is_broken(bench: Bench) -> None:
    cases = [f"{letter * 40}-{letter * 30}" for letter in "abcdefg"]
    suite = write_suite(bench.suites_root, "s" * 64, alike("old", cases), alike("new", cases))
    (suite / "candidate.yaml").write_text(f"records: candidate\nlabel: {'l' * 60}@2\n", encoding="utf-8")
    assert run_here(bench, "pipeline", "run", "s" * 64).returncode == 0
    for case in cases[:-1]:
        (suite / "records" / f"{case}.json").unlink()

    lines = _status(bench)

    assert max(map(len, lines)) <= 100
    named = " ".join(lines).split()
    assert [case in named or f"{case}," in named for case in cases[:-1]] == [True] * 5 + [False]
    assert lines[-1].endswith(" and 1 more")


@pytest.mark.parametrize(
    "assets",
    [
        pytest.param(["case_summaries"], id="of some assets, as the daemon starts it"),
        pytest.param([], id="of the whole job, as in a process of its own"),
    ],
)
def test_a_run_under_way_is_told_and_nobody_is_to_go_on_with_its_evaluation(
    bench: Bench, suite: Path, assets: list[str]
) -> None:
    evaluation_id = _night(bench, 0, run=False)
    job = define_suite(suite_folder(suite), bench.settings).resolve_job_def(job_name("shop"))
    tags = {EVALUATION: evaluation_id, RANGE_START: "a", RANGE_END: "c"}
    selection = frozenset(bench.key("shop", asset) for asset in assets)
    bench.instance.create_run_for_job(
        job, tags=tags, status=dg.DagsterRunStatus.NOT_STARTED, asset_selection=selection
    )

    lines = _status(bench)

    assert lines[-2:] == [f"    evaluation {evaluation_id}", "    0 of 3 done, 1 runs under way"]


@pytest.mark.usefixtures("suite")
def test_a_reopened_evaluation_is_not_complete(bench: Bench) -> None:
    evaluation_id = _night(bench, 0)
    with Ports.open(bench.store) as ports:
        ports.journal.reopen(evaluation_id, "inconclusive")

    lines = _status(bench)

    assert f"    evaluation {evaluation_id}, reopened" in lines
    assert f"    go on with: regress run --resume {evaluation_id}" in lines


@pytest.mark.parametrize("store", ["store", "nowhere"])
@pytest.mark.usefixtures("suite")
def test_before_anything_was_evaluated_it_says_so_and_nothing_is_written(bench: Bench, store: str) -> None:
    path = bench.store.with_name(store)
    before = tree(bench.store)

    lines = _status(bench, "--store", str(path))

    assert lines[1:3] == [
        f"no store yet, nothing has been evaluated: {path}",
        "shop: 3 cases, 0 registered",
    ]
    assert tree(bench.store) == before
    assert path.exists() == (path == bench.store)


def test_a_store_that_dagster_never_saw_gets_no_home_of_it(bench: Bench, suite: Path) -> None:
    store = bench.store.with_name("plain")
    assert run_here(bench, "run", suite, "--store", store).returncode == 0

    lines = _status(bench, "--store", str(store))

    assert lines[3].startswith("  last cli: ")
    assert not (store / "dagster").exists()


def _breaks_its_cron(suite: Path) -> str:
    (suite / "suite.yaml").write_text("name: shop\nschedule: {cron: '99 2 * * *'}\n", encoding="utf-8")
    return "suite.yaml: $.schedule.cron: '99 2 * * *' is no cron"


def _loses_its_records(suite: Path) -> str:
    (suite / "records").rename(suite / "elsewhere")
    return "records: no such file or folder"


def _loses_its_form(suite: Path) -> str:
    (suite / "suite.yaml").write_text("nam: shop\n", encoding="utf-8")
    return "suite.yaml: $.nam: unknown key"


@pytest.mark.parametrize("breaks", [_breaks_its_cron, _loses_its_records, _loses_its_form])
def test_a_broken_suite_is_told_in_one_line_beside_the_others(
    bench: Bench, suite: Path, breaks: Callable[[Path], str]
) -> None:
    write_suite(bench.suites_root, "post", alike("old", CASES))
    told = breaks(suite)

    lines = _status(bench)
    named = run_here(bench, "pipeline", "status", "shop")

    (line,) = [line for line in lines if told in line]
    assert line.startswith("shop: cannot be loaded: ")
    assert "post: 3 cases, 0 registered" in lines
    assert named.returncode == 2
    assert "Traceback" not in named.stderr
    assert told in named.stdout + named.stderr


@pytest.mark.usefixtures("suite")
def test_a_suite_that_is_not_there(bench: Bench) -> None:
    done = run_here(bench, "pipeline", "status", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no suite 'nowhere'" in done.stderr


@pytest.mark.usefixtures("suite")
def test_the_command_that_prunes(bench: Bench) -> None:
    for days in range(2):
        _night(bench, days)
    history = tree(bench.store / "history")

    done = run_here(bench, "pipeline", "prune", "--keep-days", "1")

    assert done.returncode == 0
    assert done.stdout.splitlines()[0].startswith("0 runs older than 1 days deleted, ")
    assert prune(bench.instance, 1, datetime.now(UTC) + timedelta(days=5)).runs == 1
    assert tree(bench.store / "history") == history
    nothing = run_here(bench, "pipeline", "prune", "--store", bench.store / "nowhere")
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


def _tick(
    bench: Bench, name: str, status: TickStatus, when: datetime, error: Exception | None = None
) -> None:
    origin = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("here"), "__repository__")
    instigator = origin.get_instigator_origin(name)
    by_night = name.startswith("night")
    kind = InstigatorType.SCHEDULE if by_night else InstigatorType.SENSOR
    data = ScheduleInstigatorData("0 2 * * *") if by_night else SensorInstigatorData()
    state = InstigatorState(instigator, kind, InstigatorStatus.DECLARED_IN_CODE, data)
    if not bench.instance.get_instigator_state(state.instigator_origin_id, state.selector_id):
        bench.instance.add_instigator_state(state)
    bench.instance.create_tick(
        TickData(
            state.instigator_origin_id,
            name,
            kind,
            status,
            when.timestamp(),
            run_ids=[],
            error=None if error is None else _wrapped(error),
            selector_id=state.selector_id,
        )
    )


def _wrapped(error: Exception) -> SerializableErrorInfo:
    """Wrap an error as Dagster does with what a schedule raises."""
    outer = RuntimeError("while the schedule was evaluated")
    outer.__cause__ = error
    return SerializableErrorInfo.from_traceback(TracebackException.from_exception(outer))


def test_a_tick_that_failed_is_told_until_one_succeeds(bench: Bench, suite: Path) -> None:
    _night(bench, 0)
    broken = InputError("a bad record", file=suite / "records" / "a.json", case="a")
    _tick(bench, night_name("shop"), TickStatus.SUCCESS, FIRST)
    _tick(bench, night_name("shop"), TickStatus.FAILURE, FIRST + timedelta(days=1), broken)
    _tick(bench, watch_name("shop"), TickStatus.FAILURE, FIRST, broken)
    _tick(bench, watch_name("shop"), TickStatus.SKIPPED, FIRST + timedelta(days=1))
    _tick(bench, night_name("other"), TickStatus.FAILURE, FIRST, broken)

    lines = [line for line in _status(bench) if "failed at" in line]
    assert lines == [f"  night_shop: failed at 2026-03-02 01:30 UTC: {broken}"]

    _tick(bench, night_name("shop"), TickStatus.STARTED, FIRST + timedelta(days=2))
    assert [line for line in _status(bench) if "failed at" in line] == lines
    _tick(bench, night_name("shop"), TickStatus.SUCCESS, FIRST + timedelta(days=2))
    assert [line for line in _status(bench) if "failed at" in line] == []
