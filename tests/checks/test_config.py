"""What may be said about checks, and how a fault in it is named."""

from __future__ import annotations

import pytest

from regress_core.checks.case_checks import case_checks
from regress_core.checks.config import Anomalies, CheckKeys, Stall
from regress_core.checks.kinds import TextContains
from regress_core.checks.wanted import ContainedText, MatchedPattern
from regress_core.records.json_io import JsonError, JsonObject, JsonValue

DIMENSION: JsonObject = {"id": "polite", "quality": "the tone is polite", "required": ["please"]}
CALLED: JsonObject = {"kind": "tool_called", "tool": "f"}


def _refused(value: JsonValue) -> JsonError:
    with pytest.raises(JsonError) as raised:
        CheckKeys.from_json(value)
    assert "\n" not in str(raised.value)
    return raised.value


def test_nothing_said_is_no_checks() -> None:
    checks = case_checks(CheckKeys())

    assert checks.assertions == {}
    assert checks.rubric == ()
    assert checks.anomalies == Anomalies(repeated_calls=None, blind_retries=None, stall=None)


def test_everything_said() -> None:
    keys = CheckKeys.from_json(
        {
            "assertions": [
                {"kind": "tool_called", "tool": "f", "id": "uses-f"},
                {"kind": "tool_not_called", "tool": "g*"},
                {"kind": "call_count", "tool": "f", "min": 1, "max": 2},
                {"kind": "call_order", "tools": ["f", "h"]},
                {"kind": "arguments", "tool": "f", "schema": {"type": "object"}},
                {"kind": "max_turns", "turns": 5},
                {"kind": "text_contains", "text": "a", "in": "transcript", "ignore_case": True},
                {"kind": "text_not_contains", "text": "b"},
                {"kind": "text_matches", "pattern": "c+"},
                {"kind": "json", "schema": {"type": "object"}},
                {"kind": "markdown", "headings": ["d"], "require": ["list", "table"]},
            ],
            "semanticRubric": [
                {**DIMENSION, "forbidden": [{"text": "e", "ignore_case": True}, {"pattern": "f$"}]}
            ],
            "checks": {
                "require_rubric": True,
                "anomalies": {
                    "repeated_calls": "warn",
                    "blind_retries": "fail",
                    "stall": {"turns": 3, "severity": "fail"},
                },
            },
        }
    )

    assert [assertion.kind for assertion in keys.assertions] == [
        "tool_called",
        "tool_not_called",
        "call_count",
        "call_order",
        "arguments",
        "max_turns",
        "text_contains",
        "text_not_contains",
        "text_matches",
        "json",
        "markdown",
    ]
    text = keys.assertions[6]
    assert isinstance(text, TextContains)
    assert (text.place, text.ignore_case) == ("transcript", True)
    (dimension,) = keys.semantic_rubric
    assert dimension.required == (ContainedText(text="please"),)
    assert dimension.forbidden == (ContainedText(text="e", ignore_case=True), MatchedPattern(pattern="f$"))
    assert keys.checks.require_rubric
    assert keys.checks.anomalies.stall == Stall(turns=3, severity="fail")


