"""What `regress run` does once its options are read."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError
from regress_core.evaluation.engine import Enter, run_evaluation
from regress_core.evaluation.entering import begin, planned, resume
from regress_core.evaluation.outputs import check_out
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import JOURNAL_FILE, Ports
from regress_core.evaluation.summary import summarize_evaluation
from regress_core.files import relative_to_working_folder
from regress_core.judge.time_limit import JudgeTimeUpError
from regress_core.records.json_io import dumps
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_pipeline.cli.actions.inputs import Inputs, load, load_environment, no_cases
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import flip_lines, note, say, summary_lines
from regress_pipeline.settings import load_settings


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
    except JudgeTimeUpError as error:
        note(f"regress: {error}")
        return _interrupted(entered[0], ports, choices)
    _tell(summary, plan, ports, choices)
    return exit_code(summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty)


def _interrupted(plan: EvaluationPlan, ports: Ports, choices: Choices) -> ExitCode:
    row = ports.journal.evaluation(plan.evaluation_id)
    if row is not None and row.state == "finished":
        note("interrupted, but all was done")
        _tell(summarize_evaluation(plan, ports), plan, ports, choices)
        return ExitCode.INTERRUPTED
    summary = summarize_evaluation(plan, ports)
    note(f"interrupted: {summary.totals.cases} of {len(plan.suite.cases)} cases are kept; go on with:")
    note(f"  {_resume_command(plan, ports, choices)}")
    return ExitCode.INTERRUPTED


def _tell(summary: RunRegressionSummary, plan: EvaluationPlan, ports: Ports, choices: Choices) -> None:
    if choices.as_json:
        sys.stdout.buffer.write(dumps(summary.to_json(), indent=2) + b"\n")
        return
    for line in summary_lines(summary):
        say(line)
    store = None if choices.store is None else str(choices.store)
    for line in flip_lines(summary, relative_to_working_folder(plan.suite.root), store):
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
