"""How the answers of a real model are read: text, calls, usage, and whether they are whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.models.client import ModelReply, ModelToolCall, ToolSpec, Usage
from regress_core.records.json_io import JsonValue
from tests.models.support import Asker, request
from tests.support.openai_server import (
    Answer,
    calls,
    completion,
    json_body,
    text,
    tool_call,
    usage,
)

PING = ToolSpec("ping", "", {"type": "object", "properties": {}})

_BAD = '{"id": "1",'

# What the server answers, and the reply.
REPLIES: list[tuple[str, Answer, str, tuple[ModelToolCall, ...]]] = [
    ("text", text("It is here."), "It is here.", ()),
    ("empty text", text(""), "", ()),
    ("white space", text("  a\n"), "  a\n", ()),
    ("nothing", json_body(completion({})), "", ()),
    ("reasoning", json_body(completion({"content": "Yes.", "reasoning_content": "Hm."})), "Yes.", ()),
    ("reasoning in tags", text("<think>Hm.</think>Yes."), "Yes.", ()),
    (
        "text in parts",
        json_body(completion({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})),
        "ab",
        (),
    ),
    (
        "a call",
        calls(tool_call("c1", "find_order", '{ "id": "1" }')),
        "",
        (ModelToolCall("c1", "find_order", '{ "id": "1" }'),),
    ),
    (
        "calls and text",
        calls(tool_call("c1", "ping", "{}"), tool_call("c2", "ping", "{}"), content="I look."),
        "I look.",
        (ModelToolCall("c1", "ping", "{}"), ModelToolCall("c2", "ping", "{}")),
    ),
    ("bad JSON", calls(tool_call("c1", "ping", _BAD)), "", (ModelToolCall("c1", "ping", _BAD),)),
    ("no arguments", calls(tool_call("c1", "ping", "")), "", (ModelToolCall("c1", "ping", ""),)),
    ("an unknown tool", calls(tool_call("c1", "pong", "{}")), "", (ModelToolCall("c1", "pong", "{}"),)),
    (
        "ids that repeat",
        calls(tool_call("c1", "ping", "1"), tool_call("c1", "ping", "2")),
        "",
        (ModelToolCall("c1", "ping", "1"), ModelToolCall("c1", "ping", "2")),
    ),
    ("no reason to stop", json_body(completion({"content": "a"}, finish=None)), "a", ()),
    ("a reason of one's own", json_body(completion({"content": "a"}, finish="guardrail")), "a", ()),
]


@pytest.mark.parametrize(
    ("answer", "content", "tool_calls"), [pytest.param(*case[1:], id=case[0]) for case in REPLIES]
)
def test_the_reply(asker: Asker, answer: Answer, content: str, tool_calls: tuple[ModelToolCall, ...]) -> None:
    reply, _ = asker.ask(answer, request(tools=[PING]))

    assert reply == ModelReply(content, tool_calls, Usage(input_tokens=10, output_tokens=5))


# What the server answers, its text, and why it is not whole.
CUT: list[tuple[str, Answer, str, str | None]] = [
    ("an ordinary end", text("a"), "a", None),
    ("no reason to stop", json_body(completion({"content": "a"}, finish=None)), "a", None),
    ("too long", json_body(completion({"content": "a"}, finish="length")), "a", "length"),
    ("too long to begin", json_body(completion({}, finish="length")), "", "length"),
    ("filtered", json_body(completion({"content": "a"}, finish="content_filter")), "a", "content filter"),
    ("a refusal", json_body(completion({"refusal": "I will not."})), "I will not.", "refusal"),
    ("a refusal beside a text", json_body(completion({"content": "a", "refusal": "No."})), "No.", "refusal"),
    ("no refusal", json_body(completion({"content": "a", "refusal": None})), "a", None),
    ("a blank refusal", json_body(completion({"content": "a", "refusal": ""})), "a", None),
]


@pytest.mark.parametrize(("answer", "content", "cut"), [pytest.param(*case[1:], id=case[0]) for case in CUT])
def test_a_reply_that_is_not_whole(asker: Asker, answer: Answer, content: str, cut: str | None) -> None:
    reply, _ = asker.ask(answer, request())

    assert reply == ModelReply(content, (), Usage(input_tokens=10, output_tokens=5), cut)


def test_calls_that_are_cut_off(asker: Asker) -> None:
    asked = {"tool_calls": [tool_call("c1", "ping", _BAD)]}

    reply, _ = asker.ask(json_body(completion(asked, finish="length")), request(tools=[PING]))

    assert (reply.tool_calls, reply.cut) == ((ModelToolCall("c1", "ping", _BAD),), "length")


def test_a_call_without_an_id_gets_one(asker: Asker) -> None:
    reply, _ = asker.ask(
        calls(tool_call("", "ping", "{}"), tool_call("", "ping", "{}")), request(tools=[PING])
    )

    first, second = reply.tool_calls
    assert first.call_id
    assert second.call_id
    assert first.call_id != second.call_id


@given(arguments=st.text(alphabet=st.characters(codec="utf-8"), max_size=50))
def test_any_text_of_arguments_comes_as_it_was_given(asker: Asker, arguments: str) -> None:
    reply, _ = asker.ask(calls(tool_call("c1", "ping", arguments)), request(tools=[PING]))

    assert [call.arguments for call in reply.tool_calls] == [arguments]


# Counts as the provider gives them, and as we do.
USAGE: list[tuple[str, JsonValue, Usage | None]] = [
    ("no cache", usage(2000, 100), Usage(2000, 100, 0, 0)),
    ("R45: a cache", usage(2000, 100, cached=1500), Usage(500, 100, 1500, 0)),
    ("all from the cache", usage(2000, 100, cached=2000), Usage(0, 100, 2000, 0)),
    ("reasoning is output", usage(10, 100, reasoning=90), Usage(10, 100, 0, 0)),
    (
        "written to the cache",
        usage(2000, 100) | {"prompt_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 300}},
        Usage(1200, 100, 500, 300),
    ),
    (
        "more from the cache than there is",
        usage(10, 1, cached=20),
        Usage(0, 1, 20, 0),
    ),
    ("bare", {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}, Usage(7, 3, 0, 0)),
    ("none: unmeasured is not free", None, None),
    ("zeros", usage(0, 0), None),
    ("output alone", usage(0, 3), Usage(0, 3)),
]


@pytest.mark.parametrize(("counts", "counted"), [pytest.param(*case[1:], id=case[0]) for case in USAGE])
def test_each_token_is_counted_once(asker: Asker, counts: JsonValue, counted: Usage | None) -> None:
    reply, _ = asker.ask(json_body(completion({"content": "a"}) | {"usage": counts}), request())

    assert reply.usage == counted
