"""A candidate harness: descriptor and adapter put together, and what either of them does to a run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import regress_core.models
from regress_core.calls.trouble import TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.harness.adapter.adapter import CaseContext
from regress_core.harness.adapter.candidate import CandidateHarness
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions
from tests.harness.adapter.support import (
    ANSWER,
    QUESTION,
    harness_run,
    recorded,
    with_harness,
)
from tests.harness.support import outputs
from tests.support.records import message

DESCRIPTOR = """\
metadata: {name: shop, version: "2"}
runtime: {entry_agent: clerk, max_turns: 3}
tools:
  find: {target: app://find}
agents:
  clerk: {model: m-small, instructions: Be brief., tools: [find]}
"""

ADAPTER = """\
from regress_core.harness import *
from regress_core.models import *

def create_tools(context):
    return {"app://find": Tool("find", "Finds.", lambda arguments, context: "live")}

def create_run_options(case):
    return RunOptions(policies=allow_all())

def create_model(case):
    asks = ModelReply(tool_calls=(ModelToolCall("c1", "find", '{"a":1}'),))
    return ScriptedClient([asks, ModelReply("On its way.")])
"""

BASELINE = recorded(("find", {"a": 1}, "old"))


def _changed(old: str, new: str) -> str:
    assert old in ADAPTER
    return ADAPTER.replace(old, new)


def test_descriptor_and_adapter_are_a_harness(tmp_path: Path) -> None:
    run = harness_run(ADAPTER, tmp_path, BASELINE, descriptor=DESCRIPTOR)

    assert run.error is None
    assert (run.record.response, run.record.data.get("agentName")) == (ANSWER, "clerk")
    assert run.record.metadata["harness"]["name"] == "shop"
    options = CompareOptions(exclude_sections=("policy",))  # of which the baseline has none
    assert compare_run_records(BASELINE, run.record, options).equal


def test_the_functions_are_called_once_or_for_each_run(tmp_path: Path) -> None:
    functions = {
        "setup": "None",
        "create_tools": "{}",
        "create_run_options": "None",
        "create_model": "ScriptedClient([ModelReply('On its way.')])",
        "create_harness": "Agent('clerk', model='m')",
    }
    text = "from regress_core.harness import *\nfrom regress_core.models import *\ncalled = []\n"
    for name, given in functions.items():
        text += f"async def {name}(context):\n    called.append(('{name}', context))\n    return {given}\n"
    text += "on_missing_tool_call = called\non_missing_tool_call = lambda missing: None\n"

    async def use(harness: CandidateHarness) -> list[tuple[str, object]]:
        for number in (1, 2):
            case = CaseContext("a", "a case", number, BASELINE, harness.context)
            assert (await harness.run(case, ReplayOptions())).record.response == ANSWER
        called: list[tuple[str, object]] = harness.adapter.functions["setup"].__globals__["called"]
        return called

    called = with_harness(text, tmp_path, use)

    once = ["setup", "create_tools", "create_harness"]
    each = ["create_run_options", "create_model"]
    assert [name for name, _ in called] == [*once, *each, *each]
    assert all(getattr(context, "mode", None) == "strict" for _, context in called[:3])
    assert [getattr(context, "trial", None) for _, context in called[3:]] == [1, 1, 2, 2]


@pytest.mark.parametrize(("mode", "output"), [("strict", "old"), ("hybrid", "old"), ("live", "live")])
def test_tools_are_run_as_the_mode_says(tmp_path: Path, mode: ReplayMode, output: str) -> None:
    run = harness_run(ADAPTER, tmp_path, BASELINE, descriptor=DESCRIPTOR, mode=mode)

    assert [item["data"] for item in outputs(run.record)] == [output]


# What is wrong with the adapter, and the one line about it.
REFUSED = [
    pytest.param("def setup(_): raise ValueError('no key')", "setup: raised ValueError: no key", id="setup"),
    pytest.param(
        "create_tools = lambda _: [1]",
        "create_tools: gave no mapping of targets to tools",
        id="a list of tools",
    ),
    pytest.param(
        "create_tools = lambda _: {'app://find': print}",
        "create_tools: 'app://find' is no Tool",
        id="no tool",
    ),
    pytest.param(
        "create_tools = lambda _: {}", 'missing target "app://find" for tool "find"', id="a tool too few"
    ),
    pytest.param(
        "create_harness = lambda _: None",
        "create_harness: gave builtins.NoneType, neither a regress Agent nor a function",
        id="no harness",
    ),
    pytest.param(
        "from pydantic_ai import Agent as A\ncreate_harness = lambda _: A()",
        "create_harness: gave pydantic_ai.agent.Agent, neither a regress Agent nor a function",
        id="another library's agent",
    ),
    pytest.param(
        "create_harness = lambda _: lambda request: ''\ncreate_model = print",
        "create_model: is for agents that regress runs; create_harness gave a function",
        id="a model nobody asks",
    ),
    pytest.param(
        "from regress_core.harness import Tool\n"
        "create_tools = lambda _: {x: Tool('find', '', print) for x in 'ab'}\n"
        "create_harness = lambda _: lambda request: ''",
        "create_tools: gave two tools named find; take one away",
        id="two tools of one name",
    ),
]


@pytest.mark.parametrize(("adapter", "message"), REFUSED)
def test_what_is_wrong_before_the_first_case_is_one_line(tmp_path: Path, adapter: str, message: str) -> None:
    async def use(_: CandidateHarness) -> None:
        raise AssertionError("opened")

    with pytest.raises(InputError) as raised:
        with_harness(adapter, tmp_path, use, descriptor=DESCRIPTOR)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_descriptor_and_no_agent_is_no_harness(tmp_path: Path) -> None:
    async def use(_: CandidateHarness) -> None: ...

    with pytest.raises(
        InputError, match="brings no agent of its own; name a descriptor, or define create_harness"
    ):
        with_harness("def setup(_): ...", tmp_path, use)


# What is wrong in one run, and the error of its failed record.
FAILED = [
    pytest.param(
        "def create_run_options(_): raise KeyError('user')", "KeyError", "'user'", id="options raise"
    ),
    pytest.param(
        "import sys\ndef create_run_options(_): sys.exit(3)",
        "BrokenOffError",
        "SystemExit: 3",
        id="options end Python",
    ),
    pytest.param(
        "create_run_options = lambda _: {}",
        "TypeError",
        "create_run_options gave dict in place of RunOptions",
        id="no options",
    ),
    pytest.param(
        "create_run_options = lambda _: RunOptions(record={})",
        "TypeError",
        "create_run_options, for record, gave dict in place of RecordOptions",
        id="no record options",
    ),
    pytest.param(
        "create_run_options = lambda _: RunOptions(record=RecordOptions(metadata=[]))",
        "TypeError",
        "metadata is list, not dict",
        id="no metadata",
    ),
    pytest.param(
        "create_run_options = lambda _: RunOptions(context={'a': object()})",
        "TypeError",
        "no JSON value: Unable to serialize unknown type: <class 'object'>",
        id="no context",
    ),
]
OF_THE_MODEL = [
    pytest.param("def create_model(_): raise OSError('no file')", "OSError", "no file", id="model raises"),
    pytest.param(
        "create_model = lambda _: 'm'",
        "TypeError",
        "create_model gave str in place of ModelClient",
        id="no model",
    ),
    pytest.param(
        "def create_model(_): raise KeyError\ndef create_run_options(_): raise ValueError('first')",
        "ValueError",
        "first",
        id="both raise",
    ),
]
OWN = "from regress_core.harness import *\ndef create_harness(_):\n    return lambda asked: asked.question\n"


@pytest.mark.parametrize(("change", "name", "text"), [*FAILED, *OF_THE_MODEL])
def test_what_is_wrong_in_a_run_fails_that_run(tmp_path: Path, change: str, name: str, text: str) -> None:
    run = harness_run(ADAPTER + change, tmp_path, BASELINE, descriptor=DESCRIPTOR)

    assert (run.record.status, run.record.error_name, run.record.error_message) == ("failed", name, text)
    assert run.record.items == [message(QUESTION)]
    assert (run.trouble, run.replay_miss) == (None, False)


@pytest.mark.parametrize(("change", "name", "text"), FAILED)
def test_what_is_wrong_in_a_run_of_your_own_agent_fails_that_run(
    tmp_path: Path, change: str, name: str, text: str
) -> None:
    run = harness_run(OWN + change, tmp_path, BASELINE)

    assert (run.record.status, run.record.error_name, run.record.error_message) == ("failed", name, text)
    assert (run.trouble, run.replay_miss) == (None, False)


# What on_missing_tool_call answers, and how the run ends.
MISSING = [
    pytest.param("MissingToolCallResolution('use_output', {'new': (1,)})", (None, None), id="an output"),
    pytest.param("MissingToolCallResolution('use_live')", (None, None), id="live"),
    pytest.param("MissingToolCallResolution('throw')", ("Error", "Missing recorded tool output"), id="none"),
    pytest.param(
        "None",
        ("TypeError", "on_missing_tool_call gave NoneType"),
        id="nothing",
    ),
    pytest.param("1 / 0", ("ZeroDivisionError", "division by zero"), id="an error"),
    pytest.param(
        "MissingToolCallResolution('use_output', object())", ("TypeError", "no JSON value"), id="no JSON"
    ),
]


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(("answer", "error"), MISSING)
def test_a_missing_call_is_answered_by_the_adapter(
    tmp_path: Path, answer: str, error: tuple[str | None, str | None], kind: str
) -> None:
    adapter = f"{ADAPTER}\n{kind} on_missing_tool_call(missing):\n    return {answer}\n"

    run = harness_run(adapter, tmp_path, recorded(), descriptor=DESCRIPTOR)

    name, text = error
    assert run.record.error_name == name
    assert (text or "") in (run.record.error_message or "")
    assert run.replay_miss == (name == "Error")


# An Agent built in code.
BUILT = """\
from regress_core.harness import *
from regress_core.models import *

def guard(checked):
    return GuardrailResult("way" in checked.output_text, reason="says where")

def create_harness(context):
    return Agent("clerk", model="m-small", output_guardrails=[OutputGuardrail("no place", guard)])

def create_model(case):
    return ScriptedClient([ModelReply("On its way.")])
"""


def test_an_agent_that_is_built_in_code_has_guardrails(tmp_path: Path) -> None:
    run = harness_run(BUILT, tmp_path, recorded())

    assert run.record.error_name == "OutputGuardrailTripwireTriggered"
    decisions = run.record.data.get("guardrailDecisions") or []
    assert [decision.get("reason") for decision in decisions] == ["says where"]
    assert "harness" not in run.record.metadata


def test_beside_a_descriptor_it_is_noted_as_that_one(tmp_path: Path) -> None:
    run = harness_run(BUILT, tmp_path, recorded(), descriptor=DESCRIPTOR.replace("tools: [find]", ""))

    assert run.record.metadata["harness"]["version"] == "2"


# Who asks a real model, and who does without its libraries.


def _without_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every import of pydantic-ai fail, as where it is not installed."""
    for name in ("pydantic_ai_providers", "pydantic_ai_wire"):
        monkeypatch.setitem(sys.modules, f"regress_core.models.{name}", None)
        monkeypatch.delattr(regress_core.models, name, raising=False)


@pytest.mark.parametrize("adapter", [ADAPTER, BUILT, OWN], ids=["descriptor", "Agent", "own agent"])
def test_without_a_real_model_nothing_of_one_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    _without_pydantic_ai(monkeypatch)

    harness_run(adapter, tmp_path, BASELINE, descriptor=DESCRIPTOR if adapter is ADAPTER else None)


@pytest.mark.parametrize(
    ("adapter", "model"),
    [
        pytest.param(_changed("def create_model", "def other"), None, id="no model of its own"),
        pytest.param(ADAPTER, "openai:small", id="another model in its place"),
    ],
)
def test_a_real_model_without_its_library_is_told_before_the_first_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: str, model: str | None
) -> None:
    _without_pydantic_ai(monkeypatch)

    async def use(_: CandidateHarness) -> None:
        raise AssertionError("opened")

    with pytest.raises(InputError, match="real models need pydantic-ai, which is not installed"):
        with_harness(adapter, tmp_path, use, descriptor=DESCRIPTOR, model=model)


