"""How fast recorded pairs are compared: `python benchmarks/compare_throughput.py [--cases N] [--calls N]`.

Writes baselines and candidates to disk, then measures in a fresh process each:

- run_s: load and validate, compare, classify, from the files, one process, nothing stored;
- wall_s: the whole evaluation with journal, history and outputs;
- peak_rss_mb: the larger peak of the two, and the same at a tenth of the cases, for the growth.

The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import in_fresh_process, peak_rss_mb

from regress_core.evaluation.case import Evidence, Trial, evaluate_trial
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin
from regress_core.evaluation.events import Event
from regress_core.evaluation.judging import Judging
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.source import RecordedCandidate
from regress_core.evaluation.spending import spending_of
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.suite.candidate import load_candidate
from regress_core.suite.loading import load_suite

_SUITE = """\
name: throughput
records: baseline
effects: {write: [tool_2, tool_5]}
gate: recommended
"""


def main() -> None:
    """Prepare the records, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--measure", choices=["run", "wall"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(_measure(arguments.measure, arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        small = _prepared(Path(folder) / "small", max(1, arguments.cases // 10), arguments.calls)
        large = _prepared(Path(folder) / "large", arguments.cases, arguments.calls)
        few = [_measured(what, small) for what in ("run", "wall")]
        run, wall = (_measured(what, large) for what in ("run", "wall"))
    result = {
        "cases": arguments.cases,
        "calls": arguments.calls,
        "run_s": run["seconds"],
        "wall_s": wall["seconds"],
        "peak_rss_mb": max(run["peak_rss_mb"], wall["peak_rss_mb"]),
        "run_peak_rss_mb": run["peak_rss_mb"],
        "wall_peak_rss_mb": wall["peak_rss_mb"],
        "run_peak_growth": round(run["peak_rss_mb"] / few[0]["peak_rss_mb"], 3),
        "wall_peak_growth": round(wall["peak_rss_mb"] / few[1]["peak_rss_mb"], 3),
    }
    print(json.dumps(result))


def _prepared(folder: Path, cases: int, calls: int) -> Path:
    for side in ("baseline", "candidate"):
        (folder / side).mkdir(parents=True)
        for number in range(cases):
            record = _record(number, calls, side)
            (folder / side / f"case-{number:05d}.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "suite.yaml").write_text(_SUITE, encoding="utf-8")
    return folder


def _record(number: int, calls: int, side: str) -> dict[str, Any]:
    """Make a run; every fifth candidate differs in one argument, every seventh in its answer."""
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": f"Where is order {number}?"}
    ]
    changed = side == "candidate" and number % 5 == 0
    for call in range(calls):
        call_id = f"{side}-{call}"
        amount = 19.95 + call + (1 if changed and call == calls // 2 else 0)
        arguments = {
            "orderId": f"LO-{number}",
            "position": call,
            "options": {"amount": amount, "notify": True},
        }
        output = {"status": "ok", "code": None, "publicReason": None, "data": _order(number, call)}
        items += [
            {"type": "tool_call_item", "callId": call_id, "name": f"tool_{call % 7}", "arguments": arguments},
            {"type": "tool_call_output_item", "callId": call_id, "output": output},
        ]
    answer = f"Order {number} is on its way." + (" Truly." if side == "candidate" and number % 7 == 0 else "")
    items.append({"type": "message", "role": "assistant", "content": answer})
    return {
        "runId": f"{side}-{number}",
        "startedAt": "2026-01-01T00:00:00.000Z",
        "completedAt": "2026-01-01T00:00:05.000Z",
        "status": "completed",
        "agentName": "support",
        "question": f"Where is order {number}?",
        "response": answer,
        "contextSnapshot": {},
        "items": items,
        "inputItemCount": 1,
        "promptSnapshots": [],
        "requestFingerprints": [],
        "policyDecisions": [
            {
                "timestamp": "2026-01-01T00:00:01.000Z",
                "turn": call + 1,
                "callId": f"{side}-{call}",
                "decision": "allow",
                "reason": "read_own_order",
                "resource": {"kind": "tool", "name": f"tool_{call % 7}"},
            }
            for call in range(calls)
        ],
    }


def _order(number: int, call: int) -> dict[str, Any]:
    return {
        "orderId": f"LO-{number}",
        "status": "shipped",
        "total": 124.85,
        "lines": [{"sku": f"S{call}{line}", "quantity": line + 1, "price": 9.5} for line in range(3)],
    }


def _measured(what: str, folder: Path) -> dict[str, float]:
    return in_fresh_process("--measure", what, "--folder", str(folder))


def _measure(what: str, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    plan = _plan(folder)
    with Ports.open(folder / f"store-{what}") as ports:
        if what == "run":
            asyncio.run(_evaluate(plan, ports))
        else:
            run_evaluation(begin(plan, ports.journal), ports, _ignore)
    seconds = time.perf_counter() - started
    return {"seconds": round(seconds, 2), "peak_rss_mb": peak_rss_mb()}


async def _evaluate(plan: EvaluationPlan, ports: Ports) -> None:
    source = RecordedCandidate(plan.candidate.records, plan.suite.config.comparison)
    # Nobody is asked, neither a judge nor the candidate's model.
    judging = Judging(plan, source, None, time_out_s=0)
    spending = spending_of(plan, ports.journal.ledger(), utc_now)

    async def keep(evidence: Evidence) -> Evidence:
        return evidence

    for case in plan.suite.cases:
        await evaluate_trial(Trial(plan, case, 1, {}), source, judging, spending, utc_now, keep)


def _plan(folder: Path) -> EvaluationPlan:
    suite = load_suite(folder)
    candidate = load_candidate(folder / "candidate")
    return build_plan(
        suite, candidate, suite.cases, trigger="library", clock=utc_now, new_id=new_evaluation_id
    )


def _ignore(_: Event) -> None:
    pass


if __name__ == "__main__":
    main()
