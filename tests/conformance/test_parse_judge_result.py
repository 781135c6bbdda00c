"""A judge's verdict against the reference's reading of it."""

from __future__ import annotations

import pytest

from regress_core.judge.parsing import parse_judge_result
from regress_core.judge.question import JudgeReplyError
from tests.support.conformance import Row, row_params
from tests.support.json_compare import json_difference


def _kind(row: Row) -> str:
    return "error" if row.get("error") else row["result"]["verdict"]


@pytest.mark.parametrize("row", row_params("parse_judge_result", _kind))
def test_a_reply_gives_the_references_verdict(row: Row) -> None:
    model, version = row["options"]["judgeModel"], row["options"]["judgePromptVersion"]

    if row.get("error"):
        with pytest.raises(JudgeReplyError):
            parse_judge_result(row["raw"], judge_model=model, judge_prompt_version=version)
    else:
        result = parse_judge_result(row["raw"], judge_model=model, judge_prompt_version=version)
        assert json_difference(row["result"], result.to_json()) is None
