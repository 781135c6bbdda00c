"""Old runs leave Dagster's record; what Dagster shows of the cases stays, and the history is not touched."""

# Dagster's own annotations leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus

from regress_core.ids import utc_now
from regress_pipeline.prune import Pruned, prune
from tests.pipeline.bench import BACKFILL, CASE_ASSETS, Bench
from tests.pipeline.builders import alike, write_suite

CASES = ["case-a", "case-b", "case-c"]
NIGHTLY = [*CASE_ASSETS[1:], "suite_summary"]
KEEP_DAYS = 30


@pytest.fixture
def suite(bench: Bench) -> str:
    """Give a suite whose cases have partitions and pass."""
    write_suite(bench.suites_root, "orders", alike("old", CASES), alike("new", CASES))
    bench.register("orders", CASES)
    return "orders"


def pruned(bench: Bench, *, after_days: float = 40) -> Pruned:
    """Prune as if some days had passed."""
    return prune(bench.instance, KEEP_DAYS, in_days(after_days))


def in_days(days: float) -> datetime:
    return utc_now() + timedelta(days=days)


def shown(bench: Bench, suite: str) -> dict[str, object]:
    """Give what Dagster shows of each asset and check, read anew from the event log."""
    found: dict[str, object] = {}
    for asset in CASE_ASSETS:
        key = bench.key(suite, asset)
        bench.instance.event_log_storage.wipe_asset_cached_status(key)
        found[asset] = (bench.statuses(suite, asset), bench.materialized(suite, asset))
    check = dg.AssetCheckKey(bench.key(suite, "case_summaries"), "no_regression")
    found["checks"] = {
        info.partition_key: (info.latest_execution_status, info.latest_planned_run_id)
        for info in bench.instance.event_log_storage.get_asset_check_partition_info([check])
    }
    record = bench.instance.get_latest_materialization_event(bench.key(suite, "suite_summary"))
    found["suite_summary"] = record and record.run_id
    return found


def rows_of(bench: Bench, run_id: str) -> dict[str, int]:
    """Count the rows that a run has in the tables that all runs share."""
    home = bench.store / "dagster" / "history"
    counts: dict[str, int] = {}
    for database, tables in (("runs/index", ("event_logs", "asset_check_executions")), ("runs", ("runs",))):
        with closing(sqlite3.connect(home / f"{database}.db")) as connection:
            for table in tables:
                statement = f"select count(*) from {table} where run_id = ?"  # noqa: S608 - one of the above
                [counts[table]] = connection.execute(statement, (run_id,)).fetchone()
    return counts


def evaluations_kept(store: Path) -> dict[Path, bytes]:
    """Give journal, history and outputs, which are everything but Dagster's home."""
    files = [file for file in store.rglob("*") if file.is_file() and store / "dagster" not in file.parents]
    return {file: file.read_bytes() for file in files}


def nights(bench: Bench, suite: str, count: int, assets: Sequence[str] = NIGHTLY) -> list[str]:
    """Run the suite some nights; give the runs."""
    return [bench.run(suite, CASES[0], CASES[-1], assets=assets).run_id for _ in range(count)]


def test_superseded_nights_go_and_nothing_that_is_shown_changes(bench: Bench, suite: str) -> None:
    [registering] = nights(bench, suite, 1, [*CASE_ASSETS, "suite_summary"])
    first, second, newest = nights(bench, suite, 3)
    before, kept = shown(bench, suite), evaluations_kept(bench.store)
    assert set(rows_of(bench, first).values()) != {0}

    result = pruned(bench)

    # The registering run alone holds the baseline records.
    assert bench.run_ids() == [registering, newest]
    assert (result.runs, result.kept, result.not_shrunk) == (2, 2, ())
    assert result.freed_bytes > 0
    assert shown(bench, suite) == before
    assert evaluations_kept(bench.store) == kept
    for run_id in (first, second):
        assert set(rows_of(bench, run_id).values()) == {0}
        assert not list((bench.store / "dagster" / "history").rglob(f"{run_id}*"))


def test_a_second_pruning_finds_nothing(bench: Bench, suite: str) -> None:
    nights(bench, suite, 3)
    assert pruned(bench).runs == 2

    assert pruned(bench).runs == 0


@pytest.mark.parametrize(("after_days", "gone"), [(29.9, 0), (30.1, 1)], ids=["younger", "older"])
def test_runs_stay_for_so_many_days(bench: Bench, suite: str, after_days: float, gone: int) -> None:
    nights(bench, suite, 2)

    assert pruned(bench, after_days=after_days).runs == gone


