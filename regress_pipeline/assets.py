"""The assets of one suite, all produced by the one op, and the job that holds them.

Dagster reads the annotations of ops as objects, so this module has no `from __future__ import annotations`.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

import dagster as dg

from regress_core.errors import InputError
from regress_core.evaluation.events import Emit, Event
from regress_core.evaluation.ports import Ports
from regress_core.suite.loading import Warn
from regress_core.suite.nightly import ScheduleConfig
from regress_pipeline.checks import GATE, NO_REGRESSION, TREND
from regress_pipeline.evaluate import CaseEvent, Selection, Telling, run_plan
from regress_pipeline.partitions import CASE_ASSETS, CASES_A_RUN, RETRY_WHOLE, SUITE_SUMMARY, partitions_name
from regress_pipeline.planning import EvaluationConfig, plan_of_run
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder
from regress_pipeline.ticks import ticks_from
from regress_pipeline.workers import at_work


def _ignore(_: Event) -> None:
    """Watch nothing."""


def define_suite(
    suite: SuiteFolder,
    settings: Settings,
    observe: Emit = _ignore,
    warn: Warn | None = None,
    *,
    schedule: ScheduleConfig | None = None,
) -> dg.Definitions:
    """Define a suite's assets and job.

    Args:
        suite: The suite.
        settings: Where the store is.
        observe: Sees the evaluation's events beside Dagster, for a run in this process.
        warn: Takes one-line warnings, for a run in this process; without it they are in the run's log.
        schedule: When its nights are, by which its summary is to be fresh.
    """
    partitions = dg.DynamicPartitionsDefinition(name=partitions_name(suite.name))
    keys = {asset: dg.AssetKey([suite.name, asset]) for asset in (*CASE_ASSETS, SUITE_SUMMARY)}
    case_specs = [
        dg.AssetSpec(keys[asset], partitions_def=partitions, skippable=True, group_name=_safe(suite.name))
        for asset in CASE_ASSETS
    ]
    summary_spec = dg.AssetSpec(
        keys[SUITE_SUMMARY],
        skippable=True,
        group_name=_safe(suite.name),
        freshness_policy=None if schedule is None else freshness(schedule),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitioned checks: pinned and tested
        case_check = dg.AssetCheckSpec(NO_REGRESSION, asset=keys["case_summaries"], partitions_def=partitions)
    suite_checks = [dg.AssetCheckSpec(name, asset=keys[SUITE_SUMMARY]) for name in (GATE, TREND)]

    @dg.multi_asset(
        name=op_name(suite.name),
        specs=[*case_specs, summary_spec],
        check_specs=[case_check, *suite_checks],
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
            with (
                at_work(settings.store, context.run.run_id),
                Ports.open(settings.store, limits=settings.limits) as ports,
            ):
                plan = plan_of_run(context, config, suite, ports, cases)
                unplanned = sorted(set(cases) - {case.case_id for case in plan.suite.cases})
                if unplanned:
                    context.log.info("not in this evaluation's plan: %s", ", ".join(unplanned))
                telling = Telling(observe, settings.webhook_url, warn or context.log.warning)
                yield from run_plan(replace(plan, portion=frozenset(cases)), ports, selection, telling)
        except InputError as error:
            raise dg.Failure(description=str(error), allow_retries=False) from error

    job = dg.define_asset_job(
        job_name(suite.name),
        selection=dg.AssetSelection.assets(evaluate_suite),
        tags=RETRY_WHOLE,
        config=dg.RunConfig(ops={op_name(suite.name): EvaluationConfig()}),  # what the launchpad begins with
    )
    return dg.Definitions(assets=[evaluate_suite], jobs=[job])


_MOST_TICKS = 2000  # a week of every five minutes; more would show no other gap, and take long


def freshness(schedule: ScheduleConfig) -> dg.FreshnessPolicy:
    """Give how fresh a suite's summary is to be: the longest gap between nights in a year, 6 hours more."""
    begin = datetime(2026, 1, 1, tzinfo=ZoneInfo(schedule.timezone))
    ticks = ticks_from(schedule, begin)
    year = islice(takewhile(lambda tick: tick < begin + timedelta(days=366), ticks), _MOST_TICKS)
    gaps = [later - earlier for earlier, later in pairwise(year)]
    return dg.FreshnessPolicy.time_window(
        fail_window=max(gaps, default=timedelta(days=366)) + timedelta(hours=6)
    )


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
