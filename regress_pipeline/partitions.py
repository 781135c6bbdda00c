"""The assets of a suite, and its partitions: one dynamic definition, one key a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dagster as dg

CASE_ASSETS = ("baseline_records", "candidate_records", "comparisons", "judge_results", "case_summaries")
"""The assets that have a partition for every case."""

SUITE_SUMMARY = "suite_summary"

CASES_A_RUN = 300
"""Dagster writes two events for each case and asset, half of them before the run starts."""


def partitions_name(suite: str) -> str:
    """Give the name of a suite's partitions definition."""
    return f"cases/{suite}"


def register_cases(instance: dg.DagsterInstance, suite: str, case_ids: Sequence[str]) -> None:
    """Add the cases that have no partition yet, in their order."""
    known = set(instance.get_dynamic_partitions(partitions_name(suite)))
    new = [case_id for case_id in case_ids if case_id not in known]
    if new:
        instance.add_dynamic_partitions(partitions_name(suite), new)


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
