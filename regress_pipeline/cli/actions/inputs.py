"""From the options of `regress run` and `regress validate` to a plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dotenv import load_dotenv

from regress_core.errors import InputError
from regress_core.evaluation.plan import EvaluationPlan, HowToRun, build_plan, redaction_warning
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.times import utc_time
from regress_core.suite.candidate import CANDIDATE_FILE, Candidate, load_candidate
from regress_core.suite.gate import ExitCode
from regress_core.suite.loading import CaseRef, Suite, load_suite, suite_of_records
from regress_core.suite.selection import Selection, select_cases
from regress_pipeline.cli.render import note

_OPTIONS = {"suite": "SUITE", "tags": "--tag"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be evaluated and how it is run, as the options name it."""

    suite: Path | None
    records: Path | None
    candidate: Path | None
    candidate_records: Path | None
    baseline: Path | None
    expectation: Path | None
    adapter: str | None
    model: str | None
    mode: ReplayMode | None
    input_mode: InputMode | None
    trials: int | None
    from_turn: int | None
    name: str | None
    cases: tuple[str, ...]
    tags: tuple[str, ...]

    def given(self, *names: str) -> list[str]:
        """Name the options that were given, of these fields or of all."""
        return [
            _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            for name in names or type(self).__slots__
            if getattr(self, name) not in (None, ())
        ]


def load_environment(env_file: Path | None) -> None:
    """Read an environment file; variables that are set already stay as they are.

    Raises:
        InputError: If there is no such file, or it is not UTF-8.
    """
    if env_file is None:
        return
    if not env_file.is_file():
        raise InputError("no such file", file=env_file, field="--env-file")
    try:
        load_dotenv(env_file, override=False, encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=env_file, field="--env-file", remedy="save it as UTF-8") from error


def date_option(text: str | None, option: str) -> datetime | None:
    """Read an option that is a date or a time, in UTC.

    Raises:
        InputError: If it is none.
    """
    moment = None if text is None else utc_time(text)
    if text is not None and moment is None:
        remedy = "write it as 2026-06-30, or with a time as 2026-06-30T12:00:00Z"
        raise InputError(f"{text!r} is no date", field=option, remedy=remedy)
    return moment


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the options name, loaded."""

    suite: Suite
    candidate: Candidate
    cases: tuple[CaseRef, ...]
    how: HowToRun

    def plan(self) -> EvaluationPlan:
        """Plan what was loaded; warn of what it cannot be good for."""
        plan = build_plan(
            self.suite,
            self.candidate,
            self.cases,
            trigger="cli",
            clock=utc_now,
            new_id=new_evaluation_id,
            how=self.how,
        )
        warning = redaction_warning(plan)
        if warning is not None:
            note(f"warning: {warning}")
        return plan


def load(inputs: Inputs) -> Loaded:
    """Load and validate suite and candidate, and pick the cases.

    Raises:
        InputError: If the options do not go together, or any file is at fault.
    """
    if (inputs.suite is None) == (inputs.records is None):
        raise InputError("name a suite folder or --records, one of them", field="SUITE")
    if inputs.candidate and inputs.candidate_records:
        raise InputError("name the candidate once", field="--candidate-records")
    suite = _suite(inputs)
    candidate = _candidate(inputs)
    return Loaded(
        suite,
        candidate,
        select_cases(suite, Selection(inputs.cases, inputs.tags), note),
        _how(inputs, suite, candidate),
    )


def _suite(inputs: Inputs) -> Suite:
    if inputs.suite is None:
        return suite_of_records(
            inputs.records or Path(),
            name=inputs.name,
            expectation=inputs.expectation,
            baseline=inputs.baseline,
            warn=note,
        )
    for option in inputs.given("expectation", "baseline", "name"):
        raise InputError("goes with --records; a suite folder has it in suite.yaml", field=option)
    return load_suite(inputs.suite, warn=note)


def _candidate(inputs: Inputs) -> Candidate:
    chosen = inputs.candidate or inputs.candidate_records
    if chosen is None and inputs.suite is not None:
        own = inputs.suite / CANDIDATE_FILE
        chosen = own if own.exists() or not inputs.adapter else None
    if chosen is None and not inputs.adapter:
        remedy = "give --candidate, --candidate-records or --adapter"
        raise InputError("no candidate named", field="--candidate", remedy=remedy)
    return load_candidate(chosen, adapter=inputs.adapter, model=inputs.model)


def _how(inputs: Inputs, suite: Suite, candidate: Candidate) -> HowToRun:
    options = inputs.given("mode", "input_mode", "trials", "from_turn")
    if candidate.kind == "records" and options:
        raise InputError("goes with a harness; this candidate is records", field=options[0])
    config = suite.config
    how = HowToRun(
        mode=inputs.mode or config.mode,
        input_mode=inputs.input_mode or config.input_mode,
        trials=inputs.trials or config.trials,
        from_turn=inputs.from_turn or 0,
    )
    if how.from_turn and how.input_mode == "question":
        raise InputError("goes with the recorded input, not with the question alone", field="--from-turn")
    return how


def no_cases(inputs: Inputs) -> ExitCode:
    """Say that nothing is to be evaluated."""
    source = inputs.suite or inputs.records
    picked = " ".join((*inputs.cases, *(f"--tag {tag}" for tag in inputs.tags)))
    what = f"no case matches {picked}" if picked else "there are no cases"
    note(f"regress: {source}: {what}; nothing was evaluated (--allow-empty permits that)")
    return ExitCode.NO_CASES
