"""What the benchmarks of running a candidate share: an agent of two tool calls, its records, a suite of them.

The module is also the adapter of that suite's candidate.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from jsonschema import Draft202012Validator

from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin
from regress_core.evaluation.events import Emit
from regress_core.evaluation.plan import build_plan
from regress_core.evaluation.ports import Ports
from regress_core.harness import CaseContext, RunContext, RunOptions, Tool, allow_all
from regress_core.harness.agent import Agent
from regress_core.harness.descriptor.build import build_harness
from regress_core.harness.descriptor.descriptor import load_descriptor
from regress_core.harness.loop import run_agent
from regress_core.harness.run import RunInput, Runtime
from regress_core.ids import new_evaluation_id, new_run_id, utc_now
from regress_core.models import FunctionClient, ModelReply, ModelRequest, ModelToolCall
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.suite.candidate import load_candidate
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.loading import load_suite

DESCRIPTOR = """\
descriptor_version: aioc.agent_graph.v0
metadata: {name: shop, version: "1"}
runtime: {entry_agent: support, max_turns: 5}
tools:
  order: {target: "shop://order"}
  parcel: {target: "shop://parcel"}
agents:
  support:
    model: scripted:two-calls
    modelSettings: {temperature: 0}
    instructions: |
      You help customers of a shop with their orders.
      Look the order up first, then its parcel, then say in one sentence where it is.
    tools: [order, parcel]
"""

_CALLED = ("get_order", "track_parcel")
_ARGUMENTS: JsonObject = {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}
# A tool imports its validator at its first call; here it is, before anything is measured.
Draft202012Validator.check_schema(_ARGUMENTS)


def create_tools(_: object = None) -> dict[str, Tool]:
    """Give the shop's tools by the targets of the descriptor."""
    return {
        "shop://order": Tool(_CALLED[0], "Get an order.", _order, _ARGUMENTS),
        "shop://parcel": Tool(_CALLED[1], "Track an order's parcel.", _parcel, _ARGUMENTS),
    }


def create_run_options(_: CaseContext | None = None) -> RunOptions:
    """Allow every call."""
    return RunOptions(policies=allow_all(), context={"customer": {"id": "C-1", "verified": True}})


def create_model(_: CaseContext | None = None) -> FunctionClient:
    """Give a model that answers at once."""
    return FunctionClient(reply)


def reply(request: ModelRequest) -> ModelReply:
    """Look the order up, then its parcel, then answer."""
    done = len(request.messages) // 2  # the question, then two items a call
    first = request.messages[0]
    question = first["content"] if first["type"] == "message" else ""
    order = question.removeprefix("Where is order ").removesuffix("?")
    if done < len(_CALLED):
        return ModelReply(tool_calls=(ModelToolCall(f"call-{done}", _CALLED[done], f'{{"id": "{order}"}}'),))
    return ModelReply(text=f"Order {order} is on its way and arrives tomorrow.")


def agent_of(descriptor: Path) -> Agent:
    """Build the agent."""
    return build_harness(load_descriptor(descriptor), create_tools()).entry_agent


def runtime() -> Runtime:
    """Give what runs of one agent share."""
    return Runtime(clock=utc_now, new_run_id=new_run_id)


def write_suite(root: Path, cases: int, adapter: str) -> Path:
    """Write a suite folder: records of live runs of the agent, the agent as candidate, this adapter.

    Args:
        root: The folder.
        cases: How many.
        adapter: Path of the candidate's adapter.
    """
    (root / "records").mkdir(parents=True)
    (root / "suite.yaml").write_text("name: shop\n", encoding="utf-8")
    (root / "harness.yaml").write_text(DESCRIPTOR, encoding="utf-8")
    candidate = {"descriptor": "harness.yaml", "adapter": adapter}
    (root / "candidate.yaml").write_text(json.dumps(candidate), encoding="utf-8")
    asyncio.run(_record(root, cases))
    return root


async def _record(root: Path, cases: int) -> None:
    agent, shared = agent_of(root / "harness.yaml"), runtime()
    for number in range(cases):
        start = RunInput.of_text(f"Where is order LO-{number}?")
        options = create_run_options()
        run = await run_agent(agent, start, model=create_model(), runtime=shared, options=options)
        (root / "records" / f"case-{number:05d}.json").write_bytes(dumps(run.record.data))


def evaluate(root: Path, ports: Ports, emit: Emit = lambda _: None) -> RunRegressionSummary:
    """Evaluate a suite folder as `regress run` does.

    Raises:
        RuntimeError: If not every case passes.
    """
    suite = load_suite(root)
    candidate = load_candidate(root / "candidate.yaml")
    plan = build_plan(
        suite, candidate, suite.cases, trigger="library", clock=utc_now, new_id=new_evaluation_id
    )
    summary = run_evaluation(plan, ports, emit, enter=lambda plan: begin(plan, ports.journal))
    if summary.totals.passed != len(suite.cases):
        raise RuntimeError(f"not every case passes: {summary.totals}")
    return summary


def _order(arguments: JsonObject, _: RunContext) -> JsonValue:
    lines: list[JsonValue] = [{"sku": f"S{line}", "quantity": line + 1, "price": 9.5} for line in range(3)]
    return {"orderId": arguments["id"], "status": "shipped", "total": 57.0, "lines": lines}


def _parcel(arguments: JsonObject, _: RunContext) -> JsonValue:
    return {"parcelId": f"P-{arguments['id']}", "carrier": "post", "stops": ["Turin", "Milan"]}
