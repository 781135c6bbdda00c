"""Which arguments count, by tool and path (C23, C24): one rule for comparison and for replay."""

from __future__ import annotations

import unicodedata
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonObject, JsonValue
from tests.support.json_compare import json_difference
from tests.support.strategies import JSON_VALUES

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def _rules(**rules: JsonValue) -> ArgumentRules:
    """Give rules of the tool f, by path."""
    return ArgumentRules.model_validate({"f": rules})


ITEMS = [{"id": 1, "ts": "9:01"}, {"id": 2, "ts": "9:02"}]

# Rules by path, arguments, and what counts of them.
APPLIED: list[tuple[str, JsonObject, JsonValue, JsonValue]] = [
    ("a key", {"request_id": "ignore"}, {"n": 1, "request_id": "x"}, {"n": 1}),
    ("the only key", {"request_id": "ignore"}, {"request_id": "x"}, {}),
    ("a whole object", {"filters": "ignore"}, {"n": 1, "filters": {"since": "x"}}, {"n": 1}),
    (
        "a key further in",
        {"filters.since": "ignore"},
        {"filters": {"since": "x", "n": 1}},
        {"filters": {"n": 1}},
    ),
    ("every element's key", {"items[*].ts": "ignore"}, {"items": ITEMS}, {"items": [{"id": 1}, {"id": 2}]}),
    ("one element's key", {"items[1].ts": "ignore"}, {"items": ITEMS}, {"items": [ITEMS[0], {"id": 2}]}),
    ("an element keeps its place", {"pair[0]": "ignore"}, {"pair": ["x", "y"]}, {"pair": [None, "y"]}),
    ("every element", {"pair[*]": "ignore"}, {"pair": ["x", "y"]}, {"pair": [None, None]}),
    ("any key", {"*": "ignore"}, {"a": 1, "b": [2]}, {}),
    (
        "any key on the way",
        {"*.ts": "ignore"},
        {"a": {"ts": 1, "n": 1}, "b": {"ts": 2}},
        {"a": {"n": 1}, "b": {}},
    ),
    ("a list of lists", {"grid[*][0]": "ignore"}, {"grid": [[1, 2], [3]]}, {"grid": [[None, 2], [None]]}),
    ("a key with a dot", {"['odd.key']": "ignore"}, {"odd.key": 1, "odd": {"key": 2}}, {"odd": {"key": 2}}),
    ("a key with brackets", {'a["b[0]"].c': "ignore"}, {"a": {"b[0]": {"c": 1}}}, {"a": {"b[0]": {}}}),
    ("a key called *", {"['*']": "ignore"}, {"*": 1, "a": 2}, {"a": 2}),
    ("a key with both quotes", {r"['\'\"']": "ignore"}, {"'\"": 1, "a": 2}, {"a": 2}),
    ("a key with a backslash", {r"['a\\b']": "ignore"}, {"a\\b": 1, "ab": 2}, {"ab": 2}),
    ("an empty key", {"a['']": "ignore"}, {"a": {"": 1, "b": 2}}, {"a": {"b": 2}}),
    ("a key with a space", {"the amount": "ignore"}, {"the amount": 1}, {}),
    ("a key of digits", {"a.0": "ignore"}, {"a": {"0": 1, "1": 2}}, {"a": {"1": 2}}),
    ("arguments that are a list", {"[0].ts": "ignore"}, [{"ts": 1}, {"ts": 2}], [{}, {"ts": 2}]),
    ("composed", {"q": ["unicode"]}, {"q": DECOMPOSED}, {"q": COMPOSED}),
    ("folded", {"q": ["case"]}, {"q": "Straße NORD"}, {"q": "strasse nord"}),
    ("spaced", {"q": ["spaces"]}, {"q": " a\t\n b\u00a0 "}, {"q": "a b"}),
    ("all three", {"q": ["spaces", "case", "unicode"]}, {"q": " CAFE\u0301  "}, {"q": COMPOSED}),
    ("folded and composed again", {"q": ["case", "unicode"]}, {"q": "\u01f0"}, {"q": "\u01f0"}),
    (
        "every text below",
        {"q": ["case"]},
        {"q": {"A": ["B", {"C": "D"}], "n": 1}},
        {"q": {"A": ["b", {"C": "d"}], "n": 1}},
    ),
    ("several on one text", {"q": ["case"], "*": ["spaces"]}, {"q": " A ", "r": " B "}, {"q": "a", "r": "B"}),
    (
        "on the way and at the end",
        {"a": ["case"], "a.b": ["spaces"]},
        {"a": {"b": " B ", "c": " C "}},
        {"a": {"b": "b", "c": " c "}},
    ),
    (
        "ignored beats normalised",
        {"a": ["case"], "a.b": "ignore"},
        {"a": {"b": "B", "c": "C"}},
        {"a": {"c": "c"}},
    ),
    ("a date", {"on": ["dates"]}, {"on": "May 20th, 2024"}, {"on": "2024-05-20"}),
    ("a date without zeros", {"on": ["dates"]}, {"on": "2024/5/2"}, {"on": "2024-05-02"}),
    (
        "a time of a date",
        {"at": ["dates"]},
        {"at": "2024-05-20T12:00:00+02:00"},
        {"at": "2024-05-20T10:00:00+00:00"},
    ),
    (
        "every date below",
        {"legs": ["dates"]},
        {"legs": [{"on": "20 May 2024"}, {"on": "soon"}]},
        {"legs": [{"on": "2024-05-20"}, {"on": "soon"}]},
    ),
    ("a date told by spaces", {"on": ["dates", "spaces"]}, {"on": " May  20, 2024 "}, {"on": "2024-05-20"}),
    ("a date in capitals", {"on": ["case", "dates"]}, {"on": "20 MAY 2024"}, {"on": "2024-05-20"}),
    (
        "a time whose letters are folded",
        {"at": ["case", "dates"]},
        {"at": "2024-05-20T10:00:00Z"},
        {"at": "2024-05-20t10:00:00+00:00"},
    ),
    ("unordered", {"who": ["unordered"]}, {"who": ["Bob", "Ann", "Bob"]}, {"who": ["Ann", "Bob", "Bob"]}),
    (
        "unordered objects",
        {"who": ["unordered"]},
        {"who": [{"n": 2, "a": 1}, {"a": 1, "n": 1}]},
        {"who": [{"a": 1, "n": 1}, {"a": 1, "n": 2}]},
    ),
    # By canonical text, as which 10 comes before 9, and a text before a number.
    ("unordered of all kinds", {"a": ["unordered"]}, {"a": [None, 9, "x", 10]}, {"a": ["x", 10, 9, None]}),
    (
        "lists below an unordered one",
        {"a": ["unordered"]},
        {"a": [[2, 1], {"b": [4, 3]}]},
        {"a": [[1, 2], {"b": [3, 4]}]},
    ),
    (
        "lists of an unordered object",
        {"a": ["unordered"]},
        {"a": {"b": [2, 1]}, "c": [2, 1]},
        {"a": {"b": [1, 2]}, "c": [2, 1]},
    ),
    ("an unordered list of lists", {"a[*]": ["unordered"]}, {"a": [[2, 1], [0]]}, {"a": [[1, 2], [0]]}),
    (
        "in order by what counts",
        {"who": ["unordered", "case"], "who[*].id": "ignore"},
        {"who": [{"id": 1, "name": "bob"}, {"id": 2, "name": "Ann"}]},
        {"who": [{"name": "ann"}, {"name": "bob"}]},
    ),
    (
        "unordered and ignored",
        {"a": ["unordered"], "a[0]": "ignore"},
        {"a": ["x", "b", "a"]},
        {"a": ["a", "b", None]},
    ),
    (
        "unordered dates",
        {"on": ["dates", "unordered"]},
        {"on": ["May 2", "2 April"]},
        {"on": ["04-02", "05-02"]},
    ),
    (
        "JSON text is a text",
        {"body": ["case"], "body.ts": "ignore"},
        {"body": '{"TS": 1}'},
        {"body": '{"ts": 1}'},
    ),
]

