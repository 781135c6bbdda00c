"""A run repeated by the same harness is equal (C17), and null and absent fields are alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.options import CompareOptions
from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.strategies import RECORDS
from tests.compare.support import (
    REFERENCE,
    compare,
    decision,
    fingerprint,
    guardrail,
    places,
    prompt,
    proposal,
    rerun,
    run_of,
    turns,
)
from tests.support.records import message, record_json, tool_call, tool_output

RUNS: dict[str, JsonObject] = {
    "nothing": record_json(),
    "messages": record_json(items=[message("Hello"), message("Hi", role="assistant")]),
    "one call": run_of(turns("a1"), decided=False),
    "several turns": run_of(turns("a1 b2 | c3 | a1"), decided=False),
    "decisions": run_of(turns("a1 b2 | c3 | a1"), decided=True),
    "decision that expires": record_json(
        items=[tool_call("c1", "f")],
        policyDecisions=[decision(expiresAt="2026-01-01T01:00:00.000Z", policyVersion="v1")],
    ),
    "provider's own items": record_json(
        items=[
            tool_call("c1", "f", arguments={"n": 1}, rawItem={"id": "c1"}),
            tool_output("c1", output="done", rawItem={"call_id": "c1"}),
        ]
    ),
    "proposals": record_json(
        suspendedProposals=[proposal("c1"), proposal("c2", expiresAt="2026-01-01T01:00:00.000Z")]
    ),
    "guardrails": record_json(guardrailDecisions=[guardrail(), guardrail(guardrailName="pii")]),
    "prompts and fingerprints": record_json(
        promptSnapshots=[prompt(promptText="Be kind.")], requestFingerprints=[fingerprint()]
    ),
    "failed": record_json(status="failed", response="", errorName="Error", errorMessage="boom"),
    "metadata": record_json(metadata={"team": "support", "harness": {"descriptorHash": "x"}}),
    "ids stand twice": record_json(
        items=[
            tool_call("c1", "f", arguments={"n": 1}),
            tool_output("c1", output="one"),
            tool_call("c1", "f", arguments={"n": 2}),
            tool_output("c1", output="two"),
        ],
        policyDecisions=[decision("c1", 1), decision("c1", 2)],
    ),
    "no ids": record_json(
        items=[tool_call("", "f"), tool_output("", output=1), tool_call("", "g"), tool_output("", output=2)]
    ),
    "output without a call": record_json(items=[tool_output("c9", output=1)]),
}


ALL_WRITE = CompareOptions(effects=EffectsConfig(write=("*",)))


@pytest.mark.parametrize("record", RUNS.values(), ids=RUNS)
def test_a_run_equals_its_repetition(record: JsonObject) -> None:
    comparison = compare(record, rerun(record), ALL_WRITE)

    assert comparison.equal
    assert places((*comparison.differences, *comparison.provenance)) == []
    assert comparison.signals.raised() == ()
    assert set(comparison.sections.values()) == {"same"}


@given(RECORDS)
def test_any_run_equals_its_repetition(record: JsonObject) -> None:
    comparison = compare(record, rerun(record), ALL_WRITE)

    assert comparison.equal
    assert places((*comparison.differences, *comparison.provenance)) == []


@given(RECORDS)
def test_any_run_equals_itself(record: JsonObject) -> None:
    assert compare(record, record).equal
    assert compare(record, record, REFERENCE).equal


@pytest.mark.parametrize(
    "case", ["compare-v1", "compare-v2", "handoff-allow", "handoff-deny", "simple-run", "tool-allow"]
)
def test_a_real_run_equals_its_repetition(data_dir: Path, case: str) -> None:
    record = json.loads((data_dir / "aioc-runrecords" / f"{case}.json").read_bytes())

    comparison = compare(record, rerun(record))

    assert comparison.equal
    assert places(comparison.differences) == []


def test_the_references_own_rule_compares_timestamps_and_call_ids() -> None:
    record = run_of(turns("a1"), decided=True)

    comparison = compare(record, rerun(record), REFERENCE)

    assert places(comparison.differences) == ["policyDecisions[0]"]


@pytest.mark.parametrize("field", ["timestamp", "callId", "runId", "expiresAt"])
@pytest.mark.parametrize(
    ("place", "path"), [("arguments", "toolCalls[0].arguments"), ("output", "toolCalls[0].output")]
)
def test_what_a_tool_was_given_and_gave_back_is_compared_whatever_its_keys(
    field: str, place: str, path: str
) -> None:
    def record(value: str) -> JsonObject:
        texts = {"arguments": {field: "x"}, "output": {field: "x"}} | {place: {field: value}}
        return record_json(
            items=[
                tool_call("c1", "f", arguments=texts["arguments"]),
                tool_output("c1", output=texts["output"]),
            ]
        )

    assert places(compare(record("x"), record("y")).differences) == [path]


def _with_part(section: str, part: JsonObject) -> JsonObject:
    return record_json(**{section: [part]})


# A record, and the same record with a field that is null.
NULLS: list[tuple[str, JsonObject, JsonObject]] = [
    *(
        (field, record_json(), record_json(**{field: None}))
        for field in (
            "providerName",
            "model",
            "contextRedacted",
            "inputItemCount",
            "suspendedProposals",
            "guardrailDecisions",
            "errorName",
            "errorMessage",
            "metadata",
        )
    ),
    *(
        (f"{section}.{field}", _with_part(section, part), _with_part(section, part | {field: None}))
        for section, part, fields in (
            (
                "policyDecisions",
                decision(),
                ["publicReason", "resultMode", "policyVersion", "expiresAt", "metadata"],
            ),
            (
                "suspendedProposals",
                proposal(),
                ["publicReason", "policyVersion", "expiresAt", "metadata"],
            ),
            ("guardrailDecisions", guardrail(), ["reason", "metadata"]),
            ("promptSnapshots", prompt(), ["model", "promptVersion", "promptText"]),
            ("items", message("Hello"), ["rawItem"]),
            ("items", tool_call("c1", "f"), ["rawItem"]),
            ("items", tool_output("c1"), ["output", "isError", "rawItem"]),
        )
        for field in fields
    ),
    *(
        (
            f"policyDecisions.resource.{field}",
            _with_part("policyDecisions", decision(resource={"kind": "tool", "name": "f"})),
            _with_part("policyDecisions", decision(resource={"kind": "tool", "name": "f", field: None})),
        )
        for field in ("action", "resourceId")
    ),
]


@pytest.mark.parametrize(("absent", "null"), [pytest.param(*case[1:], id=case[0]) for case in NULLS])
def test_an_optional_field_that_is_null_is_as_good_as_absent(absent: JsonObject, null: JsonObject) -> None:
    for left, right in ((absent, null), (null, absent)):
        comparison = compare(left, right)
        assert places((*comparison.differences, *comparison.provenance)) == []
        assert comparison.equal


@pytest.mark.parametrize("field", ["suspendedProposals", "guardrailDecisions"])
@pytest.mark.parametrize("nothing", [None, list[JsonValue]()], ids=repr)
def test_no_list_is_as_good_as_an_empty_one(field: str, nothing: JsonValue) -> None:
    assert compare(record_json(), record_json(**{field: nothing})).equal


def test_no_metadata_is_as_good_as_empty_metadata() -> None:
    comparison = compare(record_json(), record_json(metadata={}))

    assert places(comparison.provenance) == []