# An assertion, where its fault is (below the assertion itself), and a part of the reason.
WRONG_ASSERTIONS: list[tuple[JsonValue, str, str]] = [
    ("tool_called", "", "valid"),
    ({"tool": "f"}, "", "kind"),
    ({"kind": "tool_used", "tool": "f"}, "", "'tool_called'"),
    ({"kind": "tool_called"}, ".tool", "the field is missing"),
    ({"kind": "tool_called", "tool": ""}, ".tool", "at least 1 character"),
    ({"kind": "tool_called", "tool": 5}, ".tool", "valid string"),
    ({"kind": "tool_called", "tool": "f", "tools": []}, ".tools", "unknown key"),
    ({**CALLED, "id": "Uses_f"}, ".id", "'Uses_f' is no id; use a-z and 0-9, with single hyphens in between"),
    ({**CALLED, "id": ""}, ".id", "is no id"),
    ({**CALLED, "id": "a--b"}, ".id", "is no id"),
    ({**CALLED, "id": "a\n"}, ".id", "is no id"),
    ({**CALLED, "id": "x" * 81}, ".id", "at most 80 characters"),
    ({"kind": "call_count", "tool": "f"}, ".max", "give min, max or both"),
    ({"kind": "call_count", "tool": "f", "min": 3, "max": 2}, ".max", "min, 3, is above max, 2"),
    ({"kind": "call_count", "tool": "f", "min": -1}, ".min", "greater than or equal to 0"),
    ({"kind": "call_count", "tool": "f", "max": 1.5}, ".max", "valid integer"),
    ({"kind": "call_count", "tool": "f", "max": True}, ".max", "valid integer"),
    ({"kind": "call_order", "tools": ["f"]}, ".tools", "at least 2 items"),
    ({"kind": "call_order", "tools": ["f", "g", "f"]}, ".tools", "a tool stands twice"),
    ({"kind": "call_order", "tools": "f, g"}, ".tools", "valid list"),
    ({"kind": "arguments", "tool": "f"}, ".schema", "the field is missing"),
    ({"kind": "arguments", "tool": "f", "schema": []}, ".schema", "valid dictionary"),
    (
        {"kind": "arguments", "tool": "f", "schema": {"type": "strin"}},
        ".schema",
        "no JSON Schema: $.type: 'strin' is not valid under any of the given schemas",
    ),
    (
        {"kind": "arguments", "tool": "f", "schema": {"properties": {"a": {"pattern": "("}}}},
        ".schema",
        "no JSON Schema: $.properties.a.pattern: '(' is no regular expression: unclosed group",
    ),
    (
        {"kind": "json", "schema": {"items": {"$ref": "https://example.org/schema.json"}}},
        ".schema",
        "no JSON Schema: 'https://example.org/schema.json' leads to no place in the schema",
    ),
    ({"kind": "max_turns", "turns": -1}, ".turns", "greater than or equal to 0"),
    ({"kind": "max_turns", "turns": "5"}, ".turns", "valid integer"),
    ({"kind": "text_contains", "text": ""}, ".text", "at least 1 character"),
    ({"kind": "text_contains", "text": "a", "in": "question"}, ".in", "'response' or 'transcript'"),
    ({"kind": "text_contains", "text": "a", "place": "response"}, ".place", "unknown key"),
    ({"kind": "text_contains", "text": "a", "ignore_case": "yes"}, ".ignore_case", "valid boolean"),
    ({"kind": "text_matches", "pattern": "(a"}, ".pattern", "no regular expression: unclosed group"),
    (
        {"kind": "text_matches", "pattern": "(?=a)"},
        ".pattern",
        "no regular expression: look-around, including look-ahead and look-behind, is not supported",
    ),
    (
        {"kind": "text_matches", "pattern": "(a{1000}){1000}"},
        ".pattern",
        "no regular expression: Compiled regex exceeds size limit",
    ),
    ({"kind": "text_matches", "pattern": "\ud800"}, ".pattern", "unicode"),
    ({"kind": "text_matches", "pattern": ""}, ".pattern", "at least 1 character"),
    (
        {"kind": "markdown", "require": ["lists"]},
        ".require[0]",
        "'heading', 'list', 'table', 'fence' or 'link'",
    ),
    ({"kind": "markdown", "headings": [""]}, ".headings[0]", "at least 1 character"),
]


@pytest.mark.parametrize(("assertion", "path", "reason"), WRONG_ASSERTIONS)
def test_a_wrong_assertion_is_refused(assertion: JsonValue, path: str, reason: str) -> None:
    error = _refused({"assertions": [CALLED, assertion]})

    assert error.path == f"$.assertions[1]{path}"
    assert reason in error.reason


WRONG: list[tuple[JsonValue, str, str]] = [
    ({"assertions": {}}, "$.assertions", "valid list"),
    ({"semanticRubric": {}}, "$.semanticRubric", "valid list"),
    ({"semantic_rubric": []}, "$.semantic_rubric", "unknown key"),
    ({"semanticRubric": [{**DIMENSION, "id": "not kebab"}]}, "$.semanticRubric[0].id", "is no id"),
    ({"semanticRubric": [{"id": "a", "required": ["b"]}]}, "$.semanticRubric[0].quality", "missing"),
    ({"semanticRubric": [{"id": "a", "quality": "b"}]}, "$.semanticRubric[0]", "no evidence"),
    (
        {"semanticRubric": [{**DIMENSION, "required": [""]}]},
        "$.semanticRubric[0].required[0]",
        "character",
    ),
    ({"semanticRubric": [{**DIMENSION, "required": "b"}]}, "$.semanticRubric[0].required", "valid list"),
    (
        {"semanticRubric": [{**DIMENSION, "forbidden": [{"pattern": "(a"}]}]},
        "$.semanticRubric[0].forbidden[0].pattern",
        "unclosed group",
    ),
    (
        {"semanticRubric": [{**DIMENSION, "forbidden": [{"pattern": "a", "text": "b"}]}]},
        "$.semanticRubric[0].forbidden[0].text",
        "unknown key",
    ),
    (
        {"semanticRubric": [{**DIMENSION, "forbidden": [{"text": "a", "ignore_case": 1}]}]},
        "$.semanticRubric[0].forbidden[0].ignore_case",
        "valid boolean",
    ),
    ({"semanticRubric": [{**DIMENSION, "forbidden": [5]}]}, "$.semanticRubric[0].forbidden[0]", "valid"),
    ({"semanticRubric": [DIMENSION, DIMENSION]}, "$", "the id polite stands twice"),
    ({"assertions": [{**CALLED, "id": "a"}, {**CALLED, "id": "a"}]}, "$", "the id a stands twice"),
    (
        {"assertions": [{**CALLED, "id": "polite"}], "semanticRubric": [DIMENSION]},
        "$",
        "the id polite stands twice among assertions and semanticRubric",
    ),
    ({"checks": {"require_rubrics": True}}, "$.checks.require_rubrics", "unknown key"),
    ({"checks": {"require_rubric": "yes"}}, "$.checks.require_rubric", "valid boolean"),
    (
        {"checks": {"anomalies": {"repeated_calls": True}}},
        "$.checks.anomalies.repeated_calls",
        "'warn' or 'fail'",
    ),
    ({"checks": {"anomalies": {"stall": 3}}}, "$.checks.anomalies.stall", "valid dictionary"),
    ({"checks": {"anomalies": {"stall": {}}}}, "$.checks.anomalies.stall.turns", "missing"),
    ({"checks": {"anomalies": {"stall": {"turns": 0}}}}, "$.checks.anomalies.stall.turns", "equal to 1"),
]


