"""The `effects` mapping of suite.yaml: which tools write, and what counts of a write."""

from __future__ import annotations

from typing import Literal

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.json_paths import parse_path
from tests.support.json_compare import json_difference


def _config(**effects: JsonValue) -> EffectsConfig:
    return EffectsConfig.from_json(effects)


# Globs of `write`, globs of `read`, a tool, and whether it writes.
TOOLS: list[tuple[list[str], list[str], str, bool]] = [
    ([], [], "refund", False),
    (["refund"], [], "refund", True),
    (["refund"], [], "refund_all", False),
    (["refund"], [], "a_refund", False),
    (["refund"], [], "Refund", False),
    (["book_*"], [], "book_flight", True),
    (["book_*"], [], "book_", True),
    (["book_*"], [], "rebook_flight", False),
    (["*"], [], "anything", True),
    (["*"], [], "", True),
    (["get_?"], [], "get_a", True),
    (["get_[ab]"], [], "get_c", False),
    (["a", "b"], [], "b", True),
    (["a|b"], [], "a", False),
    (["a*b"], [], "a\nb", True),
    (["shop.refund"], [], "shop-refund", False),
    (["book_*"], ["book_lookup"], "book_lookup", False),
    (["book_*"], ["book_lookup"], "book_flight", True),
    (["book_lookup"], ["book_*"], "book_lookup", False),
    (["*"], ["*"], "anything", False),
    ([], ["get_*"], "refund", False),
]


@pytest.mark.parametrize(("write", "read", "tool", "writes"), TOOLS, ids=repr)
def test_which_tools_write(write: list[str], read: list[str], tool: str, *, writes: bool) -> None:
    config = _config(write=write, read=read)

    assert config.writes(tool) is writes
    assert config.writes(tool) is writes  # the second answer is one that was kept


@pytest.mark.parametrize(
    ("idempotent", "tool", "expected"),
    [([], "cancel", False), (["cancel*"], "cancel_order", True), (["cancel*"], "refund", False)],
)
def test_which_repeats_do_nothing(idempotent: list[str], tool: str, *, expected: bool) -> None:
    assert _config(idempotent=idempotent).repeats_do_nothing(tool) is expected


Declared = dict[str, Literal["read", "write"]]

# What the suite says, what the harness declares, a tool, and whether it writes.
DECLARED: list[tuple[JsonObject, Declared, str, bool]] = [
    ({}, {}, "refund", False),
    ({}, {"refund": "write"}, "refund", True),
    ({}, {"refund": "write"}, "refund_all", False),
    ({}, {"refund": "read"}, "refund", False),
    ({"write": ["book_*"]}, {"refund": "write"}, "book_flight", True),
    ({"write": ["book_*"]}, {"refund": "write"}, "refund", True),
    ({"write": ["book_*"]}, {"book_lookup": "read"}, "book_lookup", False),
    ({"read": ["get_*"]}, {"get_refund": "write"}, "get_refund", False),
    # A name is no glob.
    ({}, {"refund*": "write"}, "refund_all", False),
    ({}, {"refund*": "write"}, "refund*", True),
    ({}, {"[ab]": "write"}, "a", False),
    ({}, {"[ab]": "write"}, "[ab]", True),
    ({"write": ["?"]}, {"?": "read"}, "a", True),
]


@pytest.mark.parametrize(("effects", "declared", "tool", "writes"), DECLARED, ids=repr)
def test_what_a_harness_declares_is_added(
    effects: JsonObject, declared: Declared, tool: str, *, writes: bool
) -> None:
    assert EffectsConfig.from_json(effects).with_declared(declared).writes(tool) is writes


def test_declarations_leave_the_rest_and_the_suites_own_mapping_as_they_are() -> None:
    own: JsonObject = {
        "write": ["book"],
        "read": ["see"],
        "idempotent": ["cancel"],
        "failed": ["^Sorry"],
        "arguments": {"book": {"note": "ignore"}},
        "tolerance": {"book": {"total": 0.5}},
        "defaults": {"book": {"bags": 0}},
    }
    config = EffectsConfig.from_json(own)
    assert not config.writes("refund")

    declared = config.with_declared({"refund": "write", "look": "read"})

    assert not config.writes("refund")
    assert config.model_dump(mode="json") == own
    expected = own | {"write": ["book", "refund"], "read": ["see", "look"]}
    assert declared.model_dump(mode="json") == expected


