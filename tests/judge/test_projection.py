"""What a regression judge is shown, and what it never is (invariant 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.judge.contract import RunJudgeInput, RunRegressionExpectation
from regress_core.judge.projection import JudgeInputMode, projected, to_bounded_judge_input
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text
from tests.compare.support import decision, fingerprint, guardrail, ok_envelope, prompt, proposal
from tests.judge.asked import judge_input
from tests.support.records import message, record_json, tool_call, tool_output
from tests.support.strategies import JSON_VALUES

SECRET = "KEPT-BACK"  # noqa: S105 - a word to look for

DENIED = {"status": "denied", "code": "no_refunds", "publicReason": "Not today."}

# What a call gave back; what the bounded projection says of it.
OUTPUTS: list[tuple[str, JsonValue, JsonObject]] = [
    (
        "an ok envelope",
        ok_envelope({"age": 8}),
        {"status": "ok", "code": None, "publicReason": None, "outputType": "object", "dataPresent": True},
    ),
    ("a denied envelope", {**DENIED, "data": None}, {**DENIED, "outputType": "object", "dataPresent": True}),
    ("bare data", {"age": 8}, {"outputType": "object", "dataPresent": False}),
    ("bare data with data", {"data": 8}, {"outputType": "object", "dataPresent": True}),
    (
        "bare data with an envelope's words",
        {"status": "shipped", "code": "4711", "publicReason": "x"},
        {"outputType": "object", "dataPresent": False},
    ),
    ("a text", "8", {"outputType": "string"}),
    ("a number", 8, {"outputType": "number"}),
    ("a fraction", 8.5, {"outputType": "number"}),
    ("a bool", True, {"outputType": "boolean"}),
    ("a list", [8], {"outputType": "array"}),
    ("null", None, {"outputType": "object"}),
]


def shown_calls(items: list[JsonObject], mode: JudgeInputMode = "bounded") -> list[JsonObject]:
    return projected(judge_input(record_json(), record_json(items=items)), mode)["candidate"]["toolCalls"]


@pytest.mark.parametrize(
    ("output", "shown"), [pytest.param(output, shown, id=name) for name, output, shown in OUTPUTS]
)
def test_of_an_output_only_its_kind_is_shown(output: JsonValue, shown: JsonObject) -> None:
    calls = shown_calls([tool_call("c1", "f"), tool_output("c1", output=output)])

    assert calls == [{"name": "f", "hasArguments": False, "hasOutput": True, "output": shown}]


def test_an_output_item_without_an_output() -> None:
    calls = shown_calls([tool_call("c1", "f"), tool_output("c1")])

    assert calls[0]["output"] == {"outputType": "undefined"}


def test_outputs_belong_to_the_latest_call_with_their_id() -> None:
    calls = shown_calls(
        [
            tool_output("c1", output="too early"),
            tool_call("c1", "f"),
            tool_call("c1", "g"),
            tool_output("c1", output=1),
        ]
    )

    assert [(call["name"], call["hasOutput"]) for call in calls] == [("f", False), ("g", True)]


@pytest.mark.parametrize("arguments", [{"order": 7}, {}, '{"order":', None, [1]])
def test_the_mode_arguments_adds_nothing_but_the_arguments(arguments: JsonValue) -> None:
    items = [tool_call("c1", "f", arguments=arguments), tool_output("c1", output="x"), tool_call("c2", "g")]
    with_arguments = projected(judge_input(record_json(), record_json(items=items)), "arguments")

    first, second = with_arguments["candidate"]["toolCalls"]
    assert first.pop("arguments") == arguments
    assert "arguments" not in second
    assert with_arguments == projected(judge_input(record_json(), record_json(items=items)), "bounded")


DESCRIPTORS: list[tuple[str, JsonValue, JsonObject | None]] = [
    ("none", None, None),
    ("a text", "harness.yaml", None),
    ("an empty one", {}, {}),
    (
        "a whole one",
        {
            "descriptor_version": "aioc.agent_graph.v0",
            "metadata": {"name": "tutor", "version": "v2"},
            "runtime": {"entry_agent": "tutor", "max_turns": 4},
            "agents": {"tutor": {"instructions": "Be kind."}, "helper": {}},
            "tools": {"get_age_range": {"target": "example://age"}},
        },
        {
            "descriptorVersion": "aioc.agent_graph.v0",
            "metadata": {"name": "tutor", "version": "v2"},
            "runtime": {"entryAgent": "tutor", "maxTurns": 4},
            "agents": ["tutor", "helper"],
            "tools": ["get_age_range"],
        },
    ),
    (
        "one with fields of other kinds",
        {"descriptor_version": 1, "metadata": [], "runtime": {"max_turns": True}, "agents": [], "tools": "f"},
        {"runtime": {}},
    ),
]


@pytest.mark.parametrize(
    ("descriptor", "shown"), [pytest.param(*case[1:], id=case[0]) for case in DESCRIPTORS]
)
def test_of_a_descriptor_names_are_shown(descriptor: JsonValue, shown: JsonObject | None) -> None:
    asked = judge_input(
        record_json(), record_json(), baseline_descriptor=descriptor, candidate_descriptor=descriptor
    )

    bounded = to_bounded_judge_input(asked)

    assert bounded.get("baselineDescriptor") == shown
    assert bounded.get("candidateDescriptor") == shown


def test_the_expectation_and_the_result_of_the_comparison_are_shown() -> None:
    expectation = RunRegressionExpectation(intent="Speak to children.", should_use_tools=["get_age_range"])
    asked = judge_input(record_json(), record_json(response="Soon."), expectation=expectation)

    bounded = to_bounded_judge_input(asked)

    assert bounded["expectation"] == {"intent": "Speak to children.", "shouldUseTools": ["get_age_range"]}
    assert bounded["comparison"].keys() == {"equal", "summary", "metrics"}
    assert bounded["comparison"]["equal"] is False
    assert bounded["comparison"]["summary"]["sameFinalResponse"] is False


def test_null_is_as_good_as_absent() -> None:
    nulls = dict.fromkeys(["providerName", "model", "errorName", "errorMessage", "guardrailDecisions"])
    asked = judge_input(record_json(), record_json(**nulls))

    shown = to_bounded_judge_input(asked)

    assert shown["candidate"] == shown["baseline"]


def test_the_mode_full_shows_everything() -> None:
    baseline = record_json(contextSnapshot={"tenant": 1}, metadata={"team": "x"}, unknown=[1])
    candidate = record_json(items=[message("Hi"), tool_call("c1", "f"), tool_output("c1", output="raw")])
    expectation = RunRegressionExpectation(intent="Be kind.")
    asked = judge_input(baseline, candidate, expectation=expectation, candidate_descriptor={"agents": {}})

    assert projected(asked, "full") == {
        "baseline": baseline,
        "candidate": candidate,
        "comparison": asked.comparison.to_json(),
        "expectation": {"intent": "Be kind."},
        "candidateDescriptor": {"agents": {}},
    }


_HIDDEN: st.SearchStrategy[Any] = st.one_of(
    st.just(SECRET),
    JSON_VALUES.map(lambda value: [value, SECRET]),
    JSON_VALUES.map(lambda value: {"a": value, "b": {SECRET: SECRET}}),
    st.just({"status": SECRET, "code": SECRET, "publicReason": SECRET}),
)
"""Values to keep back."""


@st.composite
def _records(draw: st.DrawFn) -> JsonObject:
    """Give a record with something to keep back wherever the bounded projection shows nothing."""

    def hidden(name: str) -> JsonObject:
        return {name: draw(_HIDDEN)} if draw(st.booleans()) else {}

    items = [
        message(SECRET, draw(st.sampled_from(["user", "assistant", "system"]))) | hidden("rawItem"),
        tool_call("c1", "f") | hidden("rawItem"),
        tool_output("c1", output=draw(_HIDDEN)) | hidden("rawItem"),
        tool_call("c2", "g"),
        tool_output("c2", output=ok_envelope(draw(_HIDDEN))),
        tool_output("orphan", output=draw(_HIDDEN)),
    ]
    decided = decision("c1") | hidden("metadata")
    decided["resource"] = {**decided["resource"], "resourceId": SECRET, "action": SECRET}
    return record_json(
        contextSnapshot=draw(_HIDDEN),
        metadata={"team": draw(_HIDDEN)},
        items=draw(st.permutations(items)),
        promptSnapshots=[prompt(promptText=SECRET) | hidden("unknown")],
        requestFingerprints=[fingerprint() | hidden("unknown")],
        policyDecisions=[decided],
        suspendedProposals=[proposal(parsedArguments=draw(_HIDDEN)) | hidden("metadata")],
        guardrailDecisions=[guardrail() | hidden("metadata")],
    ) | hidden("unknown")


def _asked_of(baseline: JsonObject, candidate: JsonObject) -> RunJudgeInput:
    descriptor = {"agents": {"a": {"instructions": SECRET}}, "tools": {"f": {"description": SECRET}}}
    return judge_input(baseline, candidate, baseline_descriptor=descriptor, candidate_descriptor=descriptor)


@given(_records(), _records())
def test_context_prompts_messages_outputs_and_metadata_are_never_shown(
    baseline: JsonObject, candidate: JsonObject
) -> None:
    asked = _asked_of(baseline, candidate)

    assert SECRET in dumps_text(projected(asked, "full"))
    assert SECRET not in dumps_text(to_bounded_judge_input(asked))
    assert SECRET not in dumps_text(projected(asked, "arguments"))


@given(_HIDDEN)
def test_arguments_are_shown_only_where_they_are_asked_for(arguments: JsonValue) -> None:
    candidate = record_json(items=[tool_call("c1", "f", arguments=arguments)])
    asked = _asked_of(record_json(), candidate)

    assert SECRET not in dumps_text(to_bounded_judge_input(asked))
    assert SECRET in dumps_text(projected(asked, "arguments"))
