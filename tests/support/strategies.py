"""Hypothesis strategies of JSON values."""

from __future__ import annotations

from hypothesis import strategies as st

from regress_core.records.json_io import JsonValue

EXACT_INTEGERS = st.integers(-(2**53), 2**53)
"""Integers that a double holds exactly, as every smaller one."""

FINITE_FLOATS = st.floats(allow_nan=False, allow_infinity=False)

_LONE_SURROGATES = st.sampled_from(["\ud800", "\udfff", "a\udbffb", "\udc00\ud800", "\u00e9\ud83d"])

TEXTS = st.text() | _LONE_SURROGATES
"""Any text that JSON can hold; a surrogate may stand alone, but no pair stands as two."""

KEYS = TEXTS | st.integers(-2, 2**33).map(str)

JSON_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | EXACT_INTEGERS | FINITE_FLOATS | TEXTS,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(KEYS, children, max_size=4),
    max_leaves=12,
)

_ALIKE_NUMBERS = st.sampled_from([0, -0.0, 1, 1.0, 10, 1e1, 2**53, 2.0**53, 0.1])
_ALIKE_TEXTS = st.sampled_from(["", "0", "1", "1.0", "true", "null", "[]"])
_FEW_KEYS = st.sampled_from(["a", "0", "1"])

ALIKE_JSON_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | _ALIKE_NUMBERS | _ALIKE_TEXTS,
    lambda children: st.lists(children, max_size=2) | st.dictionaries(_FEW_KEYS, children, max_size=2),
    max_leaves=3,
)
"""Small values that are often equal, or nearly so."""
