"""What becomes of each kind of chat message, by hand."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from tests.records.importers.support import chat, chat_record, rejection, rows_of
from tests.support.records import message, tool_call, tool_output

USER: JsonObject = {"role": "user", "content": "hi"}
IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "data:,"}}


def said(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def asks(*calls: JsonObject, **more: JsonValue) -> JsonObject:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def source_call(call_id: JsonValue, name: str, arguments: JsonValue = "{}") -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def gives(call_id: JsonValue, content: JsonValue, **more: JsonValue) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


CALL = source_call("c1", "t")
ITEM = tool_call("c1", "t", arguments={})


@pytest.mark.parametrize(
    ("source", "items"),
    [
        ({"role": "assistant", "content": "yes"}, [message("yes", "assistant")]),
        ({"content": "yes", "role": "assistant", "tool_calls": None, "refusal": None, "annotations": []},
         [message("yes", "assistant")]),
        ({"role": "system", "content": "be brief"}, [message("be brief", "system")]),
        ({"role": "user", "content": "\ud800 \x00 \x1b[31m"}, [message("\ud800 \x00 \x1b[31m")]),
        (asks(CALL), [ITEM]),
        (asks(CALL, content=""), [ITEM]),
        (asks(CALL, content="wait"), [message("wait", "assistant"), ITEM]),
        (asks(source_call("c1", "a"), source_call("c2", "b")),
         [tool_call("c1", "a", arguments={}), tool_call("c2", "b", arguments={})]),
        (asks(source_call(7, "t")), [tool_call("7", "t", arguments={})]),
        (asks({"id": "c1", "name": "t", "arguments": {"a": 1}}), [tool_call("c1", "t", arguments={"a": 1})]),
        (asks({"id": "c1", "function": {"name": "t"}}), [tool_call("c1", "t")]),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
         [tool_call("call-1", "f", arguments={"a": 1})]),
    ],
)  # fmt: skip
def test_messages_that_items_say_all_of(source: JsonObject, items: list[JsonObject]) -> None:
    assert chat_record([USER, source])["items"] == [message("hi"), *items]


@pytest.mark.parametrize(
    ("source", "items"),
    [
        ({"role": "assistant", "content": [said("a"), said("b")]}, [message("a\nb", "assistant")]),
        ({"role": "user", "content": [said("look"), IMAGE, "here"]}, [message("look\nhere")]),
        ({"role": "user", "content": [IMAGE]}, [message("")]),
        ({"role": "user", "content": []}, [message("")]),
        ({"role": "user", "content": "a", "name": "Ann"}, [message("a")]),
        ({"role": "developer", "content": "be brief"}, [message("be brief", "system")]),
        ({"role": "assistant", "content": "42", "reasoning_content": "6*7"}, [message("42", "assistant")]),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "6*7"}, said("42")]},
         [message("42", "assistant")]),
        ({"role": "assistant", "content": [{"type": "reasoning", "text": "6*7"}, said("42")]},
         [message("42", "assistant")]),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, [message("I cannot.", "assistant")]),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
         [message("No.", "assistant")]),
        ({"role": "assistant", "content": "a", "refusal": "b"}, [message("a", "assistant")]),
        ({"role": "assistant", "content": None, "reasoning": "hm"}, [message("", "assistant")]),
        ({"role": "assistant"}, [message("", "assistant")]),
        (asks(CALL, reasoning_content="hm"), [ITEM]),
        (asks(CALL, CALL, content="wait", audio={"id": "x"}),
         [message("wait", "assistant"), ITEM, tool_call("c1#2", "t", arguments={})]),
    ],
)  # fmt: skip
def test_messages_with_more_in_them_are_kept_on_the_first_item(
    source: JsonObject, items: list[JsonObject]
) -> None:
    first, *rest = items
    assert chat_record([USER, source])["items"] == [message("hi"), {**first, "rawItem": source}, *rest]


def test_a_call_with_more_in_it_is_kept_on_its_item() -> None:
    odd = {**source_call("c2", "t"), "requestor": "user"}
    nested = {"id": "c3", "function": {"name": "t", "strict": True}}
    items = chat_record([USER, asks(CALL, odd, nested)])["items"]
    assert items[1:] == [
        ITEM,
        tool_call("c2", "t", arguments={}, rawItem=odd),
        tool_call("c3", "t", rawItem=nested),
    ]


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("sunny", "sunny"),
        ('{"a": 1}', '{"a": 1}'),
        ("Error: no such user", "Error: no such user"),
        ("", ""),
        (None, None),
        ({"a": [1]}, {"a": [1]}),
        ([], []),
        ([said("a"), IMAGE], [said("a"), IMAGE]),
        ([1, 2], [1, 2]),
    ],
)
def test_outputs_stay_what_they_are(content: JsonValue, output: JsonValue) -> None:
    items = chat_record([USER, asks(CALL), gives("c1", content, name="t")])["items"]
    assert items[2:] == [tool_output("c1", output=output)]


@pytest.mark.parametrize(
    ("source", "item"),
    [
        (gives("c1", [said("a"), said("b")]), tool_output("c1", output="a\nb")),
        (gives("c1", "x", error="time out"), tool_output("c1", output="x", isError=True)),
        (gives("c1", "x", status="error"), tool_output("c1", output="x")),
        (gives("c1", "x", name="other"), tool_output("c1", output="x")),
        (gives(None, "x", id="message-7"), tool_output("c1", output="x")),
    ],
)
def test_outputs_with_more_in_them_keep_their_message(source: JsonObject, item: JsonObject) -> None:
    assert chat_record([USER, asks(CALL), source])["items"][2:] == [{**item, "rawItem": source}]


@pytest.mark.parametrize(
    ("flags", "more"),
    [
        ({"error": True}, {"isError": True}),
        ({"is_error": True, "error": None}, {"isError": True}),
        ({"isError": True}, {"isError": True}),
        ({"error": False}, {}),
        ({"error": None}, {}),
    ],
)
def test_an_error_that_the_format_flags(flags: JsonObject, more: JsonObject) -> None:
    items = chat_record([USER, asks(CALL), gives("c1", "x", **flags)])["items"]
    assert items[2:] == [tool_output("c1", output="x", **more)]


def test_outputs_are_paired_with_their_calls() -> None:
    record = chat_record(
        [
            USER,
            asks(source_call("c1", "a"), source_call("c2", "b")),
            gives("c2", "of b"),
            gives("c1", "of a"),
            asks(source_call("c1", "a"), source_call("", "d"), {"function": {"name": "e"}}),
            gives(None, "of e", name="e"),
            gives("c1", "of a again"),
            {"role": "function", "name": "d", "content": "of d"},
            gives("c1", "of none"),
            {"role": "tool", "id": "c9", "content": "of none either"},
        ]
    )
    calls = extract_tool_calls(RunRecord.parse(record))
    assert [(call.call_id, call.name, call.output, call.has_output) for call in calls] == [
        ("c1", "a", "of a", True),
        ("c2", "b", "of b", True),
        ("c1#2", "a", "of a again", True),
        ("call-4", "d", "of d", True),
        ("call-5", "e", "of e", True),
        ("c1#3", "", "of none", True),
        ("orphan-2", "", "of none either", True),
    ]


def test_an_output_that_names_its_call_by_id_alone() -> None:
    record = chat_record(
        [
            USER,
            asks({"id": "c1", "name": "a"}, {"id": "c2", "name": "a"}),
            {"role": "tool", "id": "c2", "content": "two"},
            {"role": "tool", "id": "c1", "content": "one"},
        ]
    )
    assert record["items"][3:] == [tool_output("c2", output="two"), tool_output("c1", output="one")]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ("hi", "$.messages: no list of messages"),
        (None, "$.messages: no list of messages"),
        ([], "$.messages: no message of the user"),
        ([{"role": "system", "content": "x"}], "$.messages: no message of the user"),
        (["hi"], "$.messages[0]: no message: no JSON object"),
        ([USER, {"content": "x"}], "$.messages[1].role: the field is missing"),
        ([{"role": "robot", "content": "x"}], "$.messages[0].role: the role 'robot' is unknown"),
        ([{"role": ["user"], "content": "x"}], "$.messages[0].role: the role ['user'] is unknown"),
        ([{"role": "user"}], "$.messages[0].content: the field is missing"),
        ([{"role": "user", "content": None}], "$.messages[0].content: neither text nor a list of parts"),
        ([{"role": "system", "content": 3}], "$.messages[0].content: neither text nor a list of parts"),
        ([USER, {"role": "assistant", "content": {}}],
         "$.messages[1].content: neither text nor a list of parts"),
        ([USER, {"role": "assistant", "tool_calls": {}}], "$.messages[1].tool_calls: no list of calls"),
        ([USER, asks(CALL, 3)], "$.messages[1].tool_calls[1]: no call: no JSON object"),  # type: ignore[arg-type]
        ([USER, asks({"id": "c1", "function": {"arguments": "{}"}})],
         "$.messages[1].tool_calls[0].function.name: the field is missing"),
        ([USER, asks({"id": "c1"})], "$.messages[1].tool_calls[0].name: the field is missing"),
        ([USER, asks({"id": "c1", "name": 3})], "$.messages[1].tool_calls[0].name: no text"),
        ([USER, asks(source_call([], "t"))],
         "$.messages[1].tool_calls[0].id: no call id: neither text nor a whole number"),
        ([USER, {"role": "assistant", "function_call": "f"}],
         "$.messages[1].function_call: no call: no JSON object"),
        ([USER, gives(1.5, "x")],
         "$.messages[1].tool_call_id: no call id: neither text nor a whole number"),
    ],
)  # fmt: skip
def test_rejected_with_the_path(messages: JsonValue, reason: str) -> None:
    (outcome,) = chat(rows_of({"messages": messages}))
    assert rejection(outcome) == ("row 1", reason)
