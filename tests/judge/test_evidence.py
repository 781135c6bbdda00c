"""What can change a verdict: equal for a run and its rerun, other for whatever a judge could weigh (R47)."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.model import Comparison
from regress_core.compare.options import CompareOptions
from regress_core.judge.contract import RunJudgeInput, RunRegressionExpectation
from regress_core.judge.evidence import evidence_of
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecordJson
from tests.compare.strategies import RECORDS
from tests.compare.support import decision, fingerprint, guardrail, prompt, proposal, rerun
from tests.judge.asked import judge_input
from tests.support.records import message, record_json, tool_call, tool_output

RUN = record_json(
    providerName="p",
    model="m",
    contextSnapshot={"tenant": 1},
    contextRedacted=False,
    inputItemCount=1,
    items=[
        message("Where is my order?"),
        tool_call("c1", "find", arguments={"order": 7, "deep": [1]}, rawItem={"id": "r1"}),
        tool_call("c2", "find", arguments={"order": 8}),
        tool_output("c1", output={"place": "Ulm"}),
        tool_output("c2", output="gone", isError=True),
        message("On its way.", role="assistant"),
    ],
    promptSnapshots=[prompt(promptText="Be kind.")],
    requestFingerprints=[fingerprint()],
    policyDecisions=[decision("c1", name="find")],
    suspendedProposals=[proposal("c2")],
    guardrailDecisions=[guardrail()],
    errorName="none",
    errorMessage="none",
    metadata={"team": "x"},
)


def digest(candidate: JsonObject, *, whole: bool = False) -> str:
    return canonical_hash(evidence_of(judge_input(RUN, candidate), whole=whole))


def changed(path: str, value: JsonValue) -> JsonObject:
    """Give the run with another value at a path such as `items.1.arguments`."""
    run = deepcopy(RUN)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: JsonValue = run
    for step in way:
        place = place[step]
    place[last] = value
    return run


CHANGES: list[tuple[str, JsonValue]] = [
    ("status", "failed"),
    ("agentName", "other"),
    ("providerName", "other"),
    ("model", "other"),
    ("question", "Hello?"),
    ("response", "Delivered."),
    ("errorName", "Boom"),
    ("errorMessage", "boom"),
    ("inputItemCount", 2),
    ("items.0.content", "Hello?"),
    ("items.0.role", "system"),
    ("items.1.name", "search"),
    ("items.1.arguments", {"order": 7, "deep": [2]}),
    ("items.1.arguments", {"order": "7", "deep": [1]}),
    ("items.1.arguments", '{"order": 7, "deep": [1]}'),
    ("items.3.output", {"place": "Bonn"}),
    ("items.3.callId", "c2"),
    ("items.3.callId", "c9"),
    ("items.4.isError", False),
    ("items.2", message("Hm.", role="assistant")),
    ("promptSnapshots.0.promptText", "Be rude."),
    ("promptSnapshots.0.promptHash", "other"),
    ("promptSnapshots.0.promptVersion", "v2"),
    ("requestFingerprints.0.toolsHash", "other"),
    ("requestFingerprints.0.modelSettingsHash", "other"),
    ("requestFingerprints.0.messageCount", 9),
    ("policyDecisions.0.decision", "deny"),
    ("policyDecisions.0.reason", "other"),
    ("policyDecisions.0.resource.name", "other"),
    ("suspendedProposals.0.toolName", "other"),
    ("guardrailDecisions.0.decision", "triggered"),
    ("guardrailDecisions.0.reason", "rude"),
]


@pytest.mark.parametrize(
    ("path", "value"), CHANGES, ids=[f"{n}-{path}" for n, (path, _) in enumerate(CHANGES)]
)
def test_another_fact_is_other_evidence(path: str, value: JsonValue) -> None:
    assert digest(changed(path, value)) != digest(RUN)


SAME: list[tuple[str, JsonValue]] = [
    ("runId", "again"),
    ("startedAt", "2027-01-01T00:00:00.000Z"),
    ("completedAt", "2027-01-01T00:00:00.000Z"),
    ("items.1.arguments", {"deep": [1], "order": 7}),
    ("items.1.arguments", {"order": 7.0, "deep": [1]}),
    ("requestFingerprints.0.requestHash", "other"),
    ("requestFingerprints.0.messagesHash", "other"),
    ("policyDecisions.0.publicReason", None),
]


@pytest.mark.parametrize(("path", "value"), SAME, ids=[f"{n}-{path}" for n, (path, _) in enumerate(SAME)])
def test_ids_times_and_ways_of_writing_are_no_evidence(path: str, value: JsonValue) -> None:
    assert digest(changed(path, value)) == digest(RUN)
    assert digest(changed(path, value), whole=True) == digest(RUN, whole=True)


ONLY_IN_FULL: list[tuple[str, JsonValue]] = [
    ("contextSnapshot", {"tenant": 2}),
    ("contextRedacted", True),
    ("metadata", {"team": "y"}),
    ("items.1.rawItem", {"id": "r2"}),
]


@pytest.mark.parametrize(("path", "value"), ONLY_IN_FULL, ids=[path for path, _ in ONLY_IN_FULL])
def test_what_only_the_mode_full_shows_is_evidence_there(path: str, value: JsonValue) -> None:
    assert digest(changed(path, value)) == digest(RUN)
    assert digest(changed(path, value), whole=True) != digest(RUN, whole=True)


def test_every_field_of_a_record_has_its_case_above() -> None:
    named = {path.partition(".")[0] for path, _ in [*CHANGES, *SAME, *ONLY_IN_FULL]}

    assert set(RunRecordJson.__annotations__) == named


def test_an_unknown_field_is_evidence() -> None:
    assert digest({**RUN, "mood": "good"}) != digest(RUN)


@given(RECORDS, RECORDS)
def test_a_rerun_is_the_same_evidence(baseline: JsonObject, candidate: JsonObject) -> None:
    first = evidence_of(judge_input(baseline, candidate))
    again = evidence_of(judge_input(rerun(baseline), rerun(candidate)))

    assert canonical_hash(first) == canonical_hash(again)


def test_the_sides_count() -> None:
    other = changed("response", "Delivered.")

    there, back = evidence_of(judge_input(RUN, other)), evidence_of(judge_input(other, RUN))

    assert canonical_hash(there) != canonical_hash(back)


def test_how_records_are_compared_is_evidence() -> None:
    other = changed("items.1.arguments", {"order": 9, "deep": [1]})
    rules = ArgumentRules.model_validate({"find": {"order": "ignore"}})
    without_calls = CompareOptions(exclude_sections=("toolCalls",))
    writes = CompareOptions(effects=EffectsConfig(write=("find",)))
    all_options = [None, CompareOptions(arguments=rules), without_calls, writes]

    found = {canonical_hash(evidence_of(judge_input(RUN, other, options=options))) for options in all_options}

    assert len(found) == 4


def test_expectation_and_descriptors_are_evidence() -> None:
    kind = RunRegressionExpectation(intent="Be kind.")
    asked = [
        judge_input(RUN, RUN),
        judge_input(RUN, RUN, expectation=kind),
        judge_input(RUN, RUN, expectation=RunRegressionExpectation(intent="Be rude.")),
        judge_input(RUN, RUN, baseline_descriptor={"agents": {}}),
        judge_input(RUN, RUN, candidate_descriptor={"agents": {}}),
        judge_input(RUN, RUN, candidate_descriptor={"agents": {"a": {"instructions": "Be kind."}}}),
    ]

    assert len({canonical_hash(evidence_of(one)) for one in asked}) == len(asked)


def test_every_part_of_the_question_is_in_the_evidence() -> None:
    evidence = evidence_of(judge_input(RUN, RUN))

    hashes = {
        "baseline_descriptor": "baselineDescriptorHash",
        "candidate_descriptor": "candidateDescriptorHash",
    }
    assert {hashes.get(name, name) for name in RunJudgeInput.model_fields} == evidence.keys()
    # These follow from the records alone.
    fields = {{"sections": "notCompared"}.get(name, name) for name in Comparison.model_fields}
    assert fields - {"provenance", "answer"} == evidence["comparison"].keys()
