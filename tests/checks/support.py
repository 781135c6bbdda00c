"""Helpers of these tests: records by a short notation, and checks as their YAML has them."""

from __future__ import annotations

from collections.abc import Sequence

from regress_core.checks.case_checks import case_checks
from regress_core.checks.config import CheckKeys
from regress_core.checks.outcome import CheckResult
from regress_core.checks.run import run_checks
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json, tool_call, tool_output


def talk(
    *steps: str | tuple[str, JsonValue] | tuple[str, JsonValue, JsonValue],
    response: str = "On its way.",
    given: int = 1,
    **changes: JsonValue,
) -> RunRecord:
    """Give the record of a run, step by step.

    A text is what the assistant says; a tuple is a call: tool, arguments and, unless it has none, its output.
    The user's question comes first. `given` of the items are the run's input.
    """
    items: list[JsonObject] = [message("Where is my order?")]
    for number, step in enumerate(steps, start=1):
        if isinstance(step, str):
            items.append(message(step, "assistant"))
            continue
        items.append(tool_call(f"c{number}", step[0], arguments=step[1]))
        if len(step) == 3:
            items.append(tool_output(f"c{number}", output=step[2]))
    fields: JsonObject = {"items": items, "response": response, "inputItemCount": given}
    return RunRecord.parse(record_json(**(fields | changes)))


def results_of(keys: JsonObject, record: RunRecord) -> Sequence[CheckResult]:
    """Check a run by keys as suite.yaml has them."""
    return run_checks(case_checks(CheckKeys.from_json(keys)), record)


def result_of(assertion: JsonObject, record: RunRecord) -> CheckResult:
    """Check a run by one assertion."""
    (result,) = results_of({"assertions": [assertion]}, record)
    return result


def told(result: CheckResult) -> tuple[str, str, str, str | None]:
    """Give what a result says, in short: outcome, looked for, found, where."""
    return result.outcome, result.looked_for, result.found, result.where
