"""A case with several accepted runs: the first is replayed, and a candidate may be equal to any of them."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from regress_core.history.store import History
from regress_core.records.json_io import JsonObject
from tests.evaluation.judging import judge
from tests.evaluation.support import (
    by_case,
    evaluated,
    interrupted,
    plan_of,
    resumed,
    rows_by_case,
    run,
    taken_up,
)
from tests.support.candidates import recorded, write_candidate_suite
from tests.support.judges import JudgeModel, judged_suite, shown_in
from tests.support.records import tool_call, tool_output
from tests.support.suites import Kind, baseline, write_record, write_suite

REWORDED: JsonObject = {"response": "It is on its way."}
"""What the candidate answers that is `reworded`."""

SOON: JsonObject = {"response": "Soon."}
LATE: JsonObject = {"response": "Late."}
FAR: JsonObject = {
    "response": "Cancelled.",
    "items": [tool_call("b1", "cancel_order", arguments={"id": "a"}), tool_output("b1", output="gone")],
}
"""Another answer and another call: more differences than another answer alone."""


def write_accepted(root: Path, *changes: JsonObject, of: JsonObject | None = None) -> list[str]:
    """Make case a one of several accepted runs, each its baseline with changes; give the files' hashes."""
    whole = baseline("a") if of is None else of
    (root / "records" / "a.json").unlink()
    paths = [
        write_record(
            root / "records" / "a" / f"{number}.json", whole | {"runId": f"accepted {number}"} | more
        )
        for number, more in enumerate(changes, start=1)
    ]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


@dataclass(frozen=True)
class Row:
    """What the candidate did, the accepted runs, and what comes of it.

    Attributes:
        compared: The number of the accepted run whose comparison counts.
        signals: Those that are raised.
    """

    kind: Kind
    accepted: Sequence[JsonObject]
    compared: int
    status: str
    signals: Sequence[str] = ()
    reasons: Sequence[str] = ()
    """How each begins."""


