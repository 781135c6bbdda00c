"""Recorded outputs: matched by tool and arguments, first in, first out; what is missing is explained."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.replay.support import (
    BLOCKED,
    A,
    Ask,
    B,
    answers,
    missing,
    outputs_for,
    recorded,
    replaying,
)
from tests.harness.support import ok
from tests.support.records import message, tool_call, tool_output


@pytest.mark.parametrize(
    ("calls", "asked", "expected"),
    [
        pytest.param(
            [("search", A, "for a"), ("search", B, "for b")],
            [("search", B), ("search", A)],
            ["for b", "for a"],
            id="C27 asked in another order",
        ),
        pytest.param(
            [("f", {"n": 1}, "r1"), ("f", {"n": 1}, "r2")],
            [("f", {"n": 1}), ("f", {"n": 1})],
            ["r1", "r2"],
            id="C28 the same call twice",
        ),
        pytest.param(
            [("f", {"a": 1, "b": 2}, "r")], [("f", {"b": 2, "a": 1})], ["r"], id="C18 keys in another order"
        ),
        pytest.param([("f", {"n": 1}, "r")], [("f", {"n": 1.0})], ["r"], id="C19 one and one point nought"),
        pytest.param(
            [("f", {"n": 2**53}, "even"), ("f", {"n": 2**53 + 1}, "odd")],
            [("f", {"n": 2**53 + 1}), ("f", {"n": 2**53})],
            ["odd", "even"],
            id="C22 beyond 2^53",
        ),
        pytest.param(
            [("f", A, "of f"), ("g", A, "of g")], [("g", A), ("f", A)], ["of g", "of f"], id="by tool"
        ),
        pytest.param([("f", "x y", "r")], [("f", "x y")], ["r"], id="arguments that are text"),
        pytest.param([("f", A, None)], [("f", A)], [None], id="null is an output"),
    ],
)
def test_outputs_by_call(
    calls: list[tuple[str, JsonValue, JsonValue]], asked: list[Ask], expected: list[JsonValue]
) -> None:
    tools = replaying(recorded(*calls))

    assert outputs_for(tools, *asked) == expected
    assert tools.stats.replayed_from_record == len(asked)
    assert not tools.missed


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        pytest.param({"n": 1}, {"n": "1"}, id="C19 number and text"),
        pytest.param({"n": 1}, {"n": True}, id="C19 number and true"),
        pytest.param({"n": 2**53}, {"n": 2**53 + 1}, id="C22 beyond 2^53"),
        pytest.param({"q": "caf\u00e9"}, {"q": "cafe\u0301"}, id="C23 composed and not"),
        pytest.param({"q": "a"}, {"q": "A"}, id="letter case"),
        pytest.param({"q": "a"}, {"q": "a", "page": None}, id="one more, null"),
    ],
)
def test_another_call_is_missing(given: JsonValue, asked: JsonValue) -> None:
    tools = replaying(recorded(("f", given, "r")))

    assert "nearest recorded arguments" in missing(tools, ("f", asked))
    assert tools.missed
    assert (tools.stats.replayed_from_record, tools.stats.missing_tool_calls) == (0, 1)


def test_calls_are_paired_by_id_whatever_the_order_of_outputs() -> None:
    items: list[Any] = [
        tool_call("c1", "f", arguments=A),
        tool_call("c2", "f", arguments=B),
        tool_output("c2", output="for b"),
        tool_output("c1", output="for a"),
    ]

    assert outputs_for(replaying(items), ("f", A), ("f", B)) == ["for a", "for b"]


def test_a_call_id_that_is_used_again_mixes_nothing_up() -> None:
    items: list[Any] = [
        tool_call("same", "f", arguments=A),
        tool_output("same", output="for a"),
        tool_call("same", "g", arguments=A),
        tool_output("same", output="of g"),
        tool_call("same", "f", arguments=B),
        tool_output("same", output="for b"),
    ]

    asked = [("f", B), ("g", A), ("f", A)]
    assert outputs_for(replaying(items), *asked) == ["for b", "of g", "for a"]


RULES = ArgumentRules.model_validate({"f": {"at": "ignore", "q": ["case", "spaces"]}})


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        pytest.param({"q": "a", "at": 1}, {"q": "a", "at": 2}, id="C24 an ignored value"),
        pytest.param({"q": "a", "at": 1}, {"q": "a"}, id="C24 an ignored value is absent"),
        pytest.param({"q": "New  York"}, {"q": " new york "}, id="C23 normalised"),
    ],
)
def test_lookup_goes_by_the_rules_of_comparison(given: JsonValue, asked: JsonValue) -> None:
    assert RULES.key("f", given) == RULES.key("f", asked)
    assert outputs_for(replaying(recorded(("f", given, "r")), rules=RULES), ("f", asked)) == ["r"]
    assert "nearest" in missing(replaying(recorded(("f", given, "r"))), ("f", asked))


def test_calls_that_rules_make_alike_are_used_in_order_and_counted_together() -> None:
    tools = replaying(recorded(("f", {"at": 1}, "r1"), ("f", {"at": 2}, "r2")), rules=RULES)

    assert outputs_for(tools, ("f", {"at": 9}), ("f", {"at": 1})) == ["r1", "r2"]
    assert "(exhausted: 2 recorded, 3 asked; " in missing(tools, ("f", {"at": 2}))


@pytest.mark.parametrize("blocked", BLOCKED, ids=["denied", "approval required"])
def test_a_blocked_call_gave_no_output(blocked: JsonObject) -> None:
    tools = replaying(recorded(("f", A, blocked), ("f", A, ok("r"))))

    assert outputs_for(tools, ("f", A)) == ["r"]
    assert "(exhausted: 1 recorded, 2 asked" in missing(tools, ("f", A))
    assert tools.stats.recorded_tool_calls == 2  # as the reference counts


@pytest.mark.parametrize(
    ("output", "bare"),
    [
        pytest.param(ok({"a": 1}), {"a": 1}, id="an ok envelope"),
        pytest.param(ok(ok(1)), ok(1), id="an envelope in an envelope"),
        pytest.param(ok(BLOCKED[0]), BLOCKED[0], id="data that looks blocked"),
        pytest.param({"a": 1}, {"a": 1}, id="bare data"),
        pytest.param({"status": "ok"}, {"status": "ok"}, id="half an envelope"),
        pytest.param(
            {"status": "denied", "data": 1}, {"status": "denied", "data": 1}, id="half a blocked one"
        ),
        pytest.param(ok(1) | {"status": "fine"}, ok(1) | {"status": "fine"}, id="another status"),
        # Comparison takes no envelope off these either.
        pytest.param(ok(1) | {"code": "x"}, ok(1) | {"code": "x"}, id="ok with a code"),
        pytest.param(ok(1) | {"more": 2}, ok(1) | {"more": 2}, id="ok with one more key"),
    ],
)
def test_what_a_tool_gave(output: JsonValue, bare: JsonValue) -> None:
    (answer,) = answers(replaying(recorded(("f", A, output))), ("f", A))

    assert (answer.output, answer.is_error) == (bare, False)
    assert answer.recorded is not None
    assert answer.recorded.call_id == "c1"


@pytest.mark.parametrize("output", ["Error: no", {"code": 404}, None, BLOCKED[0], ok(1)])
def test_a_recorded_error_is_an_error_again(output: JsonValue) -> None:
    (answer,) = answers(replaying(recorded(("f", A, output), isError=True)), ("f", A))

    assert (answer.output, answer.is_error) == (output, True)


def test_calls_of_the_input_are_the_last_to_be_used() -> None:
    items: list[Any] = [
        message("Earlier"),
        tool_output("lost", output="an output without a call"),
        tool_call("c1", "f", arguments=A),
        tool_output("c1", output="of the input"),
        message("Now"),
        tool_call("c2", "f", arguments=A),
        tool_output("c2", output="of the run"),
    ]

    asked = [("f", A), ("f", A)]
    assert outputs_for(replaying(items, input_calls=1), *asked) == ["of the run", "of the input"]
    assert outputs_for(replaying(items), *asked) == ["of the input", "of the run"]
