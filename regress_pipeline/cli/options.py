"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

CandidatePath = Annotated[
    Path | None,
    typer.Option(
        help="The candidate: a file like candidate.yaml, a descriptor, or records. Default: the suite's."
    ),
]
Cases = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Only cases whose name or id matches; may be repeated."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", help="Only cases with this tag; may be repeated, one of them is enough."),
]
AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="No case at all is fine.")]
EnvFile = Annotated[
    Path | None, typer.Option(help="Read environment variables from this file; set ones stay.")
]
Store = Annotated[
    Path | None,
    typer.Option(
        help="The store: journal, history, outputs, Dagster home. Default: settings, else .regress."
    ),
]
FailOn = Annotated[Literal["fail", "warn", "never"], typer.Option(help="Exit 1 from this gate status on.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew, even if the same evaluation is unfinished.")
]
