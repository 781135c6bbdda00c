"""`regress compare-evaluations`: whether one evaluation is worse than another, or only chance."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from regress_pipeline.cli.options import Store


def compare_evaluations(
    a: Annotated[str, typer.Argument(metavar="A", help="The id of the evaluation to compare with.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The id of the other one, of the same cases.")],
    *,
    mid_p: Annotated[
        bool, typer.Option("--mid-p", help="The mid-p version of McNemar's test, which sees a little more.")
    ] = False,
    alpha: Annotated[float, typer.Option(help="The level of the tests, between 0 and 1.")] = 0.05,
    correction: Annotated[
        Literal["holm", "bh"],
        typer.Option(
            help="How single cases are adjusted for their number: holm bounds the chance of any false alarm, "
            "bh (Benjamini-Hochberg) the share of false ones."
        ),
    ] = "holm",
    store: Store = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare two finished evaluations case by case: a paired test, intervals, what could be seen at all.

    A case passes unless it fails; what is inconclusive is left out and counted. Exit 3 if nothing could be
    compared.
    """
    from regress_core.history.paired_evaluations import PairedOptions
    from regress_pipeline.cli.actions import compare_evaluations as action

    options = PairedOptions(alpha=alpha, mid_p=mid_p, correction=correction)
    raise typer.Exit(action.compare(a, b, options, store=store, as_json=as_json))
