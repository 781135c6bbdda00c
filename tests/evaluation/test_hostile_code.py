"""Code that is not ours, at its worst: it fails its own case, as a rule, and never another one."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from regress_core.calls.limits import CallLimits
from regress_core.errors import InputError
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.ports import Ports
from regress_core.judge.asking import ask_judge
from regress_core.judge.contract import RunJudgeInput, RunJudgeResult
from regress_core.records.json_io import JsonObject
from tests.evaluation.support import by_case, evaluated, ignore, plan_of, rows_by_case, run, taken_up
from tests.support.candidates import ADAPTER, Does, write_candidate_suite

SCRIPT: dict[str, Does] = {"a": "same", "b": "same", "c": "same"}


def of_model(reply: str) -> str:
    """Give the adapter's addition that has another client answer in case b."""
    return f"""
scripted = create_model


class Text(str):
    pass


def create_model(case):
    if case.case_id != "b":
        return scripted(case)
    return FunctionClient(lambda request: {reply})
"""


def of_tool(body: str) -> str:
    """Give the adapter's addition that has the tool do something else in case b, when it is run."""
    return f"""
import asyncio


class Panic(BaseException):
    pass


class Speechless(Exception):
    def __str__(self):
        raise ValueError


async def find_order(arguments, context):
    if arguments["id"] == "b":
        {body}
    return "sent"


def create_tools(context):
    names = ("find_order", "cancel_order")
    return {{f"app://{{name}}": Tool(name, "", find_order) for name in names}}
"""


FAILING = {
    "no text": (of_model("ModelReply(None)"), "TypeError: the model client gave NoneType in place of a text"),
    "a number": (of_model("ModelReply(5)"), "TypeError: the model client gave int in place of a text"),
    "no reply": (of_model("'On its way.'"), "TypeError: the model client gave str, not ModelReply"),
    "no call id": (
        of_model("ModelReply(tool_calls=(ModelToolCall(None, 'find_order', '{}'),))"),
        "TypeError: the model client gave NoneType in place of a text",
    ),
    "negative tokens": (
        of_model("ModelReply('x', usage=Usage(-5, 1))"),
        "TypeError: the model client gave no",
    ),
    "tokens beyond belief": (of_model("ModelReply('x', usage=Usage(10**30))"), "TypeError: the model client"),
    "half a token": (of_model("ModelReply('x', usage=Usage(1.5))"), "TypeError: the model client gave no"),
    "a run id that is no text": (
        """
from regress_core.harness import RecordOptions


def create_run_options(case):
    wrong = case.case_id == "b"
    return RunOptions(policies=allow_all(), record=RecordOptions(run_id=5 if wrong else None))
""",
        "TypeError: run_id is int, not str",
    ),
    "an error of a kind of its own": (of_tool('raise Panic("lost")'), "BrokenOffError: Panic: lost"),
    "the end of Python": (of_tool("raise SystemExit(0)"), "BrokenOffError: SystemExit: 0"),
    "an error without words": (of_tool("raise Speechless"), "Speechless: Speechless"),
}


@pytest.mark.parametrize("fault", FAILING)
def test_it_fails_its_own_case_alone(tmp_path: Path, fault: str) -> None:
    more, error = FAILING[fault]
    live = "mode: live\n" if "find_order(arguments" in more else ""
    root = write_candidate_suite(
        tmp_path / "suite", SCRIPT, adapter=ADAPTER + more, config=f"name: shop\n{live}"
    )

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert {case: entry["status"] for case, entry in cases.items()} == {"a": "pass", "b": "fail", "c": "pass"}
    assert cases["b"]["reasons"][0].startswith(f"candidate failed: {error}")


def test_a_text_of_another_class_is_a_text(tmp_path: Path) -> None:
    more = of_model("ModelReply(Text('On its way.'))")
    root = write_candidate_suite(tmp_path / "suite", SCRIPT, adapter=ADAPTER + more)

    cases = by_case(evaluated(root, tmp_path / "store"))

    record = json.loads(rows_by_case(tmp_path / "store", "candidate_records")["b"]["record_json"])
    assert record["response"] == "On its way."
    assert cases["b"]["status"] == "warn"  # the call is missing


def test_a_function_client_may_be_async(tmp_path: Path) -> None:
    more = """
scripted = create_model


def create_model(case):
    client = scripted(case)

    async def answer(request):
        return await client.complete(request)

    return FunctionClient(answer)
"""
    root = write_candidate_suite(tmp_path / "suite", SCRIPT, adapter=ADAPTER + more)

    assert {entry["status"] for entry in by_case(evaluated(root, tmp_path / "store")).values()} == {"pass"}


