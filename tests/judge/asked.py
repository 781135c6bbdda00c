"""What a regression judge is asked about, by hand."""

from __future__ import annotations

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import RunJudgeInput, RunRegressionExpectation
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord


def judge_input(
    baseline: JsonObject,
    candidate: JsonObject,
    *,
    options: CompareOptions | None = None,
    expectation: RunRegressionExpectation | None = None,
    baseline_descriptor: JsonValue = None,
    candidate_descriptor: JsonValue = None,
) -> RunJudgeInput:
    """Give two records with their comparison, put together without validation as an evaluation does."""
    left, right = RunRecord.parse(baseline), RunRecord.parse(candidate)
    return RunJudgeInput.model_construct(
        baseline=left,
        candidate=right,
        comparison=compare_run_records(left, right, options),
        expectation=expectation,
        baseline_descriptor=baseline_descriptor,
        candidate_descriptor=candidate_descriptor,
    )
