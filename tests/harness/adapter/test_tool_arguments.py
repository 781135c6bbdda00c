"""The arguments of a call of a wrapped function: those that the model gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import partial

import pytest
from pydantic import BaseModel, Field

from regress_core.harness.adapter.agent_tools import AgentTools
from regress_core.harness.errors import MissingToolOutputError
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.adapter.support import LIVE, ignoring, plain, recorded, with_tools

DEEP = ("x", {"y": 1})
MARK = object()


class Colour(Enum):
    RED = "red"


@dataclass
class Place:
    city: str


class Filters(BaseModel):
    low: int = Field(default=0, alias="from")
    high: int | None = None


class Answers:
    def __call__(self) -> None: ...


class Shop:
    def find(self, a: int) -> str:
        return f"found {a}"


def only(a: int, /, *, b: int | None = None) -> None: ...
def rest(a: int, *more: int, **named: JsonValue) -> None: ...
def any_value(value: object, other: object = DEEP) -> None: ...
def with_context(ctx: object, a: int) -> None: ...
def marked(a: int, mark: object = MARK) -> None: ...


# The function, how it is called, and the arguments that the record has.
ARGUMENTS = [
    pytest.param(plain, (1,), {}, {"a": 1}, id="by position"),
    pytest.param(plain, (), {"b": 3, "a": 1}, {"a": 1, "b": 3}, id="by name"),
    pytest.param(plain, (1,), {"b": 2}, {"a": 1}, id="a default that was filled in"),
    pytest.param(plain, (1, 2), {}, {"a": 1}, id="a default by position"),
    pytest.param(plain, (1,), {"b": 2.0}, {"a": 1}, id="a default as another number type"),
    pytest.param(plain, (1,), {"b": True}, {"a": 1, "b": True}, id="true is no default 1"),
    pytest.param(only, (1,), {}, {"a": 1}, id="positional only"),
    pytest.param(only, (1,), {"b": None}, {"a": 1}, id="a default none"),
    pytest.param(rest, (1,), {}, {"a": 1}, id="no more arguments"),
    pytest.param(rest, (1, 2, 3), {"c": 4}, {"a": 1, "more": [2, 3], "c": 4}, id="more arguments"),
    pytest.param(Shop().find, (1,), {}, {"a": 1}, id="a bound method"),
    pytest.param(any_value, (date(2026, 5, 1),), {}, {"value": "2026-05-01"}, id="a date"),
    pytest.param(any_value, (Colour.RED,), {}, {"value": "red"}, id="an enum"),
    pytest.param(any_value, (Place("Rome"),), {}, {"value": {"city": "Rome"}}, id="a dataclass"),
    pytest.param(any_value, ((1, {2}),), {}, {"value": [1, [2]]}, id="a tuple and a set"),
    pytest.param(any_value, (1, ["x", {"y": 1}]), {}, {"value": 1}, id="a deep default"),
    pytest.param(
        any_value,
        ([Filters.model_validate({"from": 3})],),
        {},
        {"value": [{"from": 3}]},
        id="a model as it was given",
    ),
    pytest.param(any_value, (Filters(),), {}, {"value": {}}, id="a model of defaults"),
    pytest.param(marked, (1,), {}, {"a": 1}, id="a default that is no JSON"),
]


@pytest.mark.parametrize(("function", "args", "named", "expected"), ARGUMENTS)
def test_the_arguments_are_those_that_the_model_gave(
    function: Callable[..., JsonValue],
    args: Sequence[JsonValue],
    named: dict[str, JsonValue],
    expected: JsonObject,
) -> None:
    async def use(tools: AgentTools) -> JsonValue:
        tools.wrap(function)(*args, **named)
        return tools.items()

    call, output = with_tools(use, recorded(), LIVE)

    assert (call["name"], call["arguments"]) == (function.__name__, expected)
    assert output["type"] == "tool_call_output_item"


def test_what_is_no_argument_is_left_out() -> None:
    async def use(tools: AgentTools) -> JsonValue:
        tools.wrap(with_context, leave_out=("ctx",))(object(), 1)
        return tools.items()[0]

    assert with_tools(use, recorded(), LIVE)["arguments"] == {"a": 1}


# The rules' ignored path, the recorded arguments of `plain`, the call, and the form it is asked and noted in.
FORMS = [
    pytest.param(None, [{"a": 1}], {"a": 1}, {"a": 1}, id="left out in both"),
    pytest.param(None, [{"a": 1, "b": 2}], {"a": 1}, {"a": 1}, id="nobody fills a recorded default in"),
    pytest.param(None, [{"a": 1, "b": 2}], {"a": 1, "b": 2}, {"a": 1, "b": 2}, id="given in both"),
    pytest.param(None, [{"a": 1}], {"a": 1, "b": 2}, {"a": 1}, id="filled in by a framework"),
    pytest.param(
        None, [{"a": 9}, {"a": 1, "b": 2}], {"a": 1, "b": 2}, {"a": 1, "b": 2}, id="of another call"
    ),
    pytest.param(
        "id",
        [{"a": 1, "b": 2, "id": "x"}],
        {"a": 1, "b": 2, "id": "y"},
        {"a": 1, "b": 2, "id": "y"},
        id="with a rule",
    ),
    pytest.param(
        "id",
        [{"a": 1, "id": "x"}],
        {"a": 1, "b": 2, "id": "y"},
        {"a": 1, "id": "y"},
        id="left out, with a rule",
    ),
]


@pytest.mark.parametrize(("ignored", "known", "given", "form"), FORMS)
def test_a_filled_in_default_is_matched_either_way(
    ignored: str | None, known: list[JsonObject], given: JsonObject, form: JsonObject
) -> None:
    def find(a: int, b: int = 2, **more: str) -> str: ...

    baseline = recorded(*(("find", arguments, arguments) for arguments in known))
    options = ReplayOptions() if ignored is None else ReplayOptions(rules=ignoring("find", ignored))

    async def use(tools: AgentTools) -> tuple[JsonValue, JsonValue]:
        try:
            return tools.wrap(find)(**given), tools.items()[0]
        except MissingToolOutputError:
            return None, tools.items()[0]

    output, call = with_tools(use, baseline, options)

    assert call["arguments"] == form
    found = [
        arguments for arguments in known if arguments.keys() == form.keys() and arguments["a"] == form["a"]
    ]
    assert output == (found[0] if found else None)


def test_each_recorded_form_is_used_once() -> None:
    baseline = recorded(("plain", {"a": 1, "b": 2}, "with"), ("plain", {"a": 1}, "without"))

    async def use(tools: AgentTools) -> list[JsonValue]:
        wrapped = tools.wrap(plain)
        return [wrapped(1, 2), wrapped(1, 2)]

    assert with_tools(use, baseline) == ["with", "without"]


Use = Callable[[AgentTools], JsonValue]


def _wrap(function: Callable[..., JsonValue], *leave_out: str) -> Use:
    return lambda tools: tools.wrap(function, leave_out=leave_out)


def _call(function: Callable[..., JsonValue], *args: JsonValue) -> Use:
    return lambda tools: tools.wrap(function)(*args)


# What cannot be wrapped or called, and what is said about it.
REFUSED = [
    pytest.param(_wrap(lambda: 1), TypeError, "define it with def", id="a lambda"),
    pytest.param(_wrap(partial(plain, 1)), TypeError, "define it with def", id="a partial"),
    pytest.param(_wrap(Answers()), TypeError, "define it with def", id="an object"),
    pytest.param(_wrap(plain, "ctx"), TypeError, "plain has no parameter ctx", id="no such parameter"),
    pytest.param(_call(plain), TypeError, "missing a required argument: 'a'", id="too few arguments"),
    pytest.param(_call(any_value, object()), TypeError, "no JSON value", id="no JSON"),
    pytest.param(_call(any_value, float("nan")), TypeError, "no JSON value", id="no number"),
]


@pytest.mark.parametrize(("use", "kind", "message"), REFUSED)
def test_what_is_no_call_is_an_error_and_not_noted(use: Use, kind: type[Exception], message: str) -> None:
    async def refused(tools: AgentTools) -> int:
        with pytest.raises(kind, match=message):
            use(tools)
        return len(tools.items())

    assert with_tools(refused, recorded(), LIVE) == 0
