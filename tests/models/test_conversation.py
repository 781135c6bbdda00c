"""Record items as the messages of a chat: calls grouped so that each has its output right after it."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.models.client import ModelError
from regress_core.models.conversation import NO_OUTPUT, Call, Called, Output, Said, conversation_of
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item
from tests.support.records import message, tool_call, tool_output


def _conversation(*items: JsonObject) -> list[Said | Called]:
    return conversation_of(cast("list[Item]", list(items)))


def _call(name: str, arguments: str = "{}") -> Call:
    return Call(f"id-{name}", name, arguments)


def _output(name: str, text: str | None = None) -> Output:
    return Output(f"id-{name}", name, f"out-{name}" if text is None else text)


def _items(letters: str) -> list[JsonObject]:
    """Give items by letter: `A` calls tool A, `a` is its output, `u` and `s` say something, `t` answers."""
    roles = {"u": "user", "s": "system", "t": "assistant"}
    items: list[JsonObject] = []
    for letter in letters:
        if letter in roles:
            items.append(message(f"said {letter}", roles[letter]))
        elif letter.isupper():
            items.append(tool_call(f"id-{letter}", letter, arguments={}))
        else:
            items.append(tool_output(f"id-{letter.upper()}", output=f"out-{letter.upper()}"))
    return items


# Items by letter (see `_items`), and the messages: calls in brackets, after them their outputs.
GROUPS: list[tuple[str, str]] = [
    ("", ""),
    ("u", "u"),
    ("sut", "s u t"),
    ("uAa", "u [A]a"),
    # As the agent loop records parallel calls, and as two turns: each call is a message of its own.
    ("uAaBb", "u [A]a [B]b"),
    # C35: outputs in another order.
    ("uABab", "u [AB]ab"),
    ("uABba", "u [AB]ba"),
    ("uABCcab", "u [ABC]cab"),
    # A call before the last output of the others.
    ("uABaCbc", "u [ABC]abc"),
    ("uABaCcbDd", "u [ABC]acb [D]d"),
    # What the assistant says directly before a call goes with it.
    ("utAa", "u t[A]a"),
    ("utAaBb", "u t[A]a [B]b"),
    ("uttABab", "u t t[AB]ab"),
    ("uAatu", "u [A]a t u"),
    ("utu", "u t u"),
    ("tAatBb", "t[A]a t[B]b"),
    # A call whose output is missing gets one that says so (`-`).
    ("uA", "u [A]-"),
    ("uAu", "u [A]- u"),
    ("uABbu", "u [AB]b- u"),
    ("uABtu", "u [AB]-- t u"),
    ("uAtBb", "u [A]- t[B]b"),
]


def _letters(conversation: list[Said | Called]) -> str:
    words: list[str] = []
    for one in conversation:
        if isinstance(one, Said):
            words.append(one.text.removeprefix("said "))
        else:
            outputs = ("-" if output.text == NO_OUTPUT else output.name.lower() for output in one.outputs)
            called = "".join(call.name for call in one.calls)
            words.append(f"{(one.text or '').removeprefix('said ')}[{called}]{''.join(outputs)}")
    return " ".join(words)


@pytest.mark.parametrize(("letters", "grouped"), GROUPS, ids=[letters or "nothing" for letters, _ in GROUPS])
def test_calls_are_grouped(letters: str, grouped: str) -> None:
    assert _letters(_conversation(*_items(letters))) == grouped


def test_messages_keep_their_roles_and_texts() -> None:
    said = _conversation(message("Be brief.", "system"), message("Hello", "user"), message("", "assistant"))

    assert said == [Said("system", "Be brief."), Said("user", "Hello"), Said("assistant", "")]


# What a call's arguments or an output are in a record, and the text that is sent.
ARGUMENTS: list[tuple[str, JsonObject, str]] = [
    ("an object", {"arguments": {"b": 1, "a": ["ü"]}}, '{"b":1,"a":["ü"]}'),
    ("a text", {"arguments": '{ "a": 1 }'}, '{ "a": 1 }'),
    ("no JSON", {"arguments": "{bad"}, "{bad"),
    ("none", {}, "{}"),
    ("null", {"arguments": None}, "{}"),
]
OUTPUTS: list[tuple[str, JsonObject, str]] = [
    ("a text", {"output": "It is raining."}, "It is raining."),
    ("a text of JSON", {"output": '{ "a": 1 }'}, '{ "a": 1 }'),
    ("an empty text", {"output": ""}, ""),
    ("an object", {"output": {"status": "ok", "data": {"a": 1.5}}}, '{"status":"ok","data":{"a":1.5}}'),
    ("a list", {"output": []}, "[]"),
    ("a number", {"output": 7}, "7"),
    ("null", {"output": None}, "null"),
    ("none", {}, "null"),
    ("a tool error", {"output": "no such order", "isError": True}, "no such order"),
    ("a big integer", {"output": {"id": 2**64}}, '{"id":18446744073709551616}'),
]


@pytest.mark.parametrize(("more", "text"), [pytest.param(*case[1:], id=case[0]) for case in ARGUMENTS])
def test_the_text_of_arguments(more: JsonObject, text: str) -> None:
    (called,) = _conversation(tool_call("id-A", "A", **more), tool_output("id-A", output="out-A"))

    assert called == Called(None, (_call("A", text),), (_output("A"),))


@pytest.mark.parametrize(("more", "text"), [pytest.param(*case[1:], id=case[0]) for case in OUTPUTS])
def test_the_text_of_outputs(more: JsonObject, text: str) -> None:
    (called,) = _conversation(tool_call("id-A", "A"), tool_output("id-A", **more))

    assert called == Called(None, (_call("A"),), (_output("A", text),))


def test_what_no_request_can_hold_is_replaced() -> None:
    (said,) = _conversation(message("a\ud800b"))

    assert said == Said("user", "a\N{REPLACEMENT CHARACTER}b")


def test_ids_that_repeat_are_answered_in_order() -> None:
    """C36: some models count their calls from zero in every turn."""
    first, second = _conversation(
        tool_call("call_0", "A"),
        tool_output("call_0", output="one"),
        tool_call("call_0", "B"),
        tool_output("call_0", output="two"),
    )

    assert isinstance(first, Called)
    assert isinstance(second, Called)
    assert first.outputs == (Output("call_0", "A", "one"),)
    assert second.outputs == (Output("call_0", "B", "two"),)


def test_two_open_calls_of_one_id_are_answered_in_order() -> None:
    (called,) = _conversation(
        tool_call("x", "A"),
        tool_call("x", "B"),
        tool_output("x", output="one"),
        tool_output("x", output="two"),
    )

    assert isinstance(called, Called)
    assert called.outputs == (Output("x", "A", "one"), Output("x", "B", "two"))


@pytest.mark.parametrize("letters", ["a", "uAaa", "uAua", "uAtau"])
def test_an_output_without_its_call_is_refused(letters: str) -> None:
    with pytest.raises(ModelError, match="the output of call id-A has no call before it") as raised:
        _conversation(*_items(letters))

    assert raised.value.kind == "refused request"


def _legal(letters: list[str]) -> list[str]:
    """Leave out what cannot be sent: outputs that have no open call before them, and calls of an open id."""
    kept: list[str] = []
    open_calls: set[str] = set()
    for letter in letters:
        if letter in "uts":
            open_calls.clear()
        elif letter.isupper() and letter not in open_calls:
            open_calls.add(letter)
        elif letter.upper() in open_calls and letter.islower():
            open_calls.discard(letter.upper())
        else:
            continue
        kept.append(letter)
    return kept


@given(st.lists(st.sampled_from("utsAaBbCcDd"), max_size=20).map(_legal))
def test_whatever_the_order_each_call_is_followed_by_one_output(letters: list[str]) -> None:
    conversation = _conversation(*_items("".join(letters)))

    for one in conversation:
        if isinstance(one, Called):
            assert one.calls
            assert sorted(call.call_id for call in one.calls) == sorted(out.call_id for out in one.outputs)
    calls = [call.name for one in conversation if isinstance(one, Called) for call in one.calls]
    outputs = [
        out.name
        for one in conversation
        if isinstance(one, Called)
        for out in one.outputs
        if out.text != NO_OUTPUT
    ]
    assert calls == [letter for letter in letters if letter.isupper()]
    assert outputs == [letter.upper() for letter in letters if letter in "abcd"]


def test_the_record_stays_as_it_is() -> None:
    output: JsonValue = {"data": [1]}
    items = [tool_call("id-A", "A", arguments={"a": 1}), tool_output("id-A", output=output)]
    before = [dict(item) for item in items]

    _conversation(*items)

    assert items == before
