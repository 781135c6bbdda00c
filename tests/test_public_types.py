"""The reference's public types, under their names and with the RFC's JSON."""

from __future__ import annotations

import json

import pytest

import regress_core
from regress_core import (
    RunJudge,
    RunJudgeInput,
    RunJudgeResult,
    RunRegressionCaseSummary,
    RunRegressionExpectation,
    RunRegressionResult,
    RunRegressionSuite,
    RunRegressionSuiteCase,
    RunRegressionSuiteResult,
    RunRegressionSummary,
)
from regress_core.records.json_io import JsonError, JsonObject, dumps, loads
from regress_core.records.wire import WireModel
from tests.support.json_compare import json_difference
from tests.support.records import message, record_json, tool_call, tool_output

NAMES = [
    "RunJudge",
    "RunJudgeInput",
    "RunJudgeResult",
    "RunRegressionCaseSummary",
    "RunRegressionExpectation",
    "RunRegressionResult",
    "RunRegressionSuite",
    "RunRegressionSuiteCase",
    "RunRegressionSuiteResult",
    "RunRegressionSummary",
]

# RFC-0012, "Regression Case Shape".
EXPECTATION: JsonObject = {
    "intent": "The candidate harness should adapt explanations to the user's age range.",
    "shouldUseTools": ["get_age_range"],
    "shouldPreserve": ["factual correctness", "concise explanation"],
    "shouldImprove": ["age-appropriate wording"],
}

# RFC-0012, "CI Summary".
SUMMARY: JsonObject = json.loads(
    """
    {
      "suite": "learning-harness-regression",
      "status": "warn",
      "totals": {
        "cases": 2,
        "passed": 1,
        "warned": 1,
        "failed": 0
      },
      "cases": [
        {
          "name": "explain-photosynthesis-age-10",
          "status": "pass",
          "baselineRunId": "run_001",
          "candidateRunId": "run_101",
          "signals": {
            "statusChanged": false,
            "toolsChanged": true,
            "policyChanged": false,
            "finalOutputChanged": true
          },
          "judge": {
            "verdict": "pass",
            "summary": "The candidate uses age-appropriate language and preserves factual correctness."
          }
        },
        {
          "name": "explain-gravity-age-8",
          "status": "warn",
          "baselineRunId": "run_002",
          "candidateRunId": "run_102",
          "signals": {
            "statusChanged": false,
            "toolsChanged": true,
            "policyChanged": false,
            "finalOutputChanged": true
          },
          "judge": {
            "verdict": "warn",
            "summary": "The answer is simpler than baseline, but still includes a few terms likely too advanced for age 8."
          }
        }
      ]
    }
    """  # noqa: E501 - the example as the RFC prints it
)

BASELINE = record_json(
    runId="run_001",
    items=[message("Explain photosynthesis."), message("Plants make sugar.", role="assistant")],
    contextRedacted=None,
    extra={"b": 1, "a": [None, 1.0, 2**60]},
)
CANDIDATE = record_json(
    runId="run_101",
    response="Plants cook with light.",
    items=[tool_call("c1", "get_age_range", arguments={}), tool_output("c1", output={"min": 8})],
)

# The shapes of the RFC and of the reference's comparison, filled in.
COMPARISON: JsonObject = {
    "equal": False,
    "summary": {
        "sameFinalResponse": False,
        "sameToolCallShape": False,
        "samePolicyDecisions": True,
        "sameGuardrailDecisions": True,
    },
    "metrics": {
        "responseLengthA": 11,
        "responseLengthB": 23,
        "toolCallsA": 0,
        "toolCallsB": 1,
        "matchedToolCalls": 0,
        "missingToolCalls": 0,
        "extraToolCalls": 1,
    },
    "differences": [
        {"path": "response", "kind": "mismatch", "left": "On its way.", "right": "Plants cook with light."},
        {"path": "toolCalls[0]", "kind": "missing_left", "right": {"name": "get_age_range"}},
        {"path": "metadata", "kind": "mismatch", "left": None, "right": {}},
    ],
}
JUDGE: JsonObject = {
    "verdict": "warn",
    "summary": "Simpler, but not simple.",
    "findings": [
        {"severity": "info", "reason": "The tool was used sensibly."},
        {"severity": "warn", "reason": "A term is too advanced.", "evidence": "photosynthesis"},
    ],
    "score": 0.75,
    "judgeModel": "openai:gpt-4.1-mini",
    "judgePromptVersion": "v1",
}
RESULT: JsonObject = {
    "name": "explain-photosynthesis-age-10",
    "baseline": BASELINE,
    "candidate": CANDIDATE,
    "comparison": COMPARISON,
    "judge": JUDGE,
}
CASE: JsonObject = {"name": "explain-photosynthesis-age-10", "baseline": BASELINE}

