"""Runs as the user interface starts them: a range of partitions, a selection of assets, little config."""

from __future__ import annotations

from pathlib import Path

import pytest

from regress_core.records.json_io import loads
from tests.pipeline.bench import BACKFILL, CASE_ASSETS, Bench, everything_of
from tests.pipeline.builders import (
    alike,
    evaluation_states,
    failed,
    outcome_rows,
    read_json,
    revisions,
    write_suite,
)
from tests.support.records import record_json
from tests.support.suites import write_records

CASES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def suite(bench: Bench) -> Path:
    folder = write_suite(bench.suites_root, "shop", alike("old", CASES), alike("new", CASES))
    bench.register("shop", CASES)
    return folder


def _cases(bench: Bench, evaluation_id: str) -> list[str]:
    """List the cases in the outputs of a published evaluation."""
    summary = read_json(bench.store / "outputs" / evaluation_id / "summary.json")
    return [case["caseId"] for case in summary["cases"]]


def test_a_run_without_an_id_is_an_evaluation_over_its_partitions(bench: Bench) -> None:
    run = bench.run("shop", "b", "c")

    assert run.status == "SUCCESS"
    assert run.partitions() == everything_of({"b", "c"})
    assert run.of("suite_summary")[None].metadata["planned"] == 2
    assert run.of("suite_summary")[None].metadata["complete"] is True
    assert _cases(bench, run.evaluation_id()) == ["b", "c"]
    assert evaluation_states(bench.store) == {run.evaluation_id(): ("finished", 1)}


def test_a_run_of_one_partition(bench: Bench) -> None:
    run = bench.run("shop", tags={"dagster/partition": "b"})
    assert run.partitions() == everything_of({"b"})


def test_each_run_without_an_id_is_an_evaluation_of_its_own(bench: Bench) -> None:
    ids = [bench.run("shop", *range_).evaluation_id() for range_ in (("a", "b"), ("c", "d"), ("a", "b"))]

    assert len(set(ids)) == 3
    assert [_cases(bench, evaluation_id) for evaluation_id in ids] == [["a", "b"], ["c", "d"], ["a", "b"]]


def test_the_id_comes_from_the_run_so_that_its_reexecution_finds_it(bench: Bench, suite: Path) -> None:
    (suite / "candidate" / "b.json").unlink()
    first = bench.run("shop", "a", "b")
    again = bench.reexecute("shop", first.run_id)

    assert again.evaluation_id() == first.evaluation_id()
    assert revisions(bench.store, first.evaluation_id()) == {"a": [1], "b": [1, 2]}


def test_a_reexecution_leaves_the_inconclusive_cases_of_other_runs_alone(bench: Bench, suite: Path) -> None:
    """What the run does not evaluate, nobody would do again: it stands."""
    for case in "bc":
        (suite / "candidate" / f"{case}.json").unlink()
    evaluation_id = bench.enter_plan("shop")
    told = {"evaluation_id": evaluation_id}
    bench.run("shop", "c", "c", config=told)
    first = bench.run("shop", "a", "b", config=told)

    bench.reexecute("shop", first.run_id)
    assert revisions(bench.store, evaluation_id) == {"a": [1], "b": [1], "c": [1]}
    bench.run("shop", "d", "d", config=told)
    assert evaluation_states(bench.store)[evaluation_id] == ("finished", 1)

    bench.reexecute("shop", first.run_id)
    assert evaluation_states(bench.store)[evaluation_id] == ("finished", 2)
    assert revisions(bench.store, evaluation_id) == {"a": [1], "b": [1, 2], "c": [1, 2], "d": [1]}
    (again,) = [row for row in outcome_rows(bench.store) if (row.case_id, row.revision) == ("c", 2)]
    assert loads(again.payload.encode())["trouble"]["code"] == "no candidate record"


