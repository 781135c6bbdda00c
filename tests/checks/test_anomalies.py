"""Calls repeated for nothing, blind retries, stalls; and the expectation's hints."""

from __future__ import annotations

import pytest

from regress_core.checks.case_checks import case_checks
from regress_core.checks.config import CheckKeys
from regress_core.checks.outcome import CheckResult
from regress_core.checks.run import run_checks
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.checks.support import results_of, talk, told
from tests.compare.support import ok_envelope
from tests.support.records import message, record_json, tool_call, tool_output


def _run(notation: str, *, given: int = 1) -> RunRecord:
    """Give a run of calls one after the other, each in a turn of its own unless `&` joins it to the last.

    `find7=sent` calls `find` with 7, which gives "sent"; `=!x` flags the output "x" as an error, `=?` is
    denied, and without `=` there is no output.
    """
    items: list[JsonObject] = [message("Where is my order?")]
    for number, word in enumerate(notation.split(), start=1):
        call, _, output = word.removeprefix("&").partition("=")
        asked = tool_call(f"c{number}", call.rstrip("0123456789"), arguments={"n": call[-1]})
        outputs: list[JsonObject] = []
        if output == "?":
            denied: JsonObject = {"status": "denied", "code": "no", "publicReason": "no", "data": None}
            outputs = [tool_output(f"c{number}", output=denied)]
        elif output:
            flag = {"isError": True} if output[0] == "!" else {}
            outputs = [tool_output(f"c{number}", output=output.lstrip("!"), **flag)]
        # Calls side by side in the items are of one turn.
        place = len(items) - 1 if word[0] == "&" else len(items)
        items[place:place] = [asked]
        items += outputs
    return RunRecord.parse(record_json(items=items, inputItemCount=given))


def _anomaly(anomalies: JsonObject, record: RunRecord) -> CheckResult:
    (result,) = results_of({"checks": {"anomalies": anomalies}}, record)
    return result


def test_the_notation() -> None:
    items = _run("f1=a &g2=!b h3").items

    assert [(item["type"], item.get("name", item.get("output"))) for item in items[1:]] == [
        ("tool_call_item", "f"),
        ("tool_call_item", "g"),
        ("tool_call_output_item", "a"),
        ("tool_call_output_item", "b"),
        ("tool_call_item", "h"),
    ]


# A run, whether it warns, what was found, and where. Items: 0 the question, 1 a call, 2 its output, …
REPEATED = [
    pytest.param("", None, None, id="no calls"),
    pytest.param("f1=a g1=a f2=a", None, None, id="no call twice"),
    pytest.param("f1=a f1=a", '1, the first is f {"n":"1"}', "items[3]", id="again at once"),
    pytest.param("f1=a f1=b", None, None, id="it gave something else"),
    pytest.param("f1=a g1=b f1=a", None, None, id="news in between"),
    pytest.param("g1=b f1=a g1=b f1=a", '1, the first is f {"n":"1"}', "items[7]", id="in turns"),
    pytest.param("f1=a h1=a f2=a f1=a", None, None, id="the same from another tool is news"),
    pytest.param(
        "f2=a f1=a f2=a", '1, the first is f {"n":"2"}', "items[5]", id="the same from the tool is none"
    ),
    pytest.param("f1=a f1=a f1=a", '2, the first is f {"n":"1"}', "items[3]", id="twice again"),
    pytest.param("f1 f1", None, None, id="no output"),
    pytest.param("f1=a f1", None, None, id="no second output"),
    pytest.param("f1=a &f1=a", '1, the first is f {"n":"1"}', "items[2]", id="in the same turn"),
    pytest.param("f1=!a f1=!a", '1, the first is f {"n":"1"}', "items[3]", id="the same error"),
]


@pytest.mark.parametrize(("calls", "found", "where"), REPEATED)
def test_repeated_calls(calls: str, found: str | None, where: str | None) -> None:
    result = _anomaly({"repeated_calls": "warn"}, _run(calls))

    assert (result.check_id, result.kind) == ("anomaly:repeated_calls", "repeated_calls")
    outcome = "warn" if found else "pass"
    assert told(result) == (outcome, "no call repeated without news", found or "none", where)


def test_an_ok_envelope_is_its_data() -> None:
    record = talk(("f", {}, "a"), ("f", {}, ok_envelope("a")))

    assert _anomaly({"repeated_calls": "fail"}, record).outcome == "fail"


def test_arguments_are_the_same_whatever_the_order_of_their_keys() -> None:
    record = talk(("f", {"a": 1, "b": 2}, "x"), ("f", {"b": 2.0, "a": 1}, "x"))

    assert _anomaly({"repeated_calls": "warn"}, record).outcome == "warn"


RETRIES = [
    pytest.param("f1=a f1=a", None, None, id="no error"),
    pytest.param("f1=!a f2=a", None, None, id="other arguments"),
    pytest.param("f1=!a g1=a", None, None, id="another tool"),
    pytest.param("f1=!a f1=a", '1, the first is f {"n":"1"}', "items[3]", id="again, with success"),
    pytest.param("f1=!a f1=!b", '1, the first is f {"n":"1"}', "items[3]", id="again, another error"),
    pytest.param("f1=? f1=?", '1, the first is f {"n":"1"}', "items[3]", id="a denied call again"),
    pytest.param("f1=!a g1=b f1=a", None, None, id="news in between"),
    pytest.param("g1=b f1=!a g1=b f1=a", '1, the first is f {"n":"1"}', "items[7]", id="no news in between"),
    pytest.param("f1=!a &f1=!a", None, None, id="asked for together"),
    pytest.param("f1=!a f1=!a f1=a", '2, the first is f {"n":"1"}', "items[3]", id="twice again"),
]


