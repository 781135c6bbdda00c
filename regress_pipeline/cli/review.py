"""`regress review`, `regress accept`, `regress reject` and `regress override`: people's decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from regress_pipeline.cli.options import Store

_Suite = Annotated[str, typer.Option(metavar="SUITE", help="The suite: its folder, or its name.")]
_Case = Annotated[str, typer.Option(metavar="CASE", help="The case: its name or id.")]
_Dimension = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The dimension of the rubric. Without it: all that have flipped."),
]
_Evaluation = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Refuse if this is not the suite's latest evaluation by now."),
]
_Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the decision.")]
_By = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who decides. Default: the user of this machine.")
]


def review(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite: its folder, or its name.")],
    store: Store = None,
) -> None:
    """List what waits for a person in a suite's latest evaluation, with the commands to decide."""
    from regress_pipeline.cli.actions import review as action

    action.show(suite, store=store)


def accept(
    suite: _Suite,
    case: _Case,
    reason: _Reason,
    dimension: _Dimension = None,
    evaluation: _Evaluation = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Make the candidate's record the baseline; the old one is archived."),
    ] = False,
    also: Annotated[
        bool,
        typer.Option("--also", help="With --record: keep the baseline; a run equal to either passes."),
    ] = False,
    by: _By = None,
    store: Store = None,
) -> None:
    """Accept flipped verdicts of the latest evaluation, or with --record the candidate's record.

    An accepted verdict passes silently from now on. A case that is inconclusive, whose candidate failed or
    whose verdict is missing is refused.
    """
    from regress_core.errors import InputError
    from regress_pipeline.cli.actions.accept_record import accept_record
    from regress_pipeline.cli.actions.deciding import Decision
    from regress_pipeline.cli.actions.sign import sign

    decision = Decision(suite, case, evaluation, dimension, reason, by, store)
    if record:
        accept_record(decision, also=also)
    elif also:
        raise InputError("goes with --record", field="--also", remedy="add --record, or leave it out")
    else:
        sign(decision, "accepted")


def reject(
    suite: _Suite,
    case: _Case,
    reason: _Reason,
    dimension: _Dimension = None,
    evaluation: _Evaluation = None,
    by: _By = None,
    store: Store = None,
) -> None:
    """Reject flipped verdicts of the latest evaluation: the case fails until they turn back."""
    from regress_pipeline.cli.actions.deciding import Decision
    from regress_pipeline.cli.actions.sign import sign

    sign(Decision(suite, case, evaluation, dimension, reason, by, store), "rejected")


def override(
    suite: _Suite,
    case: _Case,
    reason: _Reason,
    owner: Annotated[str, typer.Option(metavar="NAME", help="Who answers for it.")],
    expires: Annotated[
        str, typer.Option(metavar="WHEN", help="The last day, YYYY-MM-DD, or a time in ISO form; UTC.")
    ],
) -> None:
    """Let a case run and be shown, but not gate, until a day."""
    from regress_pipeline.cli.actions import override as action

    action.override(suite, case, reason=reason, owner=owner, expires=expires)