# Defaults by tool, arguments of a call of book_flight, and what counts of them.
DEFAULTS: list[tuple[str, JsonObject, JsonValue, JsonValue]] = [
    ("left out", {"book_flight": {"bags": 0}}, {"to": "JFK"}, {"to": "JFK", "bags": 0}),
    ("given", {"book_flight": {"bags": 0}}, {"to": "JFK", "bags": 2}, {"to": "JFK", "bags": 2}),
    ("given as null", {"book_flight": {"bags": 0}}, {"bags": None}, {"bags": None}),
    ("all left out", {"book_flight": {"bags": 0, "cabin": "economy"}}, {}, {"bags": 0, "cabin": "economy"}),
    ("by a glob", {"book_*": {"bags": 0}}, {}, {"bags": 0}),
    ("of another tool", {"refund": {"bags": 0}}, {}, {}),
    (
        "of several the first",
        {"book_*": {"bags": 0}, "*": {"bags": 1, "seat": None}},
        {},
        {"bags": 0, "seat": None},
    ),
    ("an object", {"book_flight": {"by": {"card": "visa"}}}, {}, {"by": {"card": "visa"}}),
    ("of text", {"book_flight": {"bags": 0}}, '{"to": "JFK"', '{"to": "JFK"'),
    ("of a list", {"book_flight": {"bags": 0}}, [1], [1]),
    ("of nothing", {"book_flight": {"bags": 0}}, None, None),
]


@pytest.mark.parametrize(
    ("defaults", "arguments", "counting"), [pytest.param(*case[1:], id=case[0]) for case in DEFAULTS]
)
def test_what_a_call_leaves_out_is_its_default(
    defaults: JsonObject, arguments: JsonValue, counting: JsonValue
) -> None:
    counted = _config(defaults=defaults).counting("book_flight", arguments)

    assert json_difference(counting, counted, null_is_absent=False) is None
    if json_difference(arguments, counting, null_is_absent=False) is None:
        assert counted is arguments


def test_rules_work_on_defaults_too() -> None:
    config = _config(
        defaults={"book": {"cabin": "Economy", "note": ""}},
        arguments={"book": {"cabin": ["case"], "note": "ignore"}},
    )

    assert config.counting("book", {}) == {"cabin": "economy"}
    assert config.counting("book", {"cabin": "ECONOMY", "note": "quick"}) == {"cabin": "economy"}


def test_tolerances_are_those_of_every_glob_that_meets_the_tool() -> None:
    config = _config(
        tolerance={"book": {"total": 0.01, "legs[*].price": 1}, "b*": {"total": 2}, "x": {"total": 9}}
    )

    expected = [(parse_path("total"), 0.01), (parse_path("legs[*].price"), 1), (parse_path("total"), 2)]
    assert list(config.tolerances("book")) == expected
    assert list(config.tolerances("refund")) == []
    assert list(_config().tolerances("book")) == []


# A mapping that is wrong, and where.
WRONG: list[tuple[JsonObject, str]] = [
    ({"writes": ["refund"]}, "$.writes"),
    ({"write": "refund"}, "$.write"),
    ({"write": [""]}, "$.write[0]"),
    ({"write": ["a", 5]}, "$.write[1]"),
    ({"read": [None]}, "$.read[0]"),
    ({"idempotent": {"refund": True}}, "$.idempotent"),
    ({"failed": ["(a"]}, "$.failed[0]"),
    ({"failed": ["^ok", r"\bnot"]}, "$.failed[1]"),
    ({"failed": ["(?=a)"]}, "$.failed[0]"),
    ({"arguments": {"refund": {"note": "skip"}}}, "$.arguments.refund.note"),
    ({"arguments": {"refund": {"note": ["order"]}}}, "$.arguments.refund.note"),
    ({"arguments": {"refund": {"a..b": "ignore"}}}, "$.arguments.refund['a..b']"),
    ({"tolerance": {"refund": 0.1}}, "$.tolerance.refund"),
    ({"tolerance": {"refund": {"amount": 0}}}, "$.tolerance.refund.amount"),
    ({"tolerance": {"refund": {"amount": -1}}}, "$.tolerance.refund.amount"),
    ({"tolerance": {"refund": {"amount": "0.1"}}}, "$.tolerance.refund.amount"),
    ({"tolerance": {"refund": {"amount": True}}}, "$.tolerance.refund.amount"),
    ({"tolerance": {"refund": {"amount": float("inf")}}}, "$.tolerance.refund.amount"),
    ({"tolerance": {"refund": {"a[": 1}}}, "$.tolerance.refund['a[']"),
    ({"tolerance": {"": {"amount": 1}}}, "$.tolerance['']"),
    ({"defaults": {"refund": "no"}}, "$.defaults.refund"),
    ({"defaults": {"refund": ["no"]}}, "$.defaults.refund"),
]


@pytest.mark.parametrize(("effects", "path"), WRONG, ids=repr)
def test_what_is_wrong_is_named(effects: JsonObject, path: str) -> None:
    with pytest.raises(JsonError) as raised:
        EffectsConfig.from_json(effects)

    assert raised.value.path == path
