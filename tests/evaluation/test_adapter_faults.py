"""What an adapter raises in a run fails that case alone, with the error's name; the others go on."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin
from regress_core.evaluation.ports import Ports
from tests.evaluation.support import by_case, evaluated, ignore, plan_of, rows_by_case, run, taken_up
from tests.support.candidates import ADAPTER, TOOLS, Does, write_candidate_suite

AGENT_IN_CODE = """

from regress_core.harness import Agent, GuardrailResult, OutputGuardrail


def check(asked):
    if "order b" in asked.history[0]["content"]:
        raise LookupError("no guardrail")
    return GuardrailResult(tripwire_triggered=False)


def create_harness(context):
    tools = tuple(create_tools(context).values())
    return Agent("clerk", model="m-small", tools=tools, output_guardrails=(OutputGuardrail("g", check),))
"""

# What is appended to the adapter, what case b does, a line of suite.yaml, and the error of case b.
FAULTS: dict[str, tuple[str, Does, str, str]] = {
    "create_run_options": (
        """
def create_run_options(case):
    if case.case_id == "b":
        raise LookupError("no options")
    return RunOptions(policies=allow_all())
""",
        "same",
        "",
        "LookupError: no options",
    ),
    "create_run_options gives something else": (
        """
def create_run_options(case):
    return {"policies": None} if case.case_id == "b" else RunOptions(policies=allow_all())
""",
        "same",
        "",
        "TypeError: create_run_options gave dict in place of RunOptions",
    ),
    "create_model": (
        """
scripted = create_model


def create_model(case):
    if case.case_id == "b":
        raise ConnectionError("no key")
    return scripted(case)
""",
        "same",
        "",
        "ConnectionError: no key",
    ),
    "create_model gives something else": (
        """
scripted = create_model


def create_model(case):
    return "openai:m-small" if case.case_id == "b" else scripted(case)
""",
        "same",
        "",
        "TypeError: create_model gave str in place of ModelClient",
    ),
    "a model": ("", "raises", "", "RuntimeError: no idea"),
    "a tool": (
        """
def create_tools(context):
    def find_order(arguments, context):
        if arguments["id"] == "b":
            raise ZeroDivisionError("no order")
        return "sent"

    names = ("find_order", "cancel_order")
    return {f"app://{name}": Tool(name, "", find_order) for name in names}
""",
        "same",
        "mode: live",
        "ZeroDivisionError: no order",
    ),
    "a policy": (
        """
from regress_core.harness import Policies, allow


def policy(call):
    if call.parsed_arguments["id"] == "b":
        raise PermissionError("no policy")
    return allow("allowed")


def create_run_options(case):
    return RunOptions(policies=Policies(tool=policy))
""",
        "same",
        "",
        'ToolCallPolicyDeniedError: Tool "find_order" denied by policy: policy_error',
    ),
    "a guardrail": (
        AGENT_IN_CODE,
        "same",
        "compare: {exclude_sections: [guardrails]}",  # the baselines have none
        "LookupError: no guardrail",
    ),
    "a context redactor": (
        """
from regress_core.harness import RecordOptions


def create_run_options(case):
    def redact(context):
        if case.case_id == "b":
            raise KeyError("secret")
        return context

    return RunOptions(policies=allow_all(), record=RecordOptions(context_redactor=redact))
""",
        "same",
        "",
        "KeyError: 'secret'",
    ),
    "on_missing_tool_call": (
        """
def on_missing_tool_call(missing):
    raise ArithmeticError("no output")
""",
        "strays",
        "",
        "ArithmeticError: no output",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_an_adapter_raises_in_a_run_fails_that_case_alone(tmp_path: Path, fault: str) -> None:
    more, does, line, error = FAULTS[fault]
    script: dict[str, Does] = {"a": "same", "b": does, "c": "same"}
    root = write_candidate_suite(
        tmp_path / "suite", script, adapter=ADAPTER + more, config=f"name: shop\n{line}\n"
    )

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert {case: entry["status"] for case, entry in cases.items()} == {"a": "pass", "b": "fail", "c": "pass"}
    assert cases["b"]["reasons"] == [f"candidate failed: {error}"]
    row = rows_by_case(tmp_path / "store", "candidate_records")["b"]
    assert row["run_status"] == "failed"
    record = json.loads(row["record_json"])
    assert f"{record['errorName']}: {record['errorMessage']}" == error
    assert not rows_by_case(tmp_path / "store", "case_results")["b"]["replay_miss"]


def test_the_error_of_a_policy_is_in_its_decision(tmp_path: Path) -> None:
    root = write_candidate_suite(tmp_path / "suite", {"b": "same"}, adapter=ADAPTER + FAULTS["a policy"][0])

    evaluated(root, tmp_path / "store")

    record = json.loads(rows_by_case(tmp_path / "store", "candidate_records")["b"]["record_json"])
    (decision,) = record["policyDecisions"]
    assert (decision["decision"], decision["reason"]) == ("deny", "policy_error")
    assert decision["metadata"] == {"errorName": "PermissionError", "errorMessage": "no policy"}


def test_a_sink_that_raises_changes_nothing(tmp_path: Path) -> None:
    more = """
from regress_core.harness import RecordOptions


def sink(record):
    raise OSError("the disk is full")


def create_run_options(case):
    return RunOptions(policies=allow_all(), record=RecordOptions(sink=sink))
"""
    root = write_candidate_suite(tmp_path / "suite", {"a": "same"}, adapter=ADAPTER + more)

    assert by_case(evaluated(root, tmp_path / "store"))["a"]["status"] == "pass"


def test_an_adapter_that_cannot_be_opened_leaves_no_evaluation(tmp_path: Path) -> None:
    root = write_candidate_suite(
        tmp_path / "suite", {"a": "same"}, adapter=TOOLS.replace("app://", "shop://")
    )

    with Ports.open(tmp_path / "store") as ports:
        with pytest.raises(InputError, match='missing target "app://find_order"'):
            run_evaluation(plan_of(root), ports, ignore, enter=lambda plan: begin(plan, ports.journal))
        assert ports.journal.unfinished() == []


def test_a_case_whose_run_is_cancelled_from_inside_is_not_lost(tmp_path: Path) -> None:
    """The task that evaluates it goes on with the other cases."""
    more = """
import asyncio

scripted = create_model


def create_model(case):
    if case.case_id == "b":
        raise asyncio.CancelledError
    return scripted(case)
"""
    script: dict[str, Does] = {"a": "same", "b": "same", "c": "same"}
    root = write_candidate_suite(tmp_path / "suite", script, adapter=ADAPTER + more)

    summary = run(taken_up(plan_of(root), tmp_path / "store"), tmp_path / "store", concurrency=1)

    cases = by_case(summary)
    assert (summary.complete, cases["a"]["status"], cases["c"]["status"]) == (True, "pass", "pass")
    assert cases["b"]["status"] != "pass"
    assert "CancelledError" in cases["b"]["reasons"][0]
