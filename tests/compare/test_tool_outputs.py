"""What a call gave back: envelopes, errors, outputs that are missing."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import JsonObject, JsonValue
from tests.compare.support import REFERENCE, changed, compare, found, ok_envelope
from tests.support.json_compare import json_difference
from tests.support.records import record_json, tool_call, tool_output


def _giving(**output: JsonValue) -> JsonObject:
    return record_json(items=[tool_call("c1", "f"), tool_output("c1", **output)])


@pytest.mark.parametrize(
    "data", [None, False, 0, 1.5, "", "text", [], [1, {"a": 2}], {}, {"status": "ok"}], ids=repr
)
def test_an_ok_envelope_equals_its_bare_data(data: JsonValue) -> None:
    bare, wrapped = _giving(output=data), _giving(output=ok_envelope(data))

    assert compare(bare, wrapped).equal
    assert compare(wrapped, bare).equal
    assert compare(wrapped, _giving(output=dict(reversed(ok_envelope(data).items())))).equal


@pytest.mark.parametrize(
    ("envelope", "bare"),
    [
        (ok_envelope(1), 2),
        (ok_envelope(1), True),
        (ok_envelope({"a": 1}), {"a": 1, "b": 1}),
        (ok_envelope(None, status="denied", code="blocked", publicReason="no"), None),
        (ok_envelope(None, status="denied"), None),
        (ok_envelope(None, status="approval_required"), None),
        (ok_envelope(None, status="OK"), None),
        (ok_envelope(None, status=None), None),
        (ok_envelope(1, code="partial"), 1),
        (ok_envelope(1, code=""), 1),
        (ok_envelope(1, publicReason="as you asked"), 1),
        (ok_envelope(1, more=None), 1),
        (ok_envelope(1, cached=True), 1),
        ([ok_envelope(1)], [1]),
        ({"result": ok_envelope(1)}, {"result": 1}),
    ],
    ids=repr,
)
def test_no_other_envelope_equals_its_data(envelope: JsonValue, bare: JsonValue) -> None:
    for left, right in ((envelope, bare), (bare, envelope)):
        comparison = compare(_giving(output=left), _giving(output=right))
        assert not comparison.equal
        assert [difference.path for difference in comparison.differences] == ["toolCalls[0].output"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (ok_envelope(1), ok_envelope(2)),
        (ok_envelope(None, status="denied"), ok_envelope(None)),
        (ok_envelope(None, status="denied", code="a"), ok_envelope(None, status="denied", code="b")),
    ],
    ids=repr,
)
def test_two_envelopes_differ_by_what_they_hold(left: JsonObject, right: JsonObject) -> None:
    assert not compare(_giving(output=left), _giving(output=right)).equal
    assert compare(_giving(output=left), _giving(output=dict(left))).equal


def test_by_the_references_rule_an_envelope_is_not_its_data() -> None:
    left, right = _giving(output=1), _giving(output=ok_envelope(1))

    assert found(compare(left, right, REFERENCE).differences) == [
        changed("toolCalls[0].output", 1, ok_envelope(1))
    ]


# Two sides of one call, and what differs.
ENDS: list[tuple[JsonObject, JsonObject, list[JsonObject]]] = [
    (
        _giving(output="boom"),
        _giving(output="boom", isError=True),
        [changed("toolCalls[0].isError", left=False, right=True)],
    ),
    (
        _giving(output=1, isError=True),
        _giving(output=2, isError=False),
        [changed("toolCalls[0].output", 1, 2), changed("toolCalls[0].isError", left=True, right=False)],
    ),
    (
        _giving(output=ok_envelope(1), isError=True),
        _giving(output=1),
        [changed("toolCalls[0].isError", left=True, right=False)],
    ),
    (
        _giving(output=1),
        record_json(items=[tool_call("c1", "f")]),
        [changed("toolCalls[0].hasOutput", left=True, right=False)],
    ),
    (
        _giving(output=None),
        record_json(items=[tool_call("c1", "f")]),
        [changed("toolCalls[0].hasOutput", left=True, right=False)],
    ),
    (_giving(output="Error: boom"), _giving(output="Error: boom", isError=False), []),
    (_giving(output="boom", isError=True), _giving(output="boom", isError=True), []),
]


@pytest.mark.parametrize(("left", "right", "differences"), ENDS)
def test_flags_and_missing_outputs(
    left: JsonObject, right: JsonObject, differences: list[JsonObject]
) -> None:
    comparison = compare(left, right)

    assert json_difference(differences, found(comparison.differences), null_is_absent=False) is None
    assert comparison.equal is (not differences)


@pytest.mark.parametrize(("left", "right"), [case[:2] for case in ENDS])
def test_what_a_call_gave_back_is_not_which_call_was_made(left: JsonObject, right: JsonObject) -> None:
    comparison = compare(left, right)

    assert comparison.summary.same_tool_call_shape
    assert comparison.signals.raised() == ()
