"""Which outputs say that a call came to nothing.

What decides: an output fails a call if it says of the call itself, in a form that means nothing else, that it
was not done. A report that counts failures (`2 tests failed, 3 passed`) is the work of a call that was done.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.failures import says_failed
from regress_core.records.canonical import canonical_json, hash_text
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.tool_calls import ExtractedToolCall
from tests.compare.support import ok_envelope


def _call(output: JsonValue, arguments: JsonValue = None, *, is_error: bool = False) -> ExtractedToolCall:
    text = canonical_json(arguments)
    return ExtractedToolCall(
        "c1", "f", arguments, 1, text, hash_text(text), has_output=True, output=output, is_error=is_error
    )


FAILED_TEXTS = [
    "Error: gift card balance is not enough",
    "error: expected ';' before '}' token",
    "Error",
    "ERROR\n",
    "Error 404",
    "error code 7",
    "Error code: 7",
    "Error - no such flight",
    "Error!",
    "ValueError: no such flight",
    "sqlite3.OperationalError",
    "java.lang.NullPointerException: boom",
    "IOException while writing",
    "Error occurred while booking",
    "Error in step 2",
    "Error: 0 rows were updated",
    "Error: none of the seats is free",
    "Error: 0.5 is no amount",
    "Error: Error: twice",
    "  \n Error: indented",
    "**Error**: bold",
    "_Error_: italic",
    "❌ Error: with a sign",
    '"Error: in quotes"',
    "{'error': 'of Python'}",
    "An error occurred",
    "An unexpected internal error has occurred.",
    "Internal server error",
    "Fatal error: out of memory",
    "HTTP Error 500: Internal Server Error",
    "Unknown error",
    "Traceback (most recent call last):\n  File …",
    "Failed to book",
    "failed: no seats",
    "Failure: no seats",
    "Unable to book",
    "Cannot book",
    "Can't book",
    "Can\u2019t book",
    "Could not book",
    "Couldn't book",
    "Invalid date",
    "Payment failed",
    "Payment failed: card expired",
    "Speed test failed: no connection.",
    "The payment has failed",
    "Request to server failed",
    "Order 7 failed",
    "Order #W7 not found",
    "User not found",
    "The user was not found.",
    "Reservation HAT-1 does not exist",
    "Access denied",
    "Permission denied: /etc",
]

NO_FAILURE_TEXTS = [
    "",
    "Done",
    "ok",
    "Booked; no error",
    "No errors",
    "Errors: none",
    "Error-free since May",
    "error: none",
    "Error: None.",
    "error=null, id=4",
    "error: 0",
    "error: 0\nsaved",
    "error 0: Success",
    "Error code: 0",
    "error: false",
    "{'error': None, 'id': 4}",
    "Errands are done",
    "Terrors and errors",
    "Error log was emptied",
    "error_log emptied",
    "Exceptional seats booked",
    "Failed: 0, done: 12",
    "failed 0",
    "Tests failed: 0",
    "2 tests failed, 3 passed",
    "0 tests failed, 5 passed",
    "3 failed",
    "No payment failed",
    "None failed",
    "Nothing has failed",
    "Payment 5 marked failed",
    "Status set to failed",
    "Logged as failed",
    "Failover is ready",
    "Cancelled",
    "Canned food is on its way",
    "Unabled",
    "Invalidated 3 sessions",
    "Transfer successful after an earlier one failed",
    "Your order is on its way. Error reports go to the desk.",
    "Rejected",
    "Request denied",
    "Not bad",
    "[]",
    "null",
]

FAILED_VALUES: list[JsonValue] = [
    {"error": "no such flight"},
    {"error": {"code": 5}},
    {"error": True},
    {"error": 1},
    {"error": 1.0},
    {"id": 5, "errors": ["a"]},
    {"exception": "boom"},
    {"errorMessage": "boom"},
    {"error_message": "boom"},
    {"isError": True, "content": []},
    {"is_error": True},
    {"success": False},
    {"ok": False, "error": None},
    {"succeeded": False},
    {"status": "error"},
    {"status": "FAILED"},
    {"status": "fail", "data": {}},
    {"status": "failure"},
    {"status": 404},
    {"status": 404.0},
    {"statusCode": 500},
    {"status_code": 422},
    {"http_status": 599},
    '{"error": "in JSON text"}',
    ' {"id": 5, "success": false}',
    ok_envelope("Error: inside"),
    ok_envelope({"error": "inside"}),
    ok_envelope('{"error": "inside"}'),
    {"status": "denied", "code": "no", "publicReason": "no", "data": None},
    {"status": "approval_required", "code": None, "publicReason": None, "data": None},
    '{"status": "denied", "code": "no", "publicReason": "no", "data": null}',
]

NO_FAILURE_VALUES: list[JsonValue] = [
    None,
    0,
    False,
    {},
    [],
    {"status": "rejected"},  # of a tool that rejects, this is what it is for
    {"status": "denied"},
    {"status": "cancelled"},
    {"status": 200},
    {"status": 399},
    {"status": 600},
    {"status": True},
    {"status": "404 seats"},
    {"error": None},
    {"error": ""},
    {"error": False},
    {"error": 0},
    {"error": []},
    {"error": "None"},
    {"error": "null"},
    {"errors": "0"},
    {"success": True},
    {"success": None},
    {"success": "no"},
    {"failed": 2, "passed": 3},
    {"message": "Error: in a text of an object"},
    {"order": {"error": "further in"}},
    [{"error": "in a list"}],
    '{"error": null, "id": 5}',
    '{"exception": null}',
    '["Error: in a list"]',
    ok_envelope({"status": "rejected"}),
    ok_envelope(None),
]


@pytest.mark.parametrize("output", [*FAILED_TEXTS, *FAILED_VALUES], ids=repr)
def test_outputs_that_say_that_a_call_failed(output: JsonValue) -> None:
    assert says_failed(_call(output))


@pytest.mark.parametrize("output", [*NO_FAILURE_TEXTS, *NO_FAILURE_VALUES], ids=repr)
def test_outputs_that_say_no_such_thing(output: JsonValue) -> None:
    assert not says_failed(_call(output))


def test_a_flag_of_the_source_is_enough() -> None:
    assert says_failed(_call("Booked", is_error=True))
    assert says_failed(ExtractedToolCall("c1", "f", {}, 1, "{}", "", is_error=True))


def test_a_call_without_an_output_counts_as_made() -> None:
    assert not says_failed(ExtractedToolCall("c1", "f", {}, 1, "{}", ""))


@pytest.mark.parametrize(
    ("arguments", "failed"),
    [
        ({"payment": 5, "status": "failed"}, False),
        ({"changes": [{"to": "failed"}]}, False),
        ({"payment": 5, "status": "open"}, True),
        ("failed", False),
        ({}, True),
    ],
    ids=repr,
)
def test_a_status_that_the_call_asked_for_is_no_failure(arguments: JsonValue, *, failed: bool) -> None:
    assert says_failed(_call({"payment": 5, "status": "failed"}, arguments)) is failed


CUSTOM: list[tuple[Sequence[str], JsonValue, bool]] = [
    (["^Sorry"], "Sorry, no seats", True),
    (["^Sorry"], "We are sorry", False),
    (["no seats"], "Sorry, no seats", True),
    (["no seats"], {"result": ["a", {"text": "no seats"}]}, True),
    (["^no seats$"], '{"result": "no seats"}', True),
    (["no seats"], {"no seats": 1}, False),  # a key is no text
    (["7"], {"left": 7}, False),  # nor is a number
    (["gone", "no seats"], "no seats", True),
    ([r"^\w+ belegt$"], "Plätze belegt", True),
    (["(?i)^nicht"], "NICHT möglich", True),
    (["no seats"], ok_envelope("no seats"), True),
    (["."], "", False),
    (["."], None, False),
]


@pytest.mark.parametrize(("patterns", "output", "failed"), CUSTOM, ids=repr)
def test_patterns_of_a_suite(patterns: Sequence[str], output: JsonValue, *, failed: bool) -> None:
    config = EffectsConfig(failed=tuple(patterns))

    assert config.has_failed(_call(output)) is failed


def test_patterns_come_on_top_of_what_is_known() -> None:
    config = EffectsConfig(failed=("^Sorry",))
    known: list[JsonObject | str] = [{"success": False}, "Error: boom"]

    assert all(config.has_failed(_call(output)) for output in known)


@pytest.mark.parametrize(
    "part",
    ["_", "a", "a_", "a ", "a b ", "an a ", "error ", "error none ", "#a-", "- ", "{", '"', "\n"],
    ids=repr,
)
def test_no_text_holds_the_search_up(part: str) -> None:
    # In quadratic time this would take hours.
    assert not says_failed(_call(part * 500_000 + "?")) or part.startswith("error")
