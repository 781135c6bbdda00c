"""What a suite hides of a record: inside of texts by patterns, as a whole by paths."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.redact import RedactConfig, Redactor
from tests.support.json_compare import json_difference
from tests.support.records import message, record_json, tool_call
from tests.support.strategies import JSON_VALUES

EMAIL = {"name": "EMAIL", "pattern": r"\w+@\w+"}
NUMBER = r"A-[0-9]+"


def _config(*patterns: JsonValue, paths: list[str] | None = None) -> RedactConfig:
    return RedactConfig.from_json({"patterns": list(patterns), "paths": paths or []})


def redact(value: JsonValue, config: RedactConfig) -> JsonValue:
    return Redactor(config).redact(value)


# Patterns, a text, and what is left of it.
INSIDE: list[tuple[str, list[JsonValue], str, str]] = [
    ("no pattern", [], "a@b", "a@b"),
    ("nothing found", [EMAIL], "no mail", "no mail"),
    ("a name of its own", [EMAIL], "to a@b.", "to [EMAIL_1]."),
    ("the default name", [NUMBER], "account A-17", "account [REDACTED_1]"),
    ("two values", [EMAIL], "a@b, c@d", "[EMAIL_1], [EMAIL_2]"),
    ("one value twice", [EMAIL], "a@b, c@d, a@b", "[EMAIL_1], [EMAIL_2], [EMAIL_1]"),
    ("two patterns", [EMAIL, NUMBER], "A-1 of a@b", "[REDACTED_1] of [EMAIL_1]"),
    ("two patterns of one name", [NUMBER, "B-[0-9]+"], "A-1, B-1", "[REDACTED_1], [REDACTED_2]"),
    ("the whole text", [".*"], "all of it", "[REDACTED_1]"),
    ("JSON in a text is text", [EMAIL], '{"to":"a@b"}', '{"to":"[EMAIL_1]"}'),
    ("a match of nothing", ["x*"], "axxb", "a[REDACTED_1]b"),
    ("a digit of a placeholder is none", [EMAIL, "[0-9]"], "a@b", "[EMAIL_1]"),
    ("a placeholder from before", [EMAIL], "[EMAIL_7] or a@b", "[EMAIL_7] or [EMAIL_8]"),
    ("what stands around a placeholder", [EMAIL, "key=[^ ]+"], "key=1-a@b-2 x", "[REDACTED_1] x"),
    ("part of a placeholder and more", [EMAIL, r"1\]!"], "a@b!", "[REDACTED_1]"),
    ("placeholders alone are nothing to hide", [EMAIL, ".+"], "a@b", "[EMAIL_1]"),
    # Only after the second pattern does the first one find anything.
    ("one pattern after another", [r"q:\[", EMAIL], "q:a@b", "[REDACTED_1]"),
    ("one pattern because of another", [r"q\[", r"s+"], "qs t", "[REDACTED_2] t"),
    ("letters of any script", [EMAIL], "José@bücher", "[EMAIL_1]"),
    ("a lone surrogate", ["a."], "a\ud800b", "[REDACTED_1]b"),
]


@pytest.mark.parametrize(
    ("patterns", "text", "expected"), [pytest.param(*case[1:], id=case[0]) for case in INSIDE]
)
def test_inside_of_texts(patterns: list[JsonValue], text: str, expected: str) -> None:
    assert redact(text, _config(*patterns)) == expected


RECORD = record_json(
    question="I am a@b.",
    contextSnapshot={"user": "a@b", "age": 41, "plan": None},
    items=[
        message("I am a@b."),
        tool_call("c1", "send", arguments={"email": "a@b", "cc": ["c@d"], "amount": 5}),
        tool_call("c2", "note", arguments='{"email":"c@d"}'),
    ],
)


def test_a_record_by_patterns() -> None:
    expected = record_json(
        question="I am [EMAIL_1].",
        contextSnapshot={"user": "[EMAIL_1]", "age": 41, "plan": None},
        items=[
            message("I am [EMAIL_1]."),
            tool_call("c1", "send", arguments={"email": "[EMAIL_1]", "cc": ["[EMAIL_2]"], "amount": 5}),
            tool_call("c2", "note", arguments='{"email":"[EMAIL_2]"}'),
        ],
    )

    assert redact(RECORD, _config(EMAIL)) == expected


# A path, and the members of the value that it hides, by key.
VALUE: JsonObject = {
    "text": "a@b",
    "number": 5,
    "flag": True,
    "nothing": None,
    "object": {"a": "x", "b": 1},
    "list": [{"a": "x"}, {"a": "y", "odd.key": "z"}, "x"],
    "hidden": "[EMAIL_3]",
}
BY_PATH: list[tuple[str, JsonObject]] = [
    ("text", {"text": "[REDACTED_1]"}),
    ("number", {"number": "[REDACTED_1]"}),
    ("flag", {"flag": "[REDACTED_1]"}),
    ("nothing", {}),
    ("hidden", {}),
    ("object", {"object": "[REDACTED_1]"}),
    ("object.a", {"object": {"a": "[REDACTED_1]", "b": 1}}),
    ("object.*", {"object": {"a": "[REDACTED_1]", "b": "[REDACTED_2]"}}),
    ("list[*].a", {"list": [{"a": "[REDACTED_1]"}, {"a": "[REDACTED_2]", "odd.key": "z"}, "x"]}),
    ("list[1]['odd.key']", {"list": [{"a": "x"}, {"a": "y", "odd.key": "[REDACTED_1]"}, "x"]}),
    ("list[2]", {"list": [{"a": "x"}, {"a": "y", "odd.key": "z"}, "[REDACTED_1]"]}),
    ("list.a", {}),
    ("text.a", {}),
    ("object[0]", {}),
    ("absent", {}),
]


@pytest.mark.parametrize(("path", "changes"), BY_PATH, ids=[path for path, _ in BY_PATH])
def test_a_path_hides_whole_values(path: str, changes: JsonObject) -> None:
    assert redact(VALUE, _config(paths=[path])) == VALUE | changes


def test_the_same_value_has_the_same_number_however_it_is_found() -> None:
    value = {"a": "A-1", "b": "of A-1", "c": 1, "d": "1", "e": {"x": 1}, "f": {"x": 1}}

    assert redact(value, _config(NUMBER, paths=["a", "c", "d", "e", "f"])) == {
        "a": "[REDACTED_1]",
        "b": "of [REDACTED_1]",
        "c": "[REDACTED_2]",
        "d": "[REDACTED_3]",
        "e": "[REDACTED_4]",
        "f": "[REDACTED_4]",
    }


def test_records_side_by_side_share_their_numbers() -> None:
    """Else two different values would look like one."""
    redactor = Redactor(_config(EMAIL))

    redacted = [redactor.redact(record_json(response=text)) for text in ("to a@b", "to c@d and a@b")]

    assert [record["response"] for record in redacted] == ["to [EMAIL_1]", "to [EMAIL_2] and [EMAIL_1]"]


def test_a_placeholder_that_is_still_ahead_is_not_given() -> None:
    redactor = Redactor(_config(EMAIL), ["[EMAIL_4]"])

    assert [redactor.redact(text) for text in ("a@b", "[EMAIL_4]")] == ["[EMAIL_5]", "[EMAIL_4]"]


# What stands under `redact`, where it is at fault, and what is said.
FAULTS: list[tuple[str, JsonValue, str, str]] = [
    ("no regular expression", {"patterns": ["("]}, "$.patterns[0]", "no regular expression"),
    ("none with a name", {"patterns": [{"pattern": "("}]}, "$.patterns[0].pattern", "no regular expression"),
    ("a look-around", {"patterns": ["a(?=b)"]}, "$.patterns[0]", "has no look-around or backreferences"),
    ("an empty pattern", {"patterns": ["x", ""]}, "$.patterns[1]", "at least 1"),
    ("no pattern", {"patterns": [{"name": "X"}]}, "$.patterns[0].pattern", "missing"),
    ("a number", {"patterns": [5]}, "$.patterns[0]", ""),
    ("a name that is none", {"patterns": [{"name": "e-mail", "pattern": "x"}]}, "$.patterns[0].name", ""),
    ("an unknown key", {"patterns": [{"regex": "x"}]}, "$.patterns[0].regex", "unknown key"),
    ("no path", {"paths": ["a..b"]}, "$.paths[0]", "no path from character 2 on"),
    ("half a star", {"paths": ["a", "a*"]}, "$.paths[1]", "* stands for a whole key only"),
    ("an empty path", {"paths": [""]}, "$.paths[0]", "no path from character 1 on"),
    ("an unknown part", {"keys": []}, "$.keys", "unknown key"),
]


@pytest.mark.parametrize(
    ("config", "path", "reason"), [pytest.param(*case[1:], id=case[0]) for case in FAULTS]
)
def test_what_cannot_be_meant(config: JsonValue, path: str, reason: str) -> None:
    with pytest.raises(JsonError) as error:
        RedactConfig.from_json(config)

    assert error.value.path == path
    assert reason in error.value.reason


HOLD_UP = """
from regress_core.records.redact import RedactConfig, Redactor

