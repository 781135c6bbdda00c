"""Invariant 1: a completed record, replayed strictly on the harness that made it, is equal to itself.

Also what holds of failed ones: the same error again. Once on recorded runs that none of us made, each on a
harness rebuilt from the record; and on 500 runs made up by hypothesis, on the harness that made them and on
the one that is rebuilt from their records.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import Comparison
from regress_core.harness.replay.replay import CandidateRun
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.loading import RecordFile, load_record
from regress_core.records.model import RunRecord
from tests.harness.support import ended, read_back, run
from tests.support.harness import agent, asks, call, replay, says, tool
from tests.support.rebuilt import NotRebuiltError, replay_rebuilt
from tests.support.scripted_runs import (
    ALLOWED,
    BLOCKED,
    OUTPUTS,
    THROWN,
    TOOL_ERRORS,
    Script,
    scripts,
)

COMPLETED = ["compare-v1", "compare-v2", "handoff-allow", "reported-runrecord-1", "simple-run", "tool-allow"]

LEFT_OUT = {
    "handoff-deny": "its decision lacks the resultMode and publicReason that its output shows: old versions "
    "did not record them, and no run of today leaves such a decision"
}


@pytest.fixture(scope="module")
def aioc_records(data_dir: Path) -> dict[str, RunRecord]:
    folder = data_dir / "aioc-runrecords"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is missing")
    files = [path for path in sorted(folder.glob("*.json")) if path.name != "index.json"]
    return {path.stem: load_record(RecordFile(path.stem, path)).record for path in files}


def compared(baseline: RunRecord, candidate: RunRecord) -> Comparison:
    read_back(candidate)
    return compare_run_records(baseline, candidate)


def test_every_recorded_run_is_replayed_or_left_out_with_a_reason(aioc_records: dict[str, RunRecord]) -> None:
    assert sorted(aioc_records) == sorted([*COMPLETED, *LEFT_OUT])
    assert {record.status for record in aioc_records.values()} == {"completed"}


@pytest.mark.parametrize("name", COMPLETED)
def test_a_recorded_run_on_its_rebuilt_harness(aioc_records: dict[str, RunRecord], name: str) -> None:
    baseline = aioc_records[name]

    done = replay_rebuilt(baseline)

    comparison = compared(baseline, done.record)
    assert (comparison.equal, comparison.differences) == (True, [])
    assert done.record.status == "completed"
    # What of the requests is not made of tool descriptions or versions is the same to the bit.
    for before, after in zip(
        baseline.data["requestFingerprints"], done.record.data["requestFingerprints"], strict=False
    ):
        for field in ("messagesHash", "systemPromptHash", "modelSettingsHash", "messageCount", "agentName"):
            assert after[field] == before[field]
        if after["toolsHash"] == before["toolsHash"]:
            assert after["requestHash"] == before["requestHash"]


def test_the_run_left_out_differs_in_what_its_decision_does_not_say(
    aioc_records: dict[str, RunRecord],
) -> None:
    baseline = aioc_records["handoff-deny"]

    comparison = compared(baseline, replay_rebuilt(baseline).record)

    (difference,) = comparison.differences
    assert difference.path == "policyDecisions[0]"
    left, right = cast("JsonObject", difference.left), cast("JsonObject", difference.right)
    assert right == left | {
        "resultMode": "tool_result",
        "publicReason": "Escalation to finance is not allowed for this request.",
    }


def check(script: Script) -> tuple[RunRecord, CandidateRun]:
    """Run a script, read its record back, replay it on both harnesses: nothing may differ."""
    baseline = read_back(script.run())
    done = script.replay(baseline)
    for candidate in (done, replay_rebuilt(baseline)):
        comparison = compared(baseline, candidate.record)
        assert (comparison.equal, comparison.differences) == (True, [])
        assert candidate.record.status == baseline.status
        assert candidate.record.error_name == baseline.error_name
        assert candidate.record.error_message == baseline.error_message
        assert not candidate.replay_miss
        assert candidate.replay_stats.replayed_from_record == allowed_calls(baseline)
    # On the harness that made it not even what is no verdict differs: prompts, requests, metadata.
    assert compared(baseline, done.record).provenance == []
    return baseline, done


def allowed_calls(record: RunRecord) -> int:
    return sum(
        decision["decision"] == "allow" and decision["resource"]["kind"] == "tool"
        for decision in record.policy_decisions
    )


@settings(max_examples=100)
@given(scripts(results=OUTPUTS | TOOL_ERRORS))
def test_calls_outputs_and_errors(script: Script) -> None:
    baseline, done = check(script)

    assert baseline.status == "completed"
    assert done.replay_stats.recorded_tool_calls == allowed_calls(baseline) + bool(script.history)
    assert done.replay_stats.missing_tool_calls == 0
    assert done.usage.input_tokens == 10 * len(script.turns)


@settings(max_examples=100)
@given(scripts(decisions=ALLOWED | BLOCKED))
def test_denials_and_approvals_that_the_model_is_told_of(script: Script) -> None:
    assert check(script)[0].status == "completed"


@settings(max_examples=120)
@given(scripts(decisions=ALLOWED | ALLOWED | BLOCKED, results=OUTPUTS | TOOL_ERRORS, handoffs=True))
def test_handoffs(script: Script) -> None:
    assert check(script)[0].status == "completed"


@settings(max_examples=60)
@given(scripts(decisions=ALLOWED | THROWN, handoffs=True))
def test_denials_and_approvals_that_end_the_run(script: Script) -> None:
    baseline, _ = check(script)

    blocked = any(decision["decision"] != "allow" for decision in baseline.policy_decisions)
    assert baseline.status == ("failed" if blocked else "completed")


@settings(max_examples=120)
@given(
    st.one_of(
        scripts(end="guardrail"),
        scripts(end="max turns", handoffs=True),
        scripts(end="unknown tool"),
    )
)
def test_runs_that_fail_fail_with_the_same_error_again(script: Script) -> None:
    assert check(script)[0].status == "failed"


def test_a_tool_that_raised_left_no_output_so_that_its_replay_is_a_miss() -> None:
    def break_down(_arguments: JsonValue, _context: RunContext) -> JsonValue:
        raise ValueError("no stock")

    script = [asks(call("look", "c1"), call("break", "c2")), says("Done.")]
    baseline = run(agent([tool("look", 1), Tool("break", "", break_down)]), script)
    assert ended(baseline) == ("failed", "ValueError", "no stock")

    done = replay(read_back(baseline.record), agent({"look": 1, "break": 2}), script)

    assert done.replay_miss
    assert (done.record.error_message or "").endswith("(no output of break is recorded)")
    with pytest.raises(NotRebuiltError, match="a failed run whose cause is not in the record: ValueError"):
        replay_rebuilt(baseline.record)
