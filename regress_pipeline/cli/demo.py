"""`regress demo`: the main job on the example suite, through Dagster."""

from __future__ import annotations

import typer

from regress_pipeline.cli.options import Store


def demo(
    store: Store = None,
) -> None:
    """Evaluate two candidates of the example support agent and ask the history about both."""
    from regress_pipeline.cli.actions import demo as action

    raise typer.Exit(action.demonstrate(store))
