"""`regress run` and `regress validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regress_pipeline.cli.options import AllowEmpty, CandidatePath, Cases, EnvFile, FailOn, Fresh, Store, Tags

SuiteFolder = Annotated[
    Path | None,
    typer.Argument(metavar="[SUITE]", help="A suite folder: suite.yaml, candidate.yaml, records/."),
]
Records = Annotated[
    Path | None, typer.Option(help="Baseline run records, a file or folder, instead of a suite folder.")
]
CandidateRecords = Annotated[
    Path | None, typer.Option(help="The candidate's run records, a file or folder, made elsewhere.")
]
Baseline = Annotated[
    Path | None, typer.Option(help="The baseline's descriptor, which judges see; with --records.")
]
AdapterText = Annotated[
    str | None,
    typer.Option("--adapter", metavar="PATH|MODULE", help="The adapter: a .py file or an import path."),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="PROVIDER:MODEL", help="Let this model answer in place of the agents' own."),
]
Mode = Annotated[
    Literal["strict", "hybrid", "live"] | None,
    typer.Option(
        help="Tool outputs: from the record only, else live, all live. Default: suite.yaml's, strict."
    ),
]
InputModeOption = Annotated[
    Literal["recorded", "question"] | None,
    typer.Option("--input-mode", help="Run on the recorded input, or on the question alone."),
]
Trials = Annotated[
    int | None, typer.Option(min=1, max=1000, help="Run each case so often; the worst trial counts.")
]
FromTurn = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="Give the first K turns of the baseline as done, and go on there."),
]
Expectation = Annotated[
    Path | None, typer.Option(help="The expectation, a YAML or JSON file; with --records.")
]
Name = Annotated[str | None, typer.Option(help="Name of the suite; with --records.")]


def run(
    suite: SuiteFolder = None,
    records: Records = None,
    candidate: CandidatePath = None,
    candidate_records: CandidateRecords = None,
    baseline: Baseline = None,
    expectation: Expectation = None,
    adapter: AdapterText = None,
    model: Model = None,
    mode: Mode = None,
    input_mode: InputModeOption = None,
    trials: Trials = None,
    from_turn: FromTurn = None,
    name: Name = None,
    cases: Cases = None,
    tags: Tags = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder. Default: STORE/outputs/<evaluation id>.")
    ] = None,
    fail_on: FailOn = "fail",
    store: Store = None,
    fresh: Fresh = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Go on with this evaluation; inconclusive cases are done again."),
    ] = None,
    allow_empty: AllowEmpty = False,
    env_file: EnvFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check all inputs and stop; as `regress validate`.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Evaluate a candidate against recorded baselines.

    Exit codes: 0 fine, 1 the gate reached --fail-on, 2 invalid input, 3 no case conclusive or a wrong key or
    model, 4 no cases, 130 interrupted.
    """
    from regress_pipeline.cli.actions.inputs import Inputs

    inputs = Inputs(
        suite=suite,
        records=records,
        candidate=candidate,
        candidate_records=candidate_records,
        baseline=baseline,
        expectation=expectation,
        adapter=adapter,
        model=model,
        mode=mode,
        input_mode=input_mode,
        trials=trials,
        from_turn=from_turn,
        name=name,
        cases=tuple(cases or ()),
        tags=tuple(tags or ()),
    )
    if dry_run:
        from regress_pipeline.cli.actions import validate as checking

        code = checking.validate(inputs, allow_empty=allow_empty, env_file=env_file)
    else:
        from regress_pipeline.cli.actions import run as action

        choices = action.Choices(
            out=out, fail_on=fail_on, store=store, fresh=fresh, allow_empty=allow_empty, as_json=as_json
        )
        code = action.run(inputs, choices, resume=resume, env_file=env_file)
    raise typer.Exit(code)


def validate(
    suite: SuiteFolder = None,
    records: Records = None,
    candidate: CandidatePath = None,
    candidate_records: CandidateRecords = None,
    baseline: Baseline = None,
    expectation: Expectation = None,
    adapter: AdapterText = None,
    model: Model = None,
    mode: Mode = None,
    input_mode: InputModeOption = None,
    trials: Trials = None,
    from_turn: FromTurn = None,
    name: Name = None,
    cases: Cases = None,
    tags: Tags = None,
    allow_empty: AllowEmpty = False,
    env_file: EnvFile = None,
) -> None:
    """Check every input of `regress run` without evaluating anything."""
    from regress_pipeline.cli.actions import validate as action
    from regress_pipeline.cli.actions.inputs import Inputs

    inputs = Inputs(
        suite=suite,
        records=records,
        candidate=candidate,
        candidate_records=candidate_records,
        baseline=baseline,
        expectation=expectation,
        adapter=adapter,
        model=model,
        mode=mode,
        input_mode=input_mode,
        trials=trials,
        from_turn=from_turn,
        name=name,
        cases=tuple(cases or ()),
        tags=tuple(tags or ()),
    )
    raise typer.Exit(action.validate(inputs, allow_empty=allow_empty, env_file=env_file))
