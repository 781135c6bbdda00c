"""Strict, hybrid and live replays: whose output a call gets, and what counts as a miss."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.harness.replay.recorded_tools import (
    MissingToolCall,
    MissingToolCallResolution,
    ReplayMode,
)
from regress_core.harness.replay.replay import ReplayOptions
from regress_core.harness.tools import RunContext, Tool, ToolError
from regress_core.models.client import ModelToolCall
from regress_core.records.json_io import JsonValue
from tests.harness.replay.support import DANGEROUS, LIVE, A, B, baseline
from tests.harness.support import ok, output_items, outputs
from tests.support.harness import agent, asks, call, replay, says


@pytest.mark.parametrize(
    ("mode", "entry_tool", "expected"),
    [
        pytest.param("strict", DANGEROUS, [ok("rec")], id="strict"),
        pytest.param("hybrid", DANGEROUS, [ok("rec")], id="hybrid"),
        pytest.param("live", LIVE, [ok({"live": A})], id="live"),
    ],
)
def test_a_recorded_call_in_each_mode(mode: ReplayMode, entry_tool: Tool, expected: list[JsonValue]) -> None:
    done = replay(
        baseline(("f", A, ok("rec"))),
        agent([entry_tool]),
        [asks(call("f", q="a")), says("On its way.")],
        options=ReplayOptions(mode=mode),
    )

    assert (done.error, done.record.status) == (None, "completed")
    assert outputs(done.record) == expected
    assert not done.replay_miss


@pytest.mark.parametrize(
    ("mode", "error"),
    [("strict", "Error"), ("hybrid", None), ("live", None)],
    ids=["strict", "hybrid", "live"],
)
def test_a_call_that_is_not_recorded_in_each_mode(mode: ReplayMode, error: str | None) -> None:
    done = replay(
        baseline(("f", A, "rec")),
        agent([DANGEROUS if mode == "strict" else LIVE]),
        [asks(call("f", q="b")), says("On its way.")],
        options=ReplayOptions(mode=mode),
    )

    assert done.record.error_name == error
    assert done.replay_miss == (error is not None)
    assert outputs(done.record) == ([] if error else [ok({"live": B})])


def test_a_miss_names_the_call_and_what_is_recorded() -> None:
    done = replay(
        baseline(("f", A, "rec")), agent([DANGEROUS]), [asks(call("f", q="a"), call("f", "c2", q="a"))]
    )

    assert done.record.status == "failed"
    assert done.replay_miss
    assert (done.record.error_message or "").startswith('Missing recorded tool output for "f". argsHash=')
    assert (done.record.error_message or "").endswith(
        'argsCanonicalJson={"q":"a"} (exhausted: 1 recorded, 2 asked; nearest recorded arguments: {"q":"a"})'
    )
    assert outputs(done.record) == [ok("rec")]


@pytest.mark.parametrize("text", ['""', '{"a":'])
def test_bad_arguments_fail_that_run(text: str) -> None:
    reply = asks(ModelToolCall("c1", "f", text))

    done = replay(baseline(("f", {"a": 1}, "rec")), agent([DANGEROUS]), [reply, says("Done.")])

    assert (done.record.status, done.trouble) == ("failed", None)


def test_use_live_runs_the_tool_also_in_strict() -> None:
    def resolve(missing: MissingToolCall) -> MissingToolCallResolution:
        assert missing.mode == "strict"
        return MissingToolCallResolution("use_live")

    done = replay(
        baseline(("f", A, "rec")),
        agent([LIVE]),
        [asks(call("f", q="a"), call("f", q="b")), says("Done.")],
        options=ReplayOptions(on_missing_tool_call=resolve),
    )

    assert outputs(done.record) == [ok("rec"), ok({"live": B})]
    assert done.replay_stats.to_json() == {
        "recordedToolCalls": 1,
        "replayedFromRecord": 1,
        "missingToolCalls": 1,
        "liveFallbackCalls": 1,
        "inputSource": "inputItemCount",
    }


@pytest.mark.parametrize("given", [(1, 2), {"x"}], ids=["tuple", "set"])
def test_use_output_gives_what_the_application_says(given: Any) -> None:  # noqa: ANN401 - any output
    done = replay(
        baseline(),
        agent([DANGEROUS]),
        [asks(call("f")), says("Done.")],
        options=ReplayOptions(on_missing_tool_call=lambda _: MissingToolCallResolution("use_output", given)),
    )

    assert outputs(done.record) == [ok(list(given))]


def test_an_application_that_raises_on_a_missing_call_fails_the_run() -> None:
    def resolve(_: MissingToolCall) -> MissingToolCallResolution:
        raise LookupError("no fixture")

    done = replay(
        baseline(),
        agent([DANGEROUS]),
        [asks(call("f"))],
        options=ReplayOptions(on_missing_tool_call=resolve),
    )

    assert (done.record.error_name, done.record.error_message) == ("LookupError", "no fixture")
    assert not done.replay_miss


def _fails(_arguments: JsonValue, _context: RunContext) -> JsonValue:
    raise ToolError({"code": 404})


def test_a_live_tool_error_in_a_fallback_goes_to_the_model() -> None:
    done = replay(
        baseline(),
        agent([Tool("f", "", _fails)]),
        [asks(call("f")), says("Sorry.")],
        options=ReplayOptions(mode="hybrid"),
    )

    assert output_items(done.record) == [{"callId": "c1", "output": {"code": 404}, "isError": True}]
