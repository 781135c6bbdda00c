"""What `regress run` does once its options are read."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from dotenv import load_dotenv

from regress_core.errors import InputError
from regress_core.evaluation.engine import Enter, run_evaluation
from regress_core.evaluation.outputs import check_out
from regress_core.evaluation.plan import (
    EvaluationPlan,
    HowToRun,
    begin,
    build_plan,
    planned,
    resume,
)
from regress_core.evaluation.ports import JOURNAL_FILE, Ports
from regress_core.evaluation.source import check_candidate
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.files import relative_to_working_folder
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode, is_multi_turn
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.json_io import dumps
from regress_core.records.loading import RecordFile, load_record
from regress_core.records.model import RunRecord
from regress_core.suite.candidate import CANDIDATE_FILE, Candidate, load_candidate, orphans_of
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_core.suite.loading import CaseRef, Suite, load_suite, select_cases, suite_of_records
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import note, say, summary_lines
from regress_pipeline.settings import load_settings


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

    def given(self, *names: str) -> list[str]:
        """Name the options that were given, of these fields or of all."""
        return [
            "SUITE" if name == "suite" else f"--{name.replace('_', '-')}"
            for name in names or type(self).__slots__
            if getattr(self, name) not in (None, ())
        ]


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
    loaded = load(inputs)
    if not loaded.cases and not choices.allow_empty:
        return no_cases(inputs)
    plan = loaded.plan()
    settings = load_settings(store=choices.store)
    if choices.out is not None:
        check_out(choices.out, settings.store, plan)
    with Ports.open(settings.store, out=choices.out, limits=settings.limits) as ports:
        return _evaluate(plan, ports, choices, lambda plan: begin(plan, ports.journal, fresh=choices.fresh))


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
    plan = loaded.plan()
    with redirect_stdout(sys.stderr):
        check_candidate(plan)
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
    say("all inputs are valid")
    return ExitCode.OK


def _baseline(case: CaseRef) -> RunRecord:
    return load_record(RecordFile(case.case_id, Path(case.baseline.path))).record


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


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the options name, loaded."""

    suite: Suite
    candidate: Candidate
    cases: tuple[CaseRef, ...]
    how: HowToRun

    def plan(self) -> EvaluationPlan:
        """Plan what was loaded."""
        return build_plan(
            self.suite,
            self.candidate,
            self.cases,
            trigger="cli",
            clock=utc_now,
            new_id=new_evaluation_id,
            how=self.how,
        )


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
    return Loaded(suite, candidate, select_cases(suite, inputs.cases), _how(inputs, suite, candidate))


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
    what = f"no case matches {' '.join(inputs.cases)}" if inputs.cases else "there are no cases"
    note(f"regress: {source}: {what}; nothing was evaluated (--allow-empty permits that)")
    return ExitCode.NO_CASES


def _resume(evaluation_id: str, inputs: Inputs, choices: Choices) -> ExitCode:
    if inputs.given():
        message = f"takes its plan from the store; leave out {', '.join(inputs.given())}"
        raise InputError(message, field="--resume")
    if choices.fresh:
        raise InputError("does not go together with --resume", field="--fresh")
    settings = load_settings(store=choices.store)
    store = settings.store
    if not (store / JOURNAL_FILE).is_file():
        raise InputError(
            "no such store", file=store, field="--store", remedy="name the store it was begun in"
        )
    with Ports.open(store, out=choices.out, limits=settings.limits) as ports:
        plan = planned(evaluation_id, ports.journal)
        if choices.out is not None:
            check_out(choices.out, store, plan)
        return _evaluate(plan, ports, choices, lambda plan: resume(plan.evaluation_id, ports.journal))


def _evaluate(plan: EvaluationPlan, ports: Ports, choices: Choices, enter: Enter) -> ExitCode:
    entered: list[EvaluationPlan] = []

    def enter_and_note(plan: EvaluationPlan) -> EvaluationPlan:
        entered.append(enter(plan))
        return entered[0]

    try:
        # What an adapter prints may not get into what a script reads.
        with show_progress() as emit, redirect_stdout(sys.stderr):
            summary = run_evaluation(plan, ports, emit, enter=enter_and_note)
    except KeyboardInterrupt:
        if not entered:
            raise
        return _interrupted(entered[0], ports, choices)
    _tell(summary, ports, choices)
    return exit_code(summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty)


def _interrupted(plan: EvaluationPlan, ports: Ports, choices: Choices) -> ExitCode:
    row = ports.journal.evaluation(plan.evaluation_id)
    if row is not None and row.state == "finished":
        note("interrupted, but all was done")
        _tell(summarize_evaluation(plan, ports.journal), ports, choices)
        return ExitCode.INTERRUPTED
    summary = summarize_evaluation(plan, ports.journal)
    note(f"interrupted: {summary.totals.cases} of {len(plan.suite.cases)} cases are kept; go on with:")
    note(f"  {_resume_command(plan, ports, choices)}")
    return ExitCode.INTERRUPTED


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
