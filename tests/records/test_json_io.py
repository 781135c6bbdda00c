"""Strict JSON: what is kept, what is refused, and the path that names the fault."""

from __future__ import annotations

import math
import sys
from typing import Any, cast

import pytest
from hypothesis import given

from regress_core.records.json_io import (
    JsonError,
    JsonValue,
    child_path,
    clean_text,
    dumps,
    escape_lone_surrogates,
    loads,
)
from tests.support.json_compare import json_difference
from tests.support.strategies import JSON_VALUES

READ: list[tuple[str, bytes | str, JsonValue]] = [
    ("bytes", b'{"a": [1, 2.5, true, false, null, "x"]}', {"a": [1, 2.5, True, False, None, "x"]}),
    ("text", ' "x" ', "x"),
    ("byte-order-mark", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    ("utf-8", b'"caf\xc3\xa9 \xf0\x9f\x98\x80"', "caf\u00e9 \U0001f600"),
    ("escaped-pair", r'"\ud83d\ude00"', "\U0001f600"),
    ("escaped-lone-surrogate", r'"\ud800"', "\ud800"),
    ("nul", r'"\u0000"', "\x00"),
    ("same-key-in-two-objects", '[{"a": 1}, {"a": {"a": 2}}]', [{"a": 1}, {"a": {"a": 2}}]),
    ("keys-of-two-cases", '{"a": 1, "A": 2}', {"a": 1, "A": 2}),
    ("exponent", "1e2", 100.0),
    ("largest-double", "1.7976931348623157e308", 1.7976931348623157e308),
    ("underflow", "1e-999", 0.0),
    ("empty-key", '{"": 1}', {"": 1}),
]

FAULTY: list[tuple[str, str, str]] = [
    ("nan", "NaN", "$"),
    ("nan-in-member", '{"a": NaN}', "$.a"),
    ("infinity", '[1, {"b": [Infinity]}]', "$[1].b[0]"),
    ("minus-infinity", '{"a": {"b": -Infinity}}', "$.a.b"),
    ("beyond-a-double", "1e999", "$"),
    ("below-a-double", '{"x": [-1e999]}', "$.x[0]"),
    ("odd-key", '{"odd key": NaN}', "$['odd key']"),
    ("key-twice", '{"a": 1, "a": 2}', "$.a"),
    ("key-twice-same-value", '{"a": 1, "b": 2, "a": 1}', "$.a"),
    ("key-twice-deep", '{"l": [{"k": 1}, {"k": 1, "k": 2}]}', "$.l[1].k"),
    ("key-twice-by-escape", r'{"a": 1, "\u0061": 2}', "$.a"),
    ("first-of-two", "[0, NaN, 1e999]", "$[1]"),
    ("inside-before-outside", '{"a": {"k": 1, "k": 2}, "a": 3}', "$.a.k"),
    ("beside-a-good-float", "[1.5, 1e999]", "$[1]"),
]

NO_JSON: list[tuple[str, bytes | str]] = [
    ("empty", b""),
    ("blank", " \n"),
    ("word", "nul"),
    ("single-quotes", "{'a': 1}"),
    ("trailing-comma", "[1,]"),
    ("no-value", '{"a"}'),
    ("unfinished", '{"a": [1'),
    ("raw-tab", '"\t"'),
    ("leading-zero", "01"),
    ("plus", "+1"),
    ("bare-point", "1."),
    ("two-values", "1 2"),
    ("json-lines", b'{"a": 1}\n{"a": 2}\n'),
    ("comment", "1 // one"),
    ("nan-in-lower-case", "nan"),
    ("not-utf-8", b'"\xff"'),
    ("utf-16", '"a"'.encode("utf-16")),
    ("surrogate-as-bytes", b'"\xed\xa0\x80"'),
    ("nests-too-deeply", "[" * 200_000),
    ("nests-too-deeply-closed", '{"a":' * 200_000 + "1" + "}" * 200_000),
    ("more-digits-than-python-converts", "1" * 5000),
]

# The first fault is one that the second, tolerant reading is for; the second fault stops that reading.
TWO_FAULTS: list[tuple[str, str]] = [
    ("nan-then-no-json", "[NaN, x]"),
    ("key-twice-then-no-json", '[{"a": 1, "a": 2}, x]'),
    ("overflow-then-unfinished", '{"a": 1e999'),
    ("nan-then-deep", "[NaN, " + "[" * 200_000),
    ("nan-then-many-digits", "[NaN, " + "1" * 5000 + "]"),
]


@pytest.mark.parametrize(("data", "value"), [pytest.param(*row[1:], id=row[0]) for row in READ])
def test_what_is_read(data: bytes | str, value: JsonValue) -> None:
    assert json_difference(value, loads(data), null_is_absent=False) is None


@pytest.mark.parametrize(("text", "path"), [pytest.param(*row[1:], id=row[0]) for row in FAULTY])
def test_a_refused_value_is_named_by_its_path(text: str, path: str) -> None:
    for data in (text, text.encode()):
        with pytest.raises(JsonError) as raised:
            loads(data)
        assert raised.value.path == path
        assert raised.value.reason
        assert str(raised.value) == f"{path}: {raised.value.reason}"


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in NO_JSON])
def test_what_is_no_json_is_refused_as_a_whole(data: bytes | str) -> None:
    with pytest.raises(JsonError) as raised:
        loads(data)

    assert raised.value.path == "$"


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TWO_FAULTS])
def test_of_two_faults_one_is_named(text: str) -> None:
    with pytest.raises(JsonError):
        loads(text)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ('{\n"a": tru}', ["line 2", "column 6"]),
        (b'{"a": 1,\n "b": \xff}', ["UTF-8", "byte 15"]),
        ("[" * 200_000, ["deep"]),
        ('{"a": 1, "a": 2}', ["key", "twice"]),
        ("[NaN]", ["NaN"]),
    ],
    ids=["no-json", "no-utf-8", "deep", "twice", "nan"],
)
def test_the_reason_says_where_and_why(data: bytes | str, parts: list[str]) -> None:
    with pytest.raises(JsonError) as raised:
        loads(data)

    for part in parts:
        assert part in raised.value.reason


