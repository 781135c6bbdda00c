"""Partitions: one dynamic definition a suite, one key a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import dagster as dg

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

    A run covers every key between its two; whoever runs it evaluates only those that its plan holds.
    """
    wanted = set(case_ids)
    keys = [key for key in instance.get_dynamic_partitions(partitions_name(suite)) if key in wanted]
    for start in range(0, len(keys), CASES_A_RUN):
        part = keys[start : start + CASES_A_RUN]
        yield part[0], part[-1]
