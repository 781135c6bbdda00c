"""What `regress run` does once its options are read."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from dotenv import load_dotenv

from regress_core.errors import InputError
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.outputs import check_out
from regress_core.evaluation.plan import EvaluationPlan, begin, build_plan, outcomes_of, resume, take_up
from regress_core.evaluation.ports import JOURNAL_FILE, Ports
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.files import relative_to_working_folder
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.json_io import dumps
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_core.suite.loading import (
    CANDIDATE_FILE,
    Candidate,
    CaseRef,
    Suite,
    load_candidate,
    load_suite,
    orphans_of,
    select_cases,
    suite_of_records,
)
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import note, say, summary_lines
from regress_pipeline.settings import load_settings


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be evaluated, as the options name it."""

    suite: Path | None
    records: Path | None
    candidate: Path | None
    candidate_records: Path | None
    expectation: Path | None
    name: str | None
    cases: tuple[str, ...]

    def given(self) -> list[str]:
        """Name the options that were given."""
        options = {
            "SUITE": self.suite,
            "--records": self.records,
            "--candidate": self.candidate,
            "--candidate-records": self.candidate_records,
            "--expectation": self.expectation,
            "--name": self.name,
            "--cases": self.cases,
        }
        return [name for name, value in options.items() if value]


@dataclass(frozen=True, slots=True)
class Choices:
    """How it is evaluated and told."""

    out: Path | None
    fail_on: FailOn
    store: Path | None
    fresh: bool
    allow_empty: bool
    as_json: bool


def run(inputs: Inputs, choices: Choices, *, resume: str | None, env_file: Path | None) -> ExitCode:
    """Evaluate, print the summary, give the exit code.

    Raises:
        InputError: If any input is at fault; nothing has been written then.
    """
    load_environment(env_file)
    if resume is not None:
        return _resume(resume, inputs, choices)
    suite, candidate, cases = load(inputs)
    if not cases and not choices.allow_empty:
        return no_cases(inputs)
    plan = build_plan(suite, candidate, cases, trigger="cli", clock=utc_now, new_id=new_evaluation_id)
    store = load_settings(store=choices.store).store
    if choices.out is not None:
        check_out(choices.out, store, plan)
    with Ports.open(store, out=choices.out) as ports:
        return _evaluate(begin(plan, ports.journal, fresh=choices.fresh), ports, choices)


def validate(inputs: Inputs, *, allow_empty: bool, env_file: Path | None) -> ExitCode:
    """Load everything, say what was found.

    Raises:
        InputError: If any input is at fault.
    """
    load_environment(env_file)
    suite, candidate, cases = load(inputs)
    if not cases and not allow_empty:
        return no_cases(inputs)
    missing = [case.name for case in cases if case.case_id not in candidate.records]
    orphans = orphans_of(suite, candidate)
    say(f"suite {suite.name}: {len(cases)} cases")
    say(f"candidate {candidate.label}: {len(candidate.records)} records")
    for what, names in (("without a candidate record", missing), ("without a baseline", orphans)):
        if names:
            say(f"{len(names)} {what}: {', '.join(names)}")
    say("all inputs are valid")
    return ExitCode.OK


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


def load(inputs: Inputs) -> tuple[Suite, Candidate, tuple[CaseRef, ...]]:
    """Load and validate suite and candidate, and pick the cases.

    Raises:
        InputError: If the options do not go together, or any file is at fault.
    """
    if (inputs.suite is None) == (inputs.records is None):
        raise InputError("name a suite folder or --records, one of them", field="SUITE")
    if inputs.candidate and inputs.candidate_records:
        raise InputError("name the candidate once", field="--candidate-records")
    chosen = inputs.candidate or inputs.candidate_records
    if inputs.suite is not None:
        if inputs.expectation or inputs.name:
            message = "goes with --records; a suite folder has it in suite.yaml"
            raise InputError(message, field="--expectation" if inputs.expectation else "--name")
        suite = load_suite(inputs.suite, warn=note)
        candidate = load_candidate(chosen or inputs.suite / CANDIDATE_FILE)
    else:
        records = inputs.records or Path()
        if chosen is None:
            raise InputError("no candidate named", field="--candidate-records")
        suite = suite_of_records(records, name=inputs.name, expectation=inputs.expectation, warn=note)
        candidate = load_candidate(chosen)
    return suite, candidate, select_cases(suite, inputs.cases)


def no_cases(inputs: Inputs) -> ExitCode:
    """Say that nothing is to be evaluated."""
    source = inputs.suite or inputs.records
    what = f"no case matches {' '.join(inputs.cases)}" if inputs.cases else "there are no cases"
    note(f"regress: {source}: {what}; nothing was evaluated (--allow-empty permits that)")
    return ExitCode.NO_CASES


def _resume(evaluation_id: str, inputs: Inputs, choices: Choices) -> ExitCode:
    if inputs.given():
        message = f"takes its plan from the store; leave out {', '.join(inputs.given())}"
        raise InputError(message, field="--resume")
    if choices.fresh:
        raise InputError("does not go together with --resume", field="--fresh")
    store = load_settings(store=choices.store).store
    if not (store / JOURNAL_FILE).is_file():
        raise InputError(
            "no such store", file=store, field="--store", remedy="name the store it was begun in"
        )
    with Ports.open(store, out=choices.out) as ports:
        if choices.out is not None and (row := ports.journal.evaluation(evaluation_id)) is not None:
            check_out(choices.out, store, take_up(row, ports.journal))
        return _evaluate(resume(evaluation_id, ports.journal), ports, choices)


def _evaluate(plan: EvaluationPlan, ports: Ports, choices: Choices) -> ExitCode:
    try:
        with show_progress() as emit:
            summary = run_evaluation(plan, ports, emit)
    except KeyboardInterrupt:
        row = ports.journal.evaluation(plan.evaluation_id)
        if row is not None and row.state == "finished":
            note("interrupted, but all was done")
            _tell(summarize_evaluation(plan, ports.journal), ports, choices)
            return ExitCode.INTERRUPTED
        kept = sum(1 for _ in outcomes_of(ports.journal, plan.evaluation_id))
        note(f"interrupted: {kept} of {len(plan.suite.cases)} cases are kept; go on with:")
        note(f"  {_resume_command(plan, ports, choices)}")
        return ExitCode.INTERRUPTED
    _tell(summary, ports, choices)
    return exit_code(summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty)


def _tell(summary: RunRegressionSummary, ports: Ports, choices: Choices) -> None:
    if choices.as_json:
        sys.stdout.buffer.write(dumps(summary.to_json(), indent=2) + b"\n")
        return
    for line in summary_lines(summary):
        say(line)
    say(f"outputs: {relative_to_working_folder(ports.outputs_of(summary.evaluation_id or ''))}")


def _resume_command(plan: EvaluationPlan, ports: Ports, choices: Choices) -> str:
    words = ["regress", "run", "--resume", plan.evaluation_id, "--store", str(ports.store)]
    if choices.out is not None:
        words += ["--out", str(choices.out.absolute())]
    if choices.fail_on != "fail":
        words += ["--fail-on", choices.fail_on]
    if choices.as_json:
        words.append("--json")
    return shlex.join(words)
