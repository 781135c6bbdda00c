"""The context of a run: its own copy, in instructions and tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regress_core.harness.loop import run_agent
from regress_core.harness.run import RunInput
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonValue
from tests.harness.support import allowing, ended, ok, outputs, run
from tests.support.harness import WatchedClient, agent, asks, call, runtime, says, scripted


def _rendered(context: RunContext) -> str:
    return f"For {context.context['name']}."


async def _rendered_later(context: RunContext) -> str:
    await asyncio.sleep(0)
    return f"For {context.context['name']}."


@pytest.mark.parametrize(
    ("instructions", "prompt"),
    [
        pytest.param(None, None, id="none"),
        pytest.param("", "", id="empty"),
        pytest.param("For you.", "For you.", id="text"),
        pytest.param(_rendered, "For Ada.", id="function"),
        pytest.param(_rendered_later, "For Ada.", id="async function"),
    ],
)
def test_instructions(instructions: Any, prompt: str | None) -> None:  # noqa: ANN401 - any kind of instructions
    model = WatchedClient(scripted(says("Hi.")))

    run(agent(instructions=instructions), model, allowing(context={"name": "Ada"}))

    assert model.requests[0]["systemPrompt"] == prompt


def test_instructions_that_raise_fail_the_run() -> None:
    def render(context: RunContext) -> str:
        return context.context["missing"]

    assert ended(run(agent(instructions=render), [says("Hi.")])) == ("failed", "KeyError", "'missing'")


def test_the_context_of_a_run_is_its_own() -> None:
    def spend(_: JsonValue, run_context: RunContext) -> JsonValue:
        run_context.context["left"].append("spent")
        return run_context.context["left"]

    context = {"left": ["one"]}
    entry = agent([Tool("spend", "", spend)])
    replies = [asks(call("spend", "c1"), call("spend", "c2")), says("Done.")]

    record = run(entry, replies, allowing(context=context)).record

    assert outputs(record) == [ok(["one", "spent"]), ok(["one", "spent", "spent"])]
    assert context == {"left": ["one"]}
    assert record.data["contextSnapshot"] == {"left": ["one"]}


@pytest.mark.parametrize(
    ("given", "recorded"), [(None, {}), ({}, {}), ([], []), (0, 0), ({"a": (1, 2)}, {"a": [1, 2]})]
)
def test_the_context_snapshot(given: object, recorded: JsonValue) -> None:
    assert run(agent(), [says("Hi.")], allowing(context=given)).record.data["contextSnapshot"] == recorded


@pytest.mark.parametrize(
    "context", [object(), {"a": float("nan")}, {"a": [10**5000]}], ids=["object", "NaN", "huge integer"]
)
def test_a_context_that_is_no_json_fails_the_run_before_its_first_turn(context: object) -> None:
    model = WatchedClient(scripted(says("Hi.")))

    done = run(agent(), model, allowing(context=context))

    assert (done.record.status, done.record.error_name) == ("failed", "TypeError")
    assert done.record.data["contextSnapshot"] is None
    assert model.requests == []


def test_runs_at_the_same_time_do_not_mix() -> None:
    async def slow(arguments: Any, context: RunContext) -> JsonValue:  # noqa: ANN401 - any arguments
        context.context["seen"] = [*context.context.get("seen", []), arguments["n"]]
        await asyncio.sleep(0)
        return context.context["seen"]

    entry, shared = agent([Tool("slow", "", slow)]), runtime()

    async def one(number: int) -> list[JsonValue]:
        done = await run_agent(
            entry,
            RunInput.of_text(f"question {number}"),
            model=scripted(asks(call("slow", n=number)), asks(call("slow", n=-number)), says("Done.")),
            runtime=shared,
            options=allowing(context={}),
        )
        assert done.record.data["question"] == f"question {number}"
        return outputs(done.record)

    async def main() -> list[list[JsonValue]]:
        return await asyncio.gather(*(one(number) for number in range(1, 6)))

    assert asyncio.run(main()) == [[ok([n]), ok([n, -n])] for n in range(1, 6)]