UNTOUCHED: list[tuple[str, JsonObject, JsonValue]] = [
    ("no such key", {"request_id": "ignore"}, {"n": 1, "id": {"request_id": 1}}),
    ("other letter case", {"Query": "ignore"}, {"query": 1}),
    ("normal already", {"q": ["unicode", "spaces", "case"]}, {"q": COMPOSED}),
    ("no text", {"q": ["unicode", "spaces", "case"]}, {"q": 1, "r": None}),
    ("no date", {"q": ["dates"]}, {"q": "2024-02-30", "r": "May"}),
    ("a date amid text", {"q": ["dates"]}, {"q": "on May 20, 2024"}),
    ("a day and month in either order", {"q": ["dates"]}, {"q": "05/06/2024"}),
    ("a number is no date", {"q": ["dates"]}, {"q": 20240520}),
    ("normal dates", {"q": ["dates"]}, {"q": ["2024-05-20", "2024-05-20T10:00:00+00:00", "05-20"]}),
    ("no list", {"q": ["unordered"]}, {"q": "ba", "r": [2, 1]}),
    ("in order already", {"q": ["unordered"]}, {"q": [1, 1.0, 2, [3], []]}),
    ("elements of an ordered list", {"q[*]": ["unordered"]}, {"q": [2, 1]}),
    ("no such element", {"a[2]": "ignore"}, {"a": [1, 2]}),
    ("an index leads into lists only", {"a[0]": "ignore"}, {"a": {"0": 1}}),
    ("any element leads into lists only", {"a[*]": "ignore"}, {"a": {"b": 1}}),
    ("a key leads into objects only", {"a.0": "ignore", "a.*": "ignore"}, {"a": ["x"]}),
    ("keys keep their letters", {"*": ["case"]}, {"Q": {"R": 1}}),
    ("arguments that are a text", {"*": ["case"], "a": "ignore"}, '{"A": 1, "a": "B"}'),
    ("no arguments", {"*": "ignore"}, {}),
    ("null", {"*": "ignore"}, None),
    ("null in a list", {"a[*]": "ignore"}, {"a": [None, None]}),
]


