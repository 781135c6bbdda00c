"""The night: one evaluation of the whole suite, cut into runs, resumed or superseded."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator

from regress_core.errors import InputError
from regress_core.evaluation.entering import planned
from regress_core.evaluation.ports import Ports
from regress_core.suite.loading import load_suite
from regress_core.suite.nightly import ScheduleConfig
from regress_pipeline.assets import define_suite, job_name, op_name
from regress_pipeline.partitions import CASES_A_RUN, EVALUATION, RANGE_END, RANGE_START, partitions_name
from regress_pipeline.schedules import define_night, night
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import Bench, Run, everything_of
from tests.pipeline.builders import alike, evaluation_states, failed, revisions, write_suite
from tests.support.suites import write_records

CASES = ["a", "b", "c", "d"]
FIRST = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)
NEXT = FIRST + timedelta(days=1)


@pytest.fixture(autouse=True)
def suite(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", CASES))


def _tick(bench: Bench, when: datetime) -> list[dg.RunRequest] | dg.SkipReason:
    return night(suite_folder(bench.suites_root / "shop"), bench.settings, bench.instance, when)


def _requests(bench: Bench, when: datetime) -> list[dg.RunRequest]:
    requests = _tick(bench, when)
    assert isinstance(requests, list), requests
    return requests


def _skipped(bench: Bench, when: datetime) -> str:
    reason = _tick(bench, when)
    assert isinstance(reason, dg.SkipReason)
    assert reason.skip_message is not None
    return reason.skip_message


def _run(bench: Bench, request: dg.RunRequest) -> Run:
    """Run what a tick has asked for, as the daemon would."""
    config = request.run_config["ops"][op_name("shop")]["config"]
    assert request.asset_selection is not None
    return bench.run(
        "shop",
        request.tags[RANGE_START],
        request.tags[RANGE_END],
        config=config,
        assets=[key.path[1] for key in request.asset_selection],
        tags={EVALUATION: request.tags[EVALUATION]},
    )


def _enqueue(bench: Bench, request: dg.RunRequest, status: dg.DagsterRunStatus) -> str:
    """Have a run in Dagster's books that nobody works on."""
    suite = define_suite(suite_folder(bench.suites_root / "shop"), bench.settings)
    run = bench.instance.create_run_for_job(
        suite.resolve_job_def(job_name("shop")),
        run_config=request.run_config,
        tags=dict(request.tags),
        asset_selection=frozenset(request.asset_selection or ()),
        status=status,
    )
    return run.run_id


def _ids(requests: list[dg.RunRequest]) -> set[str]:
    return {request.tags[EVALUATION] for request in requests}


def test_a_night_is_one_evaluation_of_the_whole_suite(bench: Bench) -> None:
    (request,) = _requests(bench, FIRST)
    run = _run(bench, request)

    assert run.status == "SUCCESS"
    assert run.partitions() == everything_of(CASES)  # they have just been registered
    assert evaluation_states(bench.store) == {run.evaluation_id(): ("finished", 1)}
    with Ports.open(bench.store) as ports:
        plan = planned(run.evaluation_id(), ports.journal)
    assert (plan.trigger, plan.created_at) == ("night", FIRST)


def test_the_next_night_leaves_the_baselines_out(bench: Bench) -> None:
    for request in _requests(bench, FIRST):
        _run(bench, request)
    (request,) = _requests(bench, NEXT)
    run = _run(bench, request)

    expected = everything_of(CASES)
    del expected["baseline_records"]
    assert run.partitions() == expected
    assert len(evaluation_states(bench.store)) == 2


def test_a_tick_that_is_evaluated_again_asks_for_the_same_runs(bench: Bench) -> None:
    first = _requests(bench, FIRST)
    again = _requests(bench, FIRST)

    assert [request.run_key for request in again] == [request.run_key for request in first]
    assert len(evaluation_states(bench.store)) == 1


def test_a_large_suite_is_cut_into_runs_of_one_evaluation(bench: Bench) -> None:
    cases = [f"case-{number:03}" for number in range(2 * CASES_A_RUN + 1)]
    write_suite(bench.suites_root, "shop", alike("old", cases), alike("new", cases))

    requests = _requests(bench, FIRST)

    keys = list(bench.instance.get_dynamic_partitions(partitions_name("shop")))
    ranges = [(request.tags[RANGE_START], request.tags[RANGE_END]) for request in requests]
    sizes = [keys.index(last) - keys.index(first) + 1 for first, last in ranges]
    assert sizes == [300, 300, 5]  # four cases of the fixture besides
    assert len(_ids(requests)) == 1
    assert len({request.run_key for request in requests}) == 3


def test_a_night_whose_runs_are_under_way_makes_the_next_one_wait(bench: Bench) -> None:
    (request,) = _requests(bench, FIRST)
    run_id = _enqueue(bench, request, dg.DagsterRunStatus.STARTED)

    message = _skipped(bench, NEXT)

    assert message == f"the night of 2026-03-01 01:30 UTC is still under way: {request.tags[EVALUATION]}"
    bench.instance.delete_run(run_id)
    assert _ids(_requests(bench, NEXT)) == _ids([request])


