"""Reading a regression judge's verdict: strict about what it says, tolerant of what it is wrapped in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from regress_core.judge.config import not_blank
from regress_core.judge.contract import RunJudgeResult, Status
from regress_core.judge.question import JudgeReplyError
from regress_core.judge.replies import the_one
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.wire import WireModel

_Words = Annotated[str, AfterValidator(not_blank)]


class _Said(WireModel):
    """As the model is asked to write it; other keys are no part of a verdict."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, validate_by_name=False)


class _Finding(_Said):
    severity: Literal["info", "warn", "error"]
    reason: _Words
    evidence: _Words | None = None


class _Verdict(_Said):
    verdict: Status
    summary: _Words
    findings: list[_Finding] = Field(default_factory=list[_Finding])
    score: float | None = None
    judge_model: _Words | None = None
    judge_prompt_version: _Words | None = None


def parse_judge_result(
    raw: str | JsonValue, *, judge_model: str | None = None, judge_prompt_version: str | None = None
) -> RunJudgeResult:
    """Read a judge's verdict, as the reference's `parseRunJudgeResult` does, out of more kinds of wrapping.

    A null in place of what may be left out is as good as leaving it out.

    Args:
        raw: The model's text, see `the_one`; or JSON that is parsed already.
        judge_model: The model, where the verdict does not name one itself.
        judge_prompt_version: The version of the instructions, likewise.

    Raises:
        JudgeReplyError: If there is no verdict, or more than one.
    """
    if isinstance(raw, str):
        said = the_one(raw, _read, marks=["verdict"])
    else:
        try:
            said = _read(raw)
        except JsonError as error:
            raise JudgeReplyError(f"the judge gave no verdict: {error}") from error
    told: JsonObject = {"judgeModel": judge_model, "judgePromptVersion": judge_prompt_version}
    known = {key: value for key, value in told.items() if value is not None}
    return RunJudgeResult.from_json({**known, **said})


def _read(value: JsonValue) -> JsonObject:
    verdict = _Verdict.from_json(value)
    return {"findings": [], **verdict.model_dump(by_alias=True, exclude_none=True)}
