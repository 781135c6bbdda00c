"""Calls that came to nothing: those that a policy blocked, and those whose output tells of a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from regress_core.records.envelopes import is_blocked, read_output
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.pattern_spans import Spans
from regress_core.records.tool_calls import ExtractedToolCall

# What is not: `error: none`, `Failed: 0`, `2 tests failed` (a report, which a call that worked can bring),
# `Payment marked failed` (what was asked for). Runs of characters are possessive: no text holds this up.
_NOTHING = r"(?!(?:\ code)?\W*(?:none|null|nil|false|0)\b[ \t]*(?:\n|\.?\s*$|[^\w\s.]))"
_BEGINS_SO = re.compile(
    rf"""
      [\W_]*+ (?:
        (?:(?:fatal|http|internal|runtime|server|unexpected|unknown)\ ){{0,2}}
            [\w.]*(?:error|exception) (?!-[a-z]) {_NOTHING}
            _*+\s* (?: [^\w\s] | \d | $ | (?:code|occurred|while|during|in)\b )
      | an?\ (?:\w+\ ){{0,3}} (?:error|exception)\ (?:has\ )?occurred\b
      | traceback\s\(
      | (?:failed | failure | unable | cannot | can['\u2019]t | could(?:\ not|n['\u2019]t) | invalid)\b
            {_NOTHING}
      | (?!\d) (?:(?!(?:no|none|not|nothing|never|zero)\b)\w++\ ){{1,3}}
            (?<!\bas\ )(?<!\bto\ )(?<!\bset\ )(?<!\bmarked\ ) failed\b {_NOTHING}
      | (?:\#?[\w-]++\ ){{1,4}} (?:not\ found | does\ not\ exist)\b
      | (?:access|permission)\ denied\b
      )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ERROR_KEYS = frozenset(
    ("error", "errors", "exception", "errorMessage", "error_message", "isError", "is_error")
)
_NO_ERROR = frozenset(("none", "null", "nil", "false", "0"))
_SUCCESS_KEYS = frozenset(("success", "ok", "succeeded"))
_TELLING_KEYS = _ERROR_KEYS | _SUCCESS_KEYS
_STATUS_KEYS = frozenset(("status", "statusCode", "status_code", "http_status"))
_BAD_STATUS = frozenset(
    ("error", "fail", "failed", "failure")
)  # not `rejected`: a tool may be there to reject
_LOWEST_HTTP_ERROR, _NO_HTTP_STATUS = 400, 600


def says_failed(call: ExtractedToolCall, patterns: Sequence[Spans] = ()) -> bool:
    """Tell whether a call came to nothing.

    So it is if its source flagged the output as an error, a policy blocked it, or the output says so: text
    that begins so (`Error: …`, `ValueError: …`, `Failed to …`, `Payment failed`, `Order 7 not found`), an
    object with a member such as `error`, with `success: false` or with a status of that kind (`failed`, 404;
    but not one that the call asked for), or any text in which one of the patterns is found. A call without
    an output counts as made.
    """
    if call.is_error:
        return True
    if not call.has_output:
        return False
    output = read_output(call.output)
    if is_blocked(output):
        return True
    if isinstance(output, str):
        if _BEGINS_SO.match(output) is not None:
            return True
    elif isinstance(output, dict) and _object_says_so(cast("JsonObject", output), call.arguments):
        return True
    return bool(patterns) and any(
        next(find(text), None) is not None for find in patterns for text in _texts(output)
    )


def _object_says_so(output: JsonObject, arguments: JsonValue) -> bool:
    for key in output.keys() & _TELLING_KEYS:
        value = output[key]
        if (key in _ERROR_KEYS and _tells_of_error(value)) or (key in _SUCCESS_KEYS and value is False):
            return True
    for key in output.keys() & _STATUS_KEYS:
        status = output[key]
        if isinstance(status, str):
            if status.casefold() in _BAD_STATUS and status not in _texts(arguments):
                return True
        elif isinstance(status, int | float) and _LOWEST_HTTP_ERROR <= status < _NO_HTTP_STATUS:
            return True
    return False


def _tells_of_error(value: JsonValue) -> bool:
    return value.casefold() not in _NO_ERROR if value and isinstance(value, str) else bool(value)


def _texts(value: JsonValue) -> list[str]:
    """List the texts in a value, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for child in cast("JsonObject", value).values() for text in _texts(child)]
    if isinstance(value, list):
        return [text for child in cast("list[JsonValue]", value) for text in _texts(child)]
    return []
