"""Canonical JSON by ECMA-262.

Numbers: 6.1.6.1.20, Number::toString; strings: QuoteJSONString; key order: OrdinaryOwnPropertyKeys.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import struct
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.canonical import canonical_hash, canonical_json, hash_text, number_text, same_json
from regress_core.records.json_io import DEEPEST, JsonValue, loads
from tests.support.json_compare import json_difference
from tests.support.strategies import ALIKE_JSON_VALUES, EXACT_INTEGERS, FINITE_FLOATS, JSON_VALUES

NUMBERS: list[tuple[float, str]] = [
    (1e21, "1e+21"),
    (1e20, "100000000000000000000"),
    (1.25e21, "1.25e+21"),
    (123456789012345680000.0, "123456789012345680000"),
    (1e-6, "0.000001"),
    (1e-7, "1e-7"),
    (1.5e-7, "1.5e-7"),
    (-1e-7, "-1e-7"),
    (0.000001234, "0.000001234"),
    (0.0, "0"),
    (-0.0, "0"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (0.1, "0.1"),
    (0.1 + 0.2, "0.30000000000000004"),
    (100.0, "100"),
    (-1.5, "-1.5"),
    (12345.678, "12345.678"),
    (1e100, "1e+100"),
    (123e-20, "1.23e-18"),
    (2.0**53, "9007199254740992"),
    (2.0**60, "1152921504606847000"),
    (0, "0"),
    (-7, "-7"),
    (2**53, "9007199254740992"),
    (2**53 + 1, "9007199254740993"),
    (-(2**53) - 1, "-9007199254740993"),
    (10**25, "10000000000000000000000000"),
]

# RFC 8785, appendix B: the bits of a double, and its text.
RFC_8785_NUMBERS: list[tuple[str, str]] = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

STRINGS: list[tuple[str, str]] = [
    ("", '""'),
    ('"', r'"\""'),
    ("\\", r'"\\"'),
    ("/", '"/"'),
    ("'", '"\'"'),
    ("\b\t\n\f\r", r'"\b\t\n\f\r"'),
    ("\x00\x01\x0b\x1b\x1f", r'"\u0000\u0001\u000b\u001b\u001f"'),
    ("\x7f\x80\x9f", '"\x7f\x80\x9f"'),
    ("\u2028\u2029", '"\u2028\u2029"'),
    ("\ufeff\ufffe\uffff", '"\ufeff\ufffe\uffff"'),
    ("caf\u00e9 \u65e5\u672c \U0001f600", '"caf\u00e9 \u65e5\u672c \U0001f600"'),
    ("\ud800", r'"\ud800"'),
    ("a\udfffb", r'"a\udfffb"'),
    ("\udc00\ud83d", r'"\udc00\ud83d"'),
    ("\u00e9\udabc\U0001f600", '"\u00e9\\udabc\U0001f600"'),
    (r"\ud800", r'"\\ud800"'),
]

KEY_ORDERS: list[tuple[str, list[str]]] = [
    ("code-units", ["B", "Z", "_", "a", "b"]),
    ("prefix-first", ["a", "a0", "aa", "ab"]),
    ("integers-first-by-number", ["2", "9", "10", "a"]),
    ("leading-zero-is-text", ["0", "1", "00", "01"]),
    ("negative-is-text", ["1", "-1", "-2"]),
    ("largest-index", ["4294967293", "4294967294", "10000000000", "3x", "4294967295"]),
    ("not-quite-integers", ["1", "", " 1", "+1", "1.0", "1e1"]),
    ("other-digits-are-text", ["5", "\u00b2", "\u0661"]),
    ("utf16-not-code-points", ["\U00010000", "\ue000", "\uffff"]),
    ("lone-surrogates", ["\ud7ff", "\ud800", "\U00010000", "\udfff"]),
    ("names-of-javascript", ["__proto__", "constructor", "toString"]),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_numbers(number: float, text: str) -> None:
    assert canonical_json(number) == text


@pytest.mark.parametrize(("bits", "text"), RFC_8785_NUMBERS)
def test_doubles_of_rfc_8785(bits: str, text: str) -> None:
    number: float = struct.unpack(">d", bytes.fromhex(bits))[0]

    assert number_text(number) == text


@pytest.mark.parametrize(("value", "text"), STRINGS)
def test_strings(value: str, text: str) -> None:
    assert canonical_json(value) == text


def test_every_control_character_is_escaped() -> None:
    short = {0x08: r"\b", 0x09: r"\t", 0x0A: r"\n", 0x0C: r"\f", 0x0D: r"\r"}

    for code in range(0x20):
        assert canonical_json(chr(code)) == f'"{short.get(code, f"{chr(92)}u{code:04x}")}"'


@pytest.mark.parametrize("keys", [pytest.param(keys, id=name) for name, keys in KEY_ORDERS])
def test_keys_come_in_this_order_however_they_stood(keys: list[str]) -> None:
    for seed in range(5):
        shuffled = random.Random(seed).sample(keys, len(keys))  # noqa: S311 - no secret
        text = canonical_json({key: keys.index(key) for key in shuffled})
        pairs = json.loads(text, object_pairs_hook=lambda pairs: pairs)
        assert pairs == [(key, index) for index, key in enumerate(keys)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (cast("list[Any]", []), "[]"),
        (cast("dict[str, Any]", {}), "{}"),
        ([1, [None, {"b": "x", "a": [True]}]], '[1,[null,{"a":[true],"b":"x"}]]'),
        ((1, "a"), '[1,"a"]'),
        ({"\ud800": "\udfff"}, r'{"\ud800":"\udfff"}'),
        ({'"\n': 0}, r'{"\"\n":0}'),
    ],
)
def test_texts(value: JsonValue, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param('{"a":1,"b":2}', '{"b":2,"a":1}', True, id="C18"),
        pytest.param('{"n":1}', '{"n":1.0}', True, id="C19-one-and-one-point-nought"),
        pytest.param("1e2", "100", True, id="C19-exponent"),
        pytest.param("-0", "0.0", True, id="C19-minus-nought"),
        pytest.param("1", "true", False, id="C19-true"),
        pytest.param("0", "false", False, id="C19-false"),
        pytest.param("1", '"1"', False, id="C19-text"),
        pytest.param("null", '"null"', False, id="null-as-text"),
        pytest.param('{"a":null}', "{}", False, id="null-and-absent"),
        pytest.param("[1,2]", "[2,1]", False, id="list-order"),
        pytest.param("9007199254740993", "9007199254740992", False, id="C22"),
        pytest.param("-9007199254740993", "-9007199254740992", False, id="C22-negative"),
        pytest.param(r'"\u00e9"', '"e\u0301"', False, id="no-normalisation"),
        pytest.param(r'"\ud83d\ude00"', '"\U0001f600"', True, id="surrogate-pair"),
        pytest.param(r'"\ud800"', r'"\\ud800"', False, id="surrogate-and-its-escape"),
    ],
)
def test_same_text_and_hash(left: str, right: str, *, same: bool) -> None:
    left_value, right_value = loads(left), loads(right)

    assert (canonical_json(left_value) == canonical_json(right_value)) is same
    assert (canonical_hash(left_value) == canonical_hash(right_value)) is same


def test_c21_astral_keys_hash_as_the_reference_sorts_them() -> None:
    text = '{"\U00010000":2,"\ue000":1}'

    assert canonical_hash({"\ue000": 1, "\U00010000": 2}) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ],
)
def test_hash_text_is_sha256(text: str, digest: str) -> None:
    assert hash_text(text) == digest


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_refused(number: float) -> None:
    values: list[JsonValue] = [number, [number], {"a": {"b": [1, number]}}]
    for value in values:
        with pytest.raises(ValueError, match="NaN and infinities"):
            canonical_json(value)
    with pytest.raises(ValueError, match="NaN and infinities"):
        number_text(number)


@pytest.mark.parametrize(
    "value",
    [
        b"bytes",
        {1, 2},
        object(),
        1j,
        Decimal(1),
        {1: "a"},
        {None: "a"},
        {True: "a"},
        {"a": [b""]},
        {("a",): 1},
    ],
    ids=lambda value: f"{type(value).__name__}-{value!r}"[:20],
)
def test_what_is_no_json_is_refused(value: JsonValue) -> None:
    with pytest.raises(TypeError, match="no JSON"):
        canonical_json(value)


def test_nesting_that_loads_accepts_has_a_text() -> None:
    text = "[" * DEEPEST + "]" * DEEPEST

    assert canonical_json(loads(text)) == text


def _shuffled(value: JsonValue, order: random.Random) -> JsonValue:
    if isinstance(value, dict):
        pairs = list(cast("dict[str, Any]", value).items())
        return {key: _shuffled(child, order) for key, child in order.sample(pairs, len(pairs))}
    if isinstance(value, list):
        return [_shuffled(child, order) for child in cast("list[Any]", value)]
    return value


@given(JSON_VALUES, st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(value: JsonValue, order: random.Random) -> None:
    assert canonical_json(_shuffled(value, order)) == canonical_json(value)


@given(EXACT_INTEGERS)
def test_an_integer_and_its_double_are_the_same(number: int) -> None:
    assert canonical_json(number) == canonical_json(float(number)) == str(number)


@given(st.integers())
def test_an_integer_prints_all_its_digits(number: int) -> None:
    assert canonical_json(number) == str(number)


@given(JSON_VALUES)
def test_the_text_reads_back_as_the_value(value: JsonValue) -> None:
    # As a reader in ECMAScript would: every number a double.
    read: JsonValue = json.loads(canonical_json(value), parse_int=float)

    assert json_difference(value, read, null_is_absent=False) is None


@given(ALIKE_JSON_VALUES, ALIKE_JSON_VALUES)
def test_texts_are_the_same_exactly_where_values_are(left: JsonValue, right: JsonValue) -> None:
    same = json_difference(left, right, null_is_absent=False) is None

    assert (canonical_json(left) == canonical_json(right)) is same


@given(FINITE_FLOATS)
def test_a_number_reads_back_as_the_same_double(number: float) -> None:
    assert float(number_text(number)) == number


@given(FINITE_FLOATS)
def test_a_number_is_laid_out_by_the_steps_of_ecma_262(number: float) -> None:
    assert number_text(number) == _number_to_string(number)


def _number_to_string(number: float) -> str:
    """Follow ECMA-262, 6.1.6.1.20, step by step, with the digits and exponent that `decimal` finds."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + _number_to_string(-number)
    exact = Decimal(repr(number)).normalize().as_tuple()
    s = "".join(str(digit) for digit in exact.digits)
    k = len(s)
    n = int(exact.exponent) + k
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    sign, e = ("+", n - 1) if n - 1 > 0 else ("-", 1 - n)
    return f"{s}e{sign}{e}" if k == 1 else f"{s[0]}.{s[1:]}e{sign}{e}"


@given(ALIKE_JSON_VALUES, ALIKE_JSON_VALUES)
def test_the_same_is_what_has_the_same_text(left: JsonValue, right: JsonValue) -> None:
    assert same_json(left, right) == (canonical_json(left) == canonical_json(right))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        ({"a": 1, "b": [1, None]}, {"b": [1.0, None], "a": 1}, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ("\u00e9", "e\u0301", False),
        ([1, 2], [2, 1], False),
        ({}, [], False),
    ],
)
def test_what_is_the_same(left: JsonValue, right: JsonValue, *, same: bool) -> None:
    assert same_json(left, right) == same
