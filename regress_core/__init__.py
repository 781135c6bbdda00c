"""Regression evaluation of LLM agents: recorded runs in, comparison, classification, history.

These names are the reference's public types and the functions around them; the sub-packages have the rest.
"""

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import Comparison
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import RunJudge, RunJudgeInput, RunJudgeResult, RunRegressionExpectation
from regress_core.judge.parsing import parse_judge_result
from regress_core.judge.projection import to_bounded_judge_input
from regress_core.judge.regression import create_regression_judge
from regress_core.records.canonical import canonical_hash, canonical_json
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from regress_core.suite.contract import (
    RunRegressionCaseSummary,
    RunRegressionResult,
    RunRegressionSuite,
    RunRegressionSuiteCase,
    RunRegressionSuiteResult,
    RunRegressionSummary,
)
from regress_core.suite.summary import summarize_run_regression_results

__all__ = [
    "CompareOptions",
    "Comparison",
    "RunJudge",
    "RunJudgeInput",
    "RunJudgeResult",
    "RunRecord",
    "RunRegressionCaseSummary",
    "RunRegressionExpectation",
    "RunRegressionResult",
    "RunRegressionSuite",
    "RunRegressionSuiteCase",
    "RunRegressionSuiteResult",
    "RunRegressionSummary",
    "canonical_hash",
    "canonical_json",
    "compare_run_records",
    "create_regression_judge",
    "extract_tool_calls",
    "parse_judge_result",
    "summarize_run_regression_results",
    "to_bounded_judge_input",
]
