"""`run_regression_case` and `run_regression_suite`, with agents built in code."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.calls.trouble import TroubleError
from regress_core.errors import InputError
from regress_core.evaluation.regression import CandidateAgent, run_regression_case, run_regression_suite
from regress_core.harness import MissingToolCallResolution, RecordOptions, RunOptions, allow_all
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.judge.contract import RunJudgeInput, RunJudgeResult, RunRegressionExpectation, Status
from regress_core.models import FunctionClient, ModelClient, ModelError, ModelReply, ModelRequest
from regress_core.records.json_io import JsonObject, dumps, loads
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from regress_core.suite.contract import (
    RunRegressionResult,
    RunRegressionSuite,
    RunRegressionSuiteCase,
    RunRegressionSuiteResult,
)
from tests.support.harness import agent, asks, call, replay, says, scripted

AGENT = agent({"find_order": {"state": "sent"}})
ALLOWED = RunOptions(policies=allow_all())


def recorded(run_id: str, question: str) -> RunRecord:
    """Record a run of the agent: one call, one answer."""
    asked: JsonObject = {
        "runId": run_id,
        "startedAt": "2026-01-01T00:00:00.000Z",
        "completedAt": "2026-01-01T00:00:01.000Z",
        "status": "completed",
        "agentName": "helper",
        "question": question,
        "response": "",
        "contextSnapshot": {"customer": "c-1"},
        "items": [{"type": "message", "role": "user", "content": question}],
        "inputItemCount": 1,
        "promptSnapshots": [],
        "requestFingerprints": [],
        "policyDecisions": [],
    }
    run = replay(asked, AGENT, [*answering(question)], options=ReplayOptions(mode="live"))
    return RunRecord.parse({**loads(dumps(run.record.data)), "runId": run_id})


def answering(question: str, *, answer: str = "It was sent.") -> list[ModelReply]:
    return [asks(call("find_order", id=question)), says(answer)]


def same(baseline: RunRecord) -> ModelClient:
    return scripted(*answering(baseline.question))


A, B, C = (recorded(f"run-{name}", f"Where is {name}?") for name in "abc")


CANDIDATE = CandidateAgent(agent=AGENT, model=same, run_options=ALLOWED)


def candidate(**changes: Any) -> CandidateAgent:  # noqa: ANN401 - any field
    return replace(CANDIDATE, **changes)


def unknown_tool(_: RunRecord) -> ModelClient:
    return scripted(asks(call("refund")))


def reworded(baseline: RunRecord) -> ModelClient:
    return scripted(*answering(baseline.question, answer="Sent."))


def suite(*cases: RunRegressionSuiteCase, **more: Any) -> RunRegressionSuite:  # noqa: ANN401 - any field
    return RunRegressionSuite(cases=list(cases), **more)


def case(baseline: RunRecord, name: str | None = None) -> RunRegressionSuiteCase:
    return RunRegressionSuiteCase(baseline=baseline, name=name)


def run(*args: Any, **options: Any) -> RunRegressionSuiteResult:  # noqa: ANN401 - those of the function
    return asyncio.run(run_regression_suite(*args, **options))


def statuses(result: RunRegressionSuiteResult) -> dict[str, str]:
    return {case.name: case.status for case in result.summary.cases}


def test_a_case_gives_both_records_and_their_comparison() -> None:
    result = asyncio.run(run_regression_case(A, candidate()))

    assert (result.name, result.baseline) == ("run-a", A)
    assert result.candidate.run_id != "run-a"
    assert result.candidate.response == "It was sent."
    assert (result.comparison.equal, result.comparison.differences) == (True, [])
    assert (result.judge, result.expectation) == (None, None)


def test_a_case_may_have_a_name_of_its_own() -> None:
    assert asyncio.run(run_regression_case(A, candidate(), name="where")).name == "where"


def test_what_the_candidate_raises_is_a_failed_record() -> None:
    result = asyncio.run(run_regression_case(A, candidate(model=unknown_tool)))

    assert (result.candidate.status, result.candidate.error_name) == ("failed", "ToolCallError")
    assert not result.comparison.equal


def failing(_: ModelRequest) -> ModelReply:
    raise ModelError("outage", "the server is down", status=503)


IMPATIENT = CallLimits(attempts=2, first_wait_s=0.0, longest_wait_s=0.0)


def test_trouble_of_the_provider_is_no_result() -> None:
    down = candidate(model=FunctionClient(failing), limits=IMPATIENT)

    with pytest.raises(TroubleError) as caught:
        asyncio.run(run_regression_case(A, down))

    assert (caught.value.trouble.kind, caught.value.trouble.code) == ("outage", "503")


def test_an_application_sink_gets_the_record_too() -> None:
    seen: list[RunRecord] = []
    options = RunOptions(policies=allow_all(), record=RecordOptions(sink=seen.append))

    result = asyncio.run(run_regression_case(A, candidate(run_options=options)))

    assert seen == [result.candidate]


def test_missing_calls_are_the_application_s_to_answer() -> None:
    def other(_: RunRecord) -> ModelClient:
        return scripted(asks(call("find_order", id="another")), says("It was sent."))

    def answered(_: object) -> MissingToolCallResolution:
        return MissingToolCallResolution("use_output", {"state": "lost"})

    result = asyncio.run(run_regression_case(A, candidate(model=other, on_missing_tool_call=answered)))

    (answer,) = extract_tool_calls(result.candidate)
    assert answer.output["data"] == {"state": "lost"}


def test_a_suite_gives_results_and_summary_in_its_own_order() -> None:
    result = run(suite(case(C), case(A, "first"), case(B), name="orders"), candidate())

    assert [entry.name for entry in result.results] == ["run-c", "first", "run-b"]
    assert [entry.name for entry in result.summary.cases] == ["run-c", "first", "run-b"]
    assert (result.name, result.summary.suite, result.summary.status) == ("orders", "orders", "pass")
    assert result.results[1].baseline == A
    assert result.summary.totals.to_json() | {"inconclusive": 0} == {
        "cases": 3,
        "passed": 3,
        "warned": 0,
        "failed": 0,
        "inconclusive": 0,
    }


def test_a_failing_case_leaves_the_others_alone() -> None:
    def model(baseline: RunRecord) -> ModelClient:
        return (
            same(baseline) if baseline is not B and baseline.run_id != "run-b" else scripted(asks(call("no")))
        )

    result = run(suite(case(A), case(B), case(C)), candidate(model=model))

    assert statuses(result) == {"run-a": "pass", "run-b": "fail", "run-c": "pass"}
    assert [entry.candidate.status for entry in result.results] == ["completed", "failed", "completed"]


def test_trouble_is_in_the_summary_alone() -> None:
    def model(baseline: RunRecord) -> ModelClient:
        return FunctionClient(failing) if baseline.run_id == "run-b" else same(baseline)

    result = run(suite(case(A), case(B)), candidate(model=model, limits=IMPATIENT))

    assert [entry.name for entry in result.results] == ["run-a"]
    assert [(entry.name, entry.status, entry.inconclusive) for entry in result.summary.cases] == [
        ("run-a", "pass", False),
        ("run-b", "warn", True),
    ]


EXPECTATION = RunRegressionExpectation(intent="Say where the order is.")


def test_the_judge_sees_everything_unredacted() -> None:
    seen: list[RunJudgeInput] = []

    async def judge(asked: RunJudgeInput) -> RunJudgeResult:
        seen.append(asked)
        return RunJudgeResult(verdict="warn", summary="curt", findings=[], score=0.5)

    result = run(
        suite(case(A), expectation=EXPECTATION),
        candidate(),
        judge=judge,
        baseline_descriptor={"metadata": {"name": "old"}},
        candidate_descriptor={"metadata": {"name": "new"}},
    )

    (asked,) = seen
    assert asked.baseline.data == A.data
    assert asked.candidate.data == result.results[0].candidate.data
    assert asked.candidate.data["contextSnapshot"] == {"customer": "c-1"}
    assert asked.comparison.equal
    assert asked.expectation == EXPECTATION
    assert asked.baseline_descriptor == {"metadata": {"name": "old"}}
    assert asked.candidate_descriptor == {"metadata": {"name": "new"}}
    assert result.expectation == EXPECTATION
    assert result.results[0].judge == RunJudgeResult(verdict="warn", summary="curt", findings=[], score=0.5)
    assert statuses(result) == {"run-a": "warn"}
    judged = result.summary.cases[0].judge
    assert judged is not None
    assert (judged.verdict, judged.summary) == ("warn", "curt")


@pytest.mark.parametrize("verdict", ["pass", "warn", "fail"])
def test_a_verdict_decides_an_unchanged_case(verdict: Status) -> None:
    def judge(_: RunJudgeInput) -> RunJudgeResult:
        return RunJudgeResult(verdict=verdict, summary="so", findings=[])

    assert statuses(run(suite(case(A)), candidate(), judge=judge)) == {"run-a": verdict}


def test_a_judge_that_raises_has_given_no_verdict() -> None:
    def judge(_: RunJudgeInput) -> RunJudgeResult:
        raise ValueError("no idea")

    result = run(suite(case(A)), candidate(), judge=judge)

    assert statuses(result) == {"run-a": "warn"}
    assert result.results[0].judge is None
    assert result.summary.cases[0].reasons == ["judge: no verdict: ValueError: no idea"]


def test_the_application_s_own_rule_decides() -> None:
    def lenient(_: RunRegressionResult) -> Status:
        return "pass"

    ours = run(suite(case(A)), candidate(model=reworded))
    theirs = run(suite(case(A)), candidate(model=reworded), classify_case=lenient)

    assert (statuses(ours), ours.summary.status) == ({"run-a": "warn"}, "warn")
    assert (statuses(theirs), theirs.summary.status) == ({"run-a": "pass"}, "pass")
    assert theirs.summary.totals.passed == 1


def test_two_cases_of_one_name_are_refused_before_any_call() -> None:
    def never(_: RunRecord) -> ModelClient:
        raise AssertionError("called")

    with pytest.raises(InputError, match="two cases with this name"):
        run(suite(case(A), case(A)), candidate(model=never))
