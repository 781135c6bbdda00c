"""Arguments: JSON text and Python-repr text become values, everything else stays what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.arguments import parse_arguments
from regress_core.records.json_io import JsonValue, dumps
from tests.support.strategies import JSON_VALUES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [true, null, 1.5]}', {"a": 1, "b": [True, None, 1.5]}),
        (' {"a": "\\ud800\\u0000"} ', {"a": "\ud800\x00"}),
        ("[1]", [1]),
        ("5", 5),
        ('"x"', "x"),
        ("null", None),
        ("{'a': True, 'b': None, 'c': (1, -2.5), 'd': {'e': 'it\\'s'}}",
         {"a": True, "b": None, "c": [1, -2.5], "d": {"e": "it's"}}),
        (" ['x', False]\n", ["x", False]),
        ("{}", {}),
        (r"{'a': '\d'}", {"a": "\\d"}),
    ],
)  # fmt: skip
def test_parsed(text: str, value: JsonValue) -> None:
    assert parse_arguments(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        "{'a': 1, 'a': 2}",
        "{'a': 1, 'b': {'c': 1, 'c': 1}}",
        "{1: 2}",
        "{'a': {1, 2}}",
        "{'a'}",
        "{'a': b'x'}",
        "{'a': 1e999}",
        "{'a': 1+2j}",
        "{'a': ...}",
        "{'a': -True}",
        "{'a': f()}",
        "{**x}",
        "[x for x in y]",
        "('a', 1)",
        "'a'",
        "True",
        "{'a': 0x" + "f" * 5000 + "}",
        "{'a': 1" + "0" * 5000 + "}",
        "{'a': '\x00'}",
        "[" * 5000,
        "[" * 150 + "]" * 149,
        "{'a': '\ud800'}",
        "__import__('os')",
        "[" + "-" * 5000 + "1]",
    ],
)
def test_kept_as_text(text: str) -> None:
    assert parse_arguments(text) == text


def test_nesting_beyond_what_json_can_be_read_at_stays_text() -> None:
    text = "[" * 3000 + "]" * 3000
    assert parse_arguments(text) == text


@given(JSON_VALUES.filter(lambda value: not isinstance(value, str)))
def test_what_is_no_text_stays(value: JsonValue) -> None:
    assert parse_arguments(value) is value


@given(JSON_VALUES)
def test_json_text_gives_its_value(value: JsonValue) -> None:
    assert parse_arguments(dumps(value).decode()) == value


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _PLAIN, max_size=3) | st.lists(_PLAIN, max_size=3))
def test_repr_text_gives_its_value(value: JsonValue) -> None:
    assert parse_arguments(repr(value)) == value


@given(st.text(alphabet="{}[]()'\"\\:,-1ae. \n\x00", max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    dumps(parse_arguments(text))