@pytest.mark.parametrize(("value", "path", "reason"), WRONG)
def test_a_wrong_value_is_refused_at_its_key(value: JsonValue, path: str, reason: str) -> None:
    error = _refused(value)

    assert error.path == path
    assert reason in error.reason


# Assertions, and their ids.
IDS: list[tuple[list[JsonObject], list[str]]] = [
    ([CALLED], ["tool-called-f"]),
    ([{"kind": "tool_not_called", "tool": "cancel_*"}], ["tool-not-called-cancel"]),
    ([{"kind": "call_count", "tool": "findOrder", "max": 2}], ["call-count-findorder"]),
    ([{"kind": "call_order", "tools": ["find_order", "refund"]}], ["call-order-find-order-refund"]),
    ([{"kind": "max_turns", "turns": 5}], ["max-turns"]),
    ([{"kind": "json"}, {"kind": "markdown"}], ["json", "markdown"]),
    ([{"kind": "text_contains", "text": "12.50 €"}], ["text-contains-12-50"]),
    ([{"kind": "text_contains", "text": "返金"}], ["text-contains"]),
    ([{"kind": "text_matches", "pattern": r"\d+ (EUR|USD)"}], ["text-matches-d-eur-usd"]),
    ([{"kind": "text_contains", "text": "x" * 99}], ["text-contains-" + "x" * 46]),
    (
        [CALLED, {**CALLED, "id": "mine"}, CALLED, CALLED],
        ["tool-called-f", "mine", "tool-called-f-2", "tool-called-f-3"],
    ),
    ([CALLED, {**CALLED, "id": "tool-called-f"}], ["tool-called-f-2", "tool-called-f"]),
]


@pytest.mark.parametrize(("assertions", "ids"), IDS)
def test_ids(assertions: list[JsonObject], ids: list[str]) -> None:
    assert list(case_checks(CheckKeys.from_json({"assertions": assertions})).assertions) == ids


def test_a_case_adds_to_its_suite() -> None:
    suite = CheckKeys.from_json(
        {
            "assertions": [CALLED],
            "semanticRubric": [DIMENSION],
            "checks": {"anomalies": {"repeated_calls": "warn", "blind_retries": "warn"}},
        }
    )
    case = CheckKeys.from_json(
        {
            "assertions": [CALLED, {"kind": "json"}],
            "semanticRubric": [{"id": "brief", "quality": "it is brief", "forbidden": ["moreover"]}],
            "checks": {"anomalies": {"repeated_calls": None, "stall": {"turns": 4}}},
        }
    )

    checks = case_checks(suite, case)

    assert list(checks.assertions) == ["tool-called-f", "tool-called-f-2", "json"]
    assert [dimension.id for dimension in checks.rubric] == ["polite", "brief"]
    assert checks.anomalies == Anomalies(repeated_calls=None, blind_retries="warn", stall=Stall(turns=4))
    assert case_checks(suite).anomalies == Anomalies(repeated_calls="warn", blind_retries="warn")


@pytest.mark.parametrize(
    "case",
    [
        {"assertions": [{**CALLED, "id": "polite"}]},
        {"semanticRubric": [DIMENSION]},
    ],
    ids=["assertion", "dimension"],
)
def test_a_case_may_not_use_an_id_of_its_suite(case: JsonObject) -> None:
    suite = CheckKeys.from_json({"semanticRubric": [DIMENSION]})

    with pytest.raises(JsonError, match=r"the id polite is one of suite\.yaml's already"):
        case_checks(suite, CheckKeys.from_json(case))


REQUIRED: JsonObject = {"checks": {"require_rubric": True}}


@pytest.mark.parametrize(
    ("suite", "case", "complete"),
    [
        ({}, {}, True),
        (REQUIRED, {}, False),
        (REQUIRED, {"semanticRubric": []}, False),
        ({}, REQUIRED, False),
        (REQUIRED, {"semanticRubric": [DIMENSION]}, True),
        ({**REQUIRED, "semanticRubric": [DIMENSION]}, {}, True),
    ],
    ids=["not required", "missing", "empty", "required by the case", "of the case", "of the suite"],
)
def test_a_rubric_may_be_required_of_every_case(
    suite: JsonObject, case: JsonObject, *, complete: bool
) -> None:
    parts = CheckKeys.from_json(suite), CheckKeys.from_json(case)

    if complete:
        case_checks(*parts)
        return
    with pytest.raises(JsonError, match="the case has no semantic rubric") as raised:
        case_checks(*parts)
    assert raised.value.path == "$.semanticRubric"
