"""Whatever stands in a descriptor: it is a harness that runs, or one line that says why not."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.harness.descriptor.build import Harness, build_harness
from regress_core.harness.descriptor.descriptor import HarnessDescriptor, parse_descriptor
from regress_core.harness.descriptor.values import is_array, is_object
from regress_core.harness.errors import HarnessError
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.descriptor.descriptors import FULL, PROMPTS, parse
from tests.support.strategies import JSON_VALUES

Step = str | int
_WORDS = st.sampled_from(
    [
        *("", " ", "router", "refunds", "lookup", "customer.verified", "customer", "a.b", "..", "a b", "<<"),
        *("boolean", "read", "write", "prompts/router.md", "../x", "/x", "x\0", "{{context.note}}"),
        *("{{context.customer.name}}", "{{context.hidden}}", "{{context. }}", "{{input.message}}"),
    ]
)
_KEYS = st.sampled_from(
    [
        *("name", "model", "modelSettings", "tools", "handoffs", "instructions", "instructions_file"),
        *("instructions_files", "instructions_sequence", "text", "ref", "file", "where", "context", "agent"),
        *(
            "target",
            "effect",
            "default",
            "type",
            "optional",
            "entry_agent",
            "max_turns",
            "references",
            "fields",
        ),
    ]
)
_NEW_VALUES: st.SearchStrategy[JsonValue] = (
    JSON_VALUES
    | _WORDS
    | st.lists(_WORDS, max_size=2)
    | st.dictionaries(_KEYS, _WORDS | JSON_VALUES, max_size=2)
)


def _places(value: JsonValue) -> list[tuple[Step, ...]]:
    """Give the path of every value below this one."""
    members: dict[Step, JsonValue] = {}
    if is_object(value):
        members = {**value}
    elif is_array(value):
        members = dict(enumerate(value))
    return [
        path
        for step, child in members.items()
        for path in ((step,), *((step, *rest) for rest in _places(child)))
    ]


_PLACES = _places(FULL)


@st.composite
def _mutants(draw: st.DrawFn) -> JsonObject:
    """Draw descriptors in which one to three values are another one, gone, or under another key."""
    data = copy.deepcopy(FULL)
    for path in draw(st.lists(st.sampled_from(_PLACES), min_size=1, max_size=3)):
        owner: Any = data
        try:
            for step in path[:-1]:
                owner = owner[step]
            value: JsonValue = owner.pop(path[-1])
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took it away
        change = draw(st.sampled_from(["replace", "remove", "rename"]))
        if change == "remove":
            continue
        new = draw(_NEW_VALUES) if change == "replace" else value
        if is_array(owner):
            owner.insert(int(path[-1]), new)
        else:
            owner[draw(_WORDS | _KEYS) if change == "rename" else path[-1]] = new
    return data


def _loaded(data: JsonValue) -> HarnessDescriptor | InputError:
    try:
        return parse(data, PROMPTS)
    except InputError as error:
        return error


def _built(descriptor: HarnessDescriptor) -> Harness | InputError:
    tools = {
        tool["target"]: Tool(tool_id, "", lambda arguments, _: arguments)
        for tool_id, tool in descriptor.data.get("tools", {}).items()
    }
    try:
        return build_harness(descriptor, tools)
    except InputError as error:
        return error


def _is_one_line(error: InputError) -> bool:
    return error.file == "d.yaml" and len(str(error).splitlines()) == 1


def _run(harness: Harness) -> None:
    """Ask everything of the harness that a run asks."""
    run = RunContext(harness.create_context("hi", now="2026-01-01T00:00:00.000Z"))
    canonical_hash([run.context, harness.metadata])
    for agent in harness.agents.values():
        assert agent.name.strip()
        canonical_hash([agent.model, agent.model_settings or {}])
        try:
            if callable(agent.instructions):
                assert isinstance(agent.instructions(run), str)
            for rule in agent.handoffs:
                assert rule.enabled is None or rule.enabled(run) in {True, False}
        except HarnessError:
            pass  # the context lacks what the mutant asks for


@settings(max_examples=300)
@given(_mutants())
def test_a_mutant_is_a_harness_or_one_line(data: JsonObject) -> None:
    descriptor = _loaded(data)
    if isinstance(descriptor, InputError):
        assert _is_one_line(descriptor)
        return
    harness = _built(descriptor)
    if isinstance(harness, InputError):  # two keys of one target
        assert "has two tools named" in str(harness)
        return
    _run(harness)


@given(JSON_VALUES)
def test_any_value_is_refused_in_one_line(data: JsonValue) -> None:
    found = _loaded(data)

    assert isinstance(found, InputError)
    assert _is_one_line(found)


@given(st.text(max_size=60))
def test_any_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_descriptor(text)

    assert len(str(raised.value).splitlines()) == 1