@pytest.mark.parametrize(
    ("rules", "arguments", "applied"), [pytest.param(*case[1:], id=case[0]) for case in APPLIED]
)
def test_what_counts(rules: JsonObject, arguments: JsonValue, applied: JsonValue) -> None:
    got = _rules(**rules).apply("f", arguments)

    assert json_difference(applied, got, null_is_absent=False) is None
    assert _rules(**rules).key("f", arguments) == canonical_json(applied)


@pytest.mark.parametrize(("rules", "arguments"), [pytest.param(*case[1:], id=case[0]) for case in UNTOUCHED])
def test_what_no_rule_touches_is_the_same_object(rules: JsonObject, arguments: JsonValue) -> None:
    assert _rules(**rules).apply("f", arguments) is arguments


def test_siblings_of_what_changed_are_the_same_objects() -> None:
    arguments = {"request_id": 1, "big": {"list": [1, 2]}}

    assert _rules(request_id="ignore").apply("f", arguments)["big"] is arguments["big"]


@pytest.mark.parametrize(
    ("glob", "tool", "covered"),
    [
        ("*", "search", True),
        ("*", "", True),
        ("search", "search", True),
        ("search", "search_flights", False),
        ("search", "research", False),
        ("search", "Search", False),
        ("search*", "search_flights", True),
        ("*_order", "cancel_order", True),
        ("get_?", "get_a", True),
        ("get_[ab]", "get_c", False),
        ("a*b", "a\nb", True),
    ],
)
def test_a_tool_is_named_by_a_glob(glob: str, tool: str, *, covered: bool) -> None:
    rules = ArgumentRules.model_validate({glob: {"n": "ignore"}})

    assert rules.covers(tool) is covered
    assert rules.apply(tool, {"n": 1}) == ({} if covered else {"n": 1})