def test_an_id_joins_the_evaluation_which_is_complete_once_all_its_cases_are(bench: Bench) -> None:
    evaluation_id = bench.enter_plan("shop")

    first = bench.run("shop", "a", "b", config={"evaluation_id": evaluation_id})
    assert first.evaluation_id() == evaluation_id
    half = first.of("suite_summary")[None].metadata
    assert (half["complete"], half["planned"], half["cases"]) == (False, 4, 2)
    assert not (bench.store / "outputs" / evaluation_id).exists()
    assert evaluation_states(bench.store)[evaluation_id] == ("running", 1)

    second = bench.run("shop", "b", "d", config={"evaluation_id": evaluation_id})
    whole = second.of("suite_summary")[None].metadata
    assert (whole["complete"], whole["planned"], whole["cases"]) == (True, 4, 4)
    assert {case: event.metadata["resumed"] for case, event in second.of("comparisons").items()} == {
        "b": True,
        "c": False,
        "d": False,
    }
    assert _cases(bench, evaluation_id) == CASES
    assert len(outcome_rows(bench.store)) == 4


def test_partitions_outside_the_plan_are_left_alone(bench: Bench) -> None:
    evaluation_id = bench.enter_plan("shop", ["b", "c"])
    run = bench.run("shop", "a", "d", config={"evaluation_id": evaluation_id})

    assert run.status == "SUCCESS"
    assert run.partitions() == everything_of({"b", "c"})


def test_an_unknown_id_is_a_failure_that_names_it(bench: Bench) -> None:
    run = bench.run("shop", "a", "b", config={"evaluation_id": "0199-none"})

    assert run.status == "FAILURE"
    assert run.failure == "evaluation_id: no evaluation 0199-none in this store"
    assert run.materializations == ()
    assert evaluation_states(bench.store) == {}


def test_an_id_of_another_suites_evaluation_is_a_failure_that_names_it(bench: Bench) -> None:
    write_suite(bench.suites_root, "bank", alike("old", CASES), {"a": failed("new")})
    bench.register("bank", CASES)
    other = bench.run("bank", "a").evaluation_id()

    run = bench.run("shop", "a", "b", config={"evaluation_id": other})

    assert run.status == "FAILURE"
    assert other in run.failure
    assert run.materializations == ()
    assert run.case_checks == ()


def test_the_plan_in_the_journal_counts_not_what_the_files_say_by_now(bench: Bench, suite: Path) -> None:
    evaluation_id = bench.enter_plan("shop")
    (suite / "candidate.yaml").unlink()

    run = bench.run("shop", "a", "d", config={"evaluation_id": evaluation_id})

    assert run.failure == ""
    assert run.of("comparisons").keys() == {"a", "b", "c", "d"}


def test_a_candidate_in_the_config(bench: Bench, tmp_path: Path) -> None:
    write_records(tmp_path / "nightly", {"a": failed("nightly-a")})
    (tmp_path / "nightly.yaml").write_text("records: nightly\nlabel: nightly@7\n", encoding="utf-8")

    run = bench.run("shop", "a", config={"candidate": str(tmp_path / "nightly.yaml")})

    assert run.of("candidate_records")["a"].metadata["run_id"] == "nightly-a"
    assert run.of("suite_summary")[None].metadata["candidate"] == "nightly@7"
    assert [check.passed for check in run.case_checks] == [False]


def test_a_candidate_that_is_not_there_is_a_failure_that_names_it(bench: Bench, tmp_path: Path) -> None:
    run = bench.run("shop", "a", config={"candidate": str(tmp_path / "nightly.yaml")})

    assert run.status == "FAILURE"
    assert run.failure.startswith(f"{tmp_path / 'nightly.yaml'}: no such file")
    assert evaluation_states(bench.store) == {}


def test_a_bad_record_is_a_failure_that_names_file_and_field(bench: Bench, suite: Path) -> None:
    (suite / "records" / "d.json").write_text('{"runId": 3}', encoding="utf-8")

    run = bench.run("shop", "a", "b")

    assert run.status == "FAILURE"
    assert run.failure.startswith(f"{suite / 'records' / 'd.json'}: $.")
    assert "case d" in run.failure
    assert evaluation_states(bench.store) == {}