@pytest.mark.parametrize(("calls", "found", "where"), RETRIES)
def test_blind_retries(calls: str, found: str | None, where: str | None) -> None:
    result = _anomaly({"blind_retries": "fail"}, _run(calls))

    assert (result.check_id, result.kind) == ("anomaly:blind_retries", "blind_retries")
    outcome = "fail" if found else "pass"
    assert told(result) == (outcome, "no failed call made again without news", found or "none", where)


# A run, the outcome with two turns as the limit, what was found, and where.
STALLS = [
    pytest.param("", "pass", "at most 0 without news in a row", None, id="no calls"),
    pytest.param("f1=a f2=b f3=c", "pass", "at most 0 without news in a row", None, id="always news"),
    pytest.param("f1=a f2=a f3=b", "pass", "at most 1 without news in a row", None, id="one turn without"),
    pytest.param("f1=a f2=a f3=a", "warn", "2 without news in a row", "items[3]", id="two turns without"),
    pytest.param("f1=a f2=a f3=a f4=b f5=b", "warn", "2 without news in a row", "items[3]", id="then news"),
    pytest.param(
        "f1=a f2=a f3=b f4=b f5=b f6=b",
        "warn",
        "3 without news in a row",
        "items[7]",
        id="the longest counts",
    ),
    pytest.param(
        "f1=a f2=a &f3=b f4=a", "pass", "at most 1 without news in a row", None, id="news in a turn of two"
    ),
    pytest.param("f1=a f2=a f3", "warn", "2 without news in a row", "items[3]", id="no output is no news"),
    pytest.param(
        "f1=a g1=a h1=a", "pass", "at most 0 without news in a row", None, id="each tool for itself"
    ),
]


@pytest.mark.parametrize(("calls", "outcome", "found", "where"), STALLS)
def test_stall(calls: str, outcome: str, found: str, where: str | None) -> None:
    result = _anomaly({"stall": {"turns": 2}}, _run(calls))

    assert (result.check_id, result.kind) == ("anomaly:stall", "stall")
    assert told(result) == (outcome, "news in one of any 2 turns with calls", found, where)


def test_what_the_user_says_is_news() -> None:
    items = [
        message("Where is my order?"),
        tool_call("c1", "f", arguments={}),
        tool_output("c1", output="none", isError=True),
        message("Try again.", "user"),
        tool_call("c2", "f", arguments={}),
        tool_output("c2", output="none", isError=True),
    ]
    silent = [*items[:3], message("One moment.", "assistant"), *items[4:]]
    anomalies: JsonObject = {"repeated_calls": "warn", "blind_retries": "warn", "stall": {"turns": 1}}
    keys: JsonObject = {"checks": {"anomalies": anomalies}}

    said = results_of(keys, RunRecord.parse(record_json(items=items, inputItemCount=1)))
    unsaid = results_of(keys, RunRecord.parse(record_json(items=silent, inputItemCount=1)))

    assert [result.outcome for result in said] == ["pass", "pass", "warn"]
    assert [result.outcome for result in unsaid] == ["warn", "warn", "warn"]


def test_a_stall_ends_where_the_user_speaks() -> None:
    items = [message("Where is my order?"), tool_call("c1", "f"), message("And now?"), tool_call("c2", "f")]

    result = _anomaly({"stall": {"turns": 2}}, RunRecord.parse(record_json(items=items, inputItemCount=1)))

    assert (result.outcome, result.found) == ("pass", "at most 1 without news in a row")


def test_a_stall_may_fail() -> None:
    result = _anomaly({"stall": {"turns": 1, "severity": "fail"}}, _run("f1=a f2=a"))

    assert result.outcome == "fail"


def test_what_the_input_tells_is_no_news_and_no_first_call() -> None:
    record = _run("f1=a f1=a f2=a", given=3)

    assert _anomaly({"repeated_calls": "warn"}, record).outcome == "pass"
    assert told(_anomaly({"stall": {"turns": 2}}, record))[2:] == ("2 without news in a row", "items[3]")


def test_without_a_word_nothing_is_looked_out_for() -> None:
    assert results_of({}, _run("f1=!a f1=!a f1=!a")) == ()


def test_hints_are_findings() -> None:
    record = _run("f1=a g1=b")

    results = run_checks(
        case_checks(CheckKeys()), record, should_use=["g", "x", "g"], should_avoid=["f", "y"]
    )

    assert [(result.check_id, result.kind, *told(result)) for result in results] == [
        ("hint:use:g", "should_use_tool", "pass", "a call of g", "called", "items[3]"),
        ("hint:use:x", "should_use_tool", "noted", "a call of x", "no call of it", None),
        ("hint:avoid:f", "should_avoid_tool", "noted", "no call of f", "called", "items[1]"),
        ("hint:avoid:y", "should_avoid_tool", "pass", "no call of y", "no call of it", None),
    ]


def test_calls_of_the_recorded_input_follow_no_hint() -> None:
    record = _run("f1=a g1=b", given=3)

    results = run_checks(case_checks(CheckKeys()), record, should_use=["f"], should_avoid=["f"])

    assert [result.outcome for result in results] == ["noted", "pass"]
