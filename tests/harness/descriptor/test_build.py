"""The harness of a descriptor: agents with their tools and handoffs, and the context of a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.harness.descriptor.build import Harness, build_harness
from regress_core.harness.errors import HarnessError, name_in_record
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.descriptor.descriptors import FULL, PROMPTS, TOOLS, parse, router, small
from tests.support.strategies import JSON_VALUES

NOW = "2026-01-01T00:00:00.000Z"


def _full() -> Harness:
    return build_harness(parse(FULL, PROMPTS), TOOLS)


def _tool(name: str) -> Tool:
    return Tool(name, "", lambda arguments, _: arguments)


def test_agents_have_what_the_descriptor_gives_them() -> None:
    harness = _full()

    found = {
        agent_id: (agent.name, agent.handoff_description, agent.model, agent.model_settings)
        for agent_id, agent in harness.agents.items()
    }
    assert found == {
        "router": ("Router", "Routes.", "p:small", {"temperature": 0}),
        "refunds": ("refunds", "", "p:small", {"temperature": 0}),
        "billing": ("billing", "", "p:large", {}),
    }
    assert harness.entry_agent is harness.agents["router"]
    assert harness.max_turns == 4
    assert harness.metadata["descriptorHash"] == harness.descriptor_hash


def test_tools_are_the_registrys_own() -> None:
    agents = _full().agents

    assert {agent_id: list(agent.tools) for agent_id, agent in agents.items()} == {
        "router": [TOOLS["app://lookup"]],
        "refunds": [TOOLS["app://lookup"], TOOLS["app://refund"]],
        "billing": [],
    }


def test_handoffs_lead_in_circles() -> None:
    agents = _full().agents

    assert [rule.agent for rule in agents["router"].handoffs] == [agents["refunds"], agents["billing"]]
    assert [rule.agent for rule in agents["billing"].handoffs] == [agents["router"]]


def test_instructions_are_rendered_for_the_context_of_the_run() -> None:
    harness = _full()
    run = RunContext(
        harness.create_context(now=NOW, overrides={"customer": {"verified": False}, "note": "!"})
    )

    rendered = {
        agent_id: agent.instructions(run) if callable(agent.instructions) else agent.instructions
        for agent_id, agent in harness.agents.items()
    }

    assert rendered == {
        "router": "Be brief.\n\nHello Ada.\n\nRoute.",
        "refunds": "Refund!.",
        "billing": "Help.",
    }


@pytest.mark.parametrize("verified", [True, False])
def test_a_handoff_is_offered_where_its_condition_holds(verified: bool) -> None:  # noqa: FBT001 - a parameter of the table
    always, sometimes = _full().entry_agent.handoffs

    assert always.enabled is None
    assert sometimes.enabled is not None
    assert sometimes.enabled(RunContext({"customer": {"verified": verified}})) is verified


@pytest.mark.parametrize(
    ("context", "fault"),
    [
        ({}, 'could not resolve context path "customer.verified".'),
        (
            {"customer": {"verified": "yes"}},
            'context path "customer.verified" must resolve to a boolean.',
        ),
    ],
)
def test_a_handoff_that_cannot_be_decided_ends_the_run(context: JsonObject, fault: str) -> None:
    condition = _full().entry_agent.handoffs[1].enabled
    assert condition is not None

    with pytest.raises(HarnessError) as raised:
        condition(RunContext(context))

    assert str(raised.value) == f'Harness descriptor handoff "router" to "billing" where {fault}'
    assert name_in_record(raised.value) == "Error"


def test_a_missing_target_is_named() -> None:
    tools = {target: tool for target, tool in TOOLS.items() if target != "app://refund"}

    with pytest.raises(InputError) as raised:
        build_harness(parse(FULL, PROMPTS), tools)

    assert str(raised.value) == (
        'd.yaml: Harness registry is missing target "app://refund" for tool "refund"; '
        "have the adapter's create_tools give it"
    )


def test_two_tools_of_one_name_are_refused() -> None:
    data = router(tools=["a", "b"]) | {"tools": {"a": {"target": "t"}, "b": {"target": "u"}}}

    with pytest.raises(InputError) as raised:
        build_harness(parse(data), {"t": _tool("find"), "u": _tool("find")})

    assert str(raised.value) == (
        'd.yaml: Harness descriptor agent "router" has two tools named "find"; '
        "give them different names, or take one away"
    )


def _context(
    fields: Mapping[str, JsonValue], overrides: JsonObject | None = None, message: str = ""
) -> JsonObject:
    declared = {path: {"default": default} for path, default in fields.items()}
    harness = build_harness(parse(small(context={"fields": declared})), {})
    return harness.create_context(message, now=NOW, overrides=overrides)


# The defaults of the fields, what is put over them, and the context.
CONTEXTS: list[tuple[str, JsonObject, JsonObject | None, JsonObject]] = [
    ("nothing", {}, None, {}),
    ("values", {"a": 1, "b": None, "c": [1]}, None, {"a": 1, "b": None, "c": [1]}),
    ("paths", {"a.b.c": 1, "a.d": 2}, None, {"a": {"b": {"c": 1}, "d": 2}}),
    ("empty-segments", {".a..b.": 1}, None, {"a": {"b": 1}}),
    ("blanks-are-part-of-a-key", {"a. b": 1}, None, {"a": {" b": 1}}),
    ("into-a-default", {"a": {"x": 1}, "a.y": 2}, None, {"a": {"x": 1, "y": 2}}),
    ("over-a-default", {"a.y": 2, "a": {"x": 1}}, None, {"a": {"x": 1}}),
    ("through-a-value", {"a": 1, "a.b": 2}, None, {"a": {"b": 2}}),
    ("through-null", {"a": None, "a.b": 2}, None, {"a": {"b": 2}}),
    ("message", {"a": "{{input.message}}"}, None, {"a": "hi"}),
    ("time", {"a": "{{runtime.now_iso}}"}, None, {"a": NOW}),
    ("no-template", {"a": "x {{input.message}}"}, None, {"a": "x {{input.message}}"}),
    ("inside-a-default", {"a": ["{{input.message}}"]}, None, {"a": ["{{input.message}}"]}),
    ("override", {"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
    ("override-null", {"a": {"b": 1}}, {"a": None}, {"a": None}),
    ("override-deep", {"a.b": 1, "a.c": 2}, {"a": {"b": {"d": 3}}}, {"a": {"b": {"d": 3}, "c": 2}}),
    ("override-list", {"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ("override-object-by-list", {"a": {"b": 1}}, {"a": [3]}, {"a": [3]}),
    ("override-list-by-object", {"a": [3]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("override-is-no-path", {"a.b": 1}, {"a.b": 2}, {"a": {"b": 1}, "a.b": 2}),
    ("override-is-no-template", {}, {"a": "{{input.message}}"}, {"a": "{{input.message}}"}),
]


@pytest.mark.parametrize(
    ("fields", "overrides", "expected"), [pytest.param(*row[1:], id=row[0]) for row in CONTEXTS]
)
def test_the_context_of_a_run(fields: JsonObject, overrides: JsonObject | None, expected: JsonObject) -> None:
    assert _context(fields, overrides, "hi") == expected


def test_a_field_without_default_is_not_there() -> None:
    data = small(context={"fields": {"a": {"type": "string"}, "b.c": {}}})

    assert build_harness(parse(data), {}).create_context(now=NOW) == {}


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 678999, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-01T22:00:00.000Z"),
        ("yesterday", "yesterday"),
    ],
)
def test_the_time_is_the_one_given(now: datetime | str, text: str) -> None:
    data = small(context={"fields": {"at": {"default": "{{runtime.now_iso}}"}}})

    assert build_harness(parse(data), {}).create_context(now=now) == {"at": text}


def test_a_time_without_a_timezone_is_refused() -> None:
    with pytest.raises(ValueError, match="timezone"):
        _full().create_context(now=datetime(2026, 1, 1))  # noqa: DTZ001 - what is refused


def test_contexts_are_apart() -> None:
    harness = build_harness(parse(small(context={"fields": {"a": {"default": {"b": [1]}}}})), {})
    overrides: JsonObject = {"c": {"d": [1]}}

    changed = harness.create_context(now=NOW, overrides=overrides)
    changed["a"]["b"].append(2)
    changed["c"]["d"].append(2)

    assert harness.create_context(now=NOW, overrides=overrides) == {"a": {"b": [1]}, "c": {"d": [1]}}


@given(st.dictionaries(st.text(min_size=1), JSON_VALUES, max_size=4))
def test_overrides_alone_are_the_context(overrides: JsonObject) -> None:
    assert _context({}, overrides) == overrides
