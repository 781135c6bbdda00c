"""Suites as Dagster sees them: assets, a job, a sensor and, where there is one, a schedule each."""

from __future__ import annotations

import dagster as dg
import pytest

from regress_pipeline.assets import job_name
from regress_pipeline.care import CARE_NIGHT, DEAD_RUNS
from regress_pipeline.definitions import BROKEN_GROUP, build_definitions
from regress_pipeline.schedules import night_name
from regress_pipeline.sensors import watch_name
from tests.pipeline.bench import Bench, everything_of, suite_job
from tests.pipeline.builders import alike, write_suite

CASES = [f"case-{number:02}" for number in range(30)]
NIGHTLY = "schedule: {cron: '30 2 * * *', timezone: Europe/Berlin}\n"


def _broken(definitions: dg.Definitions) -> dict[str, str | None]:
    graph = definitions.resolve_asset_graph()
    keys = [key for key in graph.get_all_asset_keys() if key.path[0] == BROKEN_GROUP]
    return {key.path[1]: graph.get(key).description for key in keys}


def test_a_suite_with_a_schedule_runs_by_itself(bench: Bench) -> None:
    write_suite(bench.suites_root, "by-night", alike("old", ["a"]), more=NIGHTLY)
    write_suite(bench.suites_root, "by-hand", alike("old", ["a"]))
    definitions = build_definitions(bench.settings)
    repository = definitions.get_repository_def()

    (night,) = [schedule for schedule in repository.schedule_defs if schedule.name != CARE_NIGHT]
    assert (night.name, night.job_name) == (night_name("by-night"), job_name("by-night"))
    assert (night.cron_schedule, night.execution_timezone) == ("30 2 * * *", "Europe/Berlin")
    assert night.default_status is dg.DefaultScheduleStatus.RUNNING
    assert {sensor.name: sensor.default_status.value for sensor in repository.sensor_defs} == {
        watch_name("by-night"): "RUNNING",
        watch_name("by-hand"): "STOPPED",
        DEAD_RUNS: "RUNNING",
    }
    assert len({night.name, *(sensor.name for sensor in repository.sensor_defs)}) == 4


def test_of_twelve_suites_one_is_broken_and_the_others_run(bench: Bench) -> None:
    names = [f"suite-{number:02}" for number in range(12)]
    for name in names:
        write_suite(bench.suites_root, name, alike("old", CASES), alike("new", CASES), more=NIGHTLY)
    (bench.suites_root / "suite-07" / "suite.yaml").write_text(
        "name: suite-07\nshedule: {}\n", encoding="utf-8"
    )
    sound = [name for name in names if name != "suite-07"]

    definitions = build_definitions(bench.settings)
    dg.Definitions.validate_loadable(definitions)

    (told,) = _broken(definitions).items()
    assert told[0] == "suite_07"
    assert told[1] is not None
    assert "suite-07/suite.yaml: $.shedule: unknown key" in told[1]
    assert {job.name for job in definitions.resolve_all_job_defs()} >= {job_name(name) for name in sound}
    for name in sound:
        bench.register(name, CASES)
        assert bench.run(name, CASES[0], CASES[-1]).partitions() == everything_of(CASES)
    job = suite_job(sound[0], str(bench.store), str(bench.suites_root))
    assert job.executor_def.name == "in_process"


@pytest.mark.parametrize("cron", ["61 2 * * *", "0 2 * * someday", "a b c d e"])
def test_a_cron_that_dagster_refuses_is_told_too(bench: Bench, cron: str) -> None:
    write_suite(bench.suites_root, "odd", alike("old", ["a"]), more=f"schedule: {{cron: '{cron}'}}\n")
    write_suite(bench.suites_root, "sound", alike("old", ["a"]))

    definitions = build_definitions(bench.settings)

    file = bench.suites_root / "odd" / "suite.yaml"
    assert _broken(definitions) == {
        "odd": f"This suite cannot be loaded: {file}: $.schedule.cron: {cron!r} is no cron; "
        "write minute, hour, day, month and weekday, such as 0 2 * * *"
    }
    assert definitions.resolve_job_def(job_name("sound"))


def test_a_suite_that_nobody_can_read_is_told(bench: Bench) -> None:
    (bench.suites_root / "unread" / "suite.yaml").mkdir(parents=True)
    write_suite(bench.suites_root, "sound", alike("old", ["a"]))

    definitions = build_definitions(bench.settings)

    assert list(_broken(definitions)) == ["unread"]
    assert definitions.resolve_job_def(job_name("sound"))


def test_broken_suites_with_similar_names_are_told_apart(bench: Bench) -> None:
    write_suite(bench.suites_root, "broken_suites", alike("old", ["a"]))
    for folder in ("a b", "a-b", "a_b", "é", "suite_summary"):
        root = bench.suites_root / folder
        root.mkdir()
        (root / "suite.yaml").write_text("nam: x\n", encoding="utf-8")

    definitions = build_definitions(bench.settings)
    dg.Definitions.validate_loadable(definitions)

    told = {name: text for name, text in _broken(definitions).items() if text is not None}
    assert {name: text.split("/suite.yaml")[0].split("/")[-1] for name, text in told.items()} == {
        "a_b": "a b",
        "a_b_2": "a-b",
        "a_b_3": "a_b",
        "_": "é",
        "suite_summary_2": "suite_summary",
    }
