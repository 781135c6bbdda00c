"""Invariants 2 and 4: trouble stays in its case, is told with its reason, and is never a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regress_core.evaluation.events import CaseStarted, Event
from regress_core.history.store import History
from regress_core.records.json_io import JsonObject, JsonValue
from tests.evaluation.support import Place, by_case, evaluated, plan_of, run, taken_up
from tests.support.records import record_json
from tests.support.suites import (
    Kind,
    as_json,
    baseline,
    expected_case,
    tree,
    without_reasons,
    write_record,
    write_suite,
)

KINDS: dict[str, Kind] = {"a": "same", "b": "reworded", "m": "same", "y": "failed", "z": "other_tool"}
"""The case m in the middle is the one that trouble is made for."""


def _change(path: Path) -> None:
    write_record(path, record_json(runId="another run"))


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def _other_json(path: Path) -> None:
    write_record(path, {"not": "a record"})


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@dataclass(frozen=True)
class Trouble:
    """What happens to a file of case m between plan and evaluation, and what is told of it."""

    side: str
    act: Callable[[Path], None]
    code: str
    retryable: bool
    words: str


TROUBLES = {
    "candidate changed": Trouble("new", _change, "input changed", retryable=False, words="changed since"),
    "candidate removed": Trouble(
        "new", Path.unlink, "unreadable input", retryable=True, words="No such file"
    ),
    "candidate is a folder": Trouble("new", _folder, "unreadable input", retryable=True, words="directory"),
    "candidate links to itself": Trouble(
        "new", _link_to_itself, "unreadable input", retryable=True, words="symbolic links"
    ),
    "candidate cut short": Trouble("new", _half, "unreadable input", retryable=True, words="not JSON"),
    "candidate is no record": Trouble(
        "new", _other_json, "unreadable input", retryable=True, words="$.runId: case m: the field is missing"
    ),
    "baseline removed": Trouble(
        "records", Path.unlink, "unreadable input", retryable=True, words="No such file"
    ),
    "baseline changed": Trouble("records", _change, "input changed", retryable=False, words="changed since"),
}


@pytest.fixture(params=TROUBLES.values(), ids=list(TROUBLES))
def trouble(request: pytest.FixtureRequest) -> Trouble:
    return request.param


def lasting_rows(store: Path) -> list[JsonObject]:
    """Give the rows of every table of the history for all cases but m, without id, times and candidate."""
    aside = {"evaluation_id", "candidate_id", "duration_s", "finished_at"}
    return [
        {name: value for name, value in row.items() if name not in aside}
        for table in ("baseline_records", "candidate_records", "comparisons", "case_results")
        for row in History.open(store).table(table).to_pylist()
        if row["case_id"] != "m"
    ]


def others(outputs: Path) -> dict[str, bytes]:
    return {
        name: data
        for name, data in tree(outputs).items()
        if not Path(name).name.startswith("m.") and name != "summary.json"
    }


def test_trouble_after_planning_stays_in_its_case(tmp_path: Path, trouble: Trouble) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    undisturbed = evaluated(root, tmp_path / "store", out=tmp_path / "out")
    plan = taken_up(plan_of(root), tmp_path / "store2")
    path = root / trouble.side / "m.json"
    trouble.act(path)

    summary = run(plan, tmp_path / "store2", out=tmp_path / "out2")

    cases, expected = by_case(summary), by_case(undisturbed)
    failed = cases.pop("m")
    assert expected.pop("m")["status"] == "pass"
    assert cases == expected
    assert others(tmp_path / "out2") == others(tmp_path / "out")
    assert lasting_rows(tmp_path / "store2") == lasting_rows(tmp_path / "store")
    baseline_known = trouble.side == "new"
    assert without_reasons(failed) == {
        **expected_case("m", "missing"),
        "trouble": {"kind": "input", "code": trouble.code, "retryable": trouble.retryable},
        "baselineRunId": "baseline of m" if baseline_known else "",
    }
    (reason,) = failed["reasons"]
    assert trouble.words in reason
    assert reason.startswith(f"{path}: ")
    assert as_json(summary)["totals"] == {
        "cases": 5,
        "passed": 1,
        "warned": 3,
        "failed": 1,
        "inconclusive": 1,
    }


def test_trouble_is_no_number(tmp_path: Path, trouble: Trouble) -> None:
    root, store = write_suite(tmp_path / "suite", KINDS), tmp_path / "store"
    plan = taken_up(plan_of(root), store)
    trouble.act(root / trouble.side / "m.json")

    run(plan, store)

    history = History.open(store)
    (evaluation,) = history.table("evaluations").to_pylist()
    assert (evaluation["inconclusive"], evaluation["pass_rate"]) == (1, 0.75)
    row = _row_of_m(history)
    assert (row["status"], row["inconclusive"], row["equal"]) == ("warn", True, None)
    assert (row["trouble_kind"], row["trouble_code"]) == ("input", trouble.code)
    assert row["trouble_stage"] == ("candidate" if trouble.side == "new" else "baseline")
    assert row["trouble_retryable"] == trouble.retryable
    assert trouble.words in row["trouble_message"]
    assert not any(row[f"{name}_changed"] for name in ("status", "tools", "policy", "final_output"))
    assert (row["candidate_run_id"], row["cost_usd"]) == (None, 0.0)
    for table in ("candidate_records", "comparisons"):
        assert "m" not in history.table(table).column("case_id").to_pylist()


def _row_of_m(history: History) -> dict[str, Any]:
    (row,) = [row for row in history.table("case_results").to_pylist() if row["case_id"] == "m"]
    return row


def test_a_case_without_candidate_is_inconclusive(tmp_path: Path) -> None:
    whole = by_case(evaluated(write_suite(tmp_path / "whole", KINDS), tmp_path / "store"))
    root = write_suite(tmp_path / "suite", {**KINDS, "m": "missing"})

    cases = by_case(evaluated(root, tmp_path / "store2"))

    assert cases.pop("m") == {**expected_case("m", "missing"), "reasons": ["no candidate record"]}
    assert whole.pop("m")["status"] == "pass"
    assert cases == whole


def test_trouble_in_the_middle_of_an_evaluation(tmp_path: Path) -> None:
    """The folder of the candidate goes away while case m begins."""
    root, store = write_suite(tmp_path / "suite", KINDS), tmp_path / "store"
    plan = taken_up(plan_of(root), store)

    def lose_folder(event: Event) -> None:
        if isinstance(event, CaseStarted) and event.case_id == "m":
            (root / "new").rename(root / "gone")

    cases = by_case(run(plan, store, lose_folder))

    assert {case: (entry["status"], entry["inconclusive"]) for case, entry in cases.items()} == {
        "a": ("pass", False),
        "b": ("warn", False),
        "m": ("warn", True),
        "y": ("warn", True),
        "z": ("warn", True),
    }


def test_nothing_but_trouble_is_never_a_pass(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "missing", "b": "missing"}, orphans=["z"])

    summary = as_json(evaluated(root, tmp_path / "store"))

    assert (summary["status"], summary["gate"]["status"]) == ("warn", "warn")
    assert summary["totals"] == {"cases": 2, "passed": 0, "warned": 2, "failed": 0, "inconclusive": 2}
    (row,) = History.open(tmp_path / "store").table("evaluations").to_pylist()
    assert row["pass_rate"] is None


def nested(levels: int) -> JsonValue:
    value: JsonValue = "x"
    for _ in range(levels):
        value = [value]
    return value


ODD_BUT_VALID: dict[str, tuple[JsonObject, JsonObject]] = {
    "a time before year 1 in UTC": ({"startedAt": "0001-01-01T00:00:00+10:00"}, {}),
    "a time after year 9999 in UTC": ({"completedAt": "9999-12-31T23:59:59-10:00"}, {}),
    "times that are none": ({"startedAt": "yesterday", "completedAt": ""}, {"startedAt": "2026-13-45"}),
    "metadata as deep as records may be": ({"metadata": {"a": nested(198)}}, {}),
    "context as deep as records may be": ({"contextSnapshot": nested(199)}, {}),
    "integers of many digits": ({"contextSnapshot": 10**300, "metadata": {"n": 10**25}}, {}),
    "text of every kind": (
        {"response": "\x1b[31m \x00 \ud800"},
        {"response": "\udfff \x9b \u2028", "errorMessage": "\x00", "metadata": {"\ud800": "\x00"}},
    ),
}


@pytest.mark.parametrize(("left", "right"), ODD_BUT_VALID.values(), ids=ODD_BUT_VALID.keys())
def test_an_odd_but_valid_record_takes_nobody_with_it(
    tmp_path: Path, left: JsonObject, right: JsonObject
) -> None:
    root = write_suite(tmp_path / "suite", KINDS)
    undisturbed = by_case(evaluated(root, tmp_path / "store"))
    write_record(root / "records" / "m.json", baseline("m") | left)
    write_record(root / "new" / "m.json", baseline("m") | {"runId": "candidate of m"} | right)

    summary = evaluated(root, tmp_path / "store2", out=tmp_path / "out")

    cases = by_case(summary)
    assert cases.pop("m")["candidateRunId"] == "candidate of m"
    undisturbed.pop("m")
    assert cases == undisturbed
    assert summary.complete
    assert len(list((tmp_path / "out" / "results").iterdir())) == 5


def test_the_place_of_a_suite_does_not_matter(mixed: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = evaluated(mixed.root, mixed.store)
    monkeypatch.chdir(mixed.root.parent)

    assert by_case(evaluated(Path("suite"), Path("store2"))) == by_case(expected)


@pytest.mark.parametrize(("status", "expected"), [("completed", "warn"), ("failed", "fail")])
def test_a_case_with_nothing_to_compare_is_inconclusive_not_equal(
    tmp_path: Path, status: str, expected: str
) -> None:
    """A source that knows nothing of what decides gives no verdict; a failed run is known all the same."""
    root = write_suite(tmp_path / "suite", {"a": "same"})
    file = root / "new" / "a.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    deciding = ["status", "response", "toolCalls", "policy", "suspendedProposals", "guardrails", "errors"]
    record |= {"status": status, "response": "anything", "metadata": {"regress": {"unrecorded": deciding}}}
    file.write_text(json.dumps(record), encoding="utf-8")

    (case,) = evaluated(root, tmp_path / "store").cases

    assert (case.status, case.inconclusive) == (expected, expected == "warn")
    assert case.signals.raised() == ()
    if case.inconclusive:
        assert "nothing can be compared" in case.reasons[0]
