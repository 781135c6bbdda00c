"""The outcome of a case: what the journal keeps of it, and its entry in the summary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from regress_core.calls.trouble import Trouble
from regress_core.compare.model import NO_SIGNALS, Signals
from regress_core.records.json_io import dumps, loads
from regress_core.suite.outcome import CaseOutcome

DECIDED = CaseOutcome(
    case_id="https-x-y-0a1b2c3d",
    case_name="https://x/y",
    trial=1,
    revision=2,
    status="fail",
    reasons=("toolsChanged: toolCalls[0] is new", "\U0001f600 \ud800"),
    signals=Signals(
        status_changed=False, tools_changed=True, policy_changed=True, final_output_changed=False
    ),
    equal=False,
    baseline_run_id="run-1",
    candidate_run_id="run-2",
    baseline_sha256="a" * 64,
    candidate_sha256="b" * 64,
    replay_miss=False,
    judge=None,
    trouble=None,
    duration_s=0.25,
    cost_usd=0.0,
    finished_at=datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC),
)
INCONCLUSIVE = replace(
    DECIDED,
    status="warn",
    reasons=("no candidate record",),
    signals=NO_SIGNALS,
    equal=None,
    candidate_run_id="",
    candidate_sha256=None,
    trouble=Trouble("input", "candidate", "no candidate record", "no candidate record", retryable=False),
)


@pytest.mark.parametrize("outcome", [DECIDED, INCONCLUSIVE], ids=["decided", "inconclusive"])
def test_an_outcome_reads_back_from_json_as_it_was(outcome: CaseOutcome) -> None:
    assert CaseOutcome.from_json(loads(dumps(outcome.to_json()))) == outcome


def test_an_outcome_is_inconclusive_exactly_with_trouble() -> None:
    assert not DECIDED.inconclusive
    assert INCONCLUSIVE.inconclusive


def test_the_entry_in_the_summary() -> None:
    assert loads(dumps(DECIDED.summary().to_json())) == {
        "name": "https://x/y",
        "status": "fail",
        "baselineRunId": "run-1",
        "candidateRunId": "run-2",
        "signals": {
            "statusChanged": False,
            "toolsChanged": True,
            "policyChanged": True,
            "finalOutputChanged": False,
        },
        "caseId": "https-x-y-0a1b2c3d",
        "inconclusive": False,
        "reasons": ["toolsChanged: toolCalls[0] is new", "\U0001f600 \ud800"],
    }


def test_the_entry_of_a_case_without_a_candidate() -> None:
    entry = INCONCLUSIVE.summary().to_json()

    assert entry["candidateRunId"] == ""
    assert entry["inconclusive"] is True
    assert not any(entry["signals"].values())
    assert list(entry["reasons"]) == ["no candidate record"]
