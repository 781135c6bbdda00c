"""A strict replay opens no socket, and runs no tool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_records

_REPOSITORY = Path(__file__).resolve().parent.parent.parent

HARNESS = """
descriptor_version: aioc.agent_graph.v0
metadata: {name: shop, version: v2}
runtime: {entry_agent: helper}
tools:
  look_up: {target: shop/look_up}
agents:
  helper: {model: m-small, instructions: Be brief., tools: [look_up]}
"""

ADAPTER = """
import socket
from regress_core.harness import Policies, RunOptions, Tool, allow
from regress_core.models import ModelReply, ModelToolCall, ScriptedClient

def look_up(arguments, context):
    socket.create_connection(("127.0.0.1", 9))

def create_tools(context):
    return {"shop/look_up": Tool("look_up", "Looks an order up.", look_up)}

def create_run_options(case):
    return RunOptions(policies=Policies(tool=lambda call: allow("reads only")))

def create_model(case):
    asked = ModelToolCall("c1", "look_up", '{"id": 7}')
    return ScriptedClient([ModelReply(tool_calls=(asked,)), ModelReply("On its way.")])
"""

# The audit events of what reaches beyond the process; an event loop's own pair of sockets does not.
WATCHED = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"):
        sys.stderr.write(f"SOCKET {event} {arguments[1:]}\\n")
sys.addaudithook(watch)
from regress_pipeline.cli.main import main
main()
"""


def _run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WATCHED, "run", "suite", "--store", str(folder / "store"), *options]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(_REPOSITORY), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _suite(folder: Path) -> None:
    items = [
        message("Where is order 7?"),
        tool_call("b1", "look_up", arguments={"id": 7}),
        tool_output("b1", output={"state": "sent"}),
        message("On its way.", "assistant"),
    ]
    baseline = record_json(items=items, inputItemCount=1, metadata={"regress": {"unrecorded": ["policy"]}})
    write_records(folder / "suite" / "records", {"a": baseline})
    (folder / "suite" / "suite.yaml").write_text("name: shop\n", encoding="utf-8")
    (folder / "suite" / "candidate.yaml").write_text(
        "descriptor: harness.yaml\nadapter: adapter.py\n", encoding="utf-8"
    )
    (folder / "suite" / "harness.yaml").write_text(HARNESS, encoding="utf-8")
    (folder / "suite" / "adapter.py").write_text(ADAPTER, encoding="utf-8")


def test_a_strict_run_opens_no_socket(tmp_path: Path) -> None:
    _suite(tmp_path)

    done = _run(tmp_path)

    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stderr
    assert "SOCKET" not in done.stderr


def test_a_live_run_does(tmp_path: Path) -> None:
    """The watch would see it."""
    _suite(tmp_path)

    done = _run(tmp_path, "--mode", "live")

    assert done.returncode == 1
    assert "SOCKET socket.connect" in done.stderr
    assert "ConnectionRefusedError" in done.stdout