def test_an_unfinished_night_is_resumed_if_nothing_has_changed(bench: Bench) -> None:
    requests = _requests(bench, FIRST)
    bench.run("shop", "a", "b", config={"evaluation_id": requests[0].tags[EVALUATION]})

    resumed = _requests(bench, NEXT)
    run = _run(bench, resumed[0])

    assert _ids(resumed) == _ids(requests)
    assert run.status == "SUCCESS"
    assert evaluation_states(bench.store) == {run.evaluation_id(): ("finished", 1)}
    assert revisions(bench.store, run.evaluation_id()) == {case: [1] for case in CASES}
    assert {case: event.metadata["resumed"] for case, event in run.of("comparisons").items()} == {
        "a": True,
        "b": True,
        "c": False,
        "d": False,
    }


def test_an_unfinished_night_is_superseded_by_another_candidate_and_stays_resumable(
    bench: Bench, suite: Path
) -> None:
    (old,) = _requests(bench, FIRST)
    write_records(suite / "candidate", {"a": failed("new-a")})

    (new,) = _requests(bench, NEXT)
    run = _run(bench, new)

    assert _ids([new]) != _ids([old])
    assert evaluation_states(bench.store) == {
        old.tags[EVALUATION]: ("running", 1),
        run.evaluation_id(): ("finished", 1),
    }
    assert _ids(_requests(bench, NEXT + timedelta(days=1))).isdisjoint({*_ids([old]), *_ids([new])})
    assert bench.run("shop", "b", "d", config={"evaluation_id": old.tags[EVALUATION]}).status == "SUCCESS"


def test_a_finished_night_with_inconclusive_cases_is_followed_by_a_new_one(bench: Bench, suite: Path) -> None:
    (suite / "candidate" / "b.json").unlink()
    (first,) = _requests(bench, FIRST)
    assert _run(bench, first).status == "FAILURE"

    assert _ids(_requests(bench, NEXT)) != _ids([first])


def test_a_suite_at_fault_enters_nothing(bench: Bench, suite: Path) -> None:
    (suite / "records" / "b.json").write_text("{", encoding="utf-8")

    with pytest.raises(InputError, match=r"records/b\.json"):
        _tick(bench, FIRST)

    assert evaluation_states(bench.store) == {}
    assert bench.instance.get_dynamic_partitions(partitions_name("shop")) == []


def test_a_suite_without_candidate_says_so(bench: Bench, suite: Path) -> None:
    (suite / "candidate.yaml").unlink()

    with pytest.raises(InputError, match=r"candidate\.yaml: no such file"):
        _tick(bench, FIRST)


def test_a_suite_without_cases_is_passed_over(bench: Bench, suite: Path) -> None:
    for path in (suite / "records").iterdir():
        path.unlink()

    assert _skipped(bench, FIRST) == "suite shop has no cases"
    assert load_suite(suite).cases == ()


@pytest.mark.parametrize(
    ("zone", "cron"),
    [
        ("Europe/Berlin", "30 2 * * *"),  # 02:30 is not there on 2026-03-29 and comes twice on 2026-10-25
        ("America/New_York", "30 1 * * *"),  # 01:30 comes twice on 2026-11-01
        ("America/New_York", "30 2 * * *"),  # 02:30 is not there on 2026-03-08
        ("UTC", "0 0 * * *"),
    ],
)
def test_a_year_has_one_night_a_date_whatever_the_clocks_do(bench: Bench, zone: str, cron: str) -> None:
    begin, end = (datetime(year, 1, 1, tzinfo=ZoneInfo(zone)) for year in (2026, 2027))
    ticks = schedule_execution_time_iterator(begin.timestamp(), cron, zone, ascending=True)
    year = list(takewhile(lambda tick: tick < end, ticks))
    schedule = define_night(
        suite_folder(bench.suites_root / "shop"), ScheduleConfig(cron=cron, timezone=zone), bench.settings
    )

    assert Counter(tick.date() for tick in year).most_common(1)[0][1] == 1
    assert len(year) == 365
    around = [tick for tick in year if tick.month in (3, 10, 11) and tick.day in (1, 8, 25, 26, 29, 30)]
    found: list[str] = []
    for tick in around:
        with dg.build_schedule_context(instance=bench.instance, scheduled_execution_time=tick) as context:
            data = schedule.evaluate_tick(context)
        found += {request.tags[EVALUATION] for request in data.run_requests or ()}
        with Ports.open(bench.store) as ports:
            row = ports.journal.evaluation(found[-1])
            assert row is not None
            assert row.created_at == tick.astimezone(UTC)
            # Done with, so that the next one is a night of its own.
            ports.journal.finish(row.evaluation_id, 1)
    assert len(set(found)) == len(around)
