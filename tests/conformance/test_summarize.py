"""The summary of some results against the reference's."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import dumps, loads
from regress_core.suite.contract import RunRegressionResult
from regress_core.suite.summary import summarize_run_regression_results
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference


def _status(row: Row) -> str:
    return f"{len(row['results'])}results-{row['summary']['status']}"


@pytest.mark.parametrize("row", row_params("summarize", _status))
def test_results_give_the_references_summary(row: Row) -> None:
    results = [RunRegressionResult.from_json(result) for result in row["results"]]

    summary = summarize_run_regression_results(results, suite=row.get("suite"))

    assert json_difference(row["summary"], loads(dumps(summary.to_json()))) is None


@pytest.mark.parametrize("row", row_params("summarize", _status))
def test_results_are_written_back_as_they_came(row: Row) -> None:
    results = [RunRegressionResult.from_json(result).to_json() for result in row["results"]]

    assert json_difference(row["results"], loads(dumps(results)), null_is_absent=False) is None
