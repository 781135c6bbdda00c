"""The descriptor: what is accepted, what each fault is called, what its hash is about."""

from __future__ import annotations

from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.harness.descriptor.descriptor import parse_descriptor
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, JsonValue
from tests.harness.descriptor.descriptors import FULL, PROMPTS, parse, router, small
from tests.support.json_compare import json_difference

ROUTER = 'Harness descriptor agent "router"'


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


# A descriptor with a fault in its outline, and the message.
OUTLINES: list[tuple[str, JsonValue, str]] = [
    ("no-mapping", [1], "Invalid harness descriptor YAML: it is no mapping"),
    ("text", "x", "Invalid harness descriptor YAML: it is no mapping"),
    ("empty", None, "Invalid harness descriptor YAML: it is no mapping"),
    ("no-runtime", {"agents": {"a": {}}}, "Harness descriptor runtime must be an object."),
    ("runtime-list", small(runtime=[]), "Harness descriptor runtime must be an object."),
    ("no-entry", small(runtime={}), "Harness descriptor runtime.entry_agent must be a non-empty string."),
    (
        "blank-entry",
        small(runtime={"entry_agent": " "}),
        "Harness descriptor runtime.entry_agent must be a non-empty string.",
    ),
    (
        "entry-number",
        small(runtime={"entry_agent": 1}),
        "Harness descriptor runtime.entry_agent must be a non-empty string.",
    ),
    (
        "unknown-entry",
        small(runtime={"entry_agent": "nobody"}),
        'Harness descriptor entry_agent "nobody" does not exist.',
    ),
    ("no-agents", {"runtime": {"entry_agent": "a"}}, "Harness descriptor agents must be an object."),
    ("agents-list", small(agents=[{}]), "Harness descriptor agents must be an object."),
    ("agents-empty", small(agents={}), "Harness descriptor agents must not be empty."),
    ("agent-null", small(agents={"router": None}), f"{ROUTER} must be an object."),
    ("agent-text", small(agents={"router": "x"}), f"{ROUTER} must be an object."),
    ("metadata-text", small(metadata="x"), "Harness descriptor metadata must be an object."),
    (
        "metadata-name",
        small(metadata={"name": 3}),
        "Harness descriptor metadata.name must be a string.",
    ),
    (
        "metadata-version",
        small(metadata={"version": [1]}),
        "Harness descriptor metadata.version must be a string or a number.",
    ),
    (
        "metadata-version-boolean",
        small(metadata={"version": True}),
        "Harness descriptor metadata.version must be a string or a number.",
    ),
    (
        "descriptor-version",
        small(descriptor_version={}),
        "Harness descriptor descriptor_version must be a string or a number.",
    ),
    ("tools-null", small(tools=None), "Harness descriptor tools must be an object."),
    ("tools-list", small(tools=["lookup"]), "Harness descriptor tools must be an object."),
    ("tool-number", small(tools={"a": 3}), 'Harness descriptor tool "a" must be an object.'),
    (
        "tool-without-target",
        small(tools={"a": {}}),
        'Harness descriptor tool "a".target must be a non-empty string.',
    ),
    (
        "effect-unknown",
        small(tools={"a": {"target": "t", "effect": "delete"}}),
        'Harness descriptor tool "a".effect must be read or write.',
    ),
    (
        "effect-null",
        small(tools={"a": {"target": "t", "effect": None}}),
        'Harness descriptor tool "a".effect must be read or write.',
    ),
    (
        "effect-list",
        small(tools={"a": {"target": "t", "effect": ["read"]}}),
        'Harness descriptor tool "a".effect must be read or write.',
    ),
    ("parts-list", small(instruction_parts=[]), "Harness descriptor instruction_parts must be an object."),
    ("defaults-text", small(agent_defaults="x"), "Harness descriptor agent_defaults must be an object."),
    ("context-list", small(context=[]), "Harness descriptor context must be an object."),
    (
        "fields-list",
        small(context={"fields": []}),
        "Harness descriptor context.fields must be an object.",
    ),
    (
        "references-text",
        small(context={"references": "x"}),
        "Harness descriptor context.references must be an object.",
    ),
    *(
        (
            f"max-turns-{value!r}",
            small(runtime={"entry_agent": "router", "max_turns": value}),
            "Harness descriptor runtime.max_turns must be a positive whole number.",
        )
        for value in (0, -1, "five", 1.5, True, [1])
    ),
    ("deep", small(x=_nested(101)), "Harness descriptor nests deeper than 100."),
    (
        "merge-key",
        small(agents={"router": {"<<": {"instructions": "x"}}}),
        'The YAML merge key "<<" is not supported',
    ),
]

