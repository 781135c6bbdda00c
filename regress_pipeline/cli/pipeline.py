"""`regress pipeline`: suites through Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(help="Run suites through Dagster.", no_args_is_help=True)


@app.command()
def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name or folder.")],
    candidate: Annotated[
        Path | None,
        typer.Option(help="A file like candidate.yaml, or a folder of records. Default: the suite's."),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only cases whose name or id matches; may be repeated."),
    ] = None,
    fail_on: Annotated[
        Literal["fail", "warn", "never"], typer.Option(help="Exit 1 from this gate status on.")
    ] = "fail",
    store: Annotated[
        Path | None, typer.Option(help="The store, Dagster home included. Default: settings, else .regress.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, even if the same evaluation is unfinished.")
    ] = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="No case at all is fine.")] = False,
    env_file: Annotated[
        Path | None, typer.Option(help="Read environment variables from this file; set ones stay.")
    ] = None,
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
    store: Annotated[
        Path | None, typer.Option(help="The store, Dagster home included. Default: settings, else .regress.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the user interface.")] = 3000,
) -> None:
    """Open Dagster's user interface on the store's instance."""
    from regress_pipeline.cli.actions import pipeline as action

    action.dev(store=store, port=port)
