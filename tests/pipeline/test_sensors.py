"""Cases come and go: what a look at the record files registers, evaluates and retires."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from regress_core.errors import InputError
from regress_core.evaluation.plan_rows import trigger_of
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_pipeline.assets import define_suite, job_name, op_name
from regress_pipeline.partitions import EVALUATION, RANGE_END, RANGE_START, partitions_name
from regress_pipeline.sensors import define_watch, look
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import Bench, Run, everything_of
from tests.pipeline.builders import alike, evaluation_states, sha256, write_suite
from tests.support.records import record_json
from tests.support.suites import write_record, write_records

CASES = ["a", "b", "c"]
LATER = timedelta(seconds=10)


@pytest.fixture(autouse=True)
def suite(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", [*CASES, "d", "e"]))


class Watch:
    """A sensor that keeps its cursor, and runs what it asks for as the daemon would."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.cursor: str | None = None

    def look(self, *, ago: timedelta = LATER) -> dg.SensorResult:
        folder = suite_folder(self.bench.suites_root / "shop")
        now = datetime.now(UTC) + ago
        result = look(folder, self.bench.settings, self.bench.instance, self.cursor, now)
        self.cursor = result.cursor
        return result

    def runs(self) -> list[Run]:
        return [self.run(request) for request in self.look().run_requests or ()]

    def run(self, request: dg.RunRequest) -> Run:
        assert request.asset_selection is not None
        return self.bench.run(
            "shop",
            request.tags[RANGE_START],
            request.tags[RANGE_END],
            config=request.run_config["ops"][op_name("shop")]["config"],
            assets=[key.path[1] for key in request.asset_selection],
            tags={EVALUATION: request.tags[EVALUATION]},
        )

    def says(self) -> str:
        result = self.look()
        assert not result.run_requests
        assert isinstance(result.skip_reason, dg.SkipReason)
        assert result.skip_reason.skip_message is not None
        return result.skip_reason.skip_message

    @property
    def keys(self) -> list[str]:
        return list(self.bench.instance.get_dynamic_partitions(partitions_name("shop")))


@pytest.fixture
def watch(bench: Bench) -> Watch:
    return Watch(bench)


def test_a_first_look_registers_and_evaluates_all(watch: Watch, suite: Path) -> None:
    (run,) = watch.runs()

    assert run.partitions() == everything_of(CASES)
    assert watch.keys == CASES
    versions = {case: event.data_version for case, event in run.of("baseline_records").items()}
    assert versions == {case: sha256(suite / "records" / f"{case}.json") for case in CASES}
    with Ports.open(watch.bench.store) as ports:
        row = ports.journal.evaluation(run.evaluation_id())
    assert row is not None
    assert trigger_of(row) == "cases"
    assert watch.says() == "nothing has changed"


def test_new_cases_are_registered_and_evaluated_and_no_others(watch: Watch, suite: Path) -> None:
    watch.runs()
    write_records(suite / "records", alike("old", ["d", "e"]))

    (run,) = watch.runs()

    assert run.partitions() == everything_of(["d", "e"])
    assert watch.keys == [*CASES, "d", "e"]
    assert watch.says() == "nothing has changed"


def test_a_changed_case_is_evaluated_again_under_its_new_version(watch: Watch, suite: Path) -> None:
    (before,) = watch.runs()
    path = write_record(suite / "records" / "b.json", record_json(runId="older", response="It is lost."))

    (run,) = watch.runs()

    assert run.partitions() == everything_of(["b"])
    assert run.of("baseline_records")["b"].data_version == sha256(path)
    assert run.of("comparisons")["b"].metadata["equal"] is False
    assert run.evaluation_id() != before.evaluation_id()


def test_a_file_that_was_only_touched_has_not_changed(watch: Watch, suite: Path) -> None:
    watch.runs()
    os.utime(suite / "records" / "b.json", (0, 0))
    assert watch.says() == "nothing has changed"


def test_there_and_back_is_evaluated_both_times(watch: Watch, suite: Path) -> None:
    path = suite / "records" / "b.json"
    watch.runs()
    data = path.read_bytes()
    write_record(path, record_json(runId="older", response="It is lost."))
    (there,) = watch.runs()
    path.write_bytes(data)
    (back,) = watch.runs()

    assert len({there.evaluation_id(), back.evaluation_id()}) == 2
    assert back.of("comparisons")["b"].metadata["resumed"] is False


def test_another_accepted_run_changes_a_case(watch: Watch, suite: Path) -> None:
    watch.runs()
    folder = suite / "records" / "b"
    folder.mkdir()
    (suite / "records" / "b.json").rename(folder / "1.json")
    assert watch.says() == "nothing has changed"
    write_record(folder / "2.json", record_json(runId="another", response="It is lost."))

    (run,) = watch.runs()

    assert run.partitions() == everything_of(["b"])


