"""`regress calibrate`: how far a judge's verdicts can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regress_pipeline.cli.options import Store


def calibrate(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help="Rows of a verdict and its true label: CSV, JSON lines or a JSON array, each also .gz; or a "
            "folder of them.",
        ),
    ],
    *,
    label: Annotated[str, typer.Option(metavar="PATH", help="The field of the true label.")] = "label",
    verdict: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The field of the judge's verdict. REPLY.FIELD reads FIELD of the one JSON object in the "
            "text of a reply.",
        ),
    ] = None,
    map_verdict: Annotated[
        str, typer.Option(metavar="TABLE", help="What the verdicts mean; others are counted as unmapped.")
    ] = "pass=pass,fail=fail",
    map_label: Annotated[
        str, typer.Option(metavar="TABLE", help="What the labels mean, such as 1=pass,0=fail.")
    ] = "pass=pass,fail=fail",
    id: Annotated[  # noqa: A002 - the option's name
        str | None, typer.Option(metavar="PATH", help="What was judged; without it, the row's number.")
    ] = None,
    judge: Annotated[str | None, typer.Option(metavar="NAME", help="Which judge, such as rubric.")] = None,
    judge_field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The same, where the rows say it.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model that it asked.")] = None,
    model_field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The same, where the rows say it.")
    ] = None,
    prompt_version: Annotated[
        str | None, typer.Option(metavar="NAME", help="The version of its instructions.")
    ] = None,
    prompt_version_field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The same, where the rows say it.")
    ] = None,
    store: Store = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Set a judge's verdicts against the truth: confusion matrix, agreement, kappa, false passes and fails.

    No judge is asked. The figures are kept for each judge, model and prompt version; a judge whose model or
    prompt version is another is uncalibrated. A PATH is dotted, such as info.label.
    """
    from regress_core.stats.labels import LabelFields, Named
    from regress_core.stats.wording import parse_wording
    from regress_pipeline.cli.actions import calibrate as action

    fields = LabelFields(
        verdict=verdict,
        verdicts=parse_wording(map_verdict, "--map-verdict"),
        label=label,
        labels=parse_wording(map_label, "--map-label"),
        id=id,
        judge=Named("--judge", judge, judge_field),
        model=Named("--model", model, model_field),
        prompt_version=Named("--prompt-version", prompt_version, prompt_version_field),
    )
    action.calibrate_judges(labels, fields, store=store, as_json=as_json)