def test_a_candidate_that_cancels_its_own_task_loses_no_case(tmp_path: Path) -> None:
    more = of_tool("asyncio.current_task().cancel(); await asyncio.sleep(1)")
    root = write_candidate_suite(
        tmp_path / "suite", SCRIPT, adapter=ADAPTER + more, config="name: shop\nmode: live\n"
    )

    summary = run(taken_up(plan_of(root), tmp_path / "store"), tmp_path / "store", concurrency=1)

    cases = by_case(summary)
    assert (summary.complete, cases["a"]["status"], cases["c"]["status"]) == (True, "pass", "pass")
    assert (cases["b"]["status"], cases["b"]["inconclusive"]) == ("warn", True)


def test_the_end_of_python_in_a_task_of_its_own_is_no_silent_end(tmp_path: Path) -> None:
    more = of_tool("await leave()")
    more += """

async def leave():
    async def work():
        raise SystemExit(0)

    await asyncio.create_task(work())
"""
    root = write_candidate_suite(
        tmp_path / "suite", SCRIPT, adapter=ADAPTER + more, config="name: shop\nmode: live\n"
    )
    plan = taken_up(plan_of(root), tmp_path / "store")

    with (
        Ports.open(tmp_path / "store") as ports,
        pytest.raises(InputError, match="ended the program"),
    ):
        run_evaluation(plan, ports, ignore)


def test_an_application_cannot_say_that_nothing_is_known_of_a_run_made_here(tmp_path: Path) -> None:
    more = """
from regress_core.harness import RecordOptions


def create_run_options(case):
    nothing = {"regress": {"unrecorded": ["response", "toolCalls", "policy"]}, "build": 7}
    return RunOptions(policies=allow_all(), record=RecordOptions(metadata=nothing))
"""
    script: dict[str, Does] = {"a": "reworded"}
    root = write_candidate_suite(tmp_path / "suite", script, adapter=ADAPTER + more)

    case = by_case(evaluated(root, tmp_path / "store"))["a"]

    assert (case["status"], case["signals"]["finalOutputChanged"]) == ("warn", True)
    record = json.loads(rows_by_case(tmp_path / "store", "candidate_records")["a"]["record_json"])
    assert record["metadata"]["build"] == 7
    assert "regress" not in record["metadata"]


def test_a_tool_that_waits_holds_nobody_up(tmp_path: Path) -> None:
    """Three runs whose tools wait for each other."""
    more = """
import threading

together = threading.Barrier(3, timeout=30)


def find_order(arguments, context):
    together.wait()
    return "sent"


def create_tools(context):
    names = ("find_order", "cancel_order")
    return {f"app://{name}": Tool(name, "", find_order) for name in names}
"""
    root = write_candidate_suite(
        tmp_path / "suite", SCRIPT, adapter=ADAPTER + more, config="name: shop\nmode: live\n"
    )

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert {entry["status"] for entry in cases.values()} == {"pass"}


def test_a_tool_that_hangs_ends_with_its_run(tmp_path: Path) -> None:
    more = """
import time


def find_order(arguments, context):
    time.sleep(30 if arguments["id"] == "b" else 0)
    return "sent"


def create_tools(context):
    names = ("find_order", "cancel_order")
    return {f"app://{name}": Tool(name, "", find_order) for name in names}
"""
    root = write_candidate_suite(
        tmp_path / "suite", SCRIPT, adapter=ADAPTER + more, config="name: shop\nmode: live\n"
    )
    plan = taken_up(plan_of(root), tmp_path / "store")

    with Ports.open(tmp_path / "store", limits=CallLimits(run_time_out_s=0.5)) as ports:
        cases = by_case(run_evaluation(plan, ports, ignore))

    assert {case: entry["inconclusive"] for case, entry in cases.items()} == {
        "a": False,
        "b": True,
        "c": False,
    }
    assert cases["b"]["reasons"] == ["the run took longer than 0.5 s"]


ASKED = RunJudgeInput.model_construct()


async def hangs(_: RunJudgeInput) -> RunJudgeResult:
    await asyncio.sleep(30)
    raise AssertionError


def blocks(_: RunJudgeInput) -> RunJudgeResult:
    time.sleep(2)
    raise AssertionError


def unchecked(_: RunJudgeInput) -> RunJudgeResult:
    fields: JsonObject = {"verdict": "great", "summary": 5, "findings": None}
    return RunJudgeResult.model_construct(**fields)


def panics(_: RunJudgeInput) -> RunJudgeResult:
    raise type("Panic", (BaseException,), {})("lost")


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (hangs, "the judge took longer than 0.2 s"),
        (blocks, "the judge took longer than 0.2 s"),
        (unchecked, "the judge gave no valid RunJudgeResult: "),
        (panics, "Panic: lost"),
    ],
)
def test_a_judge_at_its_worst_gives_no_verdict(judge: object, reason: str) -> None:
    outcome = asyncio.run(ask_judge(judge, ASKED, 0.2))  # pyright: ignore[reportArgumentType] - any of them

    assert (outcome.state, outcome.result) == ("error", None)
    assert (outcome.reason or "").startswith(reason)