config = RedactConfig.from_json({"patterns": ["(a+)+$", "(a|a)*c", "(?:x*)*y"]})
text = "a" * 50_000 + "!" + "x" * 50_000
assert Redactor(config).redact(text) == text
"""


def test_no_text_holds_a_search_up() -> None:
    """In a process of its own: a search by Python's `re` could not be stopped."""
    subprocess.run([sys.executable, "-c", HOLD_UP], check=True, timeout=60)


def test_nothing_is_hidden_by_default() -> None:
    assert redact(RECORD, RedactConfig()) == RECORD


PATTERNS = st.lists(
    st.sampled_from(["[a-f]+", "1", "x*", "$", ".", "a.?", r"\]0", r"\[", "[0-9]+$", "e|E"])
    | st.fixed_dictionaries(
        {"name": st.sampled_from(["A", "B_1", "REDACTED"]), "pattern": st.sampled_from(["[0-9a]", "[A-Z]_"])}
    ),
    max_size=4,
)
PATHS = st.lists(st.sampled_from(["*", "[*]", "*.*", "[0]", "a", "*[0]", "a.b"]), max_size=2)
PLACEHOLDERS = st.sampled_from(["[A_1]", "x[REDACTED_1]1", "[B_1_2]0", "[A_0]", "[A_1", "[A_1][A_2]"])
VALUES: st.SearchStrategy[JsonValue] = (
    JSON_VALUES | st.lists(PLACEHOLDERS) | st.dictionaries(PLACEHOLDERS, PLACEHOLDERS | JSON_VALUES)
)


