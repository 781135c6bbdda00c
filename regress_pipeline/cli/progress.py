"""Progress: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from regress_core.evaluation.events import CaseDone, Emit, EvaluationStarted, Event
from regress_pipeline.cli.render import contract_lines, note


@contextmanager
def show_progress() -> Generator[Emit]:
    """Give an `emit` that shows on stderr how far an evaluation is."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("evaluating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("evaluating", total=None)

        def emit(event: Event) -> None:
            if isinstance(event, EvaluationStarted):
                if not progress.tasks[0].total:
                    _tell_contracts(event)
                progress.update(task, total=event.planned)
            elif isinstance(event, CaseDone):
                progress.advance(task)

        yield emit


def _tell_contracts(event: EvaluationStarted) -> None:
    for line in contract_lines(event.contracts):
        note(line)


def _lines() -> Emit:
    total = done = 0

    def emit(event: Event) -> None:
        nonlocal total, done
        if isinstance(event, EvaluationStarted):
            kept = f", {event.settled} of them done before" if event.settled else ""
            if total == 0 or kept:
                note(f"evaluation {event.evaluation_id}: {event.planned} cases{kept}")
            if total == 0:
                _tell_contracts(event)
            total = event.planned
        elif isinstance(event, CaseDone):
            done += 1
            # Ten lines for any evaluation, however large.
            if done * 10 // total > (done - 1) * 10 // total:
                note(f"  {done} of {total} cases done")

    return emit
