"""What a judge is shown by default against the reference's projection."""

from __future__ import annotations

import pytest

from regress_core.judge.contract import RunJudgeInput
from regress_core.judge.projection import to_bounded_judge_input
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference


def _calls(row: Row) -> str:
    return f"{len(row['projection']['candidate']['toolCalls'])}calls"


@pytest.mark.parametrize("row", row_params("bounded_projection", _calls))
def test_both_runs_give_the_references_projection(row: Row) -> None:
    shown = to_bounded_judge_input(RunJudgeInput.from_json(row["input"]))

    assert json_difference(row["projection"], shown) is None