# Members of the one agent, and the message.
AGENTS: list[tuple[str, JsonObject, str]] = [
    ("name-number", {"name": 3}, f"{ROUTER}.name must be a non-empty string."),
    ("name-blank", {"name": ""}, f"{ROUTER}.name must be a non-empty string."),
    ("description", {"handoffDescription": 1}, f"{ROUTER}.handoffDescription must be a string."),
    ("model-number", {"model": 5}, f"{ROUTER}.model must be a non-empty string."),
    ("model-blank", {"model": " "}, f"{ROUTER}.model must be a non-empty string."),
    ("settings-text", {"modelSettings": "x"}, f"{ROUTER}.modelSettings must be an object."),
    ("settings-list", {"modelSettings": []}, f"{ROUTER}.modelSettings must be an object."),
    ("tools-text", {"tools": "lookup"}, f"{ROUTER}.tools must be an array."),
    ("tools-number", {"tools": [3]}, f"{ROUTER}.tools[0] must be a non-empty string."),
    ("tools-unknown", {"tools": ["nope"]}, 'Harness descriptor references unknown tool "nope".'),
    ("tools-of-an-object", {"tools": ["get"]}, 'Harness descriptor references unknown tool "get".'),
    ("handoffs-number", {"handoffs": 5}, f"{ROUTER}.handoffs must be an array."),
    ("handoffs-null", {"handoffs": None}, f"{ROUTER}.handoffs must be an array."),
    ("handoff-null", {"handoffs": [None]}, f"{ROUTER}.handoffs[0] must be a non-empty string or an object."),
    ("handoff-blank", {"handoffs": [" "]}, f"{ROUTER}.handoffs[0] must be a non-empty string."),
    (
        "handoff-no-agent",
        {"handoffs": ["router", {}]},
        f"{ROUTER}.handoffs[1].agent must be a non-empty string.",
    ),
    (
        "handoff-where-null",
        {"handoffs": [{"agent": "router", "where": None}]},
        f"{ROUTER}.handoffs[0].where must be an object.",
    ),
    (
        "handoff-where-empty",
        {"handoffs": [{"agent": "router", "where": {}}]},
        f"{ROUTER}.handoffs[0].where.context must be a non-empty string.",
    ),
    (
        "handoff-unknown",
        {"handoffs": ["ghost"]},
        'Harness descriptor references unknown handoff agent "ghost" from "router".',
    ),
    (
        "handoff-undeclared",
        {"handoffs": [{"agent": "router", "where": {"context": "vip"}}]},
        'Agent "router" handoff "router" where references undeclared context path "vip".',
    ),
    (
        "handoff-bad-path",
        {"handoffs": [{"agent": "router", "where": {"context": "a b"}}]},
        'Agent "router" handoff "router" where.context path contains invalid segment "a b".',
    ),
    ("instructions", {"instructions": 7}, f"{ROUTER}.instructions must be a string or an array."),
    ("part-text", {"instructions": ["x"]}, 'Agent "router" instructions[0] must be an object.'),
    (
        "part-without-text",
        {"instructions": [{"text": "a"}, {"txt": "b"}]},
        'Agent "router" instructions[1].text must be a string.',
    ),
    (
        "part-where",
        {"instructions": [{"text": "a", "where": "vip"}]},
        'Agent "router" instructions[0].where must be an object.',
    ),
    (
        "part-where-number",
        {"instructions": [{"text": "a", "where": {"context": 1}}]},
        'Agent "router" instructions[0].where.context must be a non-empty string.',
    ),
    (
        "part-undeclared",
        {"instructions": [{"text": "a", "where": {"context": "vip"}}]},
        'Agent "router" instruction where references undeclared context path "vip".',
    ),
    (
        "undeclared",
        {"instructions": "Hi {{ context.customer.name }}."},
        'Agent "router" instruction references undeclared context path "customer.name".',
    ),
    (
        "no-expression",
        {"instructions": "{{context.a ?? b}}"},
        'Context prompt placeholder "{{context.a ?? b}}" contains invalid segment "a ?? b".',
    ),
    (
        "empty-path",
        {"instructions": "{{context. . }}"},
        'Context prompt placeholder "{{context. . }}" cannot be empty.',
    ),
]

