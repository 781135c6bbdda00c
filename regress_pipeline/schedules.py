"""The night: a suite against its candidate.yaml, unattended."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg

from regress_core.evaluation.entering import join, resume
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.plan_rows import trigger_of
from regress_core.evaluation.ports import Ports
from regress_core.ids import derived_evaluation_id, utc_now
from regress_core.journal.journal import EvaluationRow, Journal
from regress_core.suite.candidate import CANDIDATE_FILE, load_candidate
from regress_core.suite.loading import load_suite
from regress_core.suite.nightly import ScheduleConfig
from regress_pipeline.assets import job_name
from regress_pipeline.partitions import partitions_lock, unfinished_runs
from regress_pipeline.run_requests import run_requests
from regress_pipeline.settings import Settings
from regress_pipeline.suites import SuiteFolder
from regress_pipeline.workers import fail_dead_runs


def define_night(suite: SuiteFolder, schedule: ScheduleConfig, settings: Settings) -> dg.ScheduleDefinition:
    """Define a suite's schedule; it runs unless somebody stops it in the user interface."""

    @dg.schedule(
        name=night_name(suite.name),
        job_name=job_name(suite.name),
        cron_schedule=schedule.cron,
        execution_timezone=schedule.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Evaluates {suite.name} against its {CANDIDATE_FILE}.",
    )
    def tick(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        return night(suite, settings, context.instance, context.scheduled_execution_time.astimezone(UTC))

    return tick


def night_name(suite: str) -> str:
    """Give the name of a suite's schedule."""
    return job_name(suite).replace("job_", "night_", 1)


def night(
    suite: SuiteFolder, settings: Settings, instance: dg.DagsterInstance, when: datetime
) -> list[dg.RunRequest] | dg.SkipReason:
    """Enter the evaluation of one night and ask for its runs.

    A last night that is not finished: while its runs are under way, this night is left out. Else it is
    resumed if nothing has changed that could change an outcome, or this night supersedes it; it can still be
    resumed by hand.

    Args:
        suite: The suite.
        settings: Where the store is.
        instance: Dagster's instance.
        when: When the schedule ticked, UTC. With the suite it gives the evaluation's id, so that a tick that
            is evaluated again is the same evaluation.

    Raises:
        InputError: If suite or candidate are at fault; nothing has been entered then.
    """
    fail_dead_runs(instance, settings.store, utc_now())
    loaded = load_suite(suite.root)
    candidate = load_candidate(suite.root / CANDIDATE_FILE)
    if not loaded.cases:
        return dg.SkipReason(f"suite {suite.name} has no cases")
    evaluation_id = derived_evaluation_id(suite.name, "night", when.isoformat())
    plan = build_plan(
        loaded, candidate, loaded.cases, trigger="night", clock=lambda: when, new_id=lambda _: evaluation_id
    )
    with partitions_lock(settings.store), Ports.open(settings.store, limits=settings.limits) as ports:
        last = _last_night(plan, ports.journal)
        if last is not None and unfinished_runs(instance, suite.name, last.evaluation_id):
            return dg.SkipReason(
                f"the night of {last.created_at:%Y-%m-%d %H:%M} UTC is still under way: {last.evaluation_id}"
            )
        if last is not None and last.plan_key == plan.plan_key:
            plan = resume(last.evaluation_id, ports.journal)
        else:
            plan = join(plan, ports.journal)
        return run_requests(plan, instance, with_baselines=False)


def _last_night(plan: EvaluationPlan, journal: Journal) -> EvaluationRow | None:
    """Give the newest other night, if it is not finished."""
    for row in journal.evaluations_of(plan.suite.name):
        if trigger_of(row) == "night" and row.evaluation_id != plan.evaluation_id:
            return row if row.state == "running" else None
    return None
