"""Equality of JSON values that says where two values part. Python's `==` takes True for 1."""

from __future__ import annotations

from typing import Any, cast

from regress_core.records.json_io import JsonValue


def same_json(expected: JsonValue, got: JsonValue) -> bool:
    """Say whether two JSON values are equal; a member that is null and one that is absent are alike."""
    return json_difference(expected, got) is None


def json_difference(
    expected: JsonValue, got: JsonValue, *, null_is_absent: bool = True, path: str = "$"
) -> str | None:
    """Describe the first place where two JSON values differ, or give None where they do not.

    Numbers are equal by value (1 and 1.0), key order is of no account, True is not 1. Use it as
    `assert json_difference(expected, got) is None`: a failure then shows the place.

    Args:
        expected: What should be.
        got: What is.
        null_is_absent: Whether a member that is null and one that is absent are alike.
        path: Where the values stand, for the description.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        left = _members(expected, null_is_absent=null_is_absent)
        right = _members(got, null_is_absent=null_is_absent)
        if left.keys() != right.keys():
            missing, more = sorted(left.keys() - right.keys()), sorted(right.keys() - left.keys())
            return f"{path}: members missing: {missing}, members too many: {more}"
        steps = [(f"{path}.{key}", left[key], right[key]) for key in left]
    elif isinstance(expected, list) and isinstance(got, list):
        left_list, right_list = cast("list[Any]", expected), cast("list[Any]", got)
        if len(left_list) != len(right_list):
            return f"{path}: {len(left_list)} elements expected, got {len(right_list)}"
        pairs = enumerate(zip(left_list, right_list, strict=True))
        steps = [(f"{path}[{index}]", left, right) for index, (left, right) in pairs]
    else:
        same = isinstance(expected, bool) == isinstance(got, bool) and expected == got
        return None if same else f"{path}: {expected!r} expected, got {got!r}"
    found = (json_difference(a, b, null_is_absent=null_is_absent, path=place) for place, a, b in steps)
    return next((difference for difference in found if difference is not None), None)


def _members(value: JsonValue, *, null_is_absent: bool) -> dict[str, Any]:
    members = cast("dict[str, Any]", value)
    return {key: child for key, child in members.items() if child is not None or not null_is_absent}
