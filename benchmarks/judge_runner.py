"""How close judging comes to what its model takes: `python benchmarks/judge_runner.py [--cases N]`.

Recorded pairs and one judge, whose model takes 200 ms and says pass. For each concurrency, in a fresh
process:

- judging_s: from the start of the evaluation to the commit of its last case. Each case is read, compared
  and put into a question; the call is looked up in the ledger, reserved, made and settled; verdict and
  outcome are committed;
- ideal: what the calls alone take, in full rounds;
- ratio: judging_s / ideal;
- wall_s: the whole evaluation, from the suite folder to history and outputs;
- again_calls, again_wall_s: the same once more from the start, its verdicts from the cache.

Output files are part of wall_s only. ext4 takes up to a millisecond for each of them for some minutes after
many files were deleted; with a TMPDIR in memory that is left out. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import shop
from measuring import arguments_by_concurrency, in_fresh_process

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.events import CaseDone, EvaluationStarted, Event
from regress_core.evaluation.ports import Ports
from regress_core.models import ModelReply, ModelRequest, Usage

CALL_S = 0.2

SUITE = """\
name: shop
judge:
  model: scripted:judge
  price: {input: 0.4, output: 1.6}
"""
VERDICT = '{"verdict": "pass", "summary": "Not worse than the baseline.", "findings": []}'


@dataclass
class SlowJudge:
    """Answers with a verdict, after a while; counts its calls."""

    provider_name = "SlowProvider"
    calls: int = 0

    async def complete(self, _: ModelRequest) -> ModelReply:
        """Wait, then say pass."""
        self.calls += 1
        await asyncio.sleep(CALL_S)
        return ModelReply(text=VERDICT, usage=Usage(input_tokens=1_000, output_tokens=40))


@dataclass
class Watch:
    """Takes the time from the start of an evaluation to its last case."""

    started: float = 0.0
    last_case: float = 0.0

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, EvaluationStarted):
            self.started = time.perf_counter()
        elif isinstance(event, CaseDone):
            self.last_case = time.perf_counter()


def main() -> None:
    """Prepare the suite, measure, print."""
    arguments = arguments_by_concurrency(__doc__)
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure, arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        suite = shop.write_suite(Path(folder) / "shop", arguments.cases, shop.__file__)
        (suite / "suite.yaml").write_text(SUITE, encoding="utf-8")
        (suite / "candidate.yaml").write_text("records: records\n", encoding="utf-8")
        runs = [_run(arguments.cases, concurrency, suite) for concurrency in arguments.concurrency]
    print(json.dumps({"cases": arguments.cases, "runs": runs}))


def _run(cases: int, concurrency: int, suite: Path) -> dict[str, float]:
    arguments = ("--measure", str(concurrency), "--folder", str(suite))
    first, again = in_fresh_process(*arguments), in_fresh_process(*arguments)
    ideal = math.ceil(cases / concurrency) * CALL_S
    return {
        "concurrency": concurrency,
        "calls": first["calls"],
        "judging_s": first["judging_s"],
        "ideal": round(ideal, 3),
        "ratio": round(first["judging_s"] / ideal, 3),
        "wall_s": first["wall_s"],
        "again_calls": again["calls"],
        "again_wall_s": again["wall_s"],
    }


def _measure(concurrency: int, suite: Path) -> dict[str, float]:
    judge, watch = SlowJudge(), Watch()
    started = time.perf_counter()
    with Ports.open(
        suite.parent / f"store-{concurrency}", limits=CallLimits(concurrency=concurrency)
    ) as ports:
        shop.evaluate(suite, replace(ports, judge_client=judge), watch)
    return {
        "calls": judge.calls,
        "judging_s": round(watch.last_case - watch.started, 3),
        "wall_s": round(time.perf_counter() - started, 3),
    }


if __name__ == "__main__":
    main()
