"""Assertions on tool calls: outcome, what was looked for, what was found, and where."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.checks.support import result_of, talk, told
from tests.compare.support import decision, run_of, turns
from tests.support.records import message, record_json, tool_call, tool_output

Told = tuple[str, str, str, str | None]

NO_CALLS = talk("On its way.")
# items: 0 the question, 1 find, 2 output, 3 cancel, 4 output, 5 find, 6 output
SHOP = talk(
    ("find_order", {"id": 7}, "sent"),
    ("cancel_order", {"id": 7, "why": "spät"}, "ok"),
    ("find_order", {"id": 8}, "sent"),
)

CALLED: list[tuple[str, JsonObject, RunRecord, Told]] = [
    (
        "called",
        {"kind": "tool_called", "tool": "find_order"},
        SHOP,
        (
            "pass",
            "a call of find_order",
            '2 calls; the first is find_order {"id":7}',
            "items[1]",
        ),
    ),
    (
        "not called",
        {"kind": "tool_called", "tool": "refund"},
        SHOP,
        ("fail", "a call of refund", "no call of it; called were find_order, cancel_order", None),
    ),
    (
        "nothing called",
        {"kind": "tool_called", "tool": "*"},
        NO_CALLS,
        ("fail", "a call of *", "no call of any tool", None),
    ),
    (
        "called by a glob",
        {"kind": "tool_called", "tool": "cancel_*"},
        SHOP,
        (
            "pass",
            "a call of cancel_*",
            '1 call; the first is cancel_order {"id":7,"why":"spät"}',
            "items[3]",
        ),
    ),
    (
        "letter case counts",
        {"kind": "tool_called", "tool": "Find_Order"},
        SHOP,
        ("fail", "a call of Find_Order", "no call of it; called were find_order, cancel_order", None),
    ),
    (
        "many tools called instead",
        {"kind": "tool_called", "tool": "x"},
        talk(*((f"t{number}", None) for number in range(12))),
        (
            "fail",
            "a call of x",
            "no call of it; called were t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more",
            None,
        ),
    ),
    (
        "a tool named in Unicode",
        {"kind": "tool_called", "tool": "検索*"},
        talk(("検索_注文", {"番号": "七"})),
        ("pass", "a call of 検索*", '1 call; the first is 検索_注文 {"番号":"七"}', "items[1]"),
    ),
    (
        "rightly not called",
        {"kind": "tool_not_called", "tool": "refund*"},
        SHOP,
        ("pass", "no call of refund*", "no call of it; called were find_order, cancel_order", None),
    ),
    (
        "wrongly called",
        {"kind": "tool_not_called", "tool": "cancel_order"},
        SHOP,
        (
            "fail",
            "no call of cancel_order",
            '1 call; the first is cancel_order {"id":7,"why":"spät"}',
            "items[3]",
        ),
    ),
]

COUNTED: list[tuple[str, JsonObject, RunRecord, Told]] = [
    (
        "enough",
        {"min": 2},
        SHOP,
        ("pass", "at least 2 calls of find_order", "2 calls", None),
    ),
    ("too few", {"min": 3}, SHOP, ("fail", "at least 3 calls of find_order", "2 calls", None)),
    ("few enough", {"max": 2}, SHOP, ("pass", "at most 2 calls of find_order", "2 calls", None)),
    (
        "too many",
        {"max": 1},
        SHOP,
        (
            "fail",
            "at most 1 calls of find_order",
            '2 calls; too many from find_order {"id":8} on',
            "items[5]",
        ),
    ),
    (
        "none allowed",
        {"max": 0},
        SHOP,
        (
            "fail",
            "exactly 0 calls of find_order",
            '2 calls; too many from find_order {"id":7} on',
            "items[1]",
        ),
    ),
    ("between", {"min": 1, "max": 3}, SHOP, ("pass", "1 to 3 calls of find_order", "2 calls", None)),
    ("exactly", {"min": 2, "max": 2}, SHOP, ("pass", "exactly 2 calls of find_order", "2 calls", None)),
    ("none", {"min": 1}, NO_CALLS, ("fail", "at least 1 calls of find_order", "0 calls", None)),
    ("none at most", {"max": 5}, NO_CALLS, ("pass", "at most 5 calls of find_order", "0 calls", None)),
]

ORDERED: list[tuple[str, list[str], RunRecord, Told]] = [
    (
        "in order",
        ["find_order", "cancel_order"],
        SHOP,
        (
            "pass",
            "first calls in the order find_order, cancel_order",
            "find_order at items[1], cancel_order at items[3]",
            None,
        ),
    ),
    (
        "the first call counts, not a later one",
        ["cancel_order", "find_order"],
        SHOP,
        (
            "fail",
            "first calls in the order cancel_order, find_order",
            "cancel_order at items[3], find_order at items[1]",
            "items[1]",
        ),
    ),
    (
        "one is missing",
        ["find_order", "refund", "cancel_order"],
        SHOP,
        ("fail", "first calls in the order find_order, refund, cancel_order", "no call of refund", None),
    ),
    (
        "others lie between",
        ["a", "c"],
        talk(("a", {}), ("b", {}), "Hm.", ("c", {})),
        ("pass", "first calls in the order a, c", "a at items[1], c at items[4]", None),
    ),
    (
        "globs",
        ["find_*", "*_order"],
        talk(("find_order", {}), ("cancel_order", {})),
        (
            "fail",
            "first calls in the order find_*, *_order",
            "find_* at items[1], *_order at items[1]",
            "items[1]",
        ),
    ),
    (
        "no calls",
        ["a", "b"],
        NO_CALLS,
        ("fail", "first calls in the order a, b", "no call of a", None),
    ),
]


@pytest.mark.parametrize(
    ("assertion", "record", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CALLED]
)
def test_called_or_not(assertion: JsonObject, record: RunRecord, expected: Told) -> None:
    assert told(result_of(assertion, record)) == expected


@pytest.mark.parametrize(
    ("bounds", "record", "expected"), [pytest.param(*case[1:], id=case[0]) for case in COUNTED]
)
def test_call_count(bounds: JsonObject, record: RunRecord, expected: Told) -> None:
    assert told(result_of({"kind": "call_count", "tool": "find_order", **bounds}, record)) == expected


@pytest.mark.parametrize(
    ("tools", "record", "expected"), [pytest.param(*case[1:], id=case[0]) for case in ORDERED]
)
def test_call_order(tools: list[str], record: RunRecord, expected: Told) -> None:
    assert told(result_of({"kind": "call_order", "tools": tools}, record)) == expected


AMOUNT: JsonObject = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "maximum": 100},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["amount"],
    "$defs": {"line": {"type": "object", "properties": {"odd key": {"type": "string"}}}},
}

# The tool's calls, the outcome, what was found, and where.
FITTING = [
    pytest.param([{"amount": 5}], "pass", "1 call", None, id="fits"),
    pytest.param(list[JsonObject](), "pass", "0 calls", None, id="no call"),
    pytest.param([{"amount": 5}, {"amount": 5.5}], "pass", "2 calls", None, id="all fit"),
    pytest.param(
        [{"amount": 5}, {"amount": 101}],
        "fail",
        "$.amount: 101 is greater than the maximum of 100; 1 of 2 calls at fault",
        "items[2].arguments.amount",
        id="the second breaks it",
    ),
    pytest.param(
        [JsonObject()],
        "fail",
        "$: 'amount' is a required property; 1 of 1 call at fault",
        "items[1].arguments",
        id="something is missing",
    ),
    pytest.param(
        [{"amount": 1, "lines": [{}, {"odd key": 5}]}],
        "fail",
        "$.lines[1]['odd key']: 5 is not of type 'string'; 1 of 1 call at fault",
        "items[1].arguments.lines[1]['odd key']",
        id="deep inside",
    ),
    pytest.param(
        [{"amount": True}],
        "fail",
        "$.amount: True is not of type 'number'; 1 of 1 call at fault",
        "items[1].arguments.amount",
        id="true is no number",
    ),
    pytest.param(
        [None],
        "fail",
        "$: no arguments; 1 of 1 call at fault",
        "items[1].arguments",
        id="null",
    ),
    pytest.param(
        [""],
        "fail",
        '$: arguments that were never parsed, ""; 1 of 1 call at fault',
        "items[1].arguments",
        id="an empty text",
    ),
    pytest.param(
        ['{"amount":'],
        "fail",
        '$: arguments that were never parsed, "{\\"amount\\":"; 1 of 1 call at fault',
        "items[1].arguments",
        id="a text that breaks off",
    ),
]


@pytest.mark.parametrize(("calls", "outcome", "found", "where"), FITTING)
def test_arguments(calls: list[JsonObject], outcome: str, found: str, where: str | None) -> None:
    assertion: JsonObject = {"kind": "arguments", "tool": "refund", "schema": AMOUNT}

    result = result_of(assertion, talk(*(("refund", arguments) for arguments in calls)))

    looked_for = "every call of refund with arguments that fit the schema"
    assert told(result) == (outcome, looked_for, found, where)


def test_arguments_that_are_absent_fit_no_schema() -> None:
    record = RunRecord.parse(record_json(items=[tool_call("c1", "f")]))

    result = result_of({"kind": "arguments", "tool": "f", "schema": {}}, record)

    assert (result.outcome, result.found) == ("fail", "$: no arguments; 1 of 1 call at fault")


def test_arguments_of_other_tools_do_not_count() -> None:
    result = result_of({"kind": "arguments", "tool": "refund", "schema": AMOUNT}, SHOP)

    assert (result.outcome, result.found) == ("pass", "0 calls")


def test_what_a_validator_says_is_cut() -> None:
    schema: JsonObject = {"type": "integer"}

    result = result_of({"kind": "arguments", "tool": "f", "schema": schema}, talk(("f", {"a": "x" * 999})))

    assert len(result.found) < 300
    assert "…" in result.found


# Calls, the outcome with at most two turns, the number of turns found, and where.
TURNS = [
    pytest.param("", True, "pass", "0 turns", None, id="no calls"),
    pytest.param("a1 b2 c3", True, "pass", "1 turn", None, id="one turn"),
    pytest.param("a1 b2 | c3", True, "pass", "2 turns", None, id="two turns"),
    # items: the question, a, output, message, b, output, message, c
    pytest.param("a1 | b2 | c3", True, "fail", "3 turns", "items[7]", id="three turns"),
    pytest.param("a1 | b2 | c3 d4", False, "fail", "3 turns", "items[7]", id="three turns without decisions"),
]


@pytest.mark.parametrize(("calls", "decided", "outcome", "found", "where"), TURNS)
def test_max_turns(calls: str, outcome: str, found: str, where: str | None, *, decided: bool) -> None:
    record = RunRecord.parse(run_of(turns(calls) if calls else [], decided=decided))

    result = result_of({"kind": "max_turns", "turns": 2}, record)

    assert told(result) == (outcome, "at most 2 turns with calls", found, where)


def test_turns_are_those_of_the_policy_decisions() -> None:
    record = talk(
        ("a", {}, 1), ("b", {}, 2), policyDecisions=[decision("c1", 1, "a"), decision("c2", 1, "b")]
    )

    assert result_of({"kind": "max_turns", "turns": 1}, record).found == "1 turn"


@pytest.mark.parametrize(
    ("assertion", "outcome"),
    [
        ({"kind": "tool_called", "tool": "old"}, "fail"),
        ({"kind": "tool_not_called", "tool": "old"}, "pass"),
        ({"kind": "call_count", "tool": "*", "max": 1}, "pass"),
        ({"kind": "call_order", "tools": ["old", "new"]}, "fail"),
        ({"kind": "arguments", "tool": "old", "schema": {"required": ["id"]}}, "pass"),
        ({"kind": "max_turns", "turns": 1}, "pass"),
    ],
    ids=["called", "not called", "count", "order", "arguments", "turns"],
)
def test_calls_of_the_recorded_input_are_not_the_candidates(assertion: JsonObject, outcome: str) -> None:
    record = talk(("old", {}, "known"), "Anything else?", ("new", {}, "sent"), given=4)

    assert result_of(assertion, record).outcome == outcome


def test_an_output_without_a_call_is_no_call() -> None:
    record = RunRecord.parse(
        record_json(items=[message("Hi"), tool_output("c9", output=1), tool_call("c1", "f", arguments={})])
    )

    result = result_of({"kind": "call_count", "tool": "*", "min": 1, "max": 1}, record)

    assert result.outcome == "pass"
    assert result_of({"kind": "tool_called", "tool": "f"}, record).where == "items[2]"
