"""`regress demo`: the main job on the example suites, through Dagster."""

from __future__ import annotations

import typer

from regress_pipeline.cli.options import Store


def demo(
    store: Store = None,
) -> None:
    """Evaluate the example suites through Dagster and ask the history about them."""
    from regress_pipeline.cli.actions import demo as action

    raise typer.Exit(action.demonstrate(store))
