"""The asset checks: what passes, and how much it matters where it does not."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import dagster as dg
import pytest

from regress_core.judge.contract import Status
from regress_core.suite.contract import GateSummary, RunRegressionSummary, RunRegressionTotals
from regress_core.suite.outcome import CaseOutcome
from regress_core.suite.overrides import Override
from regress_pipeline.checks import gate, no_regression, trend
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, failed, write_suite

ASSET = dg.AssetKey(["shop", "case_summaries"])
OVERRIDE = Override(
    case_id="a", reason="known *bug*", owner="Ada", expires="2026-04-01", created_at="2026-03-01T00:00:00Z"
)
OUTCOME = CaseOutcome.from_json(
    {
        "caseId": "a",
        "caseName": "a",
        "trial": 1,
        "revision": 1,
        "status": "pass",
        "reasons": ["`why`"],
        "signals": [],
        "equal": True,
        "baselineRunId": "old-a",
        "candidateRunId": "new-a",
        "baselineSha256": "0" * 64,
        "candidateSha256": "1" * 64,
        "replayMiss": False,
        "judge": None,
        "trouble": None,
        "durationS": 0.5,
        "costUsd": 0.0,
        "finishedAt": datetime(2026, 3, 1, tzinfo=UTC).isoformat(),
    }
)


@pytest.mark.parametrize(
    ("status", "override", "gated", "passed", "severity"),
    [
        ("pass", None, True, True, "WARN"),
        ("warn", None, True, False, "WARN"),
        ("fail", None, True, False, "ERROR"),
        ("fail", None, False, False, "WARN"),  # what may be noise is the gate's to say
        ("fail", OVERRIDE, False, False, "WARN"),
        ("pass", OVERRIDE, False, True, "WARN"),
    ],
)
def test_a_case(
    status: Status, override: Override | None, *, gated: bool, passed: bool, severity: str
) -> None:
    check = no_regression(ASSET, dataclasses.replace(OUTCOME, status=status), override, gated=gated)

    assert (check.passed, check.severity.value, check.partition) == (passed, severity, "a")
    shown = {name: value.value for name, value in check.metadata.items()}
    told = {} if override is None else {"override": r"- known \*bug\* (Ada, until 2026-04-01)"}
    assert shown == {"status": status, "reasons": r"- \`why\`", "verdict": "none", **told}


@pytest.mark.parametrize(
    ("worst_case", "decided", "passed", "severity"),
    [
        ("pass", "pass", True, "WARN"),
        ("fail", "warn", False, "WARN"),
        ("fail", "fail", False, "ERROR"),
        ("fail", "pass", True, "WARN"),  # by override
        ("fail", None, False, "ERROR"),  # no gate: the worst case
    ],
)
def test_the_gate(worst_case: Status, decided: Status | None, *, passed: bool, severity: str) -> None:
    summary = RunRegressionSummary(
        suite="shop",
        status=worst_case,
        totals=RunRegressionTotals(cases=9, passed=5, warned=3, failed=1, inconclusive=2),
        cases=[],
        gate=None if decided is None else GateSummary(status=decided, reasons=["1 of 9 cases failed"]),
        evaluation_id="e1",
    )

    check = gate(ASSET, summary)

    assert (check.passed, check.severity.value, check.partition) == (passed, severity, None)
    assert {name: value.value for name, value in check.metadata.items()} == {
        "status": decided or worst_case,
        "reasons": "none" if decided is None else "- 1 of 9 cases failed",
        "cases": 9,
        "warned": 3,
        "failed": 1,
        "inconclusive": 2,
        "evaluation_id": "e1",
    }


@pytest.mark.parametrize(("alarm", "passed"), [(None, True), ("pass rate 0.900 is …", False)])
def test_the_trend(alarm: str | None, *, passed: bool) -> None:
    check = trend(ASSET, alarm)
    assert (check.passed, check.severity.value, check.description) == (passed, "WARN", alarm)


def test_an_overridden_case_fails_with_a_warning_and_the_gate_passes(bench: Bench) -> None:
    candidates = {"a": failed("new-a"), **alike("new", ["b"])}
    folder = write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), candidates)
    line = {**OVERRIDE.to_json(), "expires": "9999-12-31"}
    (folder / "overrides.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    bench.register("shop", ["a", "b"])

    run = bench.run("shop", "a", "b")

    found = {check.partition: (check.passed, check.severity) for check in run.case_checks}
    assert found == {"a": (False, "WARN"), "b": (True, "WARN")}
    assert run.check("gate").passed


def test_an_inconclusive_case_has_no_check(bench: Bench) -> None:
    write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), alike("new", ["b"]))
    bench.register("shop", ["a", "b"])

    run = bench.run("shop", "a", "b")

    assert [check.partition for check in run.case_checks] == ["b"]
    gate_check = run.check("gate")
    assert (gate_check.passed, gate_check.severity) == (False, "WARN")
    assert gate_check.metadata["inconclusive"] == 1
