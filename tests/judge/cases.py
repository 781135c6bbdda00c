"""Cases by hand, as a model judge is given them, and what stands in a prompt of theirs."""

from __future__ import annotations

from regress_core.checks.outcome import CheckResult
from regress_core.compare.comparison import compare_run_records
from regress_core.judge.contract import RunJudgeInput
from regress_core.judge.question import JudgedCase
from regress_core.records.json_io import JsonObject, JsonValue, loads
from regress_core.records.model import RunRecord
from tests.support.records import record_json


def judged_case(
    candidate: JsonObject | None = None,
    *,
    baseline: JsonObject | None = None,
    checks: tuple[CheckResult, ...] = (),
) -> JudgedCase:
    """Give a case of two records, each with the changes given."""
    left = RunRecord.parse(record_json(**(baseline or {})))
    right = RunRecord.parse(record_json(**(candidate or {})))
    asked = RunJudgeInput(baseline=left, candidate=right, comparison=compare_run_records(left, right))
    return JudgedCase(case_id="order-status", trial=1, asked=asked, checks=checks)


def data_in(text: str) -> JsonValue:
    """Read the case data of a prompt."""
    _, _, rest = text.partition("<case_data>")
    inside, _, _ = rest.partition("</case_data>")
    return loads(inside)
