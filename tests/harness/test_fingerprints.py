"""Hashes of prompts and requests: what is kept and fed gives what hashing the whole would give."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.harness.agent import Handoff
from regress_core.harness.fingerprints import (
    MessageHashes,
    hashed_settings,
    hashed_text,
    hashed_tools,
    prompt_hash,
)
from regress_core.models.client import ModelClient, ModelReply, ModelRequest, ToolSpec
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import Item
from tests.harness.support import canonical, run, sha256
from tests.support.harness import agent, asks, call, says, scripted, tool
from tests.support.strategies import JSON_VALUES, KEYS, TEXTS


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),  # FIPS 180-2, B.1
        ("Élan", sha256("Élan")),
        ("a\ud800", sha256("a\ufffd")),
    ],
)
def test_the_hash_of_a_prompt(text: str, digest: str) -> None:
    assert prompt_hash(text) == digest


def json_hash(value: JsonValue) -> str:
    return sha256(canonical(value))


def tools_as_hashed(tools: list[ToolSpec]) -> JsonValue:
    return [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]


class _Capturing:
    """Keeps requests whole, as they were."""

    provider_name = "Capturing"

    def __init__(self, client: ModelClient) -> None:
        self.requests: list[ModelRequest] = []
        self._client = client

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        self.requests.append(replace(request, messages=deepcopy(list(request.messages))))
        return await self._client.complete(request)


def test_every_turn_has_the_hashes_of_its_whole_request() -> None:
    target = agent([tool("other", 2)], name="Target", instructions=None, model="m-2")
    entry = agent(
        [tool("lookup", {"é": [1]}, parameters={"type": "object", "properties": {"q": {"type": "string"}}})],
        model_settings={"top_p": 1, "stop": ["é"]},
        handoffs=[Handoff(target)],
    )
    script = [
        asks(call("lookup", "c1", q="ä"), call("lookup", "c2")),
        asks(call("handoff_to_target", "c3", why="x")),
        asks(call("other", "c4")),
        says("Done."),
    ]
    model = _Capturing(scripted(*script))

    record = run(entry, model).record

    assert len(model.requests) == 4
    for turn, (request, recorded) in enumerate(
        zip(model.requests, record.data["requestFingerprints"], strict=True), start=1
    ):
        messages, tools = list(request.messages), tools_as_hashed(list(request.tools))
        whole: JsonObject = {
            "model": request.model,
            "systemPrompt": request.system_prompt or "",
            "messages": messages,
            "tools": tools,
            "modelSettings": request.settings,
        }
        assert recorded["requestHash"] == json_hash(whole)
        assert recorded["messagesHash"] == json_hash(messages)
        assert recorded["toolsHash"] == json_hash(tools)
        assert recorded["systemPromptHash"] == json_hash(request.system_prompt or "")
        assert recorded["modelSettingsHash"] == json_hash(request.settings)
        assert (recorded["messageCount"], recorded["toolCount"]) == (len(messages), len(request.tools))
        assert (recorded["turn"], recorded["providerName"]) == (turn, "Capturing")
    assert [f["agentName"] for f in record.data["requestFingerprints"]] == [
        "helper",
        "helper",
        "Target",
        "Target",
    ]
    assert [f["messageCount"] for f in record.data["requestFingerprints"]] == [1, 5, 7, 9]


def test_no_settings_and_no_prompt_are_as_good_as_empty_ones() -> None:
    assert hashed_settings(None) == hashed_settings({})
    assert hashed_settings({}).sha256 == json_hash({})
    record = run(agent(instructions=None), [says("Hi.")]).record
    assert record.data["requestFingerprints"][0]["systemPromptHash"] == json_hash("")


def _message(role: Literal["user", "assistant"], content: str) -> Item:
    return {"type": "message", "role": role, "content": content}


def _call(call_id: str, name: str, arguments: JsonValue) -> Item:
    return {"type": "tool_call_item", "callId": call_id, "name": name, "arguments": arguments}


def _output(call_id: str, output: JsonValue, *, is_error: bool) -> Item:
    return {"type": "tool_call_output_item", "callId": call_id, "output": output, "isError": is_error}


ITEMS: st.SearchStrategy[Item] = (
    st.builds(_message, st.sampled_from(("user", "assistant")), TEXTS)
    | st.builds(_call, TEXTS, TEXTS, JSON_VALUES)
    | st.builds(_output, TEXTS, JSON_VALUES, is_error=st.booleans())
)
OBJECTS = st.dictionaries(KEYS, JSON_VALUES, max_size=3)
TOOLS = st.lists(st.builds(ToolSpec, TEXTS, TEXTS, OBJECTS), max_size=2)


@settings(max_examples=100)
@given(
    items=st.lists(ITEMS, max_size=6),
    known=st.integers(0, 6),
    model=TEXTS,
    prompt=TEXTS,
    model_settings=OBJECTS,
    tools=TOOLS,
)
def test_hashes_of_a_growing_conversation_are_those_of_the_whole(
    items: list[Item], known: int, model: str, prompt: str, model_settings: JsonObject, tools: list[ToolSpec]
) -> None:
    hashes = MessageHashes(items[:known])
    for count in range(min(known, len(items)), len(items) + 1):
        so_far = items[:count]
        whole: JsonObject = {
            "model": model,
            "systemPrompt": prompt,
            "messages": so_far,
            "tools": tools_as_hashed(tools),
            "modelSettings": model_settings,
        }
        found = hashes.request_hash(
            model, hashed_settings(model_settings), hashed_text(prompt), hashed_tools(tools)
        )
        assert found == canonical_hash(whole)
        assert hashes.messages_hash() == canonical_hash(so_far)
        if count < len(items):
            hashes.add(items[count])


@pytest.mark.parametrize("output", [float("nan"), [float("inf")]])
def test_an_item_that_json_does_not_hold_is_refused_and_leaves_the_hashes_as_they_were(
    output: JsonValue,
) -> None:
    hashes = MessageHashes([])
    before = hashes.messages_hash()

    with pytest.raises(ValueError, match="NaN and infinities are no JSON values"):
        hashes.add({"type": "tool_call_output_item", "callId": "c1", "output": output})

    assert hashes.messages_hash() == before == json_hash([])