@pytest.mark.parametrize(
    "assets",
    [
        ["comparisons"],
        ["baseline_records", "candidate_records"],
        ["judge_results", "suite_summary"],
        ["case_summaries"],
    ],
    ids=" ".join,
)
def test_a_run_of_some_assets_yields_only_those(bench: Bench, assets: list[str]) -> None:
    run = bench.run("shop", "a", "b", assets=assets)

    assert run.status == "SUCCESS"
    expected = {asset: {None} if asset == "suite_summary" else {"a", "b"} for asset in assets}
    assert run.partitions() == expected
    assert {check.partition for check in run.case_checks} == (
        {"a", "b"} if "case_summaries" in assets else set()
    )


def test_a_nightly_run_leaves_the_baselines_out(bench: Bench) -> None:
    bench.run("shop", "a", "d")
    nightly = bench.run("shop", "a", "d", assets=[*CASE_ASSETS[1:], "suite_summary"])

    assert nightly.status == "SUCCESS"
    assert nightly.partitions().keys() == {*CASE_ASSETS[1:], "suite_summary"}
    assert nightly.of("case_summaries").keys() == set(CASES)


def test_the_suite_summary_alone_is_rebuilt_from_the_journal(bench: Bench) -> None:
    evaluation_id = bench.run("shop", "a", "d").evaluation_id()

    run = bench.run("shop", assets=["suite_summary"], config={"evaluation_id": evaluation_id})

    assert run.failure == ""
    assert run.partitions() == {"suite_summary": {None}}
    metadata = run.of("suite_summary")[None].metadata
    assert (metadata["evaluation_id"], metadata["complete"], metadata["cases"]) == (evaluation_id, True, 4)


def test_the_suite_summary_alone_is_of_the_latest_evaluation(bench: Bench) -> None:
    bench.run("shop", "a", "d")
    latest = bench.run("shop", "a", "b").evaluation_id()

    run = bench.run("shop", assets=["suite_summary"])

    assert run.failure == ""
    assert run.of("suite_summary")[None].metadata["evaluation_id"] == latest


class TestOrphans:
    """Partitions whose case is no longer in the suite."""

    def test_they_are_not_evaluated(self, bench: Bench, suite: Path) -> None:
        (suite / "records" / "b.json").unlink()
        run = bench.run("shop", "a", "d")

        assert run.status == "SUCCESS"
        assert run.of("comparisons").keys() == {"a", "c", "d"}
        assert _cases(bench, run.evaluation_id()) == ["a", "c", "d"]

    def test_as_ends_of_the_range(self, bench: Bench, suite: Path) -> None:
        (suite / "records" / "a.json").unlink()
        (suite / "records" / "d.json").unlink()
        run = bench.run("shop", "a", "d")

        assert run.status == "SUCCESS"
        assert run.of("comparisons").keys() == {"b", "c"}

    def test_a_run_of_nothing_else_is_a_failure_and_no_evaluation(self, bench: Bench, suite: Path) -> None:
        """Invariant 5: no cases are never a success."""
        (suite / "records" / "b.json").unlink()
        run = bench.run("shop", "b")

        assert run.status == "FAILURE"
        assert run.materializations == ()
        assert evaluation_states(bench.store) == {}


