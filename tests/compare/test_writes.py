"""The effective writes of a run: failed ones, repeats, and ids that the run itself minted (C24)."""

from __future__ import annotations

from typing import cast

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.tool_calls import compared_calls
from regress_core.compare.writes import Writes, writes_of
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord
from tests.compare.support import decision, ok_envelope
from tests.support.records import message, record_json, tool_call, tool_output

Step = tuple[str, JsonValue, JsonValue]
"""A call: the tool, its arguments and its output."""


def _record(*steps: Step | str, **changes: JsonValue) -> JsonObject:
    """Give a record whose calls stand one after another; a text is the user's."""
    items: list[JsonObject] = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            items.append(message(step))
        else:
            tool, arguments, output = step
            call_id = f"call-{number}"
            items += [tool_call(call_id, tool, arguments=arguments), tool_output(call_id, output=output)]
    return record_json(items=items) | changes


def _writes(record: JsonObject, rules: ArgumentRules | None = None, **effects: JsonValue) -> Writes:
    parsed = RunRecord.parse(record)
    config = EffectsConfig.from_json({"write": ["book", "cancel", "pay"]} | effects)
    return writes_of(parsed, compared_calls(parsed, rules or ArgumentRules()), config)


def _made(record: JsonObject, **effects: JsonValue) -> list[tuple[int, JsonValue]]:
    return [(write.index, write.arguments) for write in _writes(record, **effects).effective]


def test_writes_are_picked_from_among_the_calls() -> None:
    record = _record(
        ("look", {"q": 1}, "found"),
        ("book", {"n": 1}, "done"),
        ("look", {}, "found"),
        ("pay", {"n": 2}, "done"),
    )

    writes = _writes(record)

    assert [(write.index, write.call.name, write.key) for write in writes.effective] == [
        (1, "book", '{"n":1}'),
        (3, "pay", '{"n":2}'),
    ]
    assert writes.failed == []


def test_failed_writes_are_told_apart() -> None:
    record = _record(("book", {"n": 1}, "Error: no seats"), ("book", {"n": 2}, "done"), ("pay", {}, "Sorry!"))

    writes = _writes(record, failed=["^Sorry"])

    assert [write.index for write in writes.effective] == [1]
    assert [write.index for write in writes.failed] == [0, 2]


def test_a_run_without_writes_has_none() -> None:
    assert _writes(_record(("look", {}, "found"))) == Writes([], [])
    assert _writes(_record()) == Writes([], [])
    assert _writes(_record(("book", {}, "done")), write=[]) == Writes([], [])


def test_an_output_without_its_call_is_no_write() -> None:
    assert _writes(record_json(items=[tool_output("c9", output="done")]), write=["*"]) == Writes([], [])


@pytest.mark.parametrize(
    ("steps", "idempotent", "kept"),
    [
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 1}, "done")], [], [0, 1]),
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 1}, "done")], ["cancel"], [0]),
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 1}, "done")], ["book"], [0, 1]),
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 2}, "done")], ["cancel"], [0, 1]),
        ([("cancel", {"n": 1}, "done"), ("book", {"n": 1}, "done")], ["*"], [0, 1]),
        ([("cancel", {"n": 1}, "a"), ("cancel", {"n": 2}, "b"), ("cancel", {"n": 1.0}, "c")], ["*"], [0, 1]),
        # What failed has changed nothing, so that the next one does.
        ([("cancel", {"n": 1}, "Error: busy"), ("cancel", {"n": 1}, "done")], ["cancel"], [1]),
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 1}, "Error: gone")], ["cancel"], [0]),
        # What does not count of arguments makes no other call.
        (
            [("cancel", {"n": 1, "why": "a"}, "done"), ("cancel", {"n": 1, "why": "b"}, "done")],
            ["cancel"],
            [0],
        ),
        ([("cancel", {"n": 1}, "done"), ("cancel", {"n": 1, "fee": 0}, "done")], ["cancel"], [0]),
    ],
    ids=repr,
)
def test_repeats_that_do_nothing(steps: list[Step], idempotent: list[str], kept: list[int]) -> None:
    rules: JsonObject = {"arguments": {"cancel": {"why": "ignore"}}, "defaults": {"cancel": {"fee": 0}}}

    assert [index for index, _ in _made(_record(*steps), idempotent=idempotent, **rules)] == kept


def test_what_counts_of_arguments_is_kept_beside_the_call_itself() -> None:
    record = _record(("book", {"to": "JFK", "note": "quick"}, "done"))

    (write,) = _writes(
        record, arguments={"book": {"note": "ignore"}}, defaults={"book": {"bags": 0}}
    ).effective

    assert write.arguments == write.literal == {"to": "JFK", "bags": 0}
    assert write.call.arguments == {"to": "JFK", "note": "quick"}
    assert write.key == '{"bags":0,"to":"JFK"}'


BOOK: JsonObject = {"to": "JFK"}

