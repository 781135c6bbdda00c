"""`regress history`: care for the Parquet files that hold every evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regress_pipeline.cli.options import Store

app = typer.Typer(help="Compact, verify and export the history.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def compact(store: Store = None, as_json: AsJson = False) -> None:
    """Make one file of many, for each table, suite and month; answers stay the same."""
    from regress_pipeline.cli.actions import history as action

    raise typer.Exit(action.compact_history(store, as_json=as_json))


@app.command()
def verify(store: Store = None, as_json: AsJson = False) -> None:
    """Read every file whole; exit 1 if anything is wrong."""
    from regress_pipeline.cli.actions import history as action

    raise typer.Exit(action.verify_history(store, as_json=as_json))


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or an earlier export.")],
    file_format: Annotated[
        Literal["parquet", "csv", "jsonl"], typer.Option("--format", help="What the files are.")
    ] = "parquet",
    suites: Annotated[
        list[str] | None, typer.Option("--suite", metavar="NAME", help="Only this suite; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only evaluations that began then or later, UTC.")
    ] = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Write the newest revision of every row, a file a table, for other programs."""
    from regress_pipeline.cli.actions import history as action

    raise typer.Exit(action.export_history(folder, file_format, suites or (), since, store, as_json=as_json))
