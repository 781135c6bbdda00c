"""Templates and conditions: what a run's context makes of instructions, in the reference's letters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.harness.descriptor.context_references import declared_references
from regress_core.harness.descriptor.instructions import InstructionTemplate, read_instructions
from regress_core.harness.errors import HarnessError, name_in_record
from regress_core.records.json_io import JsonObject, JsonValue
from tests.support.strategies import TEXTS

REFERENCES = declared_references(
    {
        "a": True,
        "a.b": True,
        "a.b.c": {"type": "string"},
        "list.0": True,
        "list.1.x": True,
        "list.length": True,
        "maybe": {"optional": True},
        "maybe.x": {"optional": True},
        " flag . on ": {"type": "boolean"},
        "off": False,
    }
)


def _render(value: JsonValue, context: JsonValue) -> str | None:
    instructions = read_instructions(value, "router", REFERENCES)
    return instructions.render(context) if isinstance(instructions, InstructionTemplate) else instructions


# A value of the context, and what `{{context.a}}` becomes: ECMA-262's String() for what is no object
# (6.1.6.1.20 for numbers), JSON.stringify for the rest.
VALUES: list[tuple[str, JsonValue, str]] = [
    ("text", "x y", "x y"),
    ("empty", "", ""),
    ("text-with-quotes", '"x"\n', '"x"\n'),
    ("text-of-a-template", "{{context.a}}", "{{context.a}}"),
    ("text-with-backslashes", r"\1 \g<0>", r"\1 \g<0>"),
    ("true", True, "true"),
    ("false", False, "false"),
    ("null", None, "null"),
    ("zero", 0, "0"),
    ("minus-zero", -0.0, "0"),
    ("integer", -12, "-12"),
    ("whole", 1.0, "1"),
    ("fraction", 0.1, "0.1"),
    ("large", 1e20, "100000000000000000000"),
    ("larger", 1e21, "1e+21"),
    ("small", 1e-7, "1e-7"),
    ("beyond-exact", 2**53 + 1, "9007199254740993"),
    ("array", [1, 2.0, "x", None, True, []], '[1,2,"x",null,true,[]]'),
    ("object", {"b": 1, "a": {"y": 1.5, "x": None}}, '{"b":1,"a":{"y":1.5,"x":null}}'),
    ("integer-keys-first", {"b": 1, "10": 2, "9": 3, "01": 4}, '{"9":3,"10":2,"b":1,"01":4}'),
    ("last-integer-key", {"4294967295": 1, "4294967294": 2}, '{"4294967294":2,"4294967295":1}'),
    ("escapes", ['"\\/\b\f\n\r\t\x01\x7f'], '["\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f"]'),
    ("not-ascii", ["caf\u00e9 \u2028"], '["caf\u00e9 \u2028"]'),
    ("lone-surrogate", ["\ud800"], '["\\ud800"]'),
    ("text-of-a-lone-surrogate", "\ud800", "\ud800"),
]


@pytest.mark.parametrize(("value", "text"), [pytest.param(*row[1:], id=row[0]) for row in VALUES])
def test_a_value_is_printed_as_the_reference_prints_it(value: JsonValue, text: str) -> None:
    assert _render("<{{context.a}}>", {"a": value}) == f"<{text}>"


TEMPLATES: list[tuple[str, str, JsonObject, str]] = [
    ("path", "{{context.a.b.c}}", {"a": {"b": {"c": "x"}}}, "x"),
    ("blanks", "{{  context.a \n}}", {"a": "x"}, "x"),
    ("blanks-in-the-path", "{{context. a . b}}", {"a": {"b": "x"}}, "x"),
    ("empty-segments", "{{context..a..b.}}", {"a": {"b": "x"}}, "x"),
    ("twice", "{{context.a}}-{{context.a}}", {"a": 1}, "1-1"),
    ("three-braces", "{{{context.a}}}", {"a": 1}, "{1}"),
    ("list-element", "{{context.list.0}}", {"list": ["x"]}, "x"),
    ("in-a-list-element", "{{context.list.1.x}}", {"list": [0, {"x": 2}]}, "2"),
    ("list-length", "{{context.list.length}}", {"list": [0, 0]}, "2"),
    ("key-length", "{{context.list.length}}", {"list": {"length": 7}}, "7"),
    ("optional-there", "<{{context.maybe}}>", {"maybe": 0}, "<0>"),
    ("optional-absent", "<{{context.maybe}}>", {}, "<>"),
    ("optional-null", "<{{context.maybe}}>", {"maybe": None}, "<null>"),
    ("optional-below-nothing", "<{{context.maybe.x}}>", {}, "<>"),
    ("optional-below-text", "<{{context.maybe.x}}>", {"maybe": "text"}, "<>"),
    ("optional-below-null", "<{{context.maybe.x}}>", {"maybe": None}, "<>"),
    ("optional-below-a-list", "<{{context.maybe.x}}>", {"maybe": [1]}, "<>"),
]


@pytest.mark.parametrize(
    ("template", "context", "text"), [pytest.param(*row[1:], id=row[0]) for row in TEMPLATES]
)
def test_a_place_holds_the_value_its_path_leads_to(template: str, context: JsonObject, text: str) -> None:
    assert _render(template, context) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "{{context}}",
        "{{input.message}}",
        "{{ctx.a}}",
        "{context.a}",
        "{{context.a}",
        "{{Context.a}}",
    ],
)
def test_text_without_places_stays_text(text: str) -> None:
    assert read_instructions(text, "router", REFERENCES) == text


def test_no_instructions_are_none() -> None:
    assert read_instructions(None, "router", REFERENCES) is None


PARTS: list[tuple[str, JsonValue, JsonObject, str]] = [
    ("none", [], {}, ""),
    ("one", [{"text": "x"}], {}, "x"),
    ("paragraphs", [{"text": "x"}, {"text": ""}, {"text": "y{{context.a}}"}], {"a": 1}, "x\n\n\n\ny1"),
    ("on", [{"text": "x"}, {"text": "y", "where": {"context": "flag.on"}}], {"flag": {"on": True}}, "x\n\ny"),
    ("off", [{"text": "x"}, {"text": "y", "where": {"context": "flag.on"}}], {"flag": {"on": False}}, "x"),
    ("all-off", [{"text": "x", "where": {"context": "flag . on"}}], {"flag": {"on": False}}, ""),
    (
        "no-value-needed",
        [{"text": "{{context.a}}", "where": {"context": "flag.on"}}],
        {"flag": {"on": False}},
        "",
    ),
]


@pytest.mark.parametrize(("parts", "context", "text"), [pytest.param(*row[1:], id=row[0]) for row in PARTS])
def test_parts_are_paragraphs_where_their_condition_holds(
    parts: JsonValue, context: JsonObject, text: str
) -> None:
    assert _render(parts, context) == text


_CONDITION: JsonValue = [{"text": "y", "where": {"context": "flag.on"}}]
_REQUIRED = "Harness descriptor instruction could not resolve required context path"
_NO_TEXT = "Harness descriptor instruction context path"
_UNDECIDED = "Harness descriptor instruction where"
ENDS_A_RUN: list[tuple[str, JsonValue, JsonValue, str]] = [
    ("absent", "{{context.a}}", {}, f'{_REQUIRED} "a".'),
    ("absent-below", "{{context.a.b.c}}", {"a": {"b": {}}}, f'{_REQUIRED} "a.b.c".'),
    ("below-text", "{{context.a.b}}", {"a": "text"}, f'{_REQUIRED} "a.b".'),
    ("below-null", "{{context.a.b}}", {"a": None}, f'{_REQUIRED} "a.b".'),
    ("no-such-element", "{{context.list.0}}", {"list": []}, f'{_REQUIRED} "list.0".'),
    ("length-of-text", "{{context.list.length}}", {"list": "text"}, f'{_REQUIRED} "list.length".'),
    ("context-null", "{{context.a}}", None, f'{_REQUIRED} "a".'),
    ("context-text", "{{context.a}}", "a", f'{_REQUIRED} "a".'),
    ("undecided", _CONDITION, {}, f'{_UNDECIDED} could not resolve context path "flag.on".'),
    (
        "condition-null",
        _CONDITION,
        {"flag": {"on": None}},
        f'{_UNDECIDED} context path "flag.on" must resolve to a boolean.',
    ),
    (
        "condition-one",
        _CONDITION,
        {"flag": {"on": 1}},
        f'{_UNDECIDED} context path "flag.on" must resolve to a boolean.',
    ),
    (
        "no-json",
        "{{context.a}}",
        {"a": [object()]},
        f'{_NO_TEXT} "a" has no JSON text: it holds an object of type object',
    ),
    (
        "nan",
        "{{context.a}}",
        {"a": float("nan")},
        f'{_NO_TEXT} "a" has no JSON text: NaN and infinities are no JSON values',
    ),
]


@pytest.mark.parametrize(
    ("instructions", "context", "message"), [pytest.param(*row[1:], id=row[0]) for row in ENDS_A_RUN]
)
def test_a_context_that_lacks_something_ends_the_run(
    instructions: JsonValue, context: JsonValue, message: str
) -> None:
    with pytest.raises(HarnessError) as raised:
        _render(instructions, context)

    assert str(raised.value) == message
    assert name_in_record(raised.value) == "Error"


_PLAIN_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(TEXTS.map(lambda text: f"k{text}"), children, max_size=3)
    ),
    max_leaves=8,
)


@given(_PLAIN_VALUES.filter(lambda value: not isinstance(value, str)))
def test_what_is_printed_reads_back(value: JsonValue) -> None:
    printed = _render("{{context.a}}", {"a": value})

    assert printed is not None
    assert json.loads(printed) == value
    assert list(printed) == list(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) or (
        "\\ud" in printed  # a lone surrogate, which Python writes as it is
    )


@given(st.lists(TEXTS.filter(lambda text: "{{" not in text), max_size=4), TEXTS)
def test_the_text_around_places_stays(texts: list[str], value: str) -> None:
    rendered = _render("{{context.a}}".join(texts), {"a": value})

    assert rendered == value.join(texts)
