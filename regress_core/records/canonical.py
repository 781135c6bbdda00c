"""Canonical JSON and its hash, equal to the reference's.

The reference (`toCanonicalJson` of aioc) sorts keys by UTF-16 code unit, lets ECMAScript move integer-like
keys to the front, and prints with `JSON.stringify`; two values are the same exactly when these texts are.
Two deliberate differences, both so that nothing compared is lost: an integer beyond 2^53 prints all its
digits, and a key named `__proto__`, which the reference's object drops, is a key like any other.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache
from json.encoder import encode_basestring

from regress_core.records.json_io import JsonValue, escape_lone_surrogates

_LARGEST_ARRAY_INDEX = 2**32 - 2  # ECMA-262, 6.1.7: the integer-like keys that come first
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)


def canonical_json(value: JsonValue) -> str:
    """Give the canonical text of a JSON value.

    Args:
        value: None, bool, int, finite float, str, list or tuple, or dict with str keys.

    Raises:
        ValueError: If the value holds NaN or an infinity.
        TypeError: If the value holds anything that JSON does not.
    """
    return escape_lone_surrogates(_text(value))


def same_json(a: JsonValue, b: JsonValue) -> bool:
    """Tell whether two JSON values are the same, that is, have the same canonical text."""
    # Most values that are compared are the same; Python prints those alike, and much faster.
    return repr(a) == repr(b) or canonical_json(a) == canonical_json(b)


def canonical_hash(value: JsonValue) -> str:
    """Give the SHA-256 of the canonical text, in hexadecimal."""
    return hash_text(canonical_json(value))


def hash_text(text: str) -> str:
    """Give the SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _text(value: JsonValue) -> str:  # noqa: PLR0911 - one return a JSON type
    kind = value.__class__
    if kind is str:
        return encode_basestring(value)
    if kind is dict:
        members = [f"{quoted}:{_text(value[key])}" for key, quoted in _ordered(tuple(value))]
        return "{" + ",".join(members) + "}"
    if kind is list or kind is tuple:
        return "[" + ",".join([_text(child) for child in value]) + "]"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is float:
        return number_text(value)
    raise TypeError(f"no JSON value: {kind.__name__}")


@lru_cache(maxsize=4096)
def _ordered(keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Order an object's keys, each with its quoted form. The same few key sets come again and again."""
    for key in keys:
        if type(key) is not str:
            raise TypeError(f"no JSON key: {type(key).__name__}")
    return tuple((key, encode_basestring(key)) for key in sorted(keys, key=_key_order))


def _key_order(key: str) -> tuple[int, int, bytes]:
    if _ARRAY_INDEX.fullmatch(key) and int(key) <= _LARGEST_ARRAY_INDEX:
        return (0, int(key), b"")
    return (1, 0, key.encode("utf-16-be", "surrogatepass"))


def number_text(number: float) -> str:
    """Print a double as ECMAScript does (ECMA-262, 6.1.6.1.20, Number::toString).

    Raises:
        ValueError: If the number is NaN or infinite.
    """
    if not math.isfinite(number):
        raise ValueError("NaN and infinities are no JSON values")
    if number == 0:
        return "0"
    # Both languages print the shortest digits that read back as the same double; only the layout differs,
    # and without an exponent in Python's just by the `.0` of a whole number.
    text = repr(number)
    if "e" not in text:
        return text.removesuffix(".0")
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = text.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(significant)
    return sign + _layout(significant.rstrip("0"), len(whole) - leading_zeros + int(exponent or 0))


def _layout(digits: str, point: int) -> str:
    """Place the decimal point: the value is 0.`digits` times ten to the `point`."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = point - 1
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