REWORDED_FROM = 'finalOutputChanged: response "{}" → "It is on its way."'
ROWS = {
    "equal-to-the-baseline": Row("same", [{}, SOON], 1, "pass"),
    "equal-to-the-second": Row("reworded", [{}, REWORDED], 2, "pass"),
    "equal-to-the-third": Row("reworded", [{}, SOON, REWORDED], 3, "pass"),
    "the-first-equal-one-counts": Row("reworded", [{}, REWORDED, REWORDED], 2, "pass"),
    "the-baseline-is-nearest": Row(
        "reworded", [{}, FAR], 1, "warn", ["finalOutputChanged"], [REWORDED_FROM.format("On its way.")]
    ),
    "the-second-is-nearest": Row(
        "reworded", [FAR, SOON], 2, "warn", ["finalOutputChanged"], [REWORDED_FROM.format("Soon.")]
    ),
    "the-first-of-equally-near-ones": Row(
        "reworded", [FAR, SOON, LATE, {}], 2, "warn", ["finalOutputChanged"], [REWORDED_FROM.format("Soon.")]
    ),
    "the-baseline-before-an-equally-near-one": Row(
        "reworded", [LATE, SOON], 1, "warn", ["finalOutputChanged"], [REWORDED_FROM.format("Late.")]
    ),
    "an-accepted-failure-stays-one": Row(
        "failed",
        [{}, {"status": "failed", "errorName": "ModelError", "errorMessage": "no answer"}],
        2,
        "fail",
        [],
        ["candidate failed: ModelError: no answer"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_which_comparison_counts(tmp_path: Path, row: Row) -> None:
    root, store = write_suite(tmp_path / "suite", {"a": row.kind}), tmp_path / "store"
    hashes = write_accepted(root, *row.accepted)

    case = by_case(evaluated(root, store))["a"]

    assert (case["status"], case["inconclusive"], case["baselineRunId"]) == (row.status, False, "accepted 1")
    assert [name for name, is_set in case["signals"].items() if is_set] == [*row.signals]
    assert len(case["reasons"]) == len(row.reasons)
    for reason, beginning in zip(case["reasons"], row.reasons, strict=True):
        assert reason.startswith(beginning)
    compared = rows_by_case(store, "comparisons")["a"]
    assert (compared["accepted_sha256"], compared["equal"]) == (hashes[row.compared - 1], not row.signals)
    assert rows_by_case(store, "baseline_records")["a"]["sha256"] == hashes[0]
    assert rows_by_case(store, "case_results")["a"]["baseline_sha256"] == hashes[0]


def _refunds(response: str, *calls: tuple[str, int]) -> JsonObject:
    items: list[JsonObject] = []
    for number, (tool, amount) in enumerate(calls):
        call_id = f"c{number}"
        items += [tool_call(call_id, tool, arguments={"n": amount}), tool_output(call_id, output="ok")]
    return {"response": response, "items": items}


@pytest.mark.parametrize(("gate", "compared"), [("reference", 1), ("recommended", 2)])
def test_the_nearest_is_the_one_that_the_gate_takes_least_ill(
    tmp_path: Path, gate: str, compared: int
) -> None:
    """Another refund is one difference, and worse than some lookups and another answer."""
    config = f"name: shop\neffects: {{write: [refund]}}\ngate: {gate}\n"
    root, store = write_suite(tmp_path / "suite", {"a": "same"}, config=config), tmp_path / "store"
    other_refund = _refunds("Refunded.", ("refund", 25))
    more_lookups = _refunds("It is done.", ("find", 1), ("find", 2), ("find", 3), ("refund", 20))
    hashes = write_accepted(root, other_refund, more_lookups)
    write_record(root / "new" / "a.json", baseline("a") | _refunds("Refunded.", ("refund", 20)))

    case = by_case(evaluated(root, store))["a"]

    assert case["status"] == "warn"
    assert rows_by_case(store, "comparisons")["a"]["accepted_sha256"] == hashes[compared - 1]


def test_a_case_of_one_file_was_compared_with_that(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "reworded"})

    evaluated(root, tmp_path / "store")

    digest = hashlib.sha256((root / "records" / "a.json").read_bytes()).hexdigest()
    assert rows_by_case(tmp_path / "store", "comparisons")["a"]["accepted_sha256"] == digest


def _changed(path: Path) -> None:
    write_record(path, baseline("a") | LATE)


@pytest.mark.parametrize(
    ("act", "code", "retryable"),
    [
        pytest.param(_changed, "input changed", False, id="changed"),
        pytest.param(Path.unlink, "unreadable input", True, id="removed"),
    ],
)
def test_every_accepted_run_is_the_one_that_was_planned(
    tmp_path: Path, act: Callable[[Path], None], code: str, *, retryable: bool
) -> None:
    """Also where the candidate is equal to the baseline: which ones are looked at depends on no candidate."""
    root, store = write_suite(tmp_path / "suite", {"a": "same", "b": "same"}), tmp_path / "store"
    write_accepted(root, {}, SOON)
    plan = taken_up(plan_of(root), store)
    path = root / "records" / "a" / "2.json"
    act(path)

    cases = by_case(run(plan, store))

    assert cases["a"]["trouble"] == {"kind": "input", "code": code, "retryable": retryable}
    assert cases["a"]["reasons"][0].startswith(f"{path}: ")
    assert rows_by_case(store, "case_results")["a"]["trouble_stage"] == "baseline"
    assert cases["b"]["status"] == "pass"


@pytest.mark.parametrize(
    "config",
    [None, "assertions: [{kind: tool_called, tool: find_order}]\n"],
    ids=["no file of its own", "a file of its own"],
)
def test_an_evaluation_that_is_taken_up_knows_them(tmp_path: Path, config: str | None) -> None:
    root, store = write_suite(tmp_path / "suite", {"a": "reworded", "b": "same"}), tmp_path / "store"
    write_accepted(root, {}, REWORDED)
    if config is not None:
        (root / "cases").mkdir()
        (root / "cases" / "a.yaml").write_text(config, encoding="utf-8")
    begun = interrupted(root, store, 0)

    plan = resumed(begun.evaluation_id, store)

    assert plan.suite.cases == begun.suite.cases
    assert len(plan.suite.cases[0].accepted) == 1
    assert {case: entry["status"] for case, entry in by_case(run(plan, store)).items()} == {
        "a": "pass",
        "b": "pass",
    }


def test_another_accepted_run_is_another_plan(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "reworded"})
    write_accepted(root, {}, SOON)
    before = plan_of(root).plan_key

    write_record(root / "records" / "a" / "3.json", baseline("a") | LATE)

    assert plan_of(root).plan_key != before


def test_a_harness_is_run_on_the_first_and_compared_with_all(tmp_path: Path) -> None:
    root, store = tmp_path / "suite", tmp_path / "store"
    write_candidate_suite(root, {"a": ["same", "reworded"]}, config="name: shop\ntrials: 2\n")
    hashes = write_accepted(root, {}, REWORDED, of=recorded("a"))

    case = by_case(evaluated(root, store))["a"]

    assert (case["status"], case["trials"]["passed"]) == ("pass", 2)
    rows = History.open(store).table("comparisons").to_pylist()
    assert {row["trial"]: row["accepted_sha256"] for row in rows} == {1: hashes[0], 2: hashes[1]}


def test_each_further_one_is_kept_whole_once(tmp_path: Path) -> None:
    root, store = tmp_path / "suite", tmp_path / "store"
    write_candidate_suite(root, {"a": ["same", "same"], "b": "same"}, config="name: shop\ntrials: 2\n")
    hashes = write_accepted(root, {}, REWORDED, SOON, of=recorded("a"))

    evaluated(root, store)

    rows = History.open(store).table("accepted_records").to_pylist()
    assert [(row["case_id"], row["trial"], row["number"], row["sha256"]) for row in rows] == [
        ("a", 1, 2, hashes[1]),
        ("a", 1, 3, hashes[2]),
    ]
    files = sorted((root / "records" / "a").iterdir())
    assert [row["record_json"] for row in rows] == [path.read_text(encoding="utf-8") for path in files[1:]]


@pytest.mark.parametrize(
    ("accepted", "answer"),
    [
        pytest.param([FAR, SOON], "Soon.", id="the nearest"),
        pytest.param([FAR, REWORDED], "It is on its way.", id="an equal one"),
    ],
)
def test_a_judge_is_told_of_the_run_that_was_compared(
    tmp_path: Path, accepted: Sequence[JsonObject], answer: str
) -> None:
    root = write_suite(tmp_path / "suite", {"a": "reworded"}, config=judged_suite())
    write_accepted(root, *accepted)
    model = JudgeModel()

    judge(root, tmp_path / "store", model)

    (request,) = model.requests
    shown = shown_in(request)
    assert '"accepted 2"' in shown
    assert answer in shown
    assert "Cancelled." not in shown
    assert "cancel_order" not in shown
