"""Several trials of each case: which one counts, what is written of the others, and which run again."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regress_core.evaluation.events import CaseDone, CaseStarted, Event
from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import exit_code
from tests.evaluation.support import Log, by_case, evaluated, plan_of, resumed, run, taken_up
from tests.support.candidates import Does, asked, write_candidate_suite, write_script
from tests.support.suites import tree

THREE = "name: shop\ntrials: 3\n"


@dataclass(frozen=True)
class Case:
    """What three trials do, and what that comes to."""

    does: Sequence[Does]
    status: str
    counted: int
    totals: tuple[int, int, int, int]
    inconclusive: bool = False

    @property
    def pass_rate(self) -> float | None:
        """The share of the conclusive trials that did not fail."""
        passed, warned, failed, _ = self.totals
        return (passed + warned) / (passed + warned + failed) if passed + warned + failed else None


CASES = {
    "all-pass": Case(["same", "same", "same"], "pass", 1, (3, 0, 0, 0)),
    "one-fails": Case(["same", "down", "raises"], "fail", 3, (1, 0, 1, 1)),
    "two-fail": Case(["reworded", "raises", "strays"], "fail", 2, (0, 1, 2, 0)),
    "one-is-down": Case(["reworded", "same", "down"], "warn", 3, (1, 1, 0, 1), inconclusive=True),
    "two-warn": Case(["same", "no_tool", "reworded"], "warn", 2, (1, 2, 0, 0)),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with suite, store and out of one evaluation of `CASES`."""
    place = tmp_path_factory.mktemp("trials")
    root = write_candidate_suite(
        place / "suite", {name: case.does for name, case in CASES.items()}, config=THREE
    )
    evaluated(root, place / "store", out=place / "out")
    return place


def read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_summary_has_the_trial_that_counts(place: Path, name: str) -> None:
    case = CASES[name]

    (entry,) = [case for case in read(place / "out" / "summary.json")["cases"] if case["caseId"] == name]

    passed, warned, failed, inconclusive = case.totals
    assert (entry["status"], entry["inconclusive"]) == (case.status, case.inconclusive)
    assert entry["trials"] == {
        "passed": passed,
        "warned": warned,
        "failed": failed,
        "inconclusive": inconclusive,
        "counted": case.counted,
        "passRate": case.pass_rate,
        "flaky": case.pass_rate not in (0.0, 1.0, None),
    }
    assert all(reason.startswith(f"trial {case.counted} of 3 counts (") for reason in entry["reasons"][:1])
    assert bool(entry["reasons"]) == (case.status != "pass")


def test_totals_count_cases(place: Path) -> None:
    summary = read(place / "out" / "summary.json")

    assert summary["totals"] == {"cases": 5, "passed": 1, "warned": 2, "failed": 2, "inconclusive": 1}
    (row,) = History.open(place / "store").table("evaluations").to_pylist()
    assert (row["trials"], row["cases"], row["pass_rate"]) == (3, 5, 0.5)


def test_files_of_the_other_trials_have_their_number(place: Path) -> None:
    names: set[str] = {"summary.json"}
    for name, case in CASES.items():
        names.add(f"results/{name}.result.json")
        for number, does in enumerate(case.does, start=1):
            stem = name if number == case.counted else f"{name}~{number}"
            names.add(f"candidates/{stem}.runrecord.json")
            if does != "down":
                names.add(f"comparisons/{stem}.comparison.json")

    assert set(tree(place / "out")) == names


@pytest.mark.parametrize("name", CASES)
def test_each_file_is_that_trials(place: Path, name: str) -> None:
    rows = History.open(place / "store").table("candidate_records").to_pylist()
    run_ids = {row["trial"]: row["run_id"] for row in rows if row["case_id"] == name}

    for number in (1, 2, 3):
        stem = name if number == CASES[name].counted else f"{name}~{number}"
        record = read(place / "out" / "candidates" / f"{stem}.runrecord.json")
        assert record["runId"] == run_ids[number]
    counted = CASES[name].counted
    result = read(place / "out" / "results" / f"{name}.result.json")
    assert result["candidate"]["runId"] == run_ids[counted]
    assert len(set(run_ids.values())) == 3


def test_the_history_has_a_row_a_trial(place: Path) -> None:
    history = History.open(place / "store")

    rows = history.table("case_results").to_pylist()
    found = {(row["case_id"], row["trial"]): (row["status"], row["inconclusive"]) for row in rows}

    kinds: dict[Does, tuple[str, bool]] = {
        "same": ("pass", False),
        "reworded": ("warn", False),
        "no_tool": ("warn", False),
        "raises": ("fail", False),
        "strays": ("fail", False),
        "down": ("warn", True),
    }
    assert found == {
        (name, number): kinds[does]
        for name, case in CASES.items()
        for number, does in enumerate(case.does, start=1)
    }
    assert not any(reason.startswith("trial ") for row in rows for reason in row["reasons"])
    assert sorted(row["case_id"] for row in history.table("baseline_records").to_pylist()) == sorted(CASES)


