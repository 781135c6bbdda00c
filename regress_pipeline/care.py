"""The care of a store: history compacted, event log pruned, dead runs noticed, late announcements made.

Dagster reads the annotations of ops as objects: there is no `from __future__ import annotations` here.
"""

import dagster as dg

from regress_core.evaluation.ports import JOURNAL_FILE, Ports, unfinished_evaluations
from regress_core.history.compact import compact
from regress_core.history.store import History
from regress_core.ids import utc_now
from regress_pipeline.prune import prune
from regress_pipeline.settings import Settings
from regress_pipeline.webhook import announce_waiting
from regress_pipeline.workers import fail_dead_runs

CARE_JOB = "store_care"
CARE_NIGHT = "store_care_night"
DEAD_RUNS = "dead_runs"
ANNOUNCEMENTS = "announcements"
_CRON = "30 4 * * *"


def define_care(settings: Settings) -> dg.Definitions:
    """Define the job and its schedule, daily at 04:30 UTC; it runs unless somebody stops it."""

    @dg.op(name="compact_history", description="Makes one Parquet file of many; answers stay the same.")
    def compact_history(context: dg.OpExecutionContext) -> None:
        done = compact(History.open(settings.store), unfinished_evaluations(settings.store))
        for folder in done:
            if folder.left_alone is not None:
                context.log.warning("%s: left alone: %s", folder.folder, folder.left_alone)
        context.log.info("%d files compacted", sum(one.files for one in done))

    @dg.op(
        name="prune_event_log", description="Deletes Dagster's old runs; the history keeps what they found."
    )
    def prune_event_log(context: dg.OpExecutionContext) -> None:
        done = prune(context.instance, settings.keep_days, utc_now())
        megabytes = done.freed_bytes / 1e6
        context.log.info("%d runs deleted, %.1f MB freed, %d kept", done.runs, megabytes, done.kept)

    @dg.job(name=CARE_JOB, executor_def=dg.in_process_executor, description="Keeps the store small and fast.")
    def store_care() -> None:
        compact_history()
        prune_event_log()  # of its own: what keeps one from its end does not keep the other

    schedule = dg.ScheduleDefinition(
        name=CARE_NIGHT,
        job=store_care,
        cron_schedule=_CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )

    @dg.sensor(
        name=DEAD_RUNS,
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Fails the runs whose process is gone, so that the daemon takes them up again.",
    )
    def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        dead = fail_dead_runs(context.instance, settings.store, utc_now())
        return dg.SkipReason(f"failed: {', '.join(dead)}" if dead else "no run has lost its process")

    sensors = [dead_runs]
    if settings.webhook_url is not None:
        sensors.append(_announcements(settings, settings.webhook_url))
    return dg.Definitions(jobs=[store_care], schedules=[schedule], sensors=sensors)


def _announcements(settings: Settings, url: str) -> dg.SensorDefinition:
    @dg.sensor(
        name=ANNOUNCEMENTS,
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts the summaries that the webhook did not take when their evaluations ended.",
    )
    def announcements(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        if not (settings.store / JOURNAL_FILE).is_file():
            return dg.SkipReason("nothing has been evaluated")
        with Ports.open(settings.store) as ports:
            told = announce_waiting(ports, url, context.log.warning)
        return dg.SkipReason("none was posted" if told is None else f"posted: {told}")

    return announcements
