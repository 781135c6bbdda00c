"""Tool result envelopes: how the agent loop wraps what a call gave, or why it was blocked."""

from __future__ import annotations

from typing import cast

from regress_core.records.json_io import JsonError, JsonObject, JsonValue, loads

_KEYS = frozenset(("status", "code", "publicReason", "data"))


def ok_envelope(data: JsonValue) -> JsonObject:
    """Give the envelope of a successful call."""
    return {"status": "ok", "code": None, "publicReason": None, "data": data}


def unwrap_ok(output: JsonValue) -> JsonValue:
    """Take the envelope of a successful call off; an ok envelope equals its bare data."""
    if not isinstance(output, dict):
        return output
    envelope = cast("JsonObject", output)
    bare = (
        envelope.get("status") == "ok"
        and envelope.keys() == _KEYS
        and envelope["code"] is None
        and envelope["publicReason"] is None
    )
    return envelope["data"] if bare else envelope


def read_output(output: JsonValue) -> JsonValue:
    """Give an output's bare data; text that is a JSON object or list is read as one."""
    bare = unwrap_ok(output)
    if not isinstance(bare, str) or not bare.lstrip().startswith(("{", "[")):
        return bare
    try:
        return loads(bare)
    except JsonError:
        return bare


def is_blocked(output: JsonValue) -> bool:
    """Tell whether an output says that a policy kept the tool from running."""
    if not isinstance(output, dict):
        return False
    envelope = cast("JsonObject", output)
    return envelope.get("status") in ("denied", "approval_required") and envelope.keys() >= _KEYS
