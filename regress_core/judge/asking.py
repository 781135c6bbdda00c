"""Asking an application's judge, and checking what it says."""

from __future__ import annotations

import asyncio

from regress_core.calls.trouble import TROUBLE_KINDS, trouble_of
from regress_core.foreign import error_text, passes_through
from regress_core.harness.threads import call_apart
from regress_core.judge.contract import RunJudge, RunJudgeInput, RunJudgeResult
from regress_core.judge.contradictions import contradictions
from regress_core.judge.outcome import JudgeOutcome, no_verdict, skipped
from regress_core.models.errors_of import model_error_of
from regress_core.records.json_io import JsonError


async def ask_judge(judge: RunJudge, asked: RunJudgeInput, time_out_s: float) -> JudgeOutcome:
    """Ask a judge. One that raises, takes longer, or says what is no verdict has given none.

    Where it raises because a provider gave it no answer, it counts as not asked.

    One that is not async runs in a thread of its own: while it waits for something, other cases go on.
    """
    try:
        async with asyncio.timeout(time_out_s):
            answer: object = await call_apart(judge, asked)
    except TimeoutError as error:
        return no_verdict("regression", error_text(error) or f"the judge took longer than {time_out_s:g} s")
    except BaseException as error:
        if passes_through(error):
            raise
        trouble = model_error_of(error)
        if trouble is not None and trouble.kind in TROUBLE_KINDS:
            return skipped("regression", trouble_of(trouble, "judge", trouble.message))
        return no_verdict("regression", f"{type(error).__name__}: {error_text(error)}")
    if not isinstance(answer, RunJudgeResult):
        return no_verdict("regression", f"the judge gave {type(answer).__name__}, not RunJudgeResult")
    try:
        # It may have been made without checks.
        said = answer.model_dump(by_alias=True, exclude_unset=True, warnings=False)
        result = RunJudgeResult.from_json(said)
    except (JsonError, ValueError, TypeError) as error:
        return no_verdict("regression", f"the judge gave no valid RunJudgeResult: {error_text(error)}")
    flags = contradictions(result)
    return JudgeOutcome(judge="regression", state="verdict", result=result, flags=flags, advisory=True)