# What a booking gives back, how a later write names it, and what that id is.
MINTED: list[tuple[str, JsonValue, JsonValue, JsonValue]] = [
    ("member", {"id": "HAT271"}, {"id": "HAT271"}, {"id": "$.id"}),
    ("nested", {"trip": {"legs": [{"ref": "L-1"}]}}, {"leg_ref": "L-1"}, {"leg_ref": "$.trip.legs[0].ref"}),
    ("JSON text", '{"id": "HAT271"}', {"id": "HAT271"}, {"id": "$.id"}),
    ("JSON text with escapes", '{"id": "HAT271", "note": "\\"x\\""}', {"id": "HAT271"}, {"id": "$.id"}),
    ("in an envelope", ok_envelope({"id": "HAT271"}), {"id": "HAT271"}, {"id": "$.id"}),
    ("bare", "HAT271", {"id": "HAT271"}, {"id": "$"}),
    ("prose", "Booked as HAT271.", {"id": "HAT271"}, {"id": "$, word 3"}),
    ("prose with lines", "Booked:\nHAT271", {"id": "HAT271"}, {"id": "$, word 2"}),
    ("prose in an object", {"message": "Booked (HAT-271)!"}, {"id": "HAT-271"}, {"id": "$.message, word 2"}),
    ("with a hash sign", "Created #W271", {"order_id": "#W271"}, {"order_id": "$, word 2"}),
    ("hash sign left out", "Created #W271", {"order_id": "W271"}, {"order_id": "$, word 2"}),
    ("integer", {"id": 4711}, {"booking_id": 4711}, {"booking_id": "$.id"}),
    ("number form", {"id": 4711.0}, {"booking_id": 4711}, {"booking_id": "$.id"}),
    ("other number form", {"id": 4711}, {"booking_id": 4711.0}, {"booking_id": "$.id"}),
    ("integer and text", {"id": 4711}, {"booking_id": "4711"}, {"booking_id": "$.id"}),
    ("integer in prose", "Ticket 4711 is open", {"ticketId": 4711}, {"ticketId": "$, word 2"}),
    ("camel case", {"bookingNumber": "77"}, {"bookingNumber": "77"}, {"bookingNumber": "$.bookingNumber"}),
    ("letters under a key of ids", {"code": "QXZVKL"}, {"code": "QXZVKL"}, {"code": "$.code"}),
    ("other letter case", {"id": "HAT271"}, {"id": "hat271"}, {"id": "$.id"}),
    ("list of ids", {"ids": [81, 82]}, {"ids": [82, 81]}, {"ids": ["$.ids[1]", "$.ids[0]"]}),
    ("further in", {"id": "HAT271"}, {"of": [{"trip": "HAT271"}]}, {"of": [{"trip": "$.id"}]}),
    # The number of seats is no id, although it is the same number.
    ("same number", {"id": 3}, {"id": 3, "seats": 3}, {"id": "$.id", "seats": 3}),
    # Of two places the one under an id's key tells, whatever the order of keys.
    ("two places", {"amount": 3, "id": 3}, {"id": 3}, {"id": "$.id"}),
    ("two places of ids", {"b_id": "HAT271", "a_id": "HAT271"}, {"id": "HAT271"}, {"id": "$.a_id"}),
]


@pytest.mark.parametrize(
    ("output", "arguments", "places"), [pytest.param(*case[1:], id=case[0]) for case in MINTED]
)
def test_a_minted_id_stands_for_a_place_in_its_writes_output(
    output: JsonValue, arguments: JsonValue, places: JsonValue
) -> None:
    record = _record("Book me a flight.", ("book", BOOK, output), ("cancel", arguments, "done"))

    _, cancel = _writes(record).effective

    assert cancel.arguments == _with_origin(places)
    assert cancel.literal == arguments


def _with_origin(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _with_origin(child) for key, child in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_with_origin(child) for child in cast("list[JsonValue]", value)]
    return f'{value} of book({{"to":"JFK"}})' if isinstance(value, str) else value


# Records in which the id that a cancellation names stays what it is.
KNOWN: dict[str, JsonObject] = {
    "the user named it": _record(
        "Cancel HAT271", ("book", BOOK, {"id": "HAT271"}), ("cancel", {"id": "HAT271"}, "")
    ),
    "in small letters": _record(
        "Cancel hat271", ("book", BOOK, {"id": "HAT271"}), ("cancel", {"id": "HAT271"}, "")
    ),
    "the question named it": _record(
        ("book", BOOK, {"id": "HAT271"}), ("cancel", {"id": "HAT271"}, ""), question="Cancel HAT271"
    ),
    "looked up before": _record(
        ("look", {}, {"trips": ["HAT271"]}),
        ("book", BOOK, {"id": "HAT271"}),
        ("cancel", {"id": "HAT271"}, ""),
    ),
    "looked up as a line of text": _record(
        ("look", {}, '{"text": "trips\\nHAT271"}'),
        ("book", BOOK, {"id": "HAT271"}),
        ("cancel", {"id": "HAT271"}, ""),
    ),
    "its own argument": _record(
        ("book", {"id": "HAT271"}, {"id": "HAT271"}), ("cancel", {"id": "HAT271"}, "")
    ),
    "a failed write named it": _record(
        ("book", BOOK, {"error": "as HAT271"}),
        ("book", BOOK, {"id": "HAT271"}),
        ("cancel", {"id": "HAT271"}, ""),
    ),
    "named by a failed write alone": _record(
        ("book", BOOK, {"error": "as HAT271"}), ("cancel", {"id": "HAT271"}, "")
    ),
    "looked up after": _record(
        ("book", BOOK, "done"), ("look", {}, "HAT271"), ("cancel", {"id": "HAT271"}, "")
    ),
    "no id": _record(("book", BOOK, {"cabin": "first"}), ("cancel", {"cabin": "first"}, "")),
    "a number that is none": _record(("book", BOOK, {"total": 4711}), ("cancel", {"amount": 4711}, "")),
    "a part of a figure": _record(("book", BOOK, "It costs 12.50"), ("cancel", {"id": 12}, "")),
    "true is not 1": _record(("book", BOOK, {"paid": True}), ("cancel", {"id": 1}, "")),
}


