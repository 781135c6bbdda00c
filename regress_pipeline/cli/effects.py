"""`regress effects`: which tools change something outside of the conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Find out which tools write.", no_args_is_help=True)


@app.callback()
def _effects() -> None:
    """Keep `suggest` a command of its own: typer runs the only command of a group under the group's name."""


@app.command()
def suggest(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite: its folder, or its name.")],
    candidate: Annotated[
        Path | None,
        typer.Option(
            help="A candidate to look at as well: its records, or the schemas of a harness's tools, for "
            "which its adapter is run."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Propose the effects mapping of suite.yaml, from tool names, schemas and recorded calls.

    Nothing is written: look at each line, then paste it. Tools under `unsure` are no writes until you say so.
    """
    from regress_pipeline.cli.actions import effects as action

    raise typer.Exit(action.suggest(suite, candidate, as_json=as_json))