# Members of `context.references` or `context.fields`, and the message.
CONTEXTS: list[tuple[str, JsonObject, str]] = [
    (
        "reference-text",
        {"references": {"a": "boolean"}},
        'Context reference "a" must be true, false, or an object.',
    ),
    (
        "reference-null",
        {"references": {"a": None}},
        'Context reference "a" must be true, false, or an object.',
    ),
    ("reference-one", {"references": {"a": 1}}, 'Context reference "a" must be true, false, or an object.'),
    (
        "optional-text",
        {"references": {"a": {"optional": "no"}}},
        'Context reference "a".optional must be true or false.',
    ),
    (
        "reference-segment",
        {"references": {"a.b c": True}},
        'Context reference path contains invalid segment "b c".',
    ),
    ("reference-empty", {"references": {" . ": True}}, "Context reference path cannot be empty."),
    ("field-text", {"fields": {"a": "string"}}, 'Harness descriptor context field "a" must be an object.'),
    ("field-null", {"fields": {"a": None}}, 'Harness descriptor context field "a" must be an object.'),
    ("field-empty", {"fields": {"..": {"default": 1}}}, "Context field path cannot be empty."),
    (
        "field-in-list",
        {"fields": {"a": {"default": [1]}, "a.b": {"default": 2}}},
        'Context field "a.b" lies inside a list, the default of another field.',
    ),
    ("field-deep", {"fields": {".".join("a" * 300): {"default": 1}}}, "Context nests deeper than 100."),
]


def _message(data: JsonValue) -> str:
    with pytest.raises(InputError) as raised:
        parse(data)
    assert raised.value.file == "d.yaml"
    assert "\n" not in str(raised.value)
    return raised.value.message


@pytest.mark.parametrize(("data", "message"), [pytest.param(*row[1:], id=row[0]) for row in OUTLINES])
def test_a_fault_of_the_outline_is_named(data: JsonValue, message: str) -> None:
    assert _message(data) == message


@pytest.mark.parametrize(("members", "message"), [pytest.param(*row[1:], id=row[0]) for row in AGENTS])
def test_a_fault_of_an_agent_is_named(members: JsonObject, message: str) -> None:
    assert _message(router(**members)) == message


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"model": 5}, "Harness descriptor agent_defaults.model must be a non-empty string."),
        ({"modelSettings": 1}, "Harness descriptor agent_defaults.modelSettings must be an object."),
        ({"instructions": 7}, "Harness descriptor agent_defaults.instructions must be a string or an array."),
        (
            {"instructions": "{{context.x}}"},
            'Agent "router" instruction references undeclared context path "x".',
        ),
    ],
)
def test_a_fault_of_the_defaults_is_named(members: JsonObject, message: str) -> None:
    assert _message(small(agent_defaults=members)) == message


@pytest.mark.parametrize(("context", "message"), [pytest.param(*row[1:], id=row[0]) for row in CONTEXTS])
def test_a_fault_of_the_context_is_named(context: JsonObject, message: str) -> None:
    assert _message(small(context=context)) == message


def test_a_tool_listed_twice_is_refused() -> None:
    data = router(tools=["a", "a"]) | {"tools": {"a": {"target": "t"}}}

    assert _message(data) == f'{ROUTER}.tools names the tool "a" twice.'


def test_an_agent_without_any_name_is_refused() -> None:
    data = small(runtime={"entry_agent": "a"}, agents={"a": {}, "": {}})

    assert _message(data) == 'Harness descriptor agent "".name must be a non-empty string.'


