"""`regress pipeline`: suites through Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regress_pipeline.cli.options import AllowEmpty, CandidatePath, Cases, EnvFile, FailOn, Fresh, Store, Tags

app = typer.Typer(help="Run suites through Dagster.", no_args_is_help=True)


@app.command()
def run(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A suite's name or folder.")],
    candidate: CandidatePath = None,
    cases: Cases = None,
    tags: Tags = None,
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
        tags=tuple(tags or ()),
        fail_on=fail_on,
        store=store,
        fresh=fresh,
        allow_empty=allow_empty,
    )
    raise typer.Exit(action.run(suite, choices, env_file=env_file))


@app.command()
def backfill(
    suites: Annotated[
        list[str], typer.Option("--suite", metavar="SUITE", help="A suite's name or folder; may be repeated.")
    ],
    candidate: Annotated[
        Path, typer.Option(help="The candidate: a file like candidate.yaml, a descriptor, or records.")
    ],
    cases: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB|FILE",
            help="Only cases whose name or id matches, or that a file lists, one a line; may be repeated.",
        ),
    ] = None,
    tags: Tags = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only cases whose recorded run began then or later, UTC."),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="EVALUATION|DATE",
            help="The suite as an earlier evaluation had it: rules, records, cases that are gone since.",
        ),
    ] = None,
    only: Annotated[
        Literal["missing", "failed", "inconclusive"] | None,
        typer.Option(help="Only cases that the history has no result of this candidate on, or such a one."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the daemon, with progress and money, and tell the end.")
    ] = False,
    fail_on: FailOn = "fail",
    store: Store = None,
    allow_empty: AllowEmpty = False,
    env_file: EnvFile = None,
) -> None:
    """Evaluate suites, old ones too, against a candidate: by the daemon if one runs, else in this process."""
    from regress_pipeline.cli.actions import backfill as action

    choices = action.Choices(
        suites=tuple(suites),
        candidate=candidate,
        cases=tuple(cases or ()),
        tags=tuple(tags or ()),
        since=since,
        as_of=as_of,
        only=only,
        wait=wait,
        fail_on=fail_on,
        store=store,
        allow_empty=allow_empty,
    )
    raise typer.Exit(action.backfill(choices, env_file=env_file))


@app.command()
def dev(
    store: Store = None,
    port: Annotated[int, typer.Option(help="Port of the user interface.")] = 3000,
) -> None:
    """Open Dagster's user interface on the store's instance."""
    from regress_pipeline.cli.actions import pipeline as action

    action.dev(store=store, port=port)


@app.command()
def status(
    suites: Annotated[
        list[str] | None, typer.Argument(metavar="[SUITE]...", help="Names or folders; all if left out.")
    ] = None,
    store: Store = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how suites stand: last evaluations, unfinished ones, orphaned cases, the next night."""
    from regress_pipeline.cli.actions import store_care as action

    raise typer.Exit(action.status(suites or (), store, as_json=as_json))


@app.command()
def prune(
    keep_days: Annotated[
        int | None, typer.Option(min=1, help="Of how many days all runs stay. Default: settings, else 30.")
    ] = None,
    store: Store = None,
) -> None:
    """Delete Dagster's old runs and their events; the history is not touched."""
    from regress_pipeline.cli.actions import store_care as action

    raise typer.Exit(action.prune_log(keep_days, store))