def test_a_look_that_is_repeated_asks_for_the_same_runs(watch: Watch) -> None:
    first = watch.look()
    watch.cursor = None  # the daemon died before it could note it
    again = watch.look()

    assert [request.run_key for request in again.run_requests or ()] == [
        request.run_key for request in first.run_requests or ()
    ]
    assert len(evaluation_states(watch.bench.store)) == 1


def test_a_sensor_that_begins_late_takes_what_is_materialized_as_seen(watch: Watch) -> None:
    watch.bench.register("shop", CASES)
    watch.bench.run("shop", "a", "b")

    (run,) = watch.runs()

    assert run.partitions() == everything_of(["c"])


def test_files_that_are_being_written_wait(watch: Watch, suite: Path) -> None:
    watch.runs()
    write_records(suite / "records", alike("old", ["d"]))

    result = watch.look(ago=timedelta(seconds=1))

    assert not result.run_requests
    assert watch.keys == CASES
    (run,) = watch.runs()
    assert run.partitions() == everything_of(["d"])


def test_a_removed_case_retires_and_its_history_stays(watch: Watch, suite: Path) -> None:
    watch.runs()
    (suite / "records" / "b.json").unlink()

    assert watch.says() == "retired: b"

    assert watch.keys == ["a", "c"]
    rows = History.open(watch.bench.store).table("case_results").to_pylist()
    assert [row["case_id"] for row in rows] == CASES
    assert watch.says() == "nothing has changed"


def test_a_renamed_case_is_an_old_one_that_retires_and_a_new_one(watch: Watch, suite: Path) -> None:
    """H57: it has no candidate under its new name, which is no pass."""
    watch.runs()
    (suite / "records" / "b.json").rename(suite / "records" / "f.json")

    (run,) = watch.runs()

    assert watch.keys == ["a", "c", "f"]
    assert run.status == "FAILURE"
    assert "no candidate record" in run.failure
    assert run.of("baseline_records").keys() == {"f"}


def test_a_case_that_a_run_covers_retires_when_that_has_ended(watch: Watch, suite: Path) -> None:
    watch.runs()
    job = define_suite(suite_folder(suite), watch.bench.settings).resolve_job_def(job_name("shop"))
    run = watch.bench.instance.create_run_for_job(
        job,
        tags={RANGE_START: "a", RANGE_END: "c"},
        asset_selection=frozenset({dg.AssetKey(["shop", "comparisons"])}),
        status=dg.DagsterRunStatus.STARTED,
    )
    (suite / "records" / "b.json").unlink()

    assert watch.says() == "nothing has changed"
    assert watch.keys == CASES
    watch.bench.instance.report_run_canceled(run)
    assert watch.says() == "retired: b"


def test_a_case_of_a_backfill_under_way_stays(watch: Watch, suite: Path) -> None:
    watch.runs()
    watch.bench.add_backfill("shop", ["b"])
    (suite / "records" / "a.json").unlink()
    (suite / "records" / "b.json").unlink()

    assert watch.says() == "retired: a"
    assert watch.keys == ["b", "c"]


def test_an_empty_folder_retires_nothing(watch: Watch, suite: Path) -> None:
    """An unmounted disk looks the same."""
    watch.runs()
    for path in (suite / "records").iterdir():
        path.unlink()

    assert watch.says() == f"no record in {suite / 'records'}; nothing retires while that is so"
    shutil.rmtree(suite / "records")
    with pytest.raises(InputError, match="no such file or folder"):
        watch.look()
    assert watch.keys == CASES


def test_without_a_candidate_cases_are_registered_only(watch: Watch, suite: Path) -> None:
    (suite / "candidate.yaml").unlink()

    assert watch.says() == "registered 3; there is no candidate.yaml to evaluate them against"

    assert watch.keys == CASES
    assert evaluation_states(watch.bench.store) == {}


def test_a_record_at_fault_fails_the_look_which_sees_it_again(watch: Watch, suite: Path) -> None:
    watch.runs()
    before = watch.cursor
    write_records(suite / "records", alike("old", ["d"]))
    (suite / "records" / "e.json").write_text("{", encoding="utf-8")

    with pytest.raises(InputError, match=r"records/e\.json"):
        watch.look()

    assert watch.cursor == before
    assert watch.keys == CASES
    write_records(suite / "records", alike("old", ["e"]))
    (run,) = watch.runs()
    assert run.partitions() == everything_of(["d", "e"])


def test_the_sensor_itself(bench: Bench, suite: Path) -> None:
    for path in (suite / "records").iterdir():
        os.utime(path, (0, 0))
    sensor = define_watch(suite_folder(suite), bench.settings, running=True)

    with dg.build_sensor_context(instance=bench.instance) as context:
        data = sensor.evaluate_tick(context)

    assert [request.tags[RANGE_END] for request in data.run_requests or ()] == ["c"]
    assert data.cursor is not None
