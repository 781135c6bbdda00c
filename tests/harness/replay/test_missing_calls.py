"""Calls that the record has no output left for: what is said of them, and what becomes of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regress_core.harness.replay.recorded_tools import (
    MissingToolCall,
    MissingToolCallResolution,
    ReplayingTools,
)
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import JsonValue
from regress_core.records.model import Item
from tests.harness.replay.support import BLOCKED, A, Ask, B, missing, outputs_for, recorded, replaying
from tests.support.records import tool_call, tool_output


@pytest.mark.parametrize(
    ("items", "explained"),
    [
        pytest.param(
            recorded(("f", A, "r")),
            '(exhausted: 1 recorded, 2 asked; nearest recorded arguments: {"q":"a"})',
            id="C29 no other call",
        ),
        pytest.param(
            recorded(("f", A, "r"), ("f", {"q": "zz"}, "r"), ("f", {"q": "ab"}, "r")),
            '(exhausted: 1 recorded, 2 asked; nearest recorded arguments: {"q":"ab"})',
            id="C29 the nearest that is left",
        ),
        pytest.param(
            recorded(("f", A, "r"), ("g", {"q": "ab"}, "r")),
            '(exhausted: 1 recorded, 2 asked; nearest recorded arguments: {"q":"a"})',
            id="C29 another tool's do not count",
        ),
    ],
)
def test_an_exhausted_call(items: list[Item], explained: str) -> None:
    text = missing(replaying(items), ("f", A), ("f", A))

    digest = hash_text('{"q":"a"}')
    start = f'Missing recorded tool output for "f". argsHash={digest}. argsCanonicalJson={{"q":"a"}} '
    assert text == start + explained


@pytest.mark.parametrize(
    ("items", "asked", "explained"),
    [
        pytest.param([], A, "(no output of f is recorded)", id="nothing"),
        pytest.param(recorded(("g", A, 1)), A, "(no output of f is recorded)", id="other tools only"),
        pytest.param([tool_call("c1", "f", arguments=A)], A, "(no output of f is recorded)", id="no output"),
        pytest.param(
            [tool_output("c1", output=1)], A, "(no output of f is recorded)", id="an output without a call"
        ),
        pytest.param(
            recorded(("f", {"city": "Rome", "days": 3}, 1), ("f", {"city": "Oslo"}, 2), ("f", {}, 3)),
            {"city": "Rome", "days": 4},
            '(nearest recorded arguments: {"city":"Rome","days":3})',
            id="the nearest",
        ),
        pytest.param(
            recorded(("f", {"q": "x" * 300}, 1)),
            A,
            '(nearest recorded arguments: {"q":"' + "x" * 194 + "…)",
            id="cut",
        ),
    ],
)
def test_what_the_record_has_instead(items: list[Item], asked: JsonValue, explained: str) -> None:
    assert missing(replaying(items), ("f", asked)).endswith(explained)


class Live:
    """A tool that counts how often it is run."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self) -> JsonValue:
        self.runs += 1
        return f"live {self.runs}"


def ask_live(tools: ReplayingTools, *asked: Ask) -> tuple[list[JsonValue], int]:
    live = Live()

    async def main() -> list[JsonValue]:
        return [(await tools.call(name, arguments, live.run)).output for name, arguments in asked]

    return asyncio.run(main()), live.runs


@pytest.mark.parametrize(
    ("mode", "action", "expected", "runs", "counts"),
    [
        pytest.param("hybrid", None, ["rec", "live 1"], 1, (1, 1, 1), id="hybrid runs the tool"),
        pytest.param("hybrid", "use_live", ["rec", "live 1"], 1, (1, 1, 1), id="hybrid, told so"),
        pytest.param("hybrid", "use_output", ["rec", "given"], 0, (2, 1, 0), id="hybrid, given an output"),
        pytest.param("strict", "use_live", ["rec", "live 1"], 1, (1, 1, 1), id="strict, told so"),
        pytest.param("strict", "use_output", ["rec", "given"], 0, (2, 1, 0), id="strict, given an output"),
        pytest.param("live", None, ["live 1", "live 2"], 2, (0, 0, 0), id="live"),
        pytest.param("live", "throw", ["live 1", "live 2"], 2, (0, 0, 0), id="live asks nobody"),
    ],
)
def test_where_outputs_come_from(
    mode: str,
    action: Any,  # noqa: ANN401 - one of an action's names
    expected: list[JsonValue],
    runs: int,
    counts: tuple[int, int, int],
) -> None:
    def resolve(_: MissingToolCall) -> MissingToolCallResolution:
        return MissingToolCallResolution(action, "given")

    tools = replaying(recorded(("f", A, "rec")), mode=mode, on_missing=resolve if action else None)

    assert ask_live(tools, ("f", A), ("f", B)) == (expected, runs)
    stats = tools.stats
    assert (stats.replayed_from_record, stats.missing_tool_calls, stats.live_fallback_calls) == counts
    assert not tools.missed


@pytest.mark.parametrize("mode", ["strict", "hybrid"])
def test_throw_fails_in_either_mode(mode: str) -> None:
    async def resolve(_: MissingToolCall) -> MissingToolCallResolution:
        await asyncio.sleep(0)
        return MissingToolCallResolution("throw")

    tools = replaying([], mode=mode, on_missing=resolve)

    assert missing(tools, ("f", A)).endswith("(no output of f is recorded)")
    assert tools.missed


def test_what_an_application_is_told_of_a_missing_call() -> None:
    told: list[MissingToolCall] = []

    def resolve(call: MissingToolCall) -> MissingToolCallResolution:
        told.append(call)
        call.arguments["b"] = "changed"
        return MissingToolCallResolution("use_output", (1, 2))

    asked = {"b": 2, "a": 1}
    tools = replaying(recorded(("f", {"a": 1}, "r")), on_missing=resolve)

    assert outputs_for(tools, ("f", asked)) == [[1, 2]]
    assert asked == {"b": 2, "a": 1}
    (call,) = told
    assert (call.mode, call.tool_name) == ("strict", "f")
    assert (call.args_canonical_json, call.args_hash) == ('{"a":1,"b":2}', hash_text('{"a":1,"b":2}'))
    assert call.explanation == '(nearest recorded arguments: {"a":1})'


def test_the_statistics_in_the_references_shape() -> None:
    def use_output(_: MissingToolCall) -> MissingToolCallResolution:
        return MissingToolCallResolution("use_output")

    items: list[Any] = [*recorded(("f", A, 1), ("g", A, BLOCKED[0])), tool_output("lost", output=2)]
    tools = replaying(items, input_source="requestFingerprint", on_missing=use_output)

    outputs_for(tools, ("f", A), ("f", B))

    assert tools.stats.to_json() == {
        "recordedToolCalls": 3,
        "replayedFromRecord": 2,
        "missingToolCalls": 1,
        "liveFallbackCalls": 0,
        "inputSource": "requestFingerprint",
    }
