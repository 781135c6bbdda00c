"""Tools: what becomes of their outputs and errors."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel

from regress_core.harness.errors import MissingToolOutputError
from regress_core.harness.tools import RunContext, Tool, ToolError, as_json
from regress_core.records.json_io import JsonValue, dumps_text
from tests.harness.support import allowing, ended, ok, output_items, outputs, run
from tests.support.harness import agent, asks, call, says, tool


class _Order(BaseModel):
    id: int
    tags: tuple[str, ...] = ()


@dataclass
class _Point:
    x: int
    y: float


class _Colour(Enum):
    RED = "red"


class _Level(IntEnum):
    HIGH = 3


class _Pair(NamedTuple):
    a: int
    b: int


OUTPUTS: list[tuple[object, JsonValue]] = [
    (None, None),
    (True, True),
    (0, 0),
    (-0.0, -0.0),
    (2**70, 2**70),
    ("", ""),
    ("a\ud800b", "a\ud800b"),
    ([1, [2]], [1, [2]]),
    ({"a": {"b": None}}, {"a": {"b": None}}),
    ({"\ud800": "\udfff"}, {"\ud800": "\udfff"}),
    ((1, (2, "x")), [1, [2, "x"]]),
    (_Pair(1, 2), [1, 2]),
    ({1: "one", None: "none"}, {"1": "one", "None": "none"}),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (defaultdict(list, {"a": [1]}), {"a": [1]}),
    ({"b", "a", "c"}, ["a", "b", "c"]),
    (frozenset([10, 9]), [10, 9]),
    (range(3).__iter__(), [0, 1, 2]),
    (_Order(id=1, tags=("x",)), {"id": 1, "tags": ["x"]}),
    ([_Point(1, 2.5)], [{"x": 1, "y": 2.5}]),
    (_Colour.RED, "red"),
    ({"level": _Level.HIGH}, {"level": 3}),
    (Decimal("1.10"), "1.10"),
    (date(2026, 5, 1), "2026-05-01"),
    (datetime(2026, 5, 1, 12, tzinfo=UTC), "2026-05-01T12:00:00Z"),
    (timedelta(seconds=90), "PT1M30S"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Path("a/b"), "a/b"),
    (b"text", "text"),
]


@pytest.mark.parametrize(("given", "recorded"), OUTPUTS, ids=[type(given).__name__ for given, _ in OUTPUTS])
def test_an_output_as_recorded(given: object, recorded: JsonValue) -> None:
    record = run(agent({"make": given}), [asks(call("make")), says("Done.")]).record

    (envelope,) = outputs(record)
    assert dumps_text(envelope) == dumps_text(ok(recorded))  # types and the order of keys too


def _in_circles() -> object:
    value: list[object] = []
    value.append(value)
    return value


def _nested(levels: int) -> object:
    value: object = "leaf"
    for _ in range(levels):
        value = {"next": value}
    return value


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(object(), "Unable to serialize unknown type: <class 'object'>", id="object"),
        pytest.param(
            {"a": [ValueError("x")]}, "Unable to serialize unknown type: <class 'ValueError'>", id="exception"
        ),
        pytest.param(
            len, "Unable to serialize unknown type: <class 'builtin_function_or_method'>", id="function"
        ),
        pytest.param(b"\xff", "'utf-8' codec can't decode byte 0xff in position 0", id="bytes"),
        pytest.param(float("nan"), "NaN and infinities", id="NaN"),
        pytest.param({"a": [float("-inf")]}, "NaN and infinities", id="infinity"),
        pytest.param({1: float("inf")}, "NaN and infinities", id="infinity under a number"),
        pytest.param([10**5000], "an integer of thousands of digits", id="huge integer"),
        pytest.param(_in_circles(), "it nests deeper than 180", id="circle"),
        pytest.param(_nested(181), "it nests deeper than 180", id="deep"),
    ],
)
def test_an_output_that_is_no_json_fails_the_run(given: object, reason: str) -> None:
    done = run(agent({"make": given}), [asks(call("make")), says("Done.")])

    status, name, message = ended(done)
    assert (status, name) == ("failed", "TypeError")
    assert (message or "").startswith(f"no JSON value: {reason}")
    assert output_items(done.record) == []


def test_the_deepest_output_that_a_record_holds() -> None:
    deepest = _nested(180)

    assert outputs(run(agent({"make": deepest}), [asks(call("make")), says("Done.")]).record) == [ok(deepest)]


def test_json_values_are_copied() -> None:
    given: Any = {"a": [{"b": 1}]}

    copy = as_json(given)
    given["a"][0]["b"] = 2

    assert copy == {"a": [{"b": 1}]}


def test_an_output_is_recorded_as_it_was_when_it_came() -> None:
    shared: list[int] = []

    def count(_arguments: JsonValue, _context: RunContext) -> JsonValue:
        shared.append(len(shared))
        return shared

    record = run(
        agent([Tool("count", "", count)]), [asks(call("count", "c1"), call("count", "c2")), says("")]
    ).record

    assert outputs(record) == [ok([0]), ok([0, 1])]


async def _later(arguments: Any, context: RunContext) -> JsonValue:  # noqa: ANN401 - any arguments
    await asyncio.sleep(0)
    return [arguments["q"], context.context["user"]]


def _at_once(arguments: Any, context: RunContext) -> JsonValue:  # noqa: ANN401 - any arguments
    return [arguments["q"], context.context["user"]]


@pytest.mark.parametrize("execute", [_later, _at_once], ids=["async", "sync"])
def test_tools_may_be_async_or_not(execute: Any) -> None:  # noqa: ANN401 - a tool
    entry = agent([Tool("look", "", execute)])

    record = run(entry, [asks(call("look", q="a")), says("")], allowing(context={"user": "u"})).record

    assert outputs(record) == [ok(["a", "u"])]


class _OrderError(Exception):
    pass


def _raising(error: BaseException) -> Callable[[JsonValue, RunContext], JsonValue]:
    def execute(_arguments: JsonValue, _context: RunContext) -> JsonValue:
        raise error

    return execute


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (_OrderError("no order 7"), "_OrderError", "no order 7"),
        (KeyError("id"), "KeyError", "'id'"),
        (ZeroDivisionError(), "ZeroDivisionError", ""),
        (TimeoutError("slow"), "TimeoutError", "slow"),
        (StopIteration(), "RuntimeError", "coroutine raised StopIteration"),
        (ExceptionGroup("both", [ValueError("a")]), "ExceptionGroup", "both (1 sub-exception)"),
        (MissingToolOutputError("gone"), "Error", "gone"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] - any parameter
)
def test_a_tool_that_raises_ends_the_run(error: BaseException, name: str, message: str) -> None:
    entry = agent([tool("fine", 1), Tool("break", "", _raising(error))])

    done = run(entry, [asks(call("fine", "c1"), call("break", "c2"), call("fine", "c3")), says("Done.")])

    assert ended(done) == ("failed", name, message)
    assert output_items(done.record) == [{"callId": "c1", "output": ok(1)}]
    assert [item.get("callId") for item in done.record.items] == [None, "c1", "c1", "c2"]
    assert [decision["callId"] for decision in done.record.policy_decisions] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("no such order", "no such order"),
        ({"code": 404}, {"code": 404}),
        (None, None),
        (_Order(id=7), {"id": 7, "tags": []}),
        ({"status": "denied", "code": "x", "publicReason": "y", "data": None},) * 2,
    ],
)
def test_a_tool_error_goes_to_the_model_as_it_is(given: Any, shown: JsonValue) -> None:  # noqa: ANN401 - any output
    entry = agent([Tool("fail", "", _raising(ToolError(given)))])

    record = run(entry, [asks(call("fail")), says("Sorry.")]).record

    assert record.response == "Sorry."
    assert output_items(record) == [{"callId": "c1", "output": shown, "isError": True}]


def test_a_tool_error_that_is_no_json_fails_the_run() -> None:
    done = run(agent([Tool("fail", "", _raising(ToolError(float("nan"))))]), [asks(call("fail")), says("")])

    assert ended(done) == ("failed", "TypeError", "no JSON value: NaN and infinities")


def test_of_two_tools_with_one_name_the_first_is_called() -> None:
    entry = agent([tool("twice", "first"), tool("twice", "second")])

    assert outputs(run(entry, [asks(call("twice")), says("")]).record) == [ok("first")]
