"""A Dagster run in processes of its own, as the user interface launches it."""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import sys
from pathlib import Path

import dagster as dg

from regress_pipeline.home import dagster_home
from tests.pipeline.bench import RANGE_END, RANGE_START, reconstructable_suite_job


def main(store: str, suites_root: str, suite: str, first: str, last: str) -> None:
    """Run a range of a suite's partitions; the op gets a child process."""
    with (
        dg.DagsterInstance.from_config(str(dagster_home(Path(store)))) as instance,
        dg.execute_job(
            reconstructable_suite_job(suite, store, suites_root),
            instance,
            tags={RANGE_START: first, RANGE_END: last},
        ),
    ):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