class TestBackfills:
    """Runs that share the tag of a backfill that the instance holds.

    Dagster's daemon gives each unbroken range of partitions a run, and suite_summary, which has none, a run
    of its own.
    """

    def test_they_share_one_evaluation_over_all_its_partitions(self, bench: Bench) -> None:
        tags = {BACKFILL: bench.add_backfill("shop", ["a", "b", "d"])}

        first = bench.run("shop", "a", "b", assets=CASE_ASSETS, tags=tags)
        assert evaluation_states(bench.store) == {first.evaluation_id(): ("running", 1)}
        second = bench.run("shop", "d", assets=CASE_ASSETS, tags=tags)

        assert (first.status, second.status) == ("SUCCESS", "SUCCESS")
        assert (first.of("comparisons").keys(), second.of("comparisons").keys()) == ({"a", "b"}, {"d"})
        assert second.evaluation_id() == first.evaluation_id()
        assert evaluation_states(bench.store) == {first.evaluation_id(): ("finished", 1)}
        assert _cases(bench, first.evaluation_id()) == ["a", "b", "d"]

    def test_its_run_of_the_suite_summary_after_the_others(self, bench: Bench) -> None:
        tags = {BACKFILL: bench.add_backfill("shop", ["a", "d"])}
        evaluation_id = bench.run("shop", "a", assets=CASE_ASSETS, tags=tags).evaluation_id()
        bench.run("shop", "d", assets=CASE_ASSETS, tags=tags)

        run = bench.run("shop", assets=["suite_summary"], tags=tags)

        assert run.failure == ""
        assert run.partitions() == {"suite_summary": {None}}
        metadata = run.of("suite_summary")[None].metadata
        assert (metadata["complete"], metadata["planned"], metadata["cases"]) == (True, 2, 2)
        assert metadata["evaluation_id"] == evaluation_id

    def test_its_run_of_the_suite_summary_before_the_others(self, bench: Bench) -> None:
        tags = {BACKFILL: bench.add_backfill("shop", ["a", "d"])}

        run = bench.run("shop", assets=["suite_summary"], tags=tags)

        assert run.failure == ""
        metadata = run.of("suite_summary")[None].metadata
        assert (metadata["complete"], metadata["planned"], metadata["cases"]) == (False, 2, 0)
        later = bench.run("shop", "a", assets=CASE_ASSETS, tags=tags)
        assert later.evaluation_id() == metadata["evaluation_id"]

    def test_of_some_assets(self, bench: Bench) -> None:
        tags = {BACKFILL: bench.add_backfill("shop", ["a", "d"], assets=["comparisons"])}

        first = bench.run("shop", "a", assets=["comparisons"], tags=tags)
        assert evaluation_states(bench.store) == {first.evaluation_id(): ("running", 1)}  # "d" is planned too
        bench.run("shop", "d", assets=["comparisons"], tags=tags)

        assert first.partitions() == {"comparisons": {"a"}}
        assert evaluation_states(bench.store) == {first.evaluation_id(): ("finished", 1)}

    def test_another_backfill_is_another_evaluation(self, bench: Bench) -> None:
        ids = [
            bench.run("shop", "a", tags={BACKFILL: bench.add_backfill("shop", ["a"])}).evaluation_id()
            for _ in range(2)
        ]
        assert len(set(ids)) == 2

    def test_of_two_suites_is_an_evaluation_each(self, bench: Bench) -> None:
        write_suite(bench.suites_root, "bank", alike("old", ["a"]), alike("new", ["a"]))
        bench.register("bank", ["a"])
        backfill_id = bench.add_backfill("shop", ["a"])

        shop = bench.run("shop", "a", tags={BACKFILL: backfill_id})
        bank = bench.run("bank", "a", tags={BACKFILL: backfill_id})

        assert shop.evaluation_id() != bank.evaluation_id()
        assert bank.of("comparisons").keys() == {"a"}

    @pytest.mark.parametrize("kept", [True, False], ids=["tag kept", "tag dropped"])
    def test_a_reexecution_finds_the_evaluation(self, bench: Bench, suite: Path, *, kept: bool) -> None:
        """Dagster drops the tag from a re-execution once the backfill is complete."""
        (suite / "candidate" / "b.json").unlink()
        backfill_id = bench.add_backfill("shop", ["a", "b", "c", "d"])
        first = bench.run("shop", "a", "b", tags={BACKFILL: backfill_id})
        bench.run("shop", "c", "d", tags={BACKFILL: backfill_id})

        again = bench.reexecute("shop", first.run_id, without=[] if kept else [BACKFILL])

        assert again.evaluation_id() == first.evaluation_id()
        assert revisions(bench.store, first.evaluation_id()) == {"a": [1], "b": [1, 2], "c": [1], "d": [1]}
        assert again.of("comparisons")["a"].metadata["resumed"] is True


def test_a_case_added_to_the_suite_is_evaluated_once_it_is_registered(bench: Bench, suite: Path) -> None:
    write_records(suite / "records", {"e": record_json(runId="old-e")})
    write_records(suite / "candidate", {"e": record_json(runId="new-e")})

    assert bench.run("shop", "a", "d").of("comparisons").keys() == {"a", "b", "c", "d"}
    bench.register("shop", ["e"])
    assert bench.run("shop", "d", "e").of("comparisons").keys() == {"d", "e"}
