"""What `regress pipeline` does once its options are read."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from regress_core.files import relative_to_working_folder
from regress_core.judge.time_limit import JudgeTimeUpError
from regress_core.suite.gate import ExitCode, FailOn, exit_code
from regress_pipeline.cli.actions.inputs import load_environment
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import note, say, summary_lines
from regress_pipeline.launch import dagster_home, launch
from regress_pipeline.settings import load_settings
from regress_pipeline.suites import find_suite


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of `regress pipeline run`."""

    candidate: Path | None
    cases: tuple[str, ...]
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
    try:
        with show_progress() as emit:
            launched = launch(
                folder,
                settings,
                candidate=choices.candidate,
                cases=choices.cases,
                fresh=choices.fresh,
                observe=emit,
                warn=note,
            )
    except (KeyboardInterrupt, JudgeTimeUpError) as error:
        if isinstance(error, JudgeTimeUpError):
            note(f"regress: {error}")
        note("interrupted: what is done is kept; the same command goes on (without --fresh)")
        return ExitCode.INTERRUPTED
    if launched is None:
        note(f"regress: {folder.root}: no case is selected; nothing was evaluated")
        return ExitCode.OK if choices.allow_empty else ExitCode.NO_CASES
    for line in summary_lines(launched.summary):
        say(line)
    say(f"outputs: {relative_to_working_folder(launched.outputs)}")
    say(f"Dagster runs: {', '.join(launched.run_ids)}")
    return exit_code(launched.summary, fail_on=choices.fail_on, allow_empty=choices.allow_empty)


def dev(*, store: Path | None, port: int) -> None:
    """Become `dagster dev` on the store's instance.

    Raises:
        InputError: If the store cannot be used.
    """
    settings = load_settings(store=store)
    home = dagster_home(settings.store)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(home.resolve()),
        "REGRESS_STORE": str(settings.store.resolve()),
        "REGRESS_SUITES_ROOT": str(settings.suites_root.resolve()),
    }
    program = str(Path(sys.executable).with_name("dagster"))
    command = [program, "dev", "--module-name", "regress_pipeline.definitions", "--port", str(port)]
    os.execve(program, command, environment)  # noqa: S606 - no shell: the program beside this interpreter
