"""`regress sql`: questions over the whole history."""

from __future__ import annotations

from typing import Annotated

import typer

from regress_pipeline.cli.options import Store


def sql(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="Over evaluations, case_results, comparisons, baseline_records, candidate_records.",
        ),
    ],
    store: Store = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print rows as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print rows as CSV.")] = False,
) -> None:
    """Ask the history in SQL (DuckDB). Each table shows the newest revision of every row."""
    from regress_pipeline.cli.actions import sql as action

    action.ask(statement, store=store, as_json=as_json, as_csv=as_csv)
