"""`regress pipeline`: suites through Dagster."""

from __future__ import annotations

from typing import Annotated

import typer

from regress_pipeline.cli.options import AllowEmpty, CandidatePath, Cases, EnvFile, FailOn, Fresh, Store

app = typer.Typer(help="Run suites through Dagster.", no_args_is_help=True)


@app.command()
def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name or folder.")],
    candidate: CandidatePath = None,
    cases: Cases = None,
    fail_on: FailOn = "fail",
    store: Store = None,
    fresh: Fresh = False,
    allow_empty: AllowEmpty = False,
    env_file: EnvFile = None,
) -> None:
    """Evaluate a suite as Dagster runs, without the user interface."""
    from regress_pipeline.cli.actions import pipeline as action

    choices = action.Choices(
        candidate=candidate,
        cases=tuple(cases or ()),
        fail_on=fail_on,
        store=store,
        fresh=fresh,
        allow_empty=allow_empty,
    )
    raise typer.Exit(action.run(suite, choices, env_file=env_file))


@app.command()
def dev(
    store: Store = None,
    port: Annotated[int, typer.Option(help="Port of the user interface.")] = 3000,
) -> None:
    """Open Dagster's user interface on the store's instance."""
    from regress_pipeline.cli.actions import pipeline as action

    action.dev(store=store, port=port)