def _shape(value: JsonValue) -> JsonValue:
    """Give a value with every text emptied, keys aside."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {key: _shape(child) for key, child in cast("JsonObject", value).items()}
    return [_shape(child) for child in cast("list[JsonValue]", value)] if isinstance(value, list) else value


@given(VALUES, PATTERNS)
def test_patterns_change_nothing_but_texts(value: JsonValue, patterns: list[JsonValue]) -> None:
    assert json_difference(_shape(redact(value, _config(*patterns))), _shape(value)) is None


@given(VALUES, PATTERNS, PATHS)
def test_redacting_again_changes_nothing(
    value: JsonValue, patterns: list[JsonValue], paths: list[str]
) -> None:
    config = _config(*patterns, paths=paths)
    once = redact(value, config)

    assert json_difference(redact(once, config), once) is None


@given(VALUES, PATTERNS, PATHS)
def test_the_given_value_stays_as_it_is(
    value: JsonValue, patterns: list[JsonValue], paths: list[str]
) -> None:
    before = deepcopy(value)

    redact(value, _config(*patterns, paths=paths))

    assert json_difference(value, before) is None


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in cast("JsonObject", value).values():
            yield from _texts(child)
    elif isinstance(value, list):
        for child in cast("list[JsonValue]", value):
            yield from _texts(child)


@given(VALUES, st.sampled_from(["a", "Z", "7", "é"]))
def test_no_text_keeps_what_is_to_be_hidden(value: JsonValue, secret: str) -> None:
    redacted = redact({"top": value}, _config({"name": "X", "pattern": secret}))

    for text in _texts(redacted):
        for part in text.split("["):
            assert secret not in part.rpartition("]")[2]


@given(VALUES, VALUES, PATTERNS, PATHS)
def test_side_by_side_equal_stays_equal(
    left: JsonValue, right: JsonValue, patterns: list[JsonValue], paths: list[str]
) -> None:
    """And what differs stays different."""
    redactor = Redactor(_config(*patterns, paths=paths), [left, right])
    hidden = [redactor.redact(left), redactor.redact(right)]

    same = json_difference(left, right) is None
    assert (json_difference(hidden[0], hidden[1]) is None) == same
