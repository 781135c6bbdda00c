"""Suites on disk whose candidate is a harness: a word in a file says what its model does on each case.

The adapter notes every call of a model or tool in `log.txt`, so that a test sees them across processes too.
The words are in `script.json`, which is no part of the candidate: they can change while it stays the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from regress_core.records.json_io import JsonObject
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_records

Does = Literal["same", "reworded", "no_tool", "raises", "strays", "down"]
"""What the candidate does: the recorded call and answer; another answer; no call; an error of its own; a call
that is not recorded; or nothing, because its provider is down."""

EVERYTHING: Mapping[str, Does] = {
    "a-same": "same",
    "b-reworded": "reworded",
    "c-no-tool": "no_tool",
    "d-raises": "raises",
    "e-strays": "strays",
    "f-down": "down",
}
"""A case of every kind."""

LABEL = "shop@2"

HARNESS = """\
metadata: {name: shop, version: "2"}
runtime: {entry_agent: clerk}
tools:
  find_order: {target: app://find_order}
  cancel_order: {target: app://cancel_order}
agents:
  clerk: {model: m-small, instructions: Be brief., tools: [find_order, cancel_order]}
"""

TOOLS = """\
import json
from pathlib import Path

from regress_core.calls.trouble import Trouble, TroubleError
from regress_core.harness import RunOptions, Tool, allow_all
from regress_core.models import FunctionClient, ModelReply, ModelToolCall, Usage

HERE = Path(__file__).parent


def note(*words):
    with (HERE / "log.txt").open("a", encoding="utf-8") as log:
        log.write(" ".join(words) + "\\n")


def tool(name):
    def execute(arguments, context):
        note("tool", name, arguments["id"])
        return "sent"

    return Tool(name, f"Calls {name}.", execute)


def create_tools(context):
    return {f"app://{name}": tool(name) for name in ("find_order", "cancel_order")}


def create_run_options(case):
    return RunOptions(policies=allow_all())
"""
"""An adapter without a model: the descriptor's, or what `--model` names, is asked."""

SCRIPTED_MODEL = """

def create_model(case):
    does = json.loads((HERE / "script.json").read_text(encoding="utf-8"))[case.case_id]
    if isinstance(does, list):
        does = does[case.trial - 1]

    def answer(request):
        note("model", f"{case.case_id}/{case.trial}")
        if does == "raises":
            raise RuntimeError("no idea")
        if does == "down":
            raise TroubleError(Trouble("outage", "candidate", "503", "the provider is down", retryable=True))
        usage = Usage(input_tokens=10, output_tokens=5)
        if request.messages[-1].get("role") == "user" and does != "no_tool":
            order = "another" if does == "strays" else case.case_id
            call = ModelToolCall("c1", "find_order", json.dumps({"id": order}))
            return ModelReply(tool_calls=(call,), usage=usage)
        return ModelReply("It is on its way." if does == "reworded" else "On its way.", usage=usage)

    return FunctionClient(answer)
"""

ADAPTER = TOOLS + SCRIPTED_MODEL


def recorded(case: str) -> JsonObject:
    """Give the baseline of a case, as a harness like the candidate would have recorded it."""
    question = f"Where is order {case}?"
    allowed: JsonObject = {
        "timestamp": "2026-01-01T00:00:00.500Z",
        "turn": 1,
        "callId": "b1",
        "decision": "allow",
        "reason": "allowed",
        "resource": {"kind": "tool", "name": "find_order"},
    }
    return record_json(
        runId=f"baseline of {case}",
        agentName="clerk",
        question=question,
        items=[
            message(question),
            tool_call("b1", "find_order", arguments={"id": case}),
            tool_output("b1", output="sent"),
            message("On its way.", "assistant"),
        ],
        inputItemCount=1,
        policyDecisions=[allowed],
    )


def write_script(root: Path, does: Mapping[str, Does | Sequence[Does]]) -> None:
    """Say what the candidate does on each case, or on each trial of it."""
    (root / "script.json").write_text(json.dumps(does), encoding="utf-8")


def write_candidate_suite(
    root: Path,
    does: Mapping[str, Does | Sequence[Does]],
    *,
    config: str = "name: shop\n",
    adapter: str = ADAPTER,
) -> Path:
    """Write a suite folder with records/, candidate.yaml, harness.yaml and adapter.py."""
    write_records(root / "records", {case: recorded(case) for case in does})
    for name, text in (
        ("suite.yaml", config),
        ("candidate.yaml", "descriptor: harness.yaml\nadapter: adapter.py\n"),
        ("harness.yaml", HARNESS),
        ("adapter.py", adapter),
    ):
        (root / name).write_text(text, encoding="utf-8")
    write_script(root, does)
    return root


def asked(root: Path) -> list[str]:
    """Give each `case/trial` whose model was asked, as often as it was; sorted."""
    return sorted(line.removeprefix("model ") for line in _log(root) if line.startswith("model "))


def tools_run(root: Path) -> list[str]:
    """Give each call of a tool that was not replayed, `tool order`; sorted."""
    return sorted(line.removeprefix("tool ") for line in _log(root) if line.startswith("tool "))


def _log(root: Path) -> list[str]:
    log = root / "log.txt"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
