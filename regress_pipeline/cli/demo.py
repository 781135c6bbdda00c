"""`regress demo`."""

import typer


def demo() -> None:
    """Run the demo."""
    raise typer.Exit(0)
