"""An undisturbed evaluation comes to what its cases were written to come to."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from regress_core.history.store import History
from regress_core.ids import new_evaluation_id
from regress_core.records.json_io import JsonObject
from tests.evaluation.support import Log, Place, by_case, evaluated, plan_of, run, taken_up
from tests.support.json_compare import json_difference
from tests.support.suites import (
    LABEL,
    MIXED,
    Kind,
    as_json,
    expected_case,
    without_reasons,
    write_suite,
)

# (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n) with p = 0.75, n = 4, z = 1.95996.
WILSON_3_OF_4 = pytest.approx({"low": 0.300642, "high": 0.954414}, abs=1e-5)


def test_every_kind_of_case(mixed: Place) -> None:
    summary = as_json(evaluated(mixed.root, mixed.store))

    hashes = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in (mixed.root / "new").iterdir())
    candidate_id = hashlib.sha256(json.dumps(hashes, separators=(",", ":")).encode()).hexdigest()
    evaluation_id = summary.pop("evaluationId")
    summary["gate"].pop("reasons")
    rate = summary.pop("passRate")
    assert rate.pop("interval") == WILSON_3_OF_4
    assert rate == {"hits": 3, "of": 4, "value": 0.75}
    assert "smallestDrop" not in summary, "McNemar's exact test needs 6 cases"
    expected: JsonObject = {
        "suite": "shop",
        "status": "fail",
        "totals": {"cases": 5, "passed": 1, "warned": 3, "failed": 1, "inconclusive": 1},
        "cases": [expected_case(case, kind) for case, kind in MIXED.items()],
        "gate": {"status": "fail"},
        "candidate": {"id": candidate_id, "label": LABEL},
        "orphans": [],
        "complete": True,
        "cost": {
            "candidateUsd": 0.0,
            "judgeUsd": 0.0,
            "candidateCapUsd": None,
            "judgeCapUsd": None,
            "savedByCacheUsd": 0.0,
            "skippedByCap": 0,
            "byJudge": {},
        },
    }
    got = {**summary, "cases": [without_reasons(case) for case in summary["cases"]]}
    assert json_difference(expected, got) is None
    assert evaluation_id[14] == "7", "a UUID of version 7"


def test_the_reasons_name_what_a_person_looks_for(mixed: Place) -> None:
    cases = by_case(evaluated(mixed.root, mixed.store))

    assert cases["a-same"]["reasons"] == []
    words = {
        "b-reworded": ["finalOutputChanged", "On its way.", "It is on its way."],
        "c-failed": ["failed", "ModelError", "no answer"],
        "d-missing": ["no candidate record"],
        "e-other-tool": ["toolsChanged", "find_order", "cancel_order"],
    }
    for case, some in words.items():
        text = " ".join(cases[case]["reasons"])
        assert all(word in text for word in some), text


def test_the_history_holds_the_evaluation(mixed: Place) -> None:
    summary = evaluated(mixed.root, mixed.store)

    history = History.open(mixed.store)
    (row,) = history.table("evaluations").to_pylist()
    counts = {name: row[name] for name in ("cases", "passed", "warned", "failed", "inconclusive")}
    assert counts == {"cases": 5, "passed": 1, "warned": 3, "failed": 1, "inconclusive": 1}
    assert row["pass_rate"] == 0.75  # 1 of the 4 conclusive ones failed
    assert {"low": row["pass_rate_low"], "high": row["pass_rate_high"]} == WILSON_3_OF_4
    assert row["smallest_drop"] is None
    assert (row["status"], row["gate_status"], row["trigger"]) == ("fail", "fail", "library")
    assert (row["evaluation_id"], row["suite"], row["revision"]) == (summary.evaluation_id, "shop", 1)
    rows = {r["case_id"]: r for r in history.table("case_results").to_pylist()}
    assert {case: (r["status"], r["inconclusive"]) for case, r in rows.items()} == {
        "a-same": ("pass", False),
        "b-reworded": ("warn", False),
        "c-failed": ("fail", False),
        "d-missing": ("warn", True),
        "e-other-tool": ("warn", False),
    }
    assert rows["d-missing"]["candidate_run_id"] is None
    assert {table: history.table(table).num_rows for table in ("baseline_records", "comparisons")} == {
        "baseline_records": 5,
        "comparisons": 4,
    }
    records = {r["case_id"]: r["record_json"] for r in history.table("candidate_records").to_pylist()}
    assert records == {path.stem: path.read_text(encoding="utf-8") for path in (mixed.root / "new").iterdir()}


@pytest.mark.parametrize(
    ("kinds", "status"),
    [
        ({"a": "same"}, "pass"),
        ({"a": "same", "b": "missing"}, "warn"),
        ({"a": "missing", "b": "missing"}, "warn"),
        ({"a": "same", "b": "reworded"}, "warn"),
        ({"a": "reworded", "b": "failed", "c": "missing"}, "fail"),
    ],
)
def test_status_is_the_worst_case(tmp_path: Path, kinds: dict[str, Kind], status: str) -> None:
    root = write_suite(tmp_path / "suite", kinds, orphans=["z"])

    summary = evaluated(root, tmp_path / "store")

    assert summary.gate is not None
    assert (summary.status, summary.gate.status) == (status, status)


def test_the_gate_of_the_suite_decides(tmp_path: Path) -> None:
    config = "name: shop\ngate: {signals: {toolsChanged: fail, finalOutputChanged: pass}}\n"
    root = write_suite(tmp_path / "suite", MIXED, config=config)

    statuses = {case: entry["status"] for case, entry in by_case(evaluated(root, tmp_path / "st")).items()}

    assert statuses == {
        "a-same": "pass",
        "b-reworded": "pass",
        "c-failed": "fail",
        "d-missing": "warn",
        "e-other-tool": "fail",
    }


def test_zero_cases(mixed: Place) -> None:
    log = Log()
    plan = taken_up(plan_of(mixed.root, cases=[]), mixed.store)

    summary = run(plan, mixed.store, log)

    assert as_json(summary)["totals"] == {
        "cases": 0,
        "passed": 0,
        "warned": 0,
        "failed": 0,
        "inconclusive": 0,
    }
    assert (summary.cases, summary.complete, log.started) == ([], True, [])
    (row,) = History.open(mixed.store).table("evaluations").to_pylist()
    assert (row["cases"], row["pass_rate"]) == (0, None)


def test_a_renamed_case_is_no_pass_and_its_candidate_an_orphan(tmp_path: Path) -> None:
    """H57."""
    root = write_suite(tmp_path / "suite", {"stays": "same", "old-name": "same"})
    (root / "records" / "old-name.json").rename(root / "records" / "new-name.json")

    summary = evaluated(root, tmp_path / "store")

    cases = by_case(summary)
    assert {case: entry["status"] for case, entry in cases.items()} == {"new-name": "warn", "stays": "pass"}
    assert cases["new-name"]["inconclusive"]
    assert cases["new-name"]["reasons"] == ["no candidate record"]
    assert cases["new-name"]["candidateRunId"] == ""
    assert summary.orphans == ["old-name"]
    (row,) = History.open(tmp_path / "store").table("evaluations").to_pylist()
    assert row["orphans"] == ["old-name"]


def test_orphans_are_what_the_whole_suite_does_not_know(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", MIXED, orphans=["y", "x"])

    plan = taken_up(plan_of(root, cases=["a-same"]), tmp_path / "store")

    assert run(plan, tmp_path / "store").orphans == ["x", "y"]


def test_the_month_of_the_history_is_that_of_the_start_in_utc(mixed: Place) -> None:
    summary = evaluated(mixed.root, mixed.store)

    (path,) = History.open(mixed.store).list("case_results").files
    (row,) = History.open(mixed.store).table("evaluations").to_pylist()
    month = row["created_at"].isoformat()[:7]
    place = f"case_results/suite=shop/month={month}/{summary.evaluation_id}-1.parquet"
    assert path == mixed.store / "history" / place


def test_evaluation_ids_sort_by_time(mixed: Place) -> None:
    plans = [plan_of(mixed.root) for _ in range(3)]

    ids = [new_evaluation_id(plan.created_at) for plan in plans]

    milliseconds = [int(plan.evaluation_id.replace("-", "")[:12], 16) for plan in plans]
    assert milliseconds == [int(plan.created_at.timestamp() * 1000) for plan in plans]
    assert [int(i.replace("-", "")[:12], 16) for i in ids] == milliseconds
    assert len({plan.evaluation_id for plan in plans}) == 3


def test_how_small_a_drop_can_be_seen(tmp_path: Path) -> None:
    """Six cases that regress are significant, and five are not: 2 / 2**6 = 0.03 and 2 / 2**5 = 0.06."""
    for number, smallest in ((5, None), (6, 1.0), (8, 0.75)):
        root = write_suite(tmp_path / str(number), dict.fromkeys(map(str, range(number)), "same"))
        summary = evaluated(root, tmp_path / f"store-{number}")

        (row,) = History.open(tmp_path / f"store-{number}").table("evaluations").to_pylist()
        assert summary.smallest_drop == row["smallest_drop"] == smallest
