"""From a Dagster run to the plan that it is a part of.

Dagster reads the annotations of config as objects: there is no `from __future__ import annotations` here.
"""

from pathlib import Path

import dagster as dg
from pydantic import Field

from regress_core.errors import InputError
from regress_core.evaluation.as_of import suite_as_of
from regress_core.evaluation.contracts import check_candidate
from regress_core.evaluation.entering import join, resume
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.plan_rows import take_up
from regress_core.evaluation.ports import Ports
from regress_core.ids import derived_evaluation_id, utc_now
from regress_core.journal.journal import EvaluationRow
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import load_suite
from regress_pipeline.partitions import BACKFILL, cases_of_backfill
from regress_pipeline.suites import SuiteFolder


class EvaluationConfig(dg.Config):
    """What a run may be told; all of it may be left out."""

    candidate: str = Field(
        default="",
        description="Where the candidate is: a file like candidate.yaml, a descriptor, or records. Empty: the"
        " suite's candidate.yaml.",
    )
    as_of: str = Field(
        default="",
        description="Evaluate the suite as it was: an evaluation's id, or a date (the newest evaluation up to"
        " its end, UTC). Empty: as it is.",
    )
    evaluation_id: str = Field(
        default="",
        description="The evaluation that this run is a part of. Empty: the one of its backfill, else its own,"
        " planned over its partitions; for a run without partitions, the suite's newest.",
    )


def plan_of_run(
    context: dg.AssetExecutionContext,
    config: EvaluationConfig,
    suite: SuiteFolder,
    ports: Ports,
    cases: list[str],
) -> EvaluationPlan:
    """Take up the run's evaluation, or enter it; a re-execution does inconclusive cases again.

    What the journal has of an evaluation counts; files are read only to enter a new one.

    Args:
        context: Of the run.
        config: What the run was told.
        suite: Its suite.
        ports: The store.
        cases: The run's partitions.

    Raises:
        InputError: If the evaluation is not there or another suite's, or there is nothing to evaluate.
    """
    run = context.run
    # Dagster does not hand a backfill's tag on to every re-execution.
    root = context.instance.get_run_by_id(run.root_run_id) if run.root_run_id else None
    backfill_id = (root or run).tags.get(BACKFILL)
    evaluation_id = config.evaluation_id
    if not evaluation_id and (backfill_id or cases):
        evaluation_id = derived_evaluation_id(suite.name, backfill_id or run.root_run_id or run.run_id)
    row = _row_of(evaluation_id, suite, ports)
    if row is not None:
        plan = take_up(row, ports.journal)
        if not run.root_run_id:
            return plan
        check_candidate(plan)  # before the evaluation is opened again
        return resume(row.evaluation_id, ports.journal, frozenset(cases) or None)
    if config.evaluation_id or not evaluation_id:
        named = f"no evaluation {evaluation_id}" if evaluation_id else f"no evaluation of suite {suite.name}"
        raise InputError(f"{named} in this store", field="evaluation_id")
    of_backfill = cases_of_backfill(backfill_id, context.instance, suite.name) if backfill_id else set[str]()
    wanted = of_backfill or set(cases)
    is_backfill = backfill_id is not None
    return _entered(config, suite, ports, context, wanted, evaluation_id, is_backfill=is_backfill)


def _row_of(evaluation_id: str, suite: SuiteFolder, ports: Ports) -> EvaluationRow | None:
    if not evaluation_id:
        return ports.journal.latest_of_suite(suite.name)
    row = ports.journal.evaluation(evaluation_id)
    if row is not None and row.suite != suite.name:
        message = f"evaluation {evaluation_id} is of suite {row.suite}, not of {suite.name}"
        raise InputError(message, field="evaluation_id")
    return row


def _entered(
    config: EvaluationConfig,
    suite: SuiteFolder,
    ports: Ports,
    context: dg.AssetExecutionContext,
    wanted: set[str],
    evaluation_id: str,
    *,
    is_backfill: bool,
) -> EvaluationPlan:
    if config.as_of:
        loaded = suite_as_of(suite.name, config.as_of, ports)
    else:
        loaded = load_suite(suite.root, warn=context.log.warning)
    candidate = load_candidate(Path(config.candidate) if config.candidate else suite.root / CANDIDATE_FILE)
    planned = [case for case in loaded.cases if case.case_id in wanted]
    if not planned:
        raise InputError("none of this run's partitions is a case of the suite any more", file=suite.root)
    trigger = "backfill" if config.as_of or is_backfill else "pipeline"
    plan = build_plan(
        loaded, candidate, planned, trigger=trigger, clock=utc_now, new_id=lambda _: evaluation_id
    )
    return join(check_candidate(plan), ports.journal)
