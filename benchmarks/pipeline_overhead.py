"""What Dagster adds to an evaluation: `python benchmarks/pipeline_overhead.py [--cases N ...] [--store DIR]`.

Strict cases of two tool calls whose model answers at once, all assets, in one store with SQLite. For each
number of cases, in a fresh process each:

- alone_s: the evaluation by itself, from the suite folder to journal, history and outputs;
- dagster_s: the same as Dagster runs in one process, its instance made for the first time;
- beyond_s_a_case: the difference, a case;
- first_case_s: from the start of the process to the first case; before that Dagster writes the events that
  say what each run of at most 300 cases is going to make.

Then paced: a model that takes two seconds for each of a case's three turns, 16 calls at a time. `ratio` is
how long that took through Dagster over the longer of what the model alone takes (the cases going in full
rounds) and what Dagster alone takes (by the figures of the largest number of cases).

Disks differ: the stores lie below --store DIR, by default where temporary files do. The last line is JSON.
The module is also the adapter of the candidate, which makes its model slow where the environment says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import tempfile
import time
from pathlib import Path

import shop
from measuring import in_fresh_process
from shop import create_run_options, create_tools

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.events import CaseStarted, Event
from regress_core.evaluation.ports import Ports
from regress_core.harness import CaseContext
from regress_core.models import ModelReply, ModelRequest
from regress_core.suite.selection import Selection
from regress_pipeline.launch import Wanted, enter, launch, plan_wanted
from regress_pipeline.settings import Settings
from regress_pipeline.suites import suite_folder

__all__ = ["create_model", "create_run_options", "create_tools"]

CONCURRENCY, TURNS, TURN_S = 16, 3, 2.0
SLOW = "BENCHMARK_SLOW_MODEL"


class PacedModel:
    """Answers as the shop's model, after a while."""

    provider_name = "PacedProvider"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Wait, then answer."""
        await asyncio.sleep(self._seconds)
        return shop.reply(request)


def create_model(_: CaseContext) -> PacedModel:
    """Give the model, slow or not."""
    return PacedModel(TURN_S if os.environ.get(SLOW) else 0.0)


class FirstCase:
    """Notes when the first case starts, in seconds since the epoch."""

    at: float | None = None

    def __call__(self, event: Event) -> None:
        if self.at is None and isinstance(event, CaseStarted):
            self.at = time.time()


def main() -> None:
    """Prepare the suites, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, nargs="+", default=[50, 500, 2_000])
    parser.add_argument("--paced", type=int, default=160, help="cases with the slow model; 0 for none")
    parser.add_argument("--store", type=Path, metavar="DIR")
    parser.add_argument("--measure", choices=["alone", "dagster"], help=argparse.SUPPRESS)
    parser.add_argument("--suite", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure, arguments.suite)))
        return
    with tempfile.TemporaryDirectory(dir=arguments.store) as folder:
        runs = [_compare(Path(folder), cases) for cases in arguments.cases]
        told: dict[str, object] = {"runs": runs}
        if arguments.paced:
            told["paced"] = _paced(Path(folder), arguments.paced, runs[-1]["beyond_s_a_case"])
    print(json.dumps(told))


def _compare(folder: Path, cases: int) -> dict[str, float]:
    suite = shop.write_suite(folder / f"{cases}" / "shop", cases, __file__)
    alone = in_fresh_process("--measure=alone", f"--suite={suite}")
    started = time.time()
    dagster = in_fresh_process("--measure=dagster", f"--suite={suite}")
    return {
        "cases": cases,
        "alone_s": alone["seconds"],
        "dagster_s": dagster["seconds"],
        "beyond_s_a_case": round((dagster["seconds"] - alone["seconds"]) / cases, 4),
        "first_case_s": round(dagster["first_case_at"] - started, 2),
    }


def _paced(folder: Path, cases: int, event_s_a_case: float) -> dict[str, float]:
    suite = shop.write_suite(folder / "paced" / "shop", cases, __file__)
    os.environ[SLOW] = "1"
    seconds = in_fresh_process("--measure=dagster", f"--suite={suite}")["seconds"]
    model_s = math.ceil(cases / CONCURRENCY) * TURNS * TURN_S
    event_s = cases * event_s_a_case
    return {
        "cases": cases,
        "concurrency": CONCURRENCY,
        "seconds": seconds,
        "model_s": model_s,
        "event_s": round(event_s, 2),
        "ratio": round(seconds / max(model_s, event_s), 3),
    }


def _measure(what: str, root: Path) -> dict[str, float]:
    settings = Settings(root.parent / f"store-{what}", root.parent, CallLimits(concurrency=CONCURRENCY))
    first = FirstCase()
    started = time.perf_counter()
    if what == "alone":
        with Ports.open(settings.store, limits=settings.limits) as ports:
            shop.evaluate(root, ports, first)
    else:
        _through_dagster(root, settings, first)
    seconds = time.perf_counter() - started
    if first.at is None:
        raise RuntimeError("no case started")
    return {"seconds": round(seconds, 3), "first_case_at": first.at}


def _through_dagster(root: Path, settings: Settings, first: FirstCase) -> None:
    suite = suite_folder(root)
    plan = plan_wanted(Wanted(suite, None, Selection()), settings, trigger="pipeline", warn=print)
    if plan is None:
        raise RuntimeError("no case is planned")
    totals = launch(enter(plan, settings), suite, settings, observe=first, warn=print).summary.totals
    if totals.passed != len(plan.suite.cases):
        raise RuntimeError(f"not every case passes: {totals}")


if __name__ == "__main__":
    main()