def test_more_days_than_there_are_dates_keep_every_run(bench: Bench, suite: str) -> None:
    nights(bench, suite, 2)

    assert prune(bench.instance, 10**10, in_days(40)).runs == 0


def test_a_case_that_failed_to_be_evaluated_keeps_saying_so(bench: Bench) -> None:
    candidates = alike("new", ["case-a", "case-c"])
    write_suite(bench.suites_root, "orders", alike("old", CASES), candidates)
    bench.register("orders", CASES)
    nights(bench, "orders", 1, [*CASE_ASSETS, "suite_summary"])
    broken = bench.run("orders", "case-b", assets=["comparisons"]).run_id  # it holds no newest result of any
    before = shown(bench, "orders")
    assert bench.statuses("orders", "comparisons")["case-b"] == "FAILED"
    assert bench.run("orders", "case-a", assets=["comparisons"]).status == "SUCCESS"

    pruned(bench)

    assert broken in bench.run_ids()
    assert shown(bench, "orders") == before


def test_retired_cases_keep_no_run(bench: Bench, suite: str) -> None:
    runs = [bench.run(suite, case, assets=CASE_ASSETS).run_id for case in CASES]
    bench.instance.delete_dynamic_partition("cases/orders", "case-a")

    assert pruned(bench).runs == 1
    assert bench.run_ids() == runs[1:]


def test_the_run_of_the_newest_event_stays_so_that_its_number_is_not_given_again(
    bench: Bench, suite: str
) -> None:
    runs = [bench.run(suite, case, assets=CASE_ASSETS).run_id for case in CASES]
    for case in CASES:
        bench.instance.delete_dynamic_partition("cases/orders", case)

    pruned(bench)

    assert bench.run_ids() == runs[-1:]


def test_a_run_that_is_not_finished_stays(bench: Bench, suite: str) -> None:
    unfinished, _ = nights(bench, suite, 2)
    bench.announce_termination(unfinished)

    assert pruned(bench).runs == 0


def test_runs_of_a_backfill_stay_until_it_is_done(bench: Bench, suite: str) -> None:
    backfill_id = bench.add_backfill(suite, CASES)
    of_backfill = bench.run(suite, "case-a", "case-c", assets=NIGHTLY, tags={BACKFILL: backfill_id}).run_id
    nights(bench, suite, 1)
    assert pruned(bench).runs == 0

    backfill = bench.instance.get_backfill(backfill_id)
    assert backfill is not None
    bench.instance.update_backfill(backfill.with_status(BulkActionStatus.COMPLETED_SUCCESS))
    assert pruned(bench).runs == 1
    assert of_backfill not in bench.run_ids()


def test_a_pruning_that_was_cut_short_is_completed(bench: Bench, suite: str) -> None:
    halfway, newest = nights(bench, suite, 2)
    bench.instance.event_log_storage.delete_events(halfway)

    assert pruned(bench).runs == 1
    assert bench.run_ids() == [newest]


def test_captured_output_goes_with_its_run(bench: Bench, suite: str) -> None:
    old, newest = nights(bench, suite, 2)
    logs = [
        bench.store / "dagster" / "storage" / run_id / "compute_logs" / "x.out" for run_id in (old, newest)
    ]
    for log in logs:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("printed", encoding="utf-8")

    pruned(bench)

    assert [log.exists() for log in logs] == [False, True]


class TestFreePages:
    """Dagster's daemon empties the schedules' ticks itself; the file keeps its size."""

    def test_they_are_given_back(self, bench: Bench) -> None:
        _emptied(bench).close()
        result = pruned(bench)

        assert result.not_shrunk == ()
        assert result.freed_bytes > 1_000_000

    def test_a_database_in_use_is_left_alone(self, bench: Bench) -> None:
        with closing(_emptied(bench)) as connection:
            connection.execute("begin immediate")
            result = pruned(bench)

        assert result.not_shrunk == ("schedules/schedules.db",)


def _emptied(bench: Bench) -> sqlite3.Connection:
    """Fill a database with 2 MB and empty it again; give the connection."""
    connection = sqlite3.connect(bench.store / "dagster" / "schedules" / "schedules.db", isolation_level=None)
    connection.execute("create table filling (bytes blob)")
    connection.execute("insert into filling values (zeroblob(2000000))")
    connection.execute("drop table filling")
    connection.execute("pragma wal_checkpoint(truncate)")
    return connection