def test_a_case_is_done_once_all_its_trials_are(tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"a": "same", "b": "same"}, config=THREE)
    log = Log()

    evaluated(root, tmp_path / "store", log)

    started = [(event.case_id, event.trial) for event in log.events if isinstance(event, CaseStarted)]
    assert sorted(started) == [(case, number) for case in "ab" for number in (1, 2, 3)]
    done = [event.outcome.case_id for event in log.events if isinstance(event, CaseDone)]
    assert sorted(done) == ["a", "b"]


def test_records_have_one_trial(tmp_path: Path) -> None:
    """There is nothing to run again: trials of suite.yaml are for a harness."""
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"}, config=THREE)
    (root / "candidate.yaml").write_text("records: records\n", encoding="utf-8")

    summary = evaluated(root, tmp_path / "store")

    assert (summary.cases[0].status, summary.cases[0].trials) == ("pass", None)


def stop_at(trial: int) -> Log:
    """Give an `emit` that is interrupted when that trial starts."""

    class Stopping(Log):
        def __call__(self, event: Event) -> None:
            super().__call__(event)
            if isinstance(event, CaseStarted) and event.trial == trial:
                raise KeyboardInterrupt

    return Stopping()


def trials_of(summary: RunRegressionSummary) -> JsonObject:
    return by_case(summary)["a"]["trials"]


@pytest.mark.parametrize("by_id", [True, False], ids=["--resume", "the same command"])
def test_only_missing_and_errored_trials_run_again(tmp_path: Path, *, by_id: bool) -> None:
    """R37: of 4 trials 1 is done and 1 met trouble when the evaluation is interrupted."""
    does: list[Does] = ["same", "down", "same", "same"]
    root = write_candidate_suite(tmp_path / "suite", {"a": does}, config="name: shop\ntrials: 4\n")
    store = tmp_path / "store"
    plan = taken_up(plan_of(root), store)
    with pytest.raises(KeyboardInterrupt):
        run(plan, store, stop_at(3), concurrency=1)
    assert asked(root) == ["a/1", "a/1", "a/2"]
    write_script(root, {"a": "same"})
    log = Log()

    again = resumed(plan.evaluation_id, store) if by_id else taken_up(plan_of(root), store)
    summary = run(again, store, log)

    assert [event.trial for event in log.events if isinstance(event, CaseStarted)] == [2, 3, 4]
    assert asked(root) == ["a/1"] * 2 + ["a/2"] * 3 + ["a/3"] * 2 + ["a/4"] * 2
    assert summary.evaluation_id == plan.evaluation_id
    totals = {"passed": 4, "warned": 0, "failed": 0, "inconclusive": 0, "counted": 1}
    assert trials_of(summary) == totals | {"passRate": 1.0, "flaky": False}
    assert exit_code(summary, fail_on="fail", allow_empty=False) == 0
    rows = History.open(store).table("case_results").to_pylist()
    assert [(row["trial"], row["revision"], row["status"]) for row in rows] == [
        (number, 1, "pass") for number in (1, 2, 3, 4)
    ]


def test_trials_of_a_finished_evaluation_are_redone_one_by_one(tmp_path: Path) -> None:
    does: list[Does] = ["same", "down", "raises"]
    root = write_candidate_suite(tmp_path / "suite", {"a": does}, config=THREE)
    first = evaluated(root, tmp_path / "store")
    assert trials_of(first)["inconclusive"] == 1
    write_script(root, {"a": "reworded"})
    log = Log()

    second = run(resumed(first.evaluation_id or "", tmp_path / "store"), tmp_path / "store", log)

    assert [event.trial for event in log.events if isinstance(event, CaseStarted)] == [2]
    assert log.opening.revision == 2
    totals = {"passed": 1, "warned": 1, "failed": 1, "inconclusive": 0, "counted": 3}
    assert trials_of(second) == totals | {"passRate": 2 / 3, "flaky": True}


def test_one_case_in_a_hundred_trials_at_once(tmp_path: Path) -> None:
    """More trials than runs that may go on at a time; each is told once."""
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"}, config="name: shop\ntrials: 100\n")

    summary = evaluated(root, tmp_path / "store")

    assert trials_of(summary)["passed"] == 100
    assert asked(root) == sorted(f"a/{number}" for number in range(1, 101) for _ in range(2))
