"""What suite_summary shows of the contracts of tools, whoever has entered the evaluation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regress_core.suite.loading import ignore_warnings
from regress_core.suite.selection import Selection
from regress_pipeline.launch import Wanted, enter, plan_wanted
from regress_pipeline.suites import suite_folder
from tests.pipeline.bench import Bench
from tests.support.candidates import HARNESS, write_candidate_suite

SHOWN = r"- tool cancel\_order of agent clerk: added"


@pytest.fixture
def shop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite whose candidate has a tool that the baseline's agent did not have."""
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the adapter's folder is added
    config = "name: shop\nbaseline: old.yaml\n"
    root = write_candidate_suite(bench.suites_root / "shop", {"a": "same", "b": "same"}, config=config)
    old = HARNESS.replace("[find_order, cancel_order]", "[find_order]")
    (root / "old.yaml").write_text(old, encoding="utf-8")
    bench.register("shop", ["a", "b"])
    return root


@pytest.mark.usefixtures("shop")
def test_a_run_that_enters_its_own_evaluation(bench: Bench) -> None:
    run = bench.run("shop", "a", "b")

    assert run.status == "SUCCESS"
    assert run.of("suite_summary")[None].metadata["contracts"] == SHOWN


def test_runs_of_an_evaluation_that_the_command_has_entered(bench: Bench, shop: Path) -> None:
    wanted = Wanted(suite_folder(shop), None, Selection())
    plan = plan_wanted(wanted, bench.settings, trigger="pipeline", warn=ignore_warnings)
    assert plan is not None
    config = {"evaluation_id": enter(plan, bench.settings).evaluation_id}

    runs = [bench.run("shop", case, case, config=config) for case in "ab"]

    assert [run.of("suite_summary")[None].metadata["contracts"] for run in runs] == [SHOWN, SHOWN]


def test_where_nothing_changed_nothing_is_shown(bench: Bench, shop: Path) -> None:
    (shop / "old.yaml").write_text(HARNESS, encoding="utf-8")

    run = bench.run("shop", "a", "b")

    assert "contracts" not in run.of("suite_summary")[None].metadata
