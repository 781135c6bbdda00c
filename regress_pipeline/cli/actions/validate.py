"""What `regress validate` does once its options are read."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout
from pathlib import Path

from regress_core.evaluation.contracts import check_candidate
from regress_core.evaluation.judging import check_model
from regress_core.evaluation.spending import Prices
from regress_core.harness.replay.start import is_multi_turn
from regress_core.ids import utc_now
from regress_core.judge.config import JudgeConfig
from regress_core.models.pydantic_ai import PydanticAIClient
from regress_core.records.loading import RecordFile, load_record
from regress_core.records.model import RunRecord
from regress_core.suite.candidate import orphans_of
from regress_core.suite.config import SUITE_FILE
from regress_core.suite.gate import ExitCode
from regress_core.suite.loading import CaseRef, Suite
from regress_pipeline.cli.actions.inputs import Inputs, load, load_environment, no_cases
from regress_pipeline.cli.render import contract_lines, note, say
from regress_pipeline.ticks import check_schedule


def validate(inputs: Inputs, *, allow_empty: bool, env_file: Path | None) -> ExitCode:
    """Load everything, build a candidate harness, say what was found.

    Raises:
        InputError: If any input is at fault.
    """
    load_environment(env_file)
    loaded = load(inputs)
    if not loaded.cases and not allow_empty:
        return no_cases(inputs)
    suite, candidate = loaded.suite, loaded.candidate
    if suite.config.schedule is not None:
        check_schedule(suite.config.schedule, suite.root / SUITE_FILE)
    plan = loaded.plan()
    with redirect_stdout(sys.stderr):
        plan = check_candidate(plan)
    say(f"suite {suite.name}: {len(loaded.cases)} cases")
    if candidate.kind == "records":
        say(f"candidate {candidate.label}: {len(candidate.records)} records")
        missing = [case.name for case in loaded.cases if case.case_id not in candidate.records]
        orphans = orphans_of(suite, candidate)
        for what, names in (("without a candidate record", missing), ("without a baseline", orphans)):
            if names:
                say(f"{len(names)} {what}: {', '.join(names)}")
    else:
        how = plan.how
        trials = f", {how.trials} trials" if how.trials > 1 else ""
        say(f"candidate {candidate.label}: a harness; {how.mode}, {how.input_mode} input{trials}")
        several = [case.name for case in loaded.cases if is_multi_turn(_baseline(case))]
        if several:
            say(f"{len(several)} multi-turn, to be imported with --turns each: {', '.join(several)}")
    for line in contract_lines(plan.contracts):
        say(line)
    if suite.config.judge is not None:
        _tell_judges(suite, suite.config.judge, loaded.cases)
    say("all inputs are valid")
    return ExitCode.OK


def _tell_judges(suite: Suite, config: JudgeConfig, cases: tuple[CaseRef, ...]) -> None:
    """Say who will be asked what, and that nobody will be where the price of the model is not known."""
    rubrics = sum(bool(suite.requirements_of(case).rubric) for case in cases)
    judges = [
        *([f"regression ({config.regression.input_mode})"] if config.regression else []),
        *([f"rubric on {rubrics} cases"] if rubrics else []),
        *(["axes"] if config.axes else []),
    ]
    sample = f", a sample of {config.sample:g}" if config.sample < 1 else ""
    say(f"judge {config.model}: {', '.join(judges)}{sample}; at most ${config.cap_usd:.2f}")
    trouble = asyncio.run(_trouble_of(config))
    if trouble is not None:
        note(f"warning: the judges cannot be asked as things are: {trouble}")
    if Prices(config.price, utc_now).of(config.model) is None:
        note(f"warning: no price is known of {config.model}: state judge.price, or no judge is asked")


async def _trouble_of(config: JudgeConfig) -> str | None:
    async with PydanticAIClient() as client:
        return check_model(client, config)


def _baseline(case: CaseRef) -> RunRecord:
    return load_record(RecordFile(case.case_id, Path(case.baseline.path))).record