def test_every_glob_that_fits_counts() -> None:
    rules = ArgumentRules.model_validate({"*": {"id": "ignore", "q": ["unicode"]}, "f*": {"q": ["case"]}})

    assert rules.apply("find", {"id": 1, "q": "\u01f0A"}) == {"q": "\u01f0a"}
    assert rules.apply("get", {"id": 1, "q": "\u01f0A"}) == {"q": "\u01f0A"}


@pytest.mark.parametrize("rules", [{}, {"*": {}}, {"f": {}, "g": {}}], ids=repr)
def test_rules_about_nothing_are_none(rules: JsonObject) -> None:
    assert not ArgumentRules.model_validate(rules)
    assert not ArgumentRules.model_validate(rules).covers("f")


def test_rules_are_written_as_they_came() -> None:
    rules: JsonObject = {"*": {"request_id": "ignore"}, "search": {"items[*].q": ["spaces", "case"]}}

    assert ArgumentRules.model_validate(rules).model_dump(mode="json") == rules


BAD_PATHS = [
    "",
    ".",
    ".a",
    "a.",
    "a..b",
    "a[",
    "a]",
    "a[]",
    "a[x]",
    "a[-1]",
    "a[01]",
    "a[1",
    "a[0]b",
    "a['b]",
    "a['b'c]",
    "a.['b']",
    "a.[0]",
    "['a']b",
    "cre*",
    "a.*d",
    "**",
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=repr)
def test_a_bad_path_is_refused(path: str) -> None:
    with pytest.raises(ValidationError) as raised:
        _rules(**{path: "ignore"})

    (fault,) = raised.value.errors()
    assert fault["loc"] == ("f", path, "[key]")


BAD_RULES: list[JsonValue] = [
    "case",
    "Ignore",
    "",
    [],
    ["lower"],
    "unordered",
    ["dates", "ignore"],
    ["case", "ignore"],
    [["case"]],
    [1],
    None,
    True,
]


@pytest.mark.parametrize("rule", BAD_RULES, ids=repr)
def test_a_bad_rule_is_answered_with_the_known_ones(rule: JsonValue) -> None:
    with pytest.raises(ValidationError) as raised:
        _rules(query=rule)

    (fault,) = raised.value.errors()
    assert fault["loc"] == ("f", "query")
    for name in ("ignore", "unicode", "case", "spaces", "dates", "unordered"):
        assert name in fault["msg"]


_STEPS = st.sampled_from(["a", "b", "*", "[0]", "[1]", "[*]", "['a.b']"])


def _path(steps: list[str]) -> str:
    return "".join(step if step[0] == "[" else f".{step}" for step in steps).removeprefix(".")


_PATHS = st.lists(_STEPS, min_size=1, max_size=3).map(_path)
_NAMES = st.lists(
    st.sampled_from(["unicode", "spaces", "case", "dates", "unordered"]), min_size=1, max_size=3, unique=True
)
_RULES = st.dictionaries(
    st.sampled_from(["*", "f", "f?*", "g"]),
    st.dictionaries(_PATHS, st.just("ignore") | _NAMES, max_size=3),
    max_size=3,
).map(ArgumentRules.model_validate)

# Texts that one normalisation takes to another, or apart.
_TEXTS = st.text(max_size=4) | st.sampled_from(
    [
        "2024-5-2",
        "MAY  2",
        "2024-05-02T10:00:00Z",
        "2024-05-02t12:00+02:00",
        COMPOSED,
        DECOMPOSED,
        "CAFÉ ",
        " a  b",
        "A\tB",
        "\u01f0",
        "\u1fb4",
        "\u03b1\u0345\u0301",
        "İ",
        "\ud800",
    ]
)
_ARGUMENTS: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | _TEXTS,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "a.b", "0"]), children, max_size=3)
    ),
    max_leaves=8,
)
_TOOLS = st.sampled_from(["f", "fg", "g", ""])


