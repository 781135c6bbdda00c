"""How fast strict cases of two tool calls run: `python benchmarks/suite_throughput.py [--cases N]`.

The candidate is the agent that made the records, with a scripted model, so that every case passes. Measured
in a fresh process each:

- run_s, peak_rss_mb: the runner alone, in memory: replay and compare, case after case in one event loop;
- wall_s, wall_peak_rss_mb: the whole evaluation, from the suite folder to journal, history and outputs.

Output files are part of it. ext4 takes up to a millisecond for each of them for some minutes after many files
were deleted; with a TMPDIR in memory that is left out. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

import shop
from measuring import in_fresh_process, peak_rss_mb

from regress_core.compare.comparison import compare_run_records
from regress_core.compare.options import CompareOptions
from regress_core.evaluation.ports import Ports
from regress_core.harness.replay.replay import ReplayOptions, replay_from_run_record
from regress_core.records.loading import list_record_files, load_record
from regress_core.records.model import RunRecord


def main() -> None:
    """Prepare the suite, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--measure", choices=["run", "wall"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure, arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        suite = shop.write_suite(Path(folder) / "shop", arguments.cases, shop.__file__)
        run, wall = (in_fresh_process("--measure", what, "--folder", str(suite)) for what in ("run", "wall"))
    result = {
        "cases": arguments.cases,
        "run_s": run["seconds"],
        "peak_rss_mb": run["peak_rss_mb"],
        "wall_s": wall["seconds"],
        "wall_peak_rss_mb": wall["peak_rss_mb"],
    }
    print(json.dumps(result))


def _measure(what: str, suite: Path) -> dict[str, float]:
    if what == "run":
        records = [load_record(file).record for file in list_record_files(suite / "records")]
        started = time.perf_counter()
        asyncio.run(_replay(records, suite / "harness.yaml"))
    else:
        started = time.perf_counter()
        with Ports.open(suite.parent / "store") as ports:
            shop.evaluate(suite, ports)
    seconds = time.perf_counter() - started
    return {"seconds": round(seconds, 3), "peak_rss_mb": peak_rss_mb()}


async def _replay(records: list[RunRecord], descriptor: Path) -> None:
    agent, model, runtime = shop.agent_of(descriptor), shop.create_model(), shop.runtime()
    options = CompareOptions()
    for record in records:
        run = await replay_from_run_record(
            record,
            agent,
            model=model,
            runtime=runtime,
            options=ReplayOptions(),
            run_options=shop.create_run_options(),
        )
        if not compare_run_records(record, run.record, options).equal:
            raise RuntimeError(f"not equal to {record.run_id}: {run.record.run_id}")


if __name__ == "__main__":
    main()
