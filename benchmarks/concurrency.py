"""How close evaluations come to what their model takes: `python benchmarks/concurrency.py [--cases N]`.

Each case is three turns of a model that takes 200 ms (two tool calls, then the answer), with journal, history
and outputs. For each concurrency:

- seconds: from the suite folder to the outputs, in a fresh process;
- ideal: what the model alone takes, the cases going in full rounds;
- ratio: seconds / ideal.

Output files are part of it. ext4 takes up to a millisecond for each of them for some minutes after many files
were deleted; with a TMPDIR in memory that is left out. The last line is JSON. The module is also the adapter
of the candidate, which adds the slow model.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import time
from pathlib import Path

import shop
from measuring import arguments_by_concurrency, in_fresh_process
from shop import create_run_options, create_tools

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.ports import Ports
from regress_core.harness import CaseContext
from regress_core.models import ModelReply, ModelRequest

__all__ = ["create_model", "create_run_options", "create_tools"]

TURNS, TURN_S = 3, 0.2


class SlowModel:
    """Answers as the shop's model, after a while."""

    provider_name = "SlowProvider"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Wait, then answer."""
        await asyncio.sleep(TURN_S)
        return shop.reply(request)


def create_model(_: CaseContext) -> SlowModel:
    """Give the slow model."""
    return SlowModel()


def main() -> None:
    """Prepare the suite, measure, print."""
    arguments = arguments_by_concurrency(__doc__)
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure, arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        suite = shop.write_suite(Path(folder) / "shop", arguments.cases, __file__)
        runs = [_run(arguments.cases, concurrency, suite) for concurrency in arguments.concurrency]
    print(json.dumps({"cases": arguments.cases, "runs": runs}))


def _run(cases: int, concurrency: int, suite: Path) -> dict[str, float]:
    measured = in_fresh_process("--measure", str(concurrency), "--folder", str(suite))
    ideal = math.ceil(cases / concurrency) * TURNS * TURN_S
    return {
        "concurrency": concurrency,
        "seconds": measured["seconds"],
        "ideal": round(ideal, 3),
        "ratio": round(measured["seconds"] / ideal, 3),
    }


def _measure(concurrency: int, suite: Path) -> dict[str, float]:
    limits = CallLimits(concurrency=concurrency)
    started = time.perf_counter()
    with Ports.open(suite.parent / f"store-{concurrency}", limits=limits) as ports:
        shop.evaluate(suite, ports)
    return {"seconds": round(time.perf_counter() - started, 3)}


if __name__ == "__main__":
    main()
