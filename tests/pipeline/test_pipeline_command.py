"""`regress pipeline run`: a whole suite through Dagster, headless."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject
from regress_pipeline.cli.main import app
from tests.pipeline.bench import CASE_ASSETS, Bench
from tests.pipeline.builders import (
    alike,
    evaluation_states,
    failed,
    outcome_rows,
    read_json,
    revisions,
    write_suite,
)
from tests.pipeline.processes import run_here
from tests.support.records import record_json
from tests.support.suites import write_records

CASES = ["a", "b", "c"]

PASS: JsonObject = record_json(runId="new")
WARN: JsonObject = record_json(runId="new", response="It is under way.")
FAIL: JsonObject = failed("new")


def regress(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def pipeline_run(*arguments: str | Path) -> Result:
    """Run the command in this process; whatever it raises other than its exit is raised here."""
    result = regress("pipeline", "run", *arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def shop(bench: Bench) -> Path:
    return write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", CASES))


def _latest_summary(bench: Bench) -> JsonObject:
    outputs = bench.store / "outputs"
    newest = max(outputs.iterdir(), key=lambda folder: folder.name)  # the ids sort by time
    return read_json(newest / "summary.json")


@pytest.mark.usefixtures("shop")
def test_a_suite_by_name(bench: Bench) -> None:
    result = pipeline_run("shop")

    assert result.exit_code == 0
    [(evaluation_id, state)] = evaluation_states(bench.store).items()
    [run_id] = bench.run_ids()
    assert state == ("finished", 1)
    outputs = bench.store / "outputs" / evaluation_id
    assert result.stdout.splitlines()[:2] == [
        f"suite shop, candidate shop@2, evaluation {evaluation_id}",
        "3 cases: 3 passed, 0 warned, 0 failed",
    ]
    assert result.stdout.splitlines()[-2:] == [f"outputs: {outputs}", f"Dagster runs: {run_id}"]
    assert read_json(outputs / "summary.json")["totals"]["passed"] == 3
    for asset in CASE_ASSETS:
        assert bench.materialized("shop", asset) == {"a", "b", "c"}, asset
    run = bench.read(run_id)
    assert run.status == "SUCCESS"
    assert run.evaluation_id() == evaluation_id
    assert run.of("suite_summary")[None].metadata["complete"] is True


def test_a_suite_by_its_folder_wherever_it_is(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(tmp_path / "elsewhere", "lonely", alike("old", CASES), alike("new", CASES))
    monkeypatch.chdir(tmp_path)

    assert pipeline_run(Path("elsewhere") / "lonely").exit_code == 0
    assert pipeline_run(tmp_path / "elsewhere" / "lonely").exit_code == 0
    assert bench.materialized("lonely", "comparisons") == {"a", "b", "c"}
    assert len(evaluation_states(bench.store)) == 2


@pytest.mark.usefixtures("shop")
def test_an_unknown_suite_is_an_input_error_that_lists_the_known_ones(bench: Bench) -> None:
    with pytest.raises(InputError) as raised:
        pipeline_run("shpo")
    assert "no suite 'shpo'" in str(raised.value)
    assert "suites there: shop" in str(raised.value)
    assert bench.run_ids() == []


@pytest.mark.usefixtures("shop")
def test_a_candidate_by_its_file(bench: Bench, tmp_path: Path) -> None:
    write_records(tmp_path / "nightly", {"a": FAIL, "b": PASS, "c": PASS})
    (tmp_path / "nightly.yaml").write_text("records: nightly\nlabel: nightly@7\n", encoding="utf-8")

    result = pipeline_run("shop", "--candidate", tmp_path / "nightly.yaml")

    assert result.exit_code == 1
    assert "candidate nightly@7" in result.stdout
    [run_id] = bench.run_ids()
    assert bench.read(run_id).of("case_summaries")["a"].metadata["status"] == "fail"


@pytest.mark.usefixtures("shop")
def test_a_candidate_by_its_folder_of_records(bench: Bench, tmp_path: Path) -> None:
    write_records(tmp_path / "nightly", {"a": PASS, "b": PASS, "c": FAIL})

    assert pipeline_run("shop", "--candidate", tmp_path / "nightly").exit_code == 1
    assert [case["status"] for case in _latest_summary(bench)["cases"]] == ["pass", "pass", "fail"]


def test_a_candidate_for_a_suite_that_names_none(bench: Bench, tmp_path: Path) -> None:
    write_suite(bench.suites_root, "bare", alike("old", CASES))
    write_records(tmp_path / "nightly", alike("new", CASES))

    assert pipeline_run("bare", "--candidate", tmp_path / "nightly").exit_code == 0
    assert bench.materialized("bare", "comparisons") == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("candidates", "options", "code"),
    [
        pytest.param({"a": PASS, "b": PASS}, [], 0, id="pass"),
        pytest.param({"a": PASS, "b": WARN}, [], 0, id="warn"),
        pytest.param({"a": PASS, "b": WARN}, ["--fail-on", "warn"], 1, id="warn, fail on warn"),
        pytest.param({"a": PASS, "b": FAIL}, [], 1, id="fail"),
        pytest.param({"a": PASS, "b": FAIL}, ["--fail-on", "never"], 0, id="fail, fail on never"),
        pytest.param({"a": PASS}, [], 0, id="one inconclusive"),
        pytest.param({"b": FAIL}, [], 1, id="one inconclusive, one fail"),
        pytest.param({"z": PASS}, [], 3, id="all inconclusive"),
        pytest.param({"z": PASS}, ["--fail-on", "never"], 3, id="all inconclusive, fail on never"),
        pytest.param({"z": PASS}, ["--fail-on", "warn"], 1, id="all inconclusive, fail on warn"),
        pytest.param({"a": PASS, "b": FAIL}, ["--cases", "a"], 0, id="the failing case left out"),
        pytest.param({"a": PASS, "b": FAIL}, ["--cases", "x*"], 4, id="no case"),
        pytest.param({"a": PASS}, ["--cases", "x*", "--allow-empty"], 0, id="no case, allowed"),
    ],
)
def test_exit_codes_are_those_of_regress_run(
    bench: Bench, tmp_path: Path, candidates: dict[str, JsonObject], options: list[str], code: int
) -> None:
    folder = write_suite(bench.suites_root, "s", alike("old", ["a", "b"]), candidates)
    assert pipeline_run("s", *options).exit_code == code
    assert regress("run", folder, "--store", tmp_path / "other", *options).exit_code == code


@pytest.mark.usefixtures("shop")
def test_a_run_of_no_case_leaves_no_evaluation(bench: Bench) -> None:
    result = pipeline_run("shop", "--cases", "x*")
    assert "nothing was evaluated" in result.stderr
    assert bench.run_ids() == []
    assert evaluation_states(bench.store) == {}


@pytest.mark.usefixtures("shop")
def test_dagster_is_at_home_in_the_store_whatever_the_environment_says(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()

    assert pipeline_run("shop", "--store", tmp_path / "fresh").exit_code == 0

    assert list((tmp_path / "other").iterdir()) == []
    assert bench.run_ids() == []  # another store
    assert (tmp_path / "fresh" / "dagster" / "history" / "runs.db").is_file()
    config = yaml.safe_load((tmp_path / "fresh" / "dagster" / "dagster.yaml").read_text(encoding="utf-8"))
    assert config["telemetry"] == {"enabled": False}


@pytest.mark.usefixtures("shop")
def test_a_dagster_yaml_that_is_there_stays(bench: Bench) -> None:
    config = bench.store / "dagster" / "dagster.yaml"
    config.write_text("telemetry:\n  enabled: false\n# mine\n", encoding="utf-8")
    pipeline_run("shop")
    assert config.read_text(encoding="utf-8").endswith("# mine\n")


def test_more_than_300_cases_are_cut_into_runs_of_one_evaluation(bench: Bench) -> None:
    cases = [f"case-{number:03}" for number in range(302)]
    write_suite(bench.suites_root, "many", alike("old", cases), alike("new", cases))

    result = pipeline_run("many")

    assert result.exit_code == 0
    [(evaluation_id, state)] = evaluation_states(bench.store).items()
    assert state == ("finished", 1)
    runs = [bench.read(run_id) for run_id in bench.run_ids()]
    assert [run.run_id for run in runs] == result.stdout.splitlines()[-1].removeprefix(
        "Dagster runs: "
    ).split(", ")
    assert [run.evaluation_id() for run in runs] == [evaluation_id, evaluation_id]
    assert [set(run.of("case_summaries")) for run in runs] == [set(cases[:300]), set(cases[300:])]
    assert [len(run.case_checks) for run in runs] == [300, 2]
    complete = [run.of("suite_summary")[None].metadata["complete"] for run in runs]
    assert complete == [False, True]
    for asset in CASE_ASSETS:
        assert bench.materialized("many", asset) == set(cases), asset
    assert len(outcome_rows(bench.store)) == 302
    assert _latest_summary(bench)["totals"]["cases"] == 302


def _evaluated(bench: Bench, *, since: list[str]) -> list[str | None]:
    """List the cases that the runs after `since` evaluated, in order; the runs must have succeeded."""
    runs = [bench.read(run_id) for run_id in bench.run_ids()[len(since) :]]
    assert {run.status for run in runs} == {"SUCCESS"}
    return [case for run in runs for case in run.of("comparisons")]


class TestPartitionsThatAreNotEvaluated:
    """A run covers every partition between its first and its last; some of these are none of its business."""

    def test_an_orphan_is_left_out(self, bench: Bench, shop: Path) -> None:
        pipeline_run("shop")
        before = bench.run_ids()
        (shop / "records" / "b.json").unlink()

        result = pipeline_run("shop")

        assert result.exit_code == 0
        assert "candidate records without a baseline: b" in result.stdout
        assert [case["caseId"] for case in _latest_summary(bench)["cases"]] == ["a", "c"]
        assert _evaluated(bench, since=before) == ["a", "c"]
        assert bench.statuses("shop", "comparisons") == dict.fromkeys(CASES, "MATERIALIZED")

    def test_orphans_at_both_ends(self, bench: Bench, shop: Path) -> None:
        pipeline_run("shop")
        before = bench.run_ids()
        (shop / "records" / "a.json").unlink()
        (shop / "records" / "c.json").unlink()

        assert pipeline_run("shop").exit_code == 0
        assert _evaluated(bench, since=before) == ["b"]

    @pytest.mark.parametrize("why", ["orphan", "not selected"])
    def test_they_keep_their_status_when_the_run_fails(self, bench: Bench, shop: Path, why: str) -> None:
        """Dagster turns a partition failed that a failing run plans and does not yield."""
        pipeline_run("shop")
        (shop / "candidate" / "c.json").unlink()
        if why == "orphan":
            (shop / "records" / "b.json").unlink()
        pipeline_run("shop", *([] if why == "orphan" else ["--cases", "a", "--cases", "c"]))

        assert bench.read(bench.run_ids()[-1]).status == "FAILURE"
        assert bench.statuses("shop", "comparisons") == {
            "a": "MATERIALIZED",
            "b": "MATERIALIZED",
            "c": "FAILED",
        }

    @pytest.mark.usefixtures("shop")
    def test_only_the_selected_cases_are_evaluated(self, bench: Bench) -> None:
        assert pipeline_run("shop", "--cases", "a", "--cases", "c").exit_code == 0
        assert pipeline_run("shop", "--cases", "b").exit_code == 0
        assert _evaluated(bench, since=[]) == ["a", "c", "b"]


def test_a_case_added_later_gets_its_partition(bench: Bench, shop: Path) -> None:
    pipeline_run("shop")
    for side in ("records", "candidate"):
        write_records(shop / side, {"Added": record_json(runId=side)})

    assert pipeline_run("shop").exit_code == 0
    assert bench.materialized("shop", "comparisons") == {"a", "b", "c", "Added"}
    assert len(bench.run_ids()) == 2


class TestTheSameCommandAgain:
    """It takes an unfinished evaluation up and begins a new one after a finished one."""

    @pytest.mark.usefixtures("shop")
    def test_after_a_finished_evaluation_it_is_a_new_one(self, bench: Bench) -> None:
        pipeline_run("shop")
        pipeline_run("shop")

        assert sorted(evaluation_states(bench.store).values()) == [("finished", 1)] * 2
        first, second = (bench.read(run_id) for run_id in bench.run_ids())
        assert first.evaluation_id() != second.evaluation_id()
        for run in (first, second):
            assert {event.metadata["resumed"] for event in run.of("comparisons").values()} == {False}

    @pytest.mark.usefixtures("shop")
    def test_an_unfinished_evaluation_goes_on(self, bench: Bench) -> None:
        evaluation_id = bench.enter_plan("shop")
        bench.register("shop", CASES)
        bench.run("shop", "a", config={"evaluation_id": evaluation_id})
        before = outcome_rows(bench.store)

        result = pipeline_run("shop")

        assert result.exit_code == 0
        assert f"evaluation {evaluation_id}" in result.stdout
        assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
        assert revisions(bench.store, evaluation_id) == {"a": [1], "b": [1], "c": [1]}
        assert [row for row in outcome_rows(bench.store) if row.case_id == "a"] == before
        run = bench.read(bench.run_ids()[-1])
        assert {case: event.metadata["resumed"] for case, event in run.of("comparisons").items()} == {
            "a": True,
            "b": False,
            "c": False,
        }

    @pytest.mark.usefixtures("shop")
    def test_fresh_begins_a_new_one_and_leaves_the_unfinished_one(self, bench: Bench) -> None:
        evaluation_id = bench.enter_plan("shop")

        assert pipeline_run("shop", "--fresh").exit_code == 0

        states = evaluation_states(bench.store)
        assert states.pop(evaluation_id) == ("running", 1)
        [(other, state)] = states.items()
        assert state == ("finished", 1)
        assert bench.read(bench.run_ids()[-1]).evaluation_id() == other

    def test_a_changed_candidate_is_another_plan(self, bench: Bench, shop: Path) -> None:
        evaluation_id = bench.enter_plan("shop")
        write_records(shop / "candidate", {"a": WARN})

        pipeline_run("shop")

        assert evaluation_states(bench.store)[evaluation_id] == ("running", 1)
        assert len(evaluation_states(bench.store)) == 2

    def test_regress_run_takes_up_what_dagster_left(self, bench: Bench, shop: Path) -> None:
        evaluation_id = bench.enter_plan("shop")
        bench.register("shop", CASES)
        bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})

        assert regress("run", shop).exit_code == 0
        assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
        assert revisions(bench.store, evaluation_id) == {"a": [1], "b": [1], "c": [1]}

    def test_trouble_that_may_have_passed_is_met_again(self, bench: Bench, shop: Path) -> None:
        """The plain command reopens a finished evaluation for retryable trouble only."""
        evaluation_id = bench.enter_plan("shop")
        bench.register("shop", CASES)
        file = shop / "candidate" / "b.json"
        file.rename(shop / "b.json")
        bench.run("shop", "a", "c", config={"evaluation_id": evaluation_id})
        assert evaluation_states(bench.store) == {evaluation_id: ("finished", 1)}
        (shop / "b.json").rename(file)

        assert pipeline_run("shop").exit_code == 0

        assert evaluation_states(bench.store) == {evaluation_id: ("finished", 2)}
        assert revisions(bench.store, evaluation_id) == {"a": [1], "b": [1, 2], "c": [1]}
        assert bench.statuses("shop", "comparisons") == dict.fromkeys(CASES, "MATERIALIZED")


def test_bad_input_is_one_line_and_exit_2(bench: Bench, shop: Path) -> None:
    (shop / "candidate" / "b.json").write_text('{"runId": NaN}', encoding="utf-8")

    done = run_here(bench, "pipeline", "run", "shop")

    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith(f"regress: {shop / 'candidate' / 'b.json'}: $.runId: case b: ")
    assert done.stdout == ""
    assert bench.run_ids() == []
    assert not (bench.store / "journal.sqlite").exists()


@pytest.mark.usefixtures("shop")
def test_a_store_whose_parent_is_a_file_is_one_line_and_exit_2(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = run_here(bench, "pipeline", "run", "shop", "--store", tmp_path / "file" / "store")

    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert str(tmp_path / "file" / "store") in line
    assert "--store" in line


@pytest.mark.usefixtures("shop")
def test_off_a_terminal_progress_is_plain_lines_on_stderr_and_no_log_of_dagster(bench: Bench) -> None:
    done = run_here(bench, "pipeline", "run", "shop")

    assert done.returncode == 0
    [(evaluation_id, _)] = evaluation_states(bench.store).items()
    assert done.stderr.splitlines() == [
        f"evaluation {evaluation_id}: 3 cases",
        "  1 of 3 cases done",
        "  2 of 3 cases done",
        "  3 of 3 cases done",
    ]
