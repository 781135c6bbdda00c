"""`regress demo`: the main job on the example suite, through Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    store: Annotated[Path | None, typer.Option(help="The store. Default: settings, else .regress.")] = None,
) -> None:
    """Evaluate two candidates of the example support agent and ask the history about both."""
    from regress_pipeline.cli.actions import demo as action

    raise typer.Exit(action.demonstrate(store))
