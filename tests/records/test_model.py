"""The run record: which JSON values are one, and what is kept of them."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import BaseModel

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, dumps, loads
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json, tool_call, tool_output

RESOURCE: JsonObject = {"kind": "tool", "name": "refund"}
POLICY: JsonObject = {
    "timestamp": "t",
    "turn": 1,
    "callId": "c1",
    "decision": "allow",
    "reason": "ok",
    "resource": RESOURCE,
}
GUARDRAIL: JsonObject = {"timestamp": "t", "turn": 0, "guardrailName": "pii", "decision": "pass"}
PROMPT: JsonObject = {"timestamp": "t", "turn": 1, "agentName": "router", "promptHash": "h"}
FINGERPRINT: JsonObject = {
    "timestamp": "t",
    "turn": 1,
    "agentName": "router",
    "providerName": "p",
    "model": "m",
    "runtimeVersion": "0.2.8",
    "fingerprintSchemaVersion": "request-fingerprint.v1",
    "requestHash": "a",
    "systemPromptHash": "b",
    "messagesHash": "c",
    "toolsHash": "d",
    "modelSettingsHash": "e",
    "messageCount": 1,
    "toolCount": 0,
}
PROPOSAL: JsonObject = {
    "timestamp": "t",
    "runId": "run-1",
    "turn": 1,
    "callId": "c1",
    "agentName": "router",
    "proposalHash": "h",
    "reason": "needs a person",
    "kind": "tool",
}

# A field of the record that is a list, the least valid element of it, and its optional fields.
PARTS: list[tuple[str, JsonObject, list[str]]] = [
    ("items", message("hello"), ["rawItem"]),
    ("items", tool_call("c1", "refund"), ["arguments", "rawItem"]),
    ("items", tool_output("c1"), ["output", "isError", "rawItem"]),
    ("promptSnapshots", PROMPT, ["model", "promptVersion", "promptText"]),
    ("requestFingerprints", FINGERPRINT, []),
    ("policyDecisions", POLICY, ["publicReason", "resultMode", "policyVersion", "expiresAt", "metadata"]),
    ("suspendedProposals", PROPOSAL, ["publicReason", "policyVersion", "expiresAt", "metadata"]),
    ("guardrailDecisions", GUARDRAIL, ["reason", "metadata"]),
]

OPTIONAL_FIELDS = [
    "providerName",
    "model",
    "contextRedacted",
    "inputItemCount",
    "suspendedProposals",
    "guardrailDecisions",
    "errorName",
    "errorMessage",
    "metadata",
]

WRONG_KINDS: list[tuple[JsonObject, str]] = [
    ({"runId": 1}, "$.runId"),
    ({"runId": None}, "$.runId"),
    ({"startedAt": 0}, "$.startedAt"),
    ({"completedAt": None}, "$.completedAt"),
    ({"status": "running"}, "$.status"),
    ({"status": None}, "$.status"),
    ({"agentName": ["a"]}, "$.agentName"),
    ({"providerName": 1}, "$.providerName"),
    ({"model": {}}, "$.model"),
    ({"question": ["hi"]}, "$.question"),
    ({"response": None}, "$.response"),
    ({"response": {"text": "hi"}}, "$.response"),
    ({"contextRedacted": "true"}, "$.contextRedacted"),
    ({"contextRedacted": 1}, "$.contextRedacted"),
    ({"items": {}}, "$.items"),
    ({"items": None}, "$.items"),
    ({"items": "[]"}, "$.items"),
    ({"items": [message("a"), "b"]}, "$.items[1]"),
    ({"items": [None]}, "$.items[0]"),
    ({"inputItemCount": "1"}, "$.inputItemCount"),
    ({"inputItemCount": True}, "$.inputItemCount"),
    ({"inputItemCount": 1.5}, "$.inputItemCount"),
    ({"promptSnapshots": None}, "$.promptSnapshots"),
    ({"requestFingerprints": {}}, "$.requestFingerprints"),
    ({"policyDecisions": None}, "$.policyDecisions"),
    ({"suspendedProposals": {}}, "$.suspendedProposals"),
    ({"guardrailDecisions": "none"}, "$.guardrailDecisions"),
    ({"errorName": 1}, "$.errorName"),
    ({"errorMessage": []}, "$.errorMessage"),
    ({"metadata": []}, "$.metadata"),
    ({"metadata": "m"}, "$.metadata"),
]

NESTED_FAULTS: list[tuple[JsonObject, str]] = [
    ({"items": [message("a", role="tool")]}, "$.items[0].role"),
    ({"items": [message("a"), {"type": "message", "role": "user", "content": None}]}, "$.items[1].content"),
    ({"items": [message("a") | {"content": [{"type": "text"}]}]}, "$.items[0].content"),
    ({"items": [tool_call("c1", "f") | {"callId": 1}]}, "$.items[0].callId"),
    ({"items": [tool_call("c1", "f") | {"name": None}]}, "$.items[0].name"),
    ({"items": [tool_output("c1", isError="yes")]}, "$.items[0].isError"),
    ({"policyDecisions": [POLICY, POLICY | {"turn": -1}]}, "$.policyDecisions[1].turn"),
    ({"policyDecisions": [POLICY | {"turn": "1"}]}, "$.policyDecisions[0].turn"),
    ({"policyDecisions": [POLICY | {"turn": True}]}, "$.policyDecisions[0].turn"),
    ({"policyDecisions": [POLICY | {"decision": "maybe"}]}, "$.policyDecisions[0].decision"),
    ({"policyDecisions": [POLICY | {"resultMode": "drop"}]}, "$.policyDecisions[0].resultMode"),
    ({"policyDecisions": [POLICY | {"resource": "refund"}]}, "$.policyDecisions[0].resource"),
    ({"policyDecisions": [POLICY | {"resource": {"name": "x"}}]}, "$.policyDecisions[0].resource.kind"),
    ({"policyDecisions": [POLICY | {"resource": {"kind": "tool"}}]}, "$.policyDecisions[0].resource.name"),
    (
        {"policyDecisions": [POLICY | {"resource": {"kind": "agent", "name": "x"}}]},
        "$.policyDecisions[0].resource.kind",
    ),
    ({"guardrailDecisions": [GUARDRAIL | {"decision": "fail"}]}, "$.guardrailDecisions[0].decision"),
    ({"promptSnapshots": [PROMPT, PROMPT | {"promptHash": 1}]}, "$.promptSnapshots[1].promptHash"),
    ({"requestFingerprints": [FINGERPRINT | {"toolCount": -1}]}, "$.requestFingerprints[0].toolCount"),
    ({"suspendedProposals": [PROPOSAL | {"kind": "x"}]}, "$.suspendedProposals[0].kind"),
    ({"suspendedProposals": [1]}, "$.suspendedProposals[0]"),
]


def _without(value: JsonObject, field: str) -> JsonObject:
    return {key: child for key, child in value.items() if key != field}


def _fault(value: JsonValue) -> JsonError:
    with pytest.raises(JsonError) as raised:
        RunRecord.parse(value)
    assert raised.value.reason
    assert "\n" not in str(raised.value)
    return raised.value


def _part_ids(part: object) -> str | None:
    return cast("JsonObject", part).get("type") if isinstance(part, dict) else None


@pytest.mark.parametrize("field", list(record_json()))
def test_a_required_field_that_is_missing_is_named(field: str) -> None:
    fault = _fault(_without(record_json(), field))

    assert (fault.path, fault.reason) == (f"$.{field}", "the field is missing")


@pytest.mark.parametrize(("section", "part", "_optional"), PARTS, ids=_part_ids)
def test_a_required_field_of_a_part_that_is_missing_is_named(
    section: str, part: JsonObject, _optional: list[str]
) -> None:
    RunRecord.parse(record_json(**{section: [part]}))
    for field in part:
        if field == "type":
            continue
        fault = _fault(record_json(**{section: [part, _without(part, field)]}))
        assert (fault.path, fault.reason) == (f"$.{section}[1].{field}", "the field is missing")


def test_the_first_of_several_missing_fields_is_named() -> None:
    assert _fault({}).path == "$.runId"
    assert _fault({"runId": "r", "startedAt": "t"}).path == "$.completedAt"


@pytest.mark.parametrize(("changes", "path"), WRONG_KINDS, ids=repr)
def test_a_field_of_the_wrong_kind_is_named(changes: JsonObject, path: str) -> None:
    assert _fault(record_json(**changes)).path == path


@pytest.mark.parametrize(("changes", "path"), NESTED_FAULTS, ids=[path for _, path in NESTED_FAULTS])
def test_a_fault_inside_a_part_is_named(changes: JsonObject, path: str) -> None:
    assert _fault(record_json(**changes)).path == path


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (record_json(items=[{"type": "message", "message": "raw", "content": "x"}]), "$.items[0].role"),
        (
            record_json(items=[{"type": "tool_call_item", "tool_call_item": {}, "callId": "c1"}]),
            "$.items[0].name",
        ),
        (_without(record_json(type="status"), "status"), "$.status"),
        (
            record_json(policyDecisions=[_without(POLICY, "reason") | {"type": "reason"}]),
            "$.policyDecisions[0].reason",
        ),
    ],
    ids=[
        "key-named-as-the-kind",
        "key-named-as-the-kind-2",
        "type-named-as-a-field",
        "type-named-as-a-field-2",
    ],
)
def test_an_unknown_field_does_not_lead_the_path_astray(value: JsonValue, path: str) -> None:
    assert _fault(value).path == path


@pytest.mark.parametrize("value", [None, [], "{}", 1, [record_json()]], ids=repr)
def test_what_is_no_object_is_no_record(value: JsonValue) -> None:
    assert _fault(value).path == "$"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "reasoning", "content": "x"},
        {"type": None},
        {"role": "user", "content": "x"},
        {"type": ["message"]},
    ],
    ids=repr,
)
def test_an_item_of_unknown_type_is_refused(item: JsonObject) -> None:
    fault = _fault(record_json(items=[message("a"), item]))

    assert fault.path == "$.items[1]"
    assert "type" in fault.reason


@pytest.mark.parametrize("field", OPTIONAL_FIELDS)
def test_an_optional_field_may_be_null(field: str) -> None:
    value = record_json(**{field: None})

    assert RunRecord.parse(value).data == value


@pytest.mark.parametrize(
    ("section", "part", "field"),
    [(section, part, field) for section, part, fields in PARTS for field in fields],
)
def test_an_optional_field_of_a_part_may_be_null(section: str, part: JsonObject, field: str) -> None:
    value = record_json(**{section: [part | {field: None}]})

    assert RunRecord.parse(value).data == value


@pytest.mark.parametrize("field", ["action", "resourceId"])
def test_an_optional_field_of_a_policys_resource_may_be_null(field: str) -> None:
    value = record_json(policyDecisions=[POLICY | {"resource": RESOURCE | {field: None}}])

    assert RunRecord.parse(value).data == value


@pytest.mark.parametrize("context", [None, True, 0, 1.5, "x", cast("list[Any]", []), {"a": [None]}], ids=repr)
def test_context_arguments_and_output_may_be_any_value(context: JsonValue) -> None:
    items = [tool_call("c1", "f", arguments=context), tool_output("c1", output=context)]
    value = record_json(contextSnapshot=context, items=items)

    assert RunRecord.parse(value).data == value


def test_unknown_fields_and_the_order_of_keys_are_kept_at_every_depth() -> None:
    data = dumps(
        {"zz": {"b": 1, "a": [None]}}
        | dict(reversed(record_json().items()))
        | {
            "items": [
                {"extra": 1, **message("a"), "and": {"more": True}},
                {"rawItem": {"x": 1}, **tool_call("c1", "f")},
            ],
            "policyDecisions": [{"later": None, **POLICY, "resource": {"z": 1, **RESOURCE, "a": 2}}],
            "guardrailDecisions": [GUARDRAIL | {"x": 1}],
            "promptSnapshots": [PROMPT | {"x": 1}],
            "requestFingerprints": [FINGERPRINT | {"x": 1}],
            "suspendedProposals": [PROPOSAL | {"handoffPayload": {"b": 1, "a": 2}}],
            "metadata": {"b": {"d": 1, "c": 2}, "a": 1},
            "aa": 1,
        }
    )

    assert dumps(RunRecord.parse(loads(data)).data) == data


def test_numbers_and_texts_are_not_bent() -> None:
    data = dumps(
        record_json(
            contextSnapshot=[1, 1.0, 2**70, "1", "true"], response="\ud800\x00\x1b[31m", inputItemCount=0
        )
    )

    assert dumps(RunRecord.parse(loads(data)).data) == data


def test_the_view_gives_the_fields() -> None:
    items = [message("Where?"), message("There.", role="assistant")]
    record = RunRecord.parse(
        record_json(
            status="failed",
            errorName="ToolCallError",
            response="There.",
            items=items,
            policyDecisions=[POLICY],
            metadata={"team": "support"},
        )
    )

    assert record.run_id == "run-1"
    assert record.status == "failed"
    assert record.response == "There."
    assert record.error_name == "ToolCallError"
    assert record.error_message is None
    assert record.items == items
    assert record.policy_decisions == [POLICY]
    assert record.metadata == {"team": "support"}
    assert record.regress_metadata == {}
    assert record.unrecorded == frozenset()


@pytest.mark.parametrize(
    ("metadata", "noted", "unrecorded"),
    [
        (None, {}, []),
        ({}, {}, []),
        ({"regress": None}, {}, []),
        ({"regress": "policy"}, {}, []),
        ({"regress": ["policy"]}, {}, []),
        ({"regress": {"name": "a"}}, {"name": "a"}, []),
        ({"regress": {"unrecorded": None}}, {"unrecorded": None}, []),
        ({"regress": {"unrecorded": "policy"}}, {"unrecorded": "policy"}, []),
        ({"regress": {"unrecorded": {"policy": 1}}}, {"unrecorded": {"policy": 1}}, []),
        (
            {"regress": {"unrecorded": ["policy", 1, None, ["x"], "guardrails", "policy"]}},
            {"unrecorded": ["policy", 1, None, ["x"], "guardrails", "policy"]},
            ["guardrails", "policy"],
        ),
    ],
    ids=repr,
)
def test_what_an_importer_noted_is_read_with_tolerance(
    metadata: JsonValue, noted: JsonObject, unrecorded: list[str]
) -> None:
    record = RunRecord.parse(record_json(metadata=metadata))

    assert record.regress_metadata == noted
    assert sorted(record.unrecorded) == unrecorded


class _Holder(BaseModel):
    record: RunRecord


def test_a_pydantic_model_can_hold_a_record() -> None:
    value = record_json(extra=1)

    holder = _Holder.model_validate({"record": value})

    assert holder.record == RunRecord.parse(value)
    assert _Holder(record=holder.record).model_dump() == {"record": value}
    with pytest.raises(ValueError, match=r"\$\.runId"):
        _Holder.model_validate({"record": {}})
