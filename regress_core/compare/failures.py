"""Calls that came to nothing: those that a policy blocked, and those whose output tells of a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from regress_core.records.envelopes import is_blocked, read_output, unwrap_ok
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.pattern_spans import Spans
from regress_core.records.tool_calls import ExtractedToolCall

_BEGINS_SO = re.compile(
    r"""
      [\W_]* (?: \w*(?:error|exception) \s* (?: [^\w\s] | \d | $ | (?:code|occurred|while|during|in)\b )
            | traceback\s\(
            | (?: failed | failure | unable | cannot | can't | could\ not )\b
            | (?:\w+\ ){1,3} failed \b
            )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ERROR_KEYS = ("error", "errors", "exception", "errorMessage", "error_message")
_SUCCESS_KEYS = ("success", "ok", "succeeded")
_STATUS_KEYS = ("status", "statusCode", "status_code", "http_status")
_BAD_STATUS = frozenset(("error", "failed", "failure"))  # not `rejected`: to reject may be what a tool is for
_LOWEST_HTTP_ERROR, _NO_HTTP_STATUS = 400, 600


def says_failed(call: ExtractedToolCall, patterns: Sequence[Spans] = ()) -> bool:
    """Tell whether a call came to nothing.

    So it is if its source flagged the output as an error, a policy blocked it, or the output says so: text
    that begins so (`Error: …`, `ValueError: …`, `Failed to …`, `Payment failed`), an object with a member
    such as `error`, with `success: false` or with a status of that kind (`failed`, 404), or any text in which
    one of the patterns is found. A call without an output counts as made.
    """
    if call.is_error:
        return True
    if not call.has_output:
        return False
    if is_blocked(call.output):
        return True
    bare = unwrap_ok(call.output)
    if isinstance(bare, str) and _BEGINS_SO.match(bare) is not None:
        return True
    output = read_output(bare)
    if isinstance(output, dict) and _object_says_so(cast("JsonObject", output)):
        return True
    return bool(patterns) and any(
        next(find(text), None) is not None for find in patterns for text in _texts(output)
    )


def _object_says_so(output: JsonObject) -> bool:
    if any(output.get(key) for key in _ERROR_KEYS) or any(output.get(key) is False for key in _SUCCESS_KEYS):
        return True
    for key in _STATUS_KEYS:
        status = output.get(key)
        if isinstance(status, str) and status.casefold() in _BAD_STATUS:
            return True
        if type(status) is int and _LOWEST_HTTP_ERROR <= status < _NO_HTTP_STATUS:
            return True
    return False


def _texts(value: JsonValue) -> list[str]:
    """List the texts in a value, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for child in cast("JsonObject", value).values() for text in _texts(child)]
    if isinstance(value, list):
        return [text for child in cast("list[JsonValue]", value) for text in _texts(child)]
    return []