def test_a_fault_of_the_yaml_is_named_by_its_line() -> None:
    with pytest.raises(InputError) as raised:
        parse_descriptor("runtime:\n  entry_agent: a\n  entry_agent: b\n", source="d.yaml")

    assert str(raised.value).startswith("d.yaml: line 3, column 3: ")


# Where null is as good as absent, as in the reference.
NULLS: list[JsonObject] = [
    router(name=None, handoffDescription=None, instructions=None, model=None, modelSettings=None, tools=None),
    small(agent_defaults={"model": None, "modelSettings": None, "instructions": None}),
    small(runtime={"entry_agent": "router", "max_turns": None}),
    small(metadata={"name": None, "version": None}, descriptor_version=None),
    small(context={"references": {"a": {"optional": None, "type": None}}}),
]


@pytest.mark.parametrize("data", NULLS)
def test_null_stands_for_nothing(data: JsonObject) -> None:
    descriptor = parse(data)

    assert descriptor.agents[0].name == "router"
    assert (descriptor.label, descriptor.max_turns) == (None, None)
    assert descriptor.metadata == {"descriptorHash": descriptor.descriptor_hash}


def test_what_a_descriptor_says_about_itself() -> None:
    descriptor = parse(FULL, PROMPTS)

    assert (descriptor.name, descriptor.version, descriptor.label) == ("support", "3", "support@3")
    assert (descriptor.entry_agent, descriptor.max_turns) == ("router", 4)
    assert descriptor.effects == {"lookup": "read", "refund": "write"}
    assert descriptor.metadata == {
        "name": "support",
        "version": "3",
        "descriptorVersion": "v0",
        "descriptorHash": descriptor.descriptor_hash,
    }


@pytest.mark.parametrize(
    ("metadata", "version", "label"),
    [
        ({"name": "a", "version": "1.0"}, "1.0", "a@1.0"),
        ({"name": "a", "version": 2}, "2", "a@2"),
        ({"name": "a", "version": 1.0}, "1", "a@1"),
        ({"name": "a", "version": 1.5}, "1.5", "a@1.5"),
        ({"name": "a"}, None, None),
        ({"version": "1"}, "1", None),
        ({"name": "a", "version": ""}, "", None),
        ({"name": "", "version": "1"}, "1", None),
    ],
)
def test_versions_and_labels(metadata: JsonObject, version: str | None, label: str | None) -> None:
    descriptor = parse(small(metadata=metadata))

    assert (descriptor.version, descriptor.label) == (version, label)


@pytest.mark.parametrize(("value", "turns"), [(1, 1), (3.0, 3), (10**6, 10**6)])
def test_max_turns(value: float, turns: int) -> None:
    assert parse(small(runtime={"entry_agent": "router", "max_turns": value})).max_turns == turns


def test_nesting_has_a_limit_that_is_far_off() -> None:
    assert parse(small(x=_nested(99))).data["x"] == _nested(99)


def test_unknown_keys_are_kept_and_hashed() -> None:
    data = small(extra={"x": [1]}, metadata={"owner": "me"}, agents={"router": {"note": "n"}})

    descriptor = parse(data)

    assert json_difference(data, descriptor.data, null_is_absent=False) is None
    assert descriptor.descriptor_hash == f"sha256:{canonical_hash(data)}"


def test_effects_are_no_part_of_the_hash() -> None:
    bare: Any = {"a": {"target": "t", "effects": 1}, "b": {"target": "u"}}
    declared: Any = {"a": {"effect": "write", **bare["a"]}, "b": {"effect": "read", **bare["b"]}}

    with_effects = parse(small(tools=declared))

    assert with_effects.descriptor_hash == parse(small(tools=bare)).descriptor_hash
    assert with_effects.data["tools"] == declared


def test_the_text_of_a_prompt_file_is_part_of_the_hash() -> None:
    data = router(instructions_file="a.md")

    first, second = (parse(data, {"a.md": text}) for text in ("one", "two"))

    assert first.descriptor_hash != second.descriptor_hash
    assert first.descriptor_hash == parse(router(instructions="one")).descriptor_hash