@pytest.mark.parametrize("record", KNOWN.values(), ids=KNOWN)
def test_what_is_known_before_or_no_id_is_not_minted(record: JsonObject) -> None:
    last = _writes(record).effective[-1]

    assert last.arguments is last.literal
    assert last.arguments is last.call.arguments


@pytest.mark.parametrize(
    "said",
    ["Trip XHAT271", "Trip HAT2711", "On 2024-12-71", "Room 271b", "It costs 71.271", "271.5"],
    ids=repr,
)
def test_an_id_is_not_known_by_a_text_that_has_it_as_a_part(said: str) -> None:
    minted = ("book", BOOK, {"id": 271, "ref": "HAT271"})
    record = _record(said, minted, ("cancel", {"id": 271, "ref": "HAT271"}, "done"))

    assert _made(record)[1][1] == _with_origin({"id": "$.id", "ref": "$.ref"})


def test_call_ids_make_no_id_known() -> None:
    record = record_json(
        items=[
            tool_call("271", "look"),
            tool_output("271", output=""),
            tool_call("c2", "book", arguments=BOOK),
            tool_output("c2", output={"id": 271}),
            tool_call("c3", "cancel", arguments={"id": 271}),
        ]
    )

    assert _made(record)[1][1] == _with_origin({"id": "$.id"})


def test_ids_may_follow_from_ids() -> None:
    def record(trip: str, bill: str) -> JsonObject:
        return _record(
            ("book", BOOK, {"id": trip}),
            ("pay", {"trip": trip}, f"Bill {bill}"),
            ("cancel", {"bill_id": bill}, "done"),
        )

    one, other = _writes(record("HAT271", "B-1")), _writes(record("HAT904", "B-2"))

    assert [write.key for write in one.effective] == [write.key for write in other.effective]
    assert [write.literal for write in one.effective] != [write.literal for write in other.effective]


def test_a_long_chain_of_ids_stays_short() -> None:
    steps: list[Step] = [
        ("book", {"a_id": f"A{n}X", "b_id": f"B{n}X"}, {"a": f"A{n + 1}X", "b": f"B{n + 1}X"})
        for n in range(60)
    ]

    assert max(len(write.key) for write in _writes(_record(*steps)).effective) < 1000


def test_rules_on_arguments_meet_what_is_told_by_origin() -> None:
    record = _record(("book", BOOK, {"id": "HAT271"}), ("cancel", {"id": "HAT271", "at": "9:01"}, "done"))

    assert _made(record, arguments={"cancel": {"at": "ignore"}})[1][1] == _with_origin({"id": "$.id"})
    assert _made(record, arguments={"cancel": {"id": "ignore"}})[1][1] == {"at": "9:01"}


def test_an_id_whose_letters_were_folded_is_minted_all_the_same() -> None:
    record = _record(("book", BOOK, {"id": "HAT271"}), ("cancel", {"id": "HAT271"}, "done"))
    rules = ArgumentRules.model_validate({"cancel": {"id": ["case"]}})

    assert _writes(record, rules).effective[1].arguments == _with_origin({"id": "$.id"})


@pytest.mark.parametrize("decided", [True, False], ids=["decided", "undecided"])
def test_in_one_turn_no_call_comes_before_another(*, decided: bool) -> None:
    def record(*bookings: str) -> JsonObject:
        calls = [tool_call(f"call-{to}", "book", arguments={"to": to}) for to in bookings]
        outputs = [tool_output(f"call-{to}", output={"batch": "Q-17"}) for to in bookings]
        one_by_one = [item for pair in zip(calls, outputs, strict=True) for item in pair]
        items = one_by_one if decided else calls + outputs
        decisions = [decision(f"call-{to}", 1, "book") for to in bookings] if decided else []
        return record_json(
            items=[*items, tool_call("last", "pay", arguments={"batch": "Q-17"})],
            policyDecisions=[*decisions, decision("last", 2, "pay")] if decided else [],
        )

    one, other = _writes(record("JFK", "SFO")), _writes(record("SFO", "JFK"))

    assert one.effective[-1].arguments == {"batch": '$.batch of book({"to":"JFK"})'}
    assert other.effective[-1].arguments == one.effective[-1].arguments
