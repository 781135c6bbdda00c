"""What `regress pipeline run` and `regress pipeline dev` do once their options are read."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from regress_core.evaluation.plan import EvaluationPlan
from regress_core.files import relative_to_working_folder
from regress_core.judge.time_limit import JudgeTimeUpError
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_core.suite.selection import Selection
from regress_pipeline.cli.actions.inputs import load_environment
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import note, say, summary_lines
from regress_pipeline.home import dagster_environment
from regress_pipeline.launch import Launched, Wanted, enter, launch, plan_wanted
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import SuiteFolder, find_suite


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of `regress pipeline run`."""

    candidate: Path | None
    cases: tuple[str, ...]
    tags: tuple[str, ...]
    fail_on: FailOn
    store: Path | None
    fresh: bool
    allow_empty: bool


def run(suite: str, choices: Choices, *, env_file: Path | None) -> ExitCode:
    """Evaluate a suite through Dagster, print the summary, give the exit code.

    Raises:
        InputError: If any input is at fault; nothing has been written then.
    """
    load_environment(env_file)
    settings = load_settings(store=choices.store)
    folder = find_suite(suite, settings)
    wanted = Wanted(folder, choices.candidate, Selection(choices.cases, choices.tags))
    plan = plan_wanted(wanted, settings, trigger="pipeline", warn=note)
    if plan is None:
        note(f"regress: {folder.root}: no case is selected; nothing was evaluated")
        return ExitCode.OK if choices.allow_empty else ExitCode.NO_CASES
    launched = evaluate_here(enter(plan, settings, fresh=choices.fresh), folder, settings)
    if launched is None:
        note("interrupted: what is done is kept; the same command goes on (without --fresh)")
        return ExitCode.INTERRUPTED
    tell(launched.summary, launched.outputs)
    say(f"Dagster runs: {', '.join(launched.run_ids)}")
    return exit_code(launched.summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty)


def evaluate_here(plan: EvaluationPlan, suite: SuiteFolder, settings: Settings) -> Launched | None:
    """Evaluate a plan in this process and show how far it is; None if it was interrupted."""
    try:
        with show_progress() as emit:
            return launch(plan, suite, settings, observe=emit, warn=note)
    except KeyboardInterrupt:
        return None
    except JudgeTimeUpError as error:
        note(f"regress: {error}")
        return None


def tell(summary: RunRegressionSummary, outputs: Path) -> None:
    """Print what an evaluation came to."""
    for line in summary_lines(summary):
        say(line)
    say(f"outputs: {relative_to_working_folder(outputs)}")


def resume_command(evaluation_id: str, store: Path | None) -> str:
    """Give the command that goes on with an evaluation, with the store where one was named."""
    where = [] if store is None else ["--store", str(store)]
    return shlex.join(["regress", "run", "--resume", evaluation_id, *where])


def dev(*, store: Path | None, port: int) -> None:
    """Become `dagster dev` on the store's instance.

    Raises:
        InputError: If the store cannot be used.
    """
    environment = dagster_environment(load_settings(store=store))
    program = str(Path(sys.executable).with_name("dagster"))
    command = [program, "dev", "--module-name", "regress_pipeline.definitions", "--port", str(port)]
    os.execve(program, command, environment)  # noqa: S606 - no shell: the program beside this interpreter
