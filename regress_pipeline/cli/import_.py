"""`regress import`: make the records of a suite from logs and run records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

# Imports of the core stand inside the functions: `regress --help` must not wait for pydantic.


def import_(
    format: Annotated[  # noqa: A002 - the argument's name
        str, typer.Argument(metavar="FORMAT", help="What SRC holds; `auto` looks.")
    ],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC",
            help="A file (JSON array, JSON lines, one value; also .gz), a .zip, a folder, or - for stdin.",
        ),
    ],
    *,
    suite: Annotated[Path, typer.Option(metavar="DIR", help="The suite; the records go to DIR/records.")],
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Take at most so many runs.")] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help='A DuckDB condition on runs, such as "trial = 0".')
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="TEMPLATE", help='What cases are called, such as "{info.task.id}-{trial}".'),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="PATH", help="A label to note; paths are dotted, as info.task.id.")
    ] = None,
    turns: Annotated[
        Literal["whole", "each"],
        typer.Option(help="One case a run, or one a user turn, which can be replayed."),
    ] = "whole",
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Hide addresses, numbers of phones and cards, keys, and what suite.yaml hides."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be imported.")] = False,
    max_rejects: Annotated[
        int, typer.Option(metavar="N", min=0, help="Exit 0 with so many runs that cannot be imported.")
    ] = 0,
    messages: Annotated[
        str | None, typer.Option(metavar="PATH", help="openai-chat: where the messages are.")
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="PATH", help="qa-log: where the question is.")] = None,
    response: Annotated[str | None, typer.Option(metavar="PATH", help="qa-log: where the answer is.")] = None,
    timestamp: Annotated[str | None, typer.Option(metavar="PATH", help="qa-log: where the time is.")] = None,
    trial: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="tau: take this trial of each task.")
    ] = None,
) -> None:
    """Make the records of a suite from logs and run records.

    What cannot be imported is listed in DIR/import-rejects.jsonl; the rest is imported all the same.

    Exit codes: 0 imported, 2 invalid input or more rejects than --max-rejects, 4 nothing imported.
    """
    from regress_pipeline.cli.actions.import_ import FormatWishes, Wishes, import_runs

    of_format = FormatWishes(messages, query, response, timestamp, trial)
    wishes = Wishes(limit, where, name, label, turns, redact, dry_run, max_rejects, of_format)
    raise typer.Exit(import_runs(format, source, suite, wishes))