# Time.

SLOW = """\
import asyncio, time
def create_harness(_):
    {kind} agent(request):
        {wait}(0.5)
        return ""
    return agent
"""


@pytest.mark.parametrize(("kind", "wait"), [("async def", "await asyncio.sleep"), ("def", "time.sleep")])
def test_a_run_that_takes_too_long_is_trouble(tmp_path: Path, kind: str, wait: str) -> None:
    with pytest.raises(TroubleError) as raised:
        harness_run(SLOW.format(kind=kind, wait=wait), tmp_path, BASELINE, time_out_s=0.05)

    assert raised.value.trouble.message == "the run took longer than 0.05 s"
    assert (raised.value.trouble.kind, raised.value.trouble.code) == ("outage", "time-out")


def test_a_time_out_of_the_agents_own_is_trouble_of_its_own(tmp_path: Path) -> None:
    adapter = SLOW.format(
        kind="async def", wait="await asyncio.wait_for(asyncio.Event().wait(), 0.01); print"
    )

    run = harness_run(adapter, tmp_path, BASELINE)

    assert run.trouble is not None
    assert run.trouble.code == "time-out"
    assert "took longer" not in run.trouble.message


def test_eight_runs_at_a_time_do_not_mix(tmp_path: Path) -> None:
    adapter = """\
import threading
together = threading.Barrier(8)
def create_harness(_):
    def agent(request):
        def find(a: int): ...
        together.wait(30)
        found = [request.tools.wrap(find)(a) for a in range(3)]
        together.wait(30)
        return f"{request.case_id} {request.trial} {request.context['n']} {found}"
    return agent
"""

    async def use(harness: CandidateHarness) -> list[CandidateRun]:
        async def one(number: int) -> CandidateRun:
            known = [("find", {"a": a}, number * 10 + a) for a in range(3)]
            case = CaseContext(
                f"case {number}", "", number, recorded(*known, contextSnapshot={"n": number}), harness.context
            )
            return await harness.run(case, ReplayOptions())

        return await asyncio.gather(*map(one, range(8)))

    runs = with_harness(adapter, tmp_path, use)

    assert [run.record.response for run in runs] == [
        f"case {n} {n} {n} {[n * 10, n * 10 + 1, n * 10 + 2]}" for n in range(8)
    ]
    assert [run.replay_stats.replayed_from_record for run in runs] == [3] * 8
