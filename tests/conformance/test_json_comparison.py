"""The yardstick of the other tests in this folder."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import JsonValue
from tests.support.json_compare import json_difference, same_json

ALIKE: list[tuple[JsonValue, JsonValue]] = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": 1.0}),
    ({"a": None}, {}),
    ({}, {"a": None}),
    ([{"a": {"b": None}}], [{"a": {}}]),
    ([None], [None]),
    ("", ""),
]

DIFFERENT: list[tuple[JsonValue, JsonValue, str]] = [
    (1, True, "$"),
    (0, False, "$"),
    (0, None, "$"),
    (1, "1", "$"),
    ([], {}, "$"),
    ({"a": {}}, {"a": None}, "$"),
    ([None], [], "$"),
    ([1, 2], [2, 1], "$[0]"),
    ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "$.a[0].b"),
    ({"a": 0}, {}, "$"),
    ({}, {"a": False}, "$"),
]


@pytest.mark.parametrize(("expected", "got"), ALIKE)
def test_alike(expected: JsonValue, got: JsonValue) -> None:
    assert same_json(expected, got)


@pytest.mark.parametrize(("expected", "got", "place"), DIFFERENT)
def test_different(expected: JsonValue, got: JsonValue, place: str) -> None:
    difference = json_difference(expected, got)

    assert difference is not None
    assert difference.startswith(f"{place}: ")


def test_null_and_absent_differ_where_that_is_asked() -> None:
    assert json_difference({"a": None}, {}, null_is_absent=False) is not None
