"""A passing, a failing and an inconclusive case in one Dagster run, and its re-execution."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.bench import CASE_ASSETS, Bench, Check, everything_of
from tests.pipeline.builders import (
    alike,
    evaluation_states,
    failed,
    read_json,
    revisions,
    sha256,
    write_suite,
)
from tests.support.records import record_json

CASES = ["fails", "lost", "passes"]  # "lost" has no candidate record
DECIDED = {"fails", "passes"}


@pytest.fixture
def suite(bench: Bench) -> Path:
    candidates = {"fails": failed("new-fails"), "passes": record_json(runId="new-passes")}
    folder = write_suite(bench.suites_root, "orders-eu", alike("old", CASES), candidates)
    bench.register("orders-eu", CASES)
    return folder


@pytest.mark.usefixtures("suite")
def test_which_assets_are_materialized_for_which_case(bench: Bench) -> None:
    run = bench.run("orders-eu", "fails", "passes")

    assert run.status == "FAILURE"
    assert bench.materialized("orders-eu", "baseline_records") == {"fails", "lost", "passes"}
    for asset in CASE_ASSETS[1:]:
        assert bench.materialized("orders-eu", asset) == DECIDED, asset
    assert run.partitions() == {
        "baseline_records": {"fails", "lost", "passes"},
        **dict.fromkeys(CASE_ASSETS[1:], DECIDED),
        "suite_summary": {None},
    }


@pytest.mark.usefixtures("suite")
def test_what_dagster_shows_for_each_partition(bench: Bench) -> None:
    bench.run("orders-eu", "fails", "passes")

    decided = {"fails": "MATERIALIZED", "passes": "MATERIALIZED"}
    assert bench.statuses("orders-eu", "baseline_records") == {**decided, "lost": "MATERIALIZED"}
    for asset in CASE_ASSETS[1:]:
        assert bench.statuses("orders-eu", asset) == {**decided, "lost": "FAILED"}, asset


@pytest.mark.usefixtures("suite")
def test_the_check_carries_the_verdict_of_each_conclusive_case(bench: Bench) -> None:
    run = bench.run("orders-eu", "fails", "passes")

    reasons = "candidate failed: ToolError: no such order"
    assert {check.partition: check for check in run.case_checks} == {
        "fails": Check(
            name="no_regression",
            asset="case_summaries",
            partition="fails",
            passed=False,
            severity="ERROR",
            metadata={"status": "fail", "reasons": f"- {reasons}", "verdict": "none"},
        ),
        "passes": Check(
            name="no_regression",
            asset="case_summaries",
            partition="passes",
            passed=True,
            severity="WARN",  # says nothing where the check passed
            metadata={"status": "pass", "reasons": "none", "verdict": "none"},
        ),
    }
    assert len(run.case_checks) == 2


def test_a_warned_case_fails_its_check_as_a_warning_and_not_the_run(bench: Bench) -> None:
    candidates = {"warns": record_json(response="It is under way.")}
    write_suite(bench.suites_root, "s", {"warns": record_json()}, candidates)
    bench.register("s", ["warns"])

    run = bench.run("s", "warns")

    assert run.status == "SUCCESS"
    [check] = run.case_checks
    assert (check.partition, check.passed, check.severity) == ("warns", False, "WARN")
    assert check.metadata["status"] == "warn"


def test_a_failing_case_does_not_fail_the_run(bench: Bench) -> None:
    write_suite(bench.suites_root, "s", alike("old", ["fails"]), {"fails": failed("new")})
    bench.register("s", ["fails"])
    assert bench.run("s", "fails").status == "SUCCESS"


@pytest.mark.usefixtures("suite")
def test_the_run_says_which_case_was_inconclusive_and_why(bench: Bench) -> None:
    run = bench.run("orders-eu", "fails", "passes")
    assert run.failure == "1 inconclusive: lost: no candidate record"
    assert run.failure_metadata == {"lost": "no candidate record"}


def test_metadata_and_data_versions(bench: Bench, suite: Path) -> None:
    run = bench.run("orders-eu", "fails", "passes")

    old, new = sha256(suite / "records" / "fails.json"), sha256(suite / "candidate" / "fails.json")
    common = {
        "evaluation_id": run.evaluation_id(),
        "candidate": "orders-eu@2",
        "revision": 1,
        "resumed": False,
    }
    reasons = "candidate failed: ToolError: no such order"
    files = [str(suite / folder / "fails.json") for folder in ("records", "candidate")]
    shown = {asset: dict(run.of(asset)["fails"].metadata) for asset in CASE_ASSETS}
    assert shown["case_summaries"].pop("duration_s") > 0
    assert shown == {
        "baseline_records": {**common, "run_id": "old-fails", "sha256": old, "file": files[0]},
        "candidate_records": {**common, "run_id": "new-fails", "sha256": new, "file": files[1]},
        "comparisons": {**common, "equal": False, "signals": "statusChanged", "trajectory": "same"},
        "judge_results": {**common, "judge": "none", "cost_usd": 0.0},
        "case_summaries": {
            **common,
            "status": "fail",
            "reasons": f"- {reasons}",
            "signals": "statusChanged",
            "trajectory": "same",
            "verdict": "none",
            "failed_checks": "none",
            "cost_usd": 0.0,
            "baseline_file": files[0],
            "candidate_file": files[1],
        },
    }
    for case in CASES:
        version = sha256(suite / "records" / f"{case}.json")
        assert run.of("baseline_records")[case].data_version == version
    for case in DECIDED:
        version = sha256(suite / "candidate" / f"{case}.json")
        assert run.of("candidate_records")[case].data_version == version


def test_what_is_made_of_both_records_has_a_version_that_changes_with_either(
    bench: Bench, suite: Path
) -> None:
    first = bench.run("orders-eu", "passes").of("comparisons")["passes"].data_version
    again = bench.run("orders-eu", "passes").of("comparisons")["passes"].data_version
    (suite / "candidate" / "passes.json").write_bytes(
        b" " + (suite / "candidate" / "passes.json").read_bytes()
    )
    candidate_changed = bench.run("orders-eu", "passes").of("comparisons")["passes"].data_version
    (suite / "records" / "passes.json").write_bytes(b" " + (suite / "records" / "passes.json").read_bytes())
    both_changed = bench.run("orders-eu", "passes").of("comparisons")["passes"].data_version

    assert first is not None
    assert again == first
    assert len({first, candidate_changed, both_changed}) == 3


@pytest.mark.usefixtures("suite")
def test_the_suite_summary_is_materialized_although_the_run_fails(bench: Bench) -> None:
    run = bench.run("orders-eu", "fails", "passes")

    [summary] = run.of("suite_summary").values()
    metadata = dict(summary.metadata)
    outputs = Path(metadata.pop("outputs"))
    assert metadata.pop("plot").startswith("![last evaluations](data:image/svg+xml;base64,")
    assert metadata.pop("last_evaluations").count("\n") == 2  # this one only
    assert metadata == {
        "evaluation_id": run.evaluation_id(),
        "candidate": "orders-eu@2",
        "complete": True,
        "status": "fail",
        "gate": "fail",
        "planned": 3,
        "cases": 3,
        "passed": 1,
        "warned": 1,
        "failed": 1,
        "inconclusive": 1,
        "gate_reasons": "- 1 of 3 cases failed\n- 1 of 3 cases inconclusive",
        "candidate_usd": 0.0,
        "judge_usd": 0.0,
        "saved_by_cache_usd": 0.0,
        "trigger": "pipeline",
        "trend": "no decline",
    }
    written = read_json(bench.store / "outputs" / run.evaluation_id() / "summary.json")
    assert read_json(outputs / "summary.json") == written
    assert {case["caseId"]: case["status"] for case in written["cases"]} == {
        "fails": "fail",
        "lost": "warn",
        "passes": "pass",
    }


@pytest.mark.usefixtures("suite")
def test_a_reexecution_evaluates_the_inconclusive_case_only(bench: Bench) -> None:
    first = bench.run("orders-eu", "fails", "passes")
    again = bench.reexecute("orders-eu", first.run_id)

    assert again.run_id != first.run_id
    assert again.evaluation_id() == first.evaluation_id()
    assert again.status == "FAILURE"
    assert again.partitions() == first.partitions()
    for asset in CASE_ASSETS:
        for case in DECIDED:
            event = again.of(asset)[case]
            assert (event.metadata["resumed"], event.metadata["revision"]) == (True, 1), (asset, case)
            assert event.data_version == first.of(asset)[case].data_version
    lost = again.of("baseline_records")["lost"]
    assert (lost.metadata["resumed"], lost.metadata["revision"]) == (False, 2)
    assert {check.partition: check for check in again.case_checks} == {
        check.partition: check for check in first.case_checks
    }
    assert again.of("suite_summary")[None].metadata["complete"] is True
    assert revisions(bench.store, first.evaluation_id()) == {"fails": [1], "lost": [1, 2], "passes": [1]}
    assert evaluation_states(bench.store) == {first.evaluation_id(): ("finished", 2)}


@pytest.mark.usefixtures("suite")
def test_a_reexecution_of_a_reexecution_is_the_third_revision(bench: Bench) -> None:
    first = bench.run("orders-eu", "fails", "passes")
    second = bench.reexecute("orders-eu", first.run_id)
    third = bench.reexecute("orders-eu", second.run_id)

    assert third.evaluation_id() == first.evaluation_id()
    assert revisions(bench.store, first.evaluation_id()) == {"fails": [1], "lost": [1, 2, 3], "passes": [1]}


def test_a_reexecution_after_the_trouble_has_passed_materializes_the_rest(bench: Bench, suite: Path) -> None:
    evaluation_id = bench.enter_plan("orders-eu")
    file, elsewhere = suite / "candidate" / "passes.json", suite / "passes.json"
    file.rename(elsewhere)
    first = bench.run("orders-eu", "fails", "passes", config={"evaluation_id": evaluation_id})
    assert set(first.failure_metadata) == {"lost", "passes"}
    assert bench.statuses("orders-eu", "comparisons")["passes"] == "FAILED"

    elsewhere.rename(file)
    again = bench.reexecute("orders-eu", first.run_id)

    assert again.failure_metadata == {"lost": "no candidate record"}
    assert again.of("case_summaries")["passes"].metadata["status"] == "pass"
    assert bench.statuses("orders-eu", "comparisons")["passes"] == "MATERIALIZED"
    assert revisions(bench.store, evaluation_id) == {"fails": [1], "lost": [1, 2], "passes": [1, 2]}


def test_a_run_whose_every_case_is_conclusive_reexecutes_nothing(bench: Bench) -> None:
    write_suite(bench.suites_root, "s", alike("old", ["a", "b"]), alike("new", ["a", "b"]))
    bench.register("s", ["a", "b"])
    first = bench.run("s", "a", "b")

    again = bench.reexecute("s", first.run_id)

    assert again.status == "SUCCESS"
    assert {event.metadata.get("resumed") for event in again.materializations if event.partition} == {True}
    assert revisions(bench.store, first.evaluation_id()) == {"a": [1], "b": [1]}
    assert evaluation_states(bench.store) == {first.evaluation_id(): ("finished", 1)}


def test_text_that_no_database_likes_reaches_dagster(bench: Bench) -> None:
    strange = "\x1b[31m\x00\ud800\u2028"
    candidates = {"a": record_json(runId=f"new{strange}", response=f"On its way{strange}")}
    write_suite(bench.suites_root, "s", alike("old", ["a"]), candidates)
    bench.register("s", ["a"])

    run = bench.run("s", "a")

    assert run.status == "SUCCESS"
    assert run.partitions() == everything_of({"a"})


def test_a_baseline_with_an_empty_run_id_is_materialized_like_any_other(bench: Bench) -> None:
    write_suite(bench.suites_root, "s", {"a": record_json(runId="")}, {"a": record_json(runId="")})
    bench.register("s", ["a"])
    assert bench.run("s", "a").partitions() == everything_of({"a"})
