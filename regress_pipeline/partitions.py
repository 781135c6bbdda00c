"""The assets of a suite, and its partitions: one dynamic definition, one key a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import dagster as dg
from dagster._core.execution.backfill import (
    BULK_ACTION_TERMINAL_STATUSES,
    BulkActionsFilter,
    BulkActionStatus,
)
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES
from filelock import FileLock

from regress_core.evaluation.plan_rows import planned_case_ids
from regress_core.journal.journal import Journal

CASE_ASSETS = ("baseline_records", "candidate_records", "comparisons", "judge_results", "case_summaries")
"""The assets that have a partition for every case."""

SUITE_SUMMARY = "suite_summary"

CASES_A_RUN = 300
"""Dagster writes two events for each case and asset, half of them before the run starts."""

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
PARTITION, BACKFILL = "dagster/partition", "dagster/backfill"
EVALUATION = "regress/evaluation_id"
"""Tags of runs."""

UNDER_WAY = [status for status in BulkActionStatus if status not in BULK_ACTION_TERMINAL_STATUSES]
"""Statuses of backfills that have not ended."""

RETRY_WHOLE = {"dagster/retry_strategy": "ALL_STEPS"}
"""What has a run retried that ended before its one step had begun."""


def partitions_name(suite: str) -> str:
    """Give the name of a suite's partitions definition."""
    return f"cases/{suite}"


def partitions_lock(store: Path) -> FileLock:
    """Give the lock that is held from registering cases until their runs are known, and while some retire."""
    return FileLock(store / "partitions.lock")


def register_cases(instance: dg.DagsterInstance, suite: str, case_ids: Sequence[str]) -> list[str]:
    """Add the cases that have no partition yet, in their order; give these."""
    known = set(instance.get_dynamic_partitions(partitions_name(suite)))
    new = [case_id for case_id in case_ids if case_id not in known]
    if new:
        instance.add_dynamic_partitions(partitions_name(suite), new)
    return new


def retire_cases(instance: dg.DagsterInstance, suite: str, case_ids: set[str], journal: Journal) -> list[str]:
    """Take the partitions of cases away, but of those that a run or a backfill under way still covers.

    A run knows its first and last key only; without one of them it could not start. What else the evaluation
    of a run has planned may be the next run's.

    Returns:
        The cases that have none any more.
    """
    retired = sorted(case_ids - covered_cases(instance, suite, journal)) if case_ids else []
    for case_id in retired:
        instance.delete_dynamic_partition(partitions_name(suite), case_id)
    return retired


def covered_cases(instance: dg.DagsterInstance, suite: str, journal: Journal) -> set[str]:
    """Give the partitions that runs and backfills under way cover, and those that their evaluations do."""
    keys = list(instance.get_dynamic_partitions(partitions_name(suite)))
    covered: set[str] = set()
    for run in unfinished_runs(instance, suite):
        first, last = run.tags.get(RANGE_START), run.tags.get(RANGE_END)
        if first in keys and last in keys:
            covered.update(keys[keys.index(first) : keys.index(last) + 1])
        covered.update(run.tags.get(PARTITION, "").split(","))
        covered.update(planned_case_ids(run.tags.get(EVALUATION, ""), journal))
    for backfill_id in backfills_under_way(instance):
        covered |= cases_of_backfill(backfill_id, instance, suite)
    return covered


def backfills_under_way(instance: dg.DagsterInstance) -> list[str]:
    """Give the ids of the backfills that have not ended."""
    filters = BulkActionsFilter(statuses=UNDER_WAY)
    return [backfill.backfill_id for backfill in instance.get_backfills(filters=filters)]


def unfinished_runs(
    instance: dg.DagsterInstance, suite: str, evaluation_id: str | None = None
) -> list[dg.DagsterRun]:
    """List the runs of a suite, or of one of its evaluations, that are queued or under way.

    A run of a whole job, as in a process of its own, names no assets; it may be of any suite, and counts.
    """
    tags = {} if evaluation_id is None else {EVALUATION: evaluation_id}
    runs = instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES, tags=tags))
    return [
        run
        for run in runs
        if not run.asset_selection or any(key.path[0] == suite for key in run.asset_selection)
    ]


def cases_of_backfill(backfill_id: str, instance: dg.DagsterInstance, suite: str) -> set[str]:
    """Give a suite's partitions in a whole backfill."""
    backfill = instance.get_backfill(backfill_id)
    if backfill is None or backfill.asset_backfill_data is None:
        return set()
    target = backfill.asset_backfill_data.target_subset
    cases: set[str] = set()
    for asset in CASE_ASSETS:
        key = dg.AssetKey([suite, asset])
        if key in target.partitions_subsets_by_asset_key:
            cases.update(target.get_partitions_subset(key).get_partition_keys())
    return cases


def runs_of(instance: dg.DagsterInstance, suite: str, case_ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Cut cases into runs: the first and last key of each, in the order in which keys were registered.

    A run covers every key between its two, and one that fails turns those it did not materialize failed; so a
    run ends where a key is not wanted.
    """
    wanted = set(case_ids)
    part: list[str] = []
    for key in instance.get_dynamic_partitions(partitions_name(suite)):
        if key in wanted:
            part.append(key)
        if part and (key not in wanted or len(part) == CASES_A_RUN):
            yield part[0], part[-1]
            part = []
    if part:
        yield part[0], part[-1]