@given(elements=st.lists(_ARGUMENTS, max_size=5), names=_NAMES, data=st.data())
def test_the_order_of_what_is_unordered_is_of_no_account(
    elements: list[JsonValue], names: list[str], data: st.DataObject
) -> None:
    rules = _rules(q=["unordered", *names])
    shuffled = data.draw(st.permutations(elements))

    assert rules.key("f", {"q": shuffled}) == rules.key("f", {"q": elements})


@given(rules=_RULES, tool=_TOOLS, arguments=_ARGUMENTS)
def test_what_counts_of_what_counts_is_the_same(
    rules: ArgumentRules, tool: str, arguments: JsonValue
) -> None:
    once = rules.apply(tool, arguments)

    assert rules.apply(tool, once) is once


@given(rules=_RULES, tool=_TOOLS, arguments=_ARGUMENTS)
def test_arguments_stay_as_they_are(rules: ArgumentRules, tool: str, arguments: JsonValue) -> None:
    before = deepcopy(arguments)

    applied = rules.apply(tool, arguments)

    assert json_difference(before, arguments, null_is_absent=False) is None
    if json_difference(applied, arguments, null_is_absent=False) is None:
        assert applied is arguments


@given(rules=_RULES, tool=_TOOLS, one=_ARGUMENTS, other=_ARGUMENTS)
def test_keys_are_the_same_exactly_when_what_counts_is(
    rules: ArgumentRules, tool: str, one: JsonValue, other: JsonValue
) -> None:
    same = canonical_json(rules.apply(tool, one)) == canonical_json(rules.apply(tool, other))

    assert (rules.key(tool, one) == rules.key(tool, other)) is same


@given(rules=_RULES, tool=_TOOLS, arguments=_ARGUMENTS, data=st.data())
def test_the_order_of_rules_is_of_no_account(
    rules: ArgumentRules, tool: str, arguments: JsonValue, data: st.DataObject
) -> None:
    shuffled = {
        glob: {
            path: rule if isinstance(rule, str) else data.draw(st.permutations(rule))
            for path, rule in data.draw(st.permutations(list(rules.root[glob].items())))
        }
        for glob in data.draw(st.permutations(list(rules.root)))
    }

    assert ArgumentRules.model_validate(shuffled).key(tool, arguments) == rules.key(tool, arguments)


@given(tool=_TOOLS, arguments=JSON_VALUES)
def test_without_rules_the_key_is_the_canonical_text(tool: str, arguments: JsonValue) -> None:
    assert ArgumentRules().apply(tool, arguments) is arguments
    assert ArgumentRules().key(tool, arguments) == canonical_json(arguments)


@given(text=_TEXTS, names=_NAMES)
def test_equivalent_texts_have_one_key_where_the_unicode_form_does_not_count(
    text: str, names: list[str]
) -> None:
    rules = _rules(q=["unicode", *names])

    keys = {rules.key("f", {"q": unicodedata.normalize(form, text)}) for form in ("NFC", "NFD")}

    assert keys == {rules.key("f", {"q": text})}


@pytest.mark.parametrize("names", [["unicode"], ["case"], ["unicode", "case"], ["unicode", "case", "spaces"]])
def test_no_character_changes_twice(names: list[str]) -> None:
    rules = _rules(**{"all[*]": names})
    changing = [
        char
        for char in map(chr, range(0x110000))
        if char.casefold() != char or not unicodedata.is_normalized("NFC", char) or char.isspace()
    ]

    once = rules.apply("f", {"all": changing})

    assert len(changing) > 2000
    assert rules.apply("f", once) is once
