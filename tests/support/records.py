"""Run records by hand: the least that is valid, with the changes a test asks for."""

from __future__ import annotations

from regress_core.records.json_io import JsonObject, JsonValue


def record_json(**changes: JsonValue) -> JsonObject:
    """Give a valid run record with nothing but its required fields, then `changes`."""
    record: JsonObject = {
        "runId": "run-1",
        "startedAt": "2026-01-01T00:00:00.000Z",
        "completedAt": "2026-01-01T00:00:01.000Z",
        "status": "completed",
        "agentName": "router",
        "question": "Where is my order?",
        "response": "On its way.",
        "contextSnapshot": None,
        "items": [],
        "promptSnapshots": [],
        "requestFingerprints": [],
        "policyDecisions": [],
    }
    return record | changes


def message(content: str, role: str = "user") -> JsonObject:
    """Give a message item."""
    return {"type": "message", "role": role, "content": content}


def tool_call(call_id: str, name: str, **more: JsonValue) -> JsonObject:
    """Give a tool call item; `arguments=` where it has some."""
    return {"type": "tool_call_item", "callId": call_id, "name": name, **more}


def tool_output(call_id: str, **more: JsonValue) -> JsonObject:
    """Give a tool output item; `output=` and `isError=` where it has them."""
    return {"type": "tool_call_output_item", "callId": call_id, **more}