def test_integers_keep_all_their_digits() -> None:
    digits = "1234567890" * 400

    assert loads(f"[{digits}, -{digits}]") == [int(digits), -int(digits)]
    assert dumps(int(digits)) == digits.encode()


def test_an_integer_is_no_float_and_a_float_no_integer() -> None:
    assert [type(number) for number in loads("[1, 1.0, 1e0, -0, -0.0]")] == [int, float, float, int, float]


def test_key_order_is_kept_both_ways() -> None:
    text = b'{"z":1,"a":{"10":1,"9":2},"m":[{"b":1,"a":2}]}'

    assert list(loads(text)) == ["z", "a", "m"]
    assert dumps(loads(text)) == text


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"b": [1, 2.0, None], "a": True}, b'{"b":[1,2.0,null],"a":true}'),
        ("caf\u00e9", b'"caf\xc3\xa9"'),
        ("\u2028", b'"\xe2\x80\xa8"'),
        ("\ud800", rb'"\ud800"'),
        ("\u00e9\udfff", b'"\xc3\xa9\\udfff"'),
        ({"\ud800": 1}, rb'{"\ud800":1}'),
        (r"\ud800", rb'"\\ud800"'),
        ("\x00\x1b", rb'"\u0000\u001b"'),
        (5e-324, b"5e-324"),
    ],
)
def test_what_is_written(value: JsonValue, data: bytes) -> None:
    assert dumps(value) == data


def test_what_is_written_with_an_indent() -> None:
    assert dumps({"b": [1], "a": {}}, indent=2) == b'{\n  "b": [\n    1\n  ],\n  "a": {}\n}'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_not_written(number: float) -> None:
    with pytest.raises(ValueError, match=r"JSON|float"):
        dumps({"a": [number]})


@pytest.mark.parametrize("value", [b"x", {1}, 1j, {"a": b"x"}, {("a",): 1}], ids=repr)
def test_what_is_no_json_is_not_written(value: JsonValue) -> None:
    with pytest.raises(TypeError):
        dumps(value)


@given(JSON_VALUES)
def test_what_is_written_reads_back_equal_and_in_order(value: JsonValue) -> None:
    for indent in (None, 1):
        read = loads(dumps(value, indent=indent))
        assert json_difference(value, read, null_is_absent=False) is None
        assert _keys(read) == _keys(value)


def _keys(value: JsonValue) -> list[Any]:
    if isinstance(value, dict):
        return [(key, _keys(child)) for key, child in cast("dict[str, Any]", value).items()]
    return [_keys(child) for child in cast("list[Any]", value)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain", "plain"),
        ("\u00e9\U0001f600\uffff", "\u00e9\U0001f600\uffff"),
        ("\ud800", r"\ud800"),
        ("a\udfffb\udbff", r"a\udfffb\udbff"),
    ],
)
def test_lone_surrogates_are_escaped_in_lower_case(text: str, escaped: str) -> None:
    assert escape_lone_surrogates(text) == escaped


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("plain\x00\x1b", "plain\x00\x1b"),
        ("\u00e9\U0001f600", "\u00e9\U0001f600"),
        ("\ud800", "\ufffd"),
        ("a\udfffb\udbff", "a\ufffdb\ufffd"),
        ("\ud7ff\ue000", "\ud7ff\ue000"),
    ],
)
def test_clean_text_can_be_encoded(text: str, clean: str) -> None:
    assert clean_text(text) == clean
    assert clean_text(text).encode("utf-8").decode("utf-8") == clean


@pytest.mark.parametrize(
    ("path", "key", "child"),
    [
        ("$", "a", "$.a"),
        ("$.a", 0, "$.a[0]"),
        ("$.a[0]", "callId", "$.a[0].callId"),
        ("$", "_x1", "$._x1"),
        ("$", "odd key", "$['odd key']"),
        ("$", "1a", "$['1a']"),
        ("$", "10", "$['10']"),
        ("$", "", "$['']"),
        ("$", "a.b", "$['a.b']"),
        ("$", "a\nb", r"$['a\nb']"),
        ("$", "it's", '$["it\'s"]'),
        ("$", "\ud800", r"$['\ud800']"),
    ],
)
def test_child_path(path: str, key: str | int, child: str) -> None:
    assert child_path(path, key) == child


def test_nothing_here_changes_the_limits_of_python() -> None:
    before = (sys.getrecursionlimit(), sys.get_int_max_str_digits())

    with pytest.raises(JsonError):
        loads("[" * 200_000)
    with pytest.raises(JsonError):
        loads("1" * 5000)

    assert (sys.getrecursionlimit(), sys.get_int_max_str_digits()) == before
