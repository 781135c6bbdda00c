"""Effects in an evaluation: who says which tools write, what is raised, what is part of the plan and kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.model import EffectsComparison
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.evaluation.regression import CandidateAgent, run_regression_case, run_regression_suite
from regress_core.harness import RunOptions, allow_all
from regress_core.judge.contract import Status
from regress_core.models import ModelClient
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.suite.classification import classify
from regress_core.suite.config import GATE_PRESETS
from regress_core.suite.contract import RunRegressionResult, RunRegressionSuite, RunRegressionSuiteCase
from tests.evaluation.support import by_case, evaluated, plan_of, rows_by_case
from tests.support.candidates import ADAPTER as SHOP_ADAPTER
from tests.support.candidates import recorded, write_candidate_suite
from tests.support.harness import agent, says, scripted
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.suites import write_records, write_suite

Calls = Sequence[tuple[str, int]]
"""Tool, as models call it, and its argument."""

HARNESS = """\
metadata: {name: shop, version: "2"}
runtime: {entry_agent: clerk}
tools:
  money_back: {target: app://pay-out, effect: write}
  lookup: {target: app://orders}
agents:
  clerk: {model: m-small, instructions: Be brief., tools: [money_back, lookup]}
"""
"""The key, the target and the name of each tool differ, so that each has to be used where it belongs."""

UNDECLARED = HARNESS.replace(", effect: write", "")

ADAPTER = """\
import json
from pathlib import Path

from regress_core.harness import RunOptions, Tool, allow_all
from regress_core.models import FunctionClient, ModelReply, ModelToolCall

HERE = Path(__file__).parent


def create_tools(context):
    names = {"app://pay-out": "refund", "app://orders": "find_order"}
    return {target: Tool(name, "Does it.", lambda arguments, context: "ok") for target, name in names.items()}


def create_run_options(case):
    return RunOptions(policies=allow_all())


def create_model(case):
    calls = json.loads((HERE / "calls.json").read_text(encoding="utf-8"))[case.case_id]

    def answer(request):
        made = sum(item["type"] == "tool_call_output_item" for item in request.messages)
        if made == len(calls):
            return ModelReply("Done.")
        name, argument = calls[made]
        return ModelReply(tool_calls=(ModelToolCall(f"c{made}", name, json.dumps({"n": argument})),))

    return FunctionClient(answer)
"""
"""Makes the calls that `calls.json` lists for a case, one a turn."""

BASELINE: Calls = [("find_order", 1), ("refund", 25)]
CASES: Mapping[str, Calls] = {
    "a-same": BASELINE,
    "b-other-write": [("find_order", 1), ("refund", 20)],
    "c-no-write": [("find_order", 1)],
    "d-other-read": [("find_order", 2), ("refund", 25)],
    "e-write-twice": [*BASELINE, ("refund", 25)],
}


def baseline(case: str) -> JsonObject:
    items = [message("I want my money back.")]
    decisions: list[JsonObject] = []
    for number, (tool, argument) in enumerate(BASELINE, start=1):
        items += [
            tool_call(f"b{number}", tool, arguments={"n": argument}),
            tool_output(f"b{number}", output="ok"),
        ]
        decisions.append(
            {
                "timestamp": "2026-01-01T00:00:00.500Z",
                "turn": number,
                "callId": f"b{number}",
                "decision": "allow",
                "reason": "allowed",
                "resource": {"kind": "tool", "name": tool},
            }
        )
    return record_json(
        runId=f"baseline of {case}",
        agentName="clerk",
        question="I want my money back.",
        response="Done.",
        items=[*items, message("Done.", "assistant")],
        inputItemCount=1,
        policyDecisions=decisions,
    )


def write_shop(
    root: Path, *, harness: str = HARNESS, more: str = "", cases: Mapping[str, Calls] = CASES
) -> Path:
    """Write a suite whose candidate is that descriptor and adapter; a call that is not recorded is made."""
    write_records(root / "records", {case: baseline(case) for case in cases})
    for name, text in (
        ("suite.yaml", f"name: shop\nmode: hybrid\ngate: recommended\n{more}"),
        ("candidate.yaml", "descriptor: harness.yaml\nadapter: adapter.py\n"),
        ("harness.yaml", harness),
        ("adapter.py", ADAPTER),
        ("calls.json", json.dumps(cases)),
    ):
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite, and store and out of its evaluation."""
    place = tmp_path_factory.mktemp("place")
    evaluated(write_shop(place / "suite"), place / "store", out=place / "out")
    return place


WHY = " (something else was changed than in the baseline)"
COMES_TO: dict[str, tuple[Status, bool, str, dict[str, int]]] = {
    # status, effectsChanged, the first reason, what the history says of writes
    "a-same": ("pass", False, "", {"writes_b": 1}),
    "b-other-write": (
        "fail",
        True,
        f"effectsChanged: effects[1].arguments.n 25 → 20{WHY}",
        {"writes_b": 1, "changed_writes": 1},
    ),
    "c-no-write": (
        "fail",
        True,
        f'effectsChanged: effects[1] is gone: refund({{"n":25}}){WHY}',
        {"writes_b": 0, "missing_writes": 1},
    ),
    "d-other-read": (
        "pass",
        False,
        "toolsChanged: toolCalls[0].arguments.n 1 → 2 (the effects are the same)",
        {"writes_b": 1},
    ),
    "e-write-twice": (
        "fail",
        True,
        f'effectsChanged: effects[2] is new: refund({{"n":25}}){WHY}',
        {"writes_b": 2, "extra_writes": 1},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_write_that_the_descriptor_declares(place: Path, case: str) -> None:
    status, changed, reason, _ = COMES_TO[case]
    cases = json.loads((place / "out" / "summary.json").read_text(encoding="utf-8"))["cases"]

    (entry,) = [entry for entry in cases if entry["caseId"] == case]

    assert entry["status"] == status
    assert entry["signals"].get("effectsChanged", False) == changed
    assert (entry["reasons"] or [""])[0] == reason


@pytest.mark.parametrize("case", CASES)
def test_effects_in_the_history(place: Path, case: str) -> None:
    _, changed, _, counts = COMES_TO[case]
    row = rows_by_case(place / "store", "comparisons")[case]

    none = dict.fromkeys(("failed_writes_a", "failed_writes_b"), 0)
    none |= dict.fromkeys(("changed_writes", "missing_writes", "extra_writes"), 0)
    expected = {"writes_a": 1, **none, **counts}
    assert {name: row[name] for name in expected} == expected
    assert rows_by_case(place / "store", "case_results")[case]["effects_changed"] == changed


def test_without_a_declaration_nobody_knows_what_writes(tmp_path: Path) -> None:
    root = write_shop(tmp_path / "suite", harness=UNDECLARED, cases={"c-no-write": CASES["c-no-write"]})

    case = by_case(evaluated(root, tmp_path / "store"))["c-no-write"]

    assert case["status"] == "warn"
    assert "effectsChanged" not in case["signals"]
    assert rows_by_case(tmp_path / "store", "comparisons")["c-no-write"]["writes_a"] is None


WITH_SUITE: dict[str, tuple[str, str, str, Status]] = {
    # descriptor, effects of suite.yaml, case, status
    "the-suite-alone": (UNDECLARED, "{write: [refund]}", "b-other-write", "fail"),
    "the-suite-speaks-of-names-not-keys": (
        UNDECLARED,
        "{write: [money_back, pay-out]}",
        "b-other-write",
        "pass",
    ),
    "the-suite-says-read": (HARNESS, "{read: [refund]}", "b-other-write", "pass"),
    "the-descriptor-says-read": (
        HARNESS.replace("effect: write", "effect: read"),
        "{write: ['*']}",
        "c-no-write",
        "pass",
    ),
    "and-of-others-what-the-suite-says": (
        HARNESS.replace("effect: write", "effect: read"),
        "{write: ['*']}",
        "d-other-read",
        "fail",
    ),
    "rules-of-the-suite-hold": (HARNESS, "{tolerance: {refund: {n: 5}}}", "b-other-write", "pass"),
    "and-no-further": (HARNESS, "{tolerance: {refund: {n: 4}}}", "b-other-write", "fail"),
    "a-repeat-does-nothing": (HARNESS, "{idempotent: [refund]}", "e-write-twice", "pass"),
}


@pytest.mark.parametrize(("harness", "effects", "case", "status"), WITH_SUITE.values(), ids=list(WITH_SUITE))
def test_what_descriptor_and_suite_say_together(
    tmp_path: Path, harness: str, effects: str, case: str, status: Status
) -> None:
    more = f"compare: {{exclude_sections: [policy]}}\neffects: {effects}\n"
    root = write_shop(tmp_path / "suite", harness=harness, more=more, cases={case: CASES[case]})

    assert by_case(evaluated(root, tmp_path / "store"))[case]["status"] == status


def test_a_declaration_is_part_of_the_plan_and_not_of_the_candidate(tmp_path: Path) -> None:
    root = write_shop(tmp_path / "suite")
    declared = plan_of(root)
    keys = {declared.plan_key}

    for harness in (UNDECLARED, HARNESS.replace("effect: write", "effect: read")):
        (root / "harness.yaml").write_text(harness, encoding="utf-8")
        plan = plan_of(root)
        assert (plan.candidate.candidate_id, plan.candidate.label) == (
            declared.candidate.candidate_id,
            declared.candidate.label,
        )
        keys.add(plan.plan_key)

    assert len(keys) == 3
    (root / "harness.yaml").write_text(HARNESS, encoding="utf-8")
    assert plan_of(root).plan_key == declared.plan_key


def test_effects_of_the_suite_are_part_of_the_plan(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    keys = {plan_of(root).plan_key}

    for line in (
        "effects: {}",
        "effects: {write: [find_order]}",
        "effects: {write: [f*]}",
        "gate: recommended",
    ):
        (root / "suite.yaml").write_text(f"name: shop\n{line}\n", encoding="utf-8")
        keys.add(plan_of(root).plan_key)

    assert len(keys) == 5


RECORDED: dict[str, tuple[str, Status, bool, list[str]]] = {
    # effects, status, effectsChanged, how the reasons begin
    "the-new-call-writes": (
        "{write: [cancel_order]}",
        "fail",
        True,
        ['effectsChanged: effects[0] is new: cancel_order({"id":"a"})', "toolsChanged: "],
    ),
    "both-write": (
        "{write: ['*_order']}",
        "fail",
        True,
        ['effectsChanged: effects[0] is gone: find_order({"id":"a"}); effects[0] is new: ', "toolsChanged: "],
    ),
    "neither-writes": ("{write: []}", "pass", False, ["toolsChanged: "]),
}


@pytest.mark.parametrize(("effects", "status", "changed", "reasons"), RECORDED.values(), ids=list(RECORDED))
def test_recorded_candidates(
    tmp_path: Path, effects: str, status: Status, reasons: list[str], *, changed: bool
) -> None:
    config = f"name: shop\ngate: recommended\neffects: {effects}\n"
    root = write_suite(tmp_path / "suite", {"a": "other_tool", "b": "same"}, config=config)

    cases = by_case(evaluated(root, tmp_path / "store"))

    assert (cases["a"]["status"], cases["b"]["status"]) == (status, "pass")
    assert cases["a"]["signals"].get("effectsChanged", False) == changed
    assert len(cases["a"]["reasons"]) == len(reasons)
    for reason, beginning in zip(cases["a"]["reasons"], reasons, strict=True):
        assert reason.startswith(beginning)


def with_options(root: Path, options: str) -> Path:
    """Write a suite whose adapter says how runs are compared; the candidate makes no call."""
    text = (
        "\n\nfrom regress_core.compare.effect_rules import EffectsConfig\n"
        "from regress_core.compare.options import CompareOptions\n\n\n"
        f"def create_comparison_options(context):\n    return CompareOptions({options})\n"
    )
    config = "name: shop\ngate: recommended\neffects: {write: [find_order]}\n"
    return write_candidate_suite(root, {"a": "no_tool"}, config=config, adapter=SHOP_ADAPTER + text)


OPTIONS: dict[str, tuple[str, Status]] = {
    "none-of-effects": ("", "fail"),
    "effects-of-its-own": ("effects=EffectsConfig(write=('cancel_order',))", "pass"),
    "none-that-writes": ("effects=EffectsConfig()", "pass"),
}


@pytest.mark.parametrize(("options", "status"), OPTIONS.values(), ids=list(OPTIONS))
def test_options_of_the_adapter(tmp_path: Path, options: str, status: Status) -> None:
    root = with_options(tmp_path / "suite", f"exclude_sections=('policy',), {options}")

    case = by_case(evaluated(root, tmp_path / "store"))["a"]

    assert case["status"] == status
    assert case["signals"].get("effectsChanged", False) == (status == "fail")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("effects: {writes: [refund]}", r"suite\.yaml: \$\.effects\.writes: unknown key"),
        ("effects: {failed: ['(']}", r"suite\.yaml: \$\.effects\.failed\[0\]: "),
        (
            "compare: {effects: {write: [refund]}}",
            r"suite\.yaml: \$\.compare: effects stand in suite\.yaml beside",
        ),
        ("gate: {rules: best}", r"suite\.yaml: \$\.gate\.rules: "),
    ],
)
def test_a_fault_is_told_before_anything_is_planned(tmp_path: Path, lines: str, message: str) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"}, config=f"name: shop\n{lines}\n")

    with pytest.raises(InputError, match=message):
        plan_of(root)


def test_a_descriptor_declares_read_or_write(tmp_path: Path) -> None:
    root = write_shop(tmp_path / "suite", harness=HARNESS.replace("effect: write", "effect: maybe"))

    with pytest.raises(
        InputError, match=r"harness\.yaml: .*tool \"money_back\"\.effect must be read or write"
    ):
        plan_of(root)


def silent(_: RunRecord) -> ModelClient:
    """A model that answers as recorded, without a call."""
    return scripted(says("On its way."))


def in_code(**effects: Any) -> CandidateAgent:  # noqa: ANN401 - any field of EffectsConfig
    return CandidateAgent(
        agent=agent({"find_order": "sent"}, name="clerk"),
        model=silent,
        run_options=RunOptions(policies=allow_all()),
        comparison_options=CompareOptions(effects=EffectsConfig(**effects)),
    )


MISSING = EffectsComparison(writes_a=1, writes_b=0, failed_a=0, failed_b=0, changed=0, missing=1, extra=0)


def test_the_librarys_case_takes_effects() -> None:
    baseline = RunRecord.parse(recorded("a"))

    result = asyncio.run(run_regression_case(baseline, in_code(write=("find_order",))))

    assert result.comparison.effects == MISSING
    assert result.comparison.signals.effects_changed


def by_recommended_rules(result: RunRegressionResult) -> Status:
    return classify(result.candidate, result.comparison, GATE_PRESETS["recommended"]).status


@pytest.mark.parametrize(
    ("write", "status"), [(("find_order",), "fail"), ((), "warn")], ids=["write", "read"]
)
def test_the_librarys_suite_takes_effects(write: tuple[str, ...], status: Status) -> None:
    suite = RunRegressionSuite(cases=[RunRegressionSuiteCase(baseline=RunRecord.parse(recorded("a")))])

    done = asyncio.run(run_regression_suite(suite, in_code(write=write), classify_case=by_recommended_rules))

    (result,), (case,) = done.results, done.summary.cases
    assert (result.comparison.effects == MISSING) == bool(write)
    assert case.signals.effects_changed == bool(write)
    assert case.status == status