EXAMPLES: list[tuple[type[WireModel], JsonObject]] = [
    (RunRegressionExpectation, EXPECTATION),
    (RunRegressionExpectation, {}),
    (RunRegressionExpectation, {"shouldAvoidTools": [], "notes": "\U0001f600"}),
    (RunRegressionResult, RESULT),
    (RunRegressionResult, {key: value for key, value in RESULT.items() if key != "judge"}),
    (RunRegressionResult, RESULT | {"expectation": EXPECTATION}),
    (RunRegressionSuiteCase, CASE),
    (RunRegressionSuiteCase, {"baseline": BASELINE}),
    (RunRegressionSuite, {"name": "learning", "expectation": EXPECTATION, "cases": [CASE]}),
    (RunRegressionSuite, {"cases": []}),
    (RunRegressionSuiteResult, {"results": [RESULT], "summary": SUMMARY}),
    (RunRegressionSuiteResult, {"name": "learning", "results": [], "summary": SUMMARY}),
    (RunRegressionSummary, SUMMARY),
    (RunRegressionSummary, {key: value for key, value in SUMMARY.items() if key != "suite"}),
    (RunRegressionCaseSummary, SUMMARY["cases"][0]),
    (RunRegressionCaseSummary, {k: v for k, v in SUMMARY["cases"][1].items() if k != "judge"}),
    (RunJudgeInput, {"baseline": BASELINE, "candidate": CANDIDATE, "comparison": COMPARISON}),
    (
        RunJudgeInput,
        {
            "baseline": BASELINE,
            "candidate": CANDIDATE,
            "comparison": COMPARISON,
            "expectation": EXPECTATION,
            "baselineDescriptor": {"agents": {"a": None}},
            "candidateDescriptor": "sha256:1",
        },
    ),
    (RunJudgeResult, JUDGE),
    (RunJudgeResult, {"verdict": "pass", "summary": "", "findings": []}),
    (RunJudgeResult, JUDGE | {"advisory": True}),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_type_of_the_reference_has_its_name(name: str) -> None:
    assert hasattr(regress_core, name)
    assert name in regress_core.__all__


def _ids(value: object) -> str | None:
    return value.__name__ if isinstance(value, type) else None


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=_ids)
def test_json_of_the_rfc_is_taken_and_given_unchanged(model: type[WireModel], example: JsonObject) -> None:
    text = dumps(example)

    given = dumps(model.from_json(loads(text)).to_json())

    assert json_difference(example, loads(given), null_is_absent=False) is None


def test_what_is_given_equals_what_json_reads() -> None:
    assert RunRegressionSummary.from_json(SUMMARY).to_json() == SUMMARY
    assert RunRegressionResult.from_json(RESULT).to_json() == RESULT


def test_the_fields_of_the_rfcs_summary() -> None:
    summary = RunRegressionSummary.from_json(SUMMARY)

    assert (summary.suite, summary.status) == ("learning-harness-regression", "warn")
    assert (summary.totals.cases, summary.totals.warned) == (2, 1)
    second = summary.cases[1]
    assert (second.name, second.baseline_run_id, second.candidate_run_id) == (
        "explain-gravity-age-8",
        "run_002",
        "run_102",
    )
    assert second.signals.raised() == ("toolsChanged", "finalOutputChanged")
    assert second.judge is not None
    assert second.judge.verdict == "warn"
    assert not second.inconclusive


def test_the_fields_of_the_rfcs_expectation() -> None:
    expectation = RunRegressionExpectation.from_json(EXPECTATION)

    assert expectation.should_use_tools == ["get_age_range"]
    assert expectation.should_preserve == ["factual correctness", "concise explanation"]
    assert expectation.should_avoid_tools is None


def test_records_inside_a_result_are_records() -> None:
    result = RunRegressionResult.from_json(RESULT)

    assert result.baseline.run_id == "run_001"
    assert result.candidate.response == "Plants cook with light."
    assert result.judge is not None
    assert result.judge.findings[1].evidence == "photosynthesis"


FAULTS: list[tuple[type[WireModel], JsonObject, str]] = [
    (RunRegressionSummary, SUMMARY | {"status": "error"}, "$.status"),
    (RunRegressionSummary, SUMMARY | {"cases": [{}]}, "$.cases[0].name"),
    (RunRegressionResult, RESULT | {"baseline": {}}, "$.baseline"),
    (RunRegressionResult, RESULT | {"comparison": {}}, "$.comparison.equal"),
    (RunJudgeResult, JUDGE | {"verdict": "PASS"}, "$.verdict"),
    (
        RunJudgeResult,
        JUDGE | {"findings": [{"severity": "fatal", "reason": ""}]},
        "$.findings[0].severity",
    ),
    (RunRegressionExpectation, {"intent": ["x"]}, "$.intent"),
    (RunRegressionExpectation, {"shouldUseTool": ["x"]}, "$.shouldUseTool"),
    (RunRegressionSuite, {}, "$.cases"),
]


@pytest.mark.parametrize(("model", "value", "path"), FAULTS)
def test_a_fault_is_named_by_its_path(model: type[WireModel], value: JsonObject, path: str) -> None:
    with pytest.raises(JsonError) as raised:
        model.from_json(value)

    assert raised.value.path.startswith(path)


def _judge(given: RunJudgeInput) -> RunJudgeResult:
    same = given.baseline.response == given.candidate.response
    return RunJudgeResult(verdict="pass" if same else "warn", summary="", findings=[])


async def _waiting_judge(given: RunJudgeInput) -> RunJudgeResult:
    return _judge(given)


JUDGES: list[RunJudge] = [_judge, _waiting_judge]
"""A type checker tells whether these are judges."""


def test_a_judge_is_a_function_of_its_input() -> None:
    given = RunJudgeInput.from_json({"baseline": BASELINE, "candidate": CANDIDATE, "comparison": COMPARISON})

    result = JUDGES[0](given)

    assert isinstance(result, RunJudgeResult)
    assert result.to_json() == {"verdict": "warn", "summary": "", "findings": []}
