"""The assets of one suite, all produced by the one op, and the job that holds them.

Dagster reads the annotations of ops as objects, so this module has no `from __future__ import annotations`.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg

from regress_core.errors import InputError
from regress_core.evaluation.entering import join, resume
from regress_core.evaluation.events import Emit, Event
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.plan_rows import take_up
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.source import check_candidate
from regress_core.ids import derived_evaluation_id, utc_now
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import load_suite
from regress_pipeline.checks import NO_REGRESSION
from regress_pipeline.evaluate import CASE_ASSETS, SUITE_SUMMARY, CaseEvent, Selection, run_plan
from regress_pipeline.partitions import CASES_A_RUN, partitions_name
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder


class EvaluationConfig(dg.Config):
    """What a run may be told.

    Attributes:
        evaluation_id: The evaluation this run is a part of. Left out: the one derived from the run's
            backfill, else from the run itself, planned over its partitions.
        candidate: Where the candidate is (a file like candidate.yaml, a descriptor, or records) when the run
            makes the evaluation. Left out: the suite's candidate.yaml.
    """

    evaluation_id: str = ""
    candidate: str = ""


def _ignore(_: Event) -> None:
    """Watch nothing."""


def define_suite(suite: SuiteFolder, settings: Settings, observe: Emit = _ignore) -> dg.Definitions:
    """Define a suite's assets and job.

    Args:
        suite: The suite.
        settings: Where the store is.
        observe: Sees the evaluation's events beside Dagster, for a run in this process.
    """
    partitions = dg.DynamicPartitionsDefinition(name=partitions_name(suite.name))
    keys = {asset: dg.AssetKey([suite.name, asset]) for asset in (*CASE_ASSETS, SUITE_SUMMARY)}
    case_specs = [
        dg.AssetSpec(keys[asset], partitions_def=partitions, skippable=True, group_name=_safe(suite.name))
        for asset in CASE_ASSETS
    ]
    summary_spec = dg.AssetSpec(keys[SUITE_SUMMARY], skippable=True, group_name=_safe(suite.name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitioned checks: pinned and tested
        check = dg.AssetCheckSpec(NO_REGRESSION, asset=keys["case_summaries"], partitions_def=partitions)

    @dg.multi_asset(
        name=op_name(suite.name),
        specs=[*case_specs, summary_spec],
        check_specs=[check],
        can_subset=True,
        backfill_policy=dg.BackfillPolicy.multi_run(CASES_A_RUN),
    )
    def evaluate_suite(context: dg.AssetExecutionContext, config: EvaluationConfig) -> Iterator[CaseEvent]:
        selection = Selection(
            suite.name,
            frozenset(context.selected_asset_keys),
            frozenset(context.selected_asset_check_keys),
        )
        # suite_summary has no partitions, and a run of it alone has none either.
        partitioned = context.has_partition_key or context.has_partition_key_range
        cases = list(context.partition_keys) if partitioned else []
        try:
            with Ports.open(settings.store, limits=settings.limits) as ports:
                plan = _plan(context, config, suite, ports, cases)
                unplanned = sorted(set(cases) - {case.case_id for case in plan.suite.cases})
                if unplanned:
                    context.log.info("not in this evaluation's plan: %s", ", ".join(unplanned))
                yield from run_plan(replace(plan, portion=frozenset(cases)), ports, selection, observe)
        except InputError as error:
            raise dg.Failure(description=str(error), allow_retries=False) from error

    job = dg.define_asset_job(job_name(suite.name), selection=dg.AssetSelection.assets(evaluate_suite))
    return dg.Definitions(assets=[evaluate_suite], jobs=[job])


def op_name(suite: str) -> str:
    """Give the name of a suite's op, for run config."""
    return f"evaluate_{_safe(suite)}"


def job_name(suite: str) -> str:
    """Give the name of a suite's job."""
    return f"job_{_safe(suite)}"


def _safe(suite: str) -> str:
    """Give a name of letters, digits and `_` only, as Dagster wants; no two suites share one.

    Suite names have no capital letters.
    """
    return suite.replace("-", "_H_")


def _plan(
    context: dg.AssetExecutionContext,
    config: EvaluationConfig,
    suite: SuiteFolder,
    ports: Ports,
    cases: list[str],
) -> EvaluationPlan:
    """Take up the run's evaluation, or enter it; a re-execution does inconclusive cases again.

    What the journal has of an evaluation counts; files are read only to enter a new one.

    Raises:
        InputError: If the evaluation is not there or another suite's, or there is nothing to evaluate.
    """
    run = context.run
    # Dagster does not hand a backfill's tag on to every re-execution.
    root = context.instance.get_run_by_id(run.root_run_id) if run.root_run_id else None
    backfill_id = (root or run).tags.get("dagster/backfill")
    wanted = set(_cases_of_backfill(context, suite, backfill_id) or cases)
    evaluation_id = config.evaluation_id
    if not evaluation_id and (backfill_id or cases):
        evaluation_id = derived_evaluation_id(suite.name, backfill_id or run.root_run_id or run.run_id)
    row = (
        ports.journal.evaluation(evaluation_id)
        if evaluation_id
        else ports.journal.latest_of_suite(suite.name)
    )
    if row is not None and row.suite != suite.name:
        message = f"evaluation {evaluation_id} is of suite {row.suite}, not of {suite.name}"
        raise InputError(message, field="evaluation_id")
    if row is not None:
        plan = take_up(row, ports.journal)
        if not run.root_run_id:
            return plan
        check_candidate(plan)  # before the evaluation is opened again
        return resume(row.evaluation_id, ports.journal)
    if config.evaluation_id or not evaluation_id:
        named = f"no evaluation {evaluation_id}" if evaluation_id else f"no evaluation of suite {suite.name}"
        raise InputError(f"{named} in this store", field="evaluation_id")
    loaded = load_suite(suite.root, warn=context.log.warning)
    candidate = load_candidate(Path(config.candidate) if config.candidate else suite.root / CANDIDATE_FILE)
    planned = [case for case in loaded.cases if case.case_id in wanted]
    if not planned:
        raise InputError("none of this run's partitions is a case of the suite any more", file=suite.root)
    plan = build_plan(
        loaded, candidate, planned, trigger="pipeline", clock=utc_now, new_id=lambda _: evaluation_id
    )
    return join(plan, ports.journal)


def _cases_of_backfill(
    context: dg.AssetExecutionContext, suite: SuiteFolder, backfill_id: str | None
) -> list[str]:
    """List the suite's partitions in the whole backfill that this run is a part of; none without one."""
    backfill = context.instance.get_backfill(backfill_id) if backfill_id else None
    if backfill is None or backfill.asset_backfill_data is None:
        return []
    target = backfill.asset_backfill_data.target_subset
    keys: set[str] = set()
    for asset in CASE_ASSETS:
        key = dg.AssetKey([suite.name, asset])
        if key in target.partitions_subsets_by_asset_key:
            keys.update(target.get_partitions_subset(key).get_partition_keys())
    return sorted(keys)
