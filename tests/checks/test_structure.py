"""The answer as JSON, and as Markdown with headings and elements that are wanted."""

from __future__ import annotations

import pytest

from regress_core.checks.outcome import CheckOutcome, CheckResult
from regress_core.checks.structure import structure_failed
from regress_core.records.json_io import JsonObject
from tests.checks.support import result_of, talk, told

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "integer"}}},
    "required": ["lines"],
}

# The answer, outcome, and what was found.
BARE = [
    pytest.param('{"a": 1}', "pass", '{"a":1}', id="an object"),
    pytest.param(' \n[1, "é"]\n', "pass", '[1,"é"]', id="blanks around"),
    pytest.param("42", "pass", "42", id="a number is JSON too"),
    pytest.param('```json\n{"a": 1}\n```', "pass", '{"a":1}', id="in a fence"),
    pytest.param('\n```\n{"a": 1}\n```\n\n', "pass", '{"a":1}', id="in a bare fence, blanks around"),
    pytest.param('~~~~JSON\r\n{"a": 1}\r\n~~~~', "pass", '{"a":1}', id="in a fence of tildes"),
    pytest.param('{"a": "```json\\n1\\n```"}', "pass", '{"a":"```json\\n1\\n```"}', id="a fence in a text"),
    pytest.param('```json\n{"a": "```"}\n```', "pass", '{"a":"```"}', id="a fence in a text in a fence"),
    pytest.param(
        "On its way.",
        "fail",
        '$: not JSON at line 1, column 1: Expecting value; the answer is "On its way."',
        id="prose",
    ),
    pytest.param(
        "", "fail", '$: not JSON at line 1, column 1: Expecting value; the answer is ""', id="nothing"
    ),
    pytest.param(
        'Here: {"a": 1}',
        "fail",
        '$: not JSON at line 1, column 1: Expecting value; the answer is "Here: {\\"a\\": 1}"',
        id="prose before it",
    ),
    pytest.param(
        '{"a": 1, "a": 2}',
        "fail",
        '$.a: the key stands twice in one object; the answer is "{\\"a\\": 1, \\"a\\": 2}"',
        id="a key twice",
    ),
    pytest.param(
        "[NaN]",
        "fail",
        '$[0]: NaN, infinities and numbers beyond a double are no JSON values; the answer is "[NaN]"',
        id="no number",
    ),
    pytest.param("[" * 5000, "fail", None, id="brackets without end"),
    pytest.param('```json\n{"a": 1}\n```\n```json\n{}\n```', "fail", None, id="two fences"),
    pytest.param('```json\n{"a": 1}', "fail", None, id="an open fence"),
    pytest.param('~~~~\n{"a": 1}\n~~~', "fail", None, id="a fence closed by a shorter one"),
    pytest.param("~" * 99_999 + "\n1", "fail", None, id="a very long open fence"),
]


@pytest.mark.parametrize(("response", "outcome", "found"), BARE)
def test_json(response: str, outcome: str, found: str | None) -> None:
    result = result_of({"kind": "json"}, talk(response=response))

    assert (result.kind, result.outcome, result.looked_for, result.where) == (
        "json",
        outcome,
        "JSON",
        "response",
    )
    assert found in (None, result.found)


@pytest.mark.parametrize(
    ("response", "outcome", "found"),
    [
        ('{"lines": [1, 2]}', "pass", '{"lines":[1,2]}'),
        ('```json\n{"lines": []}\n```', "pass", '{"lines":[]}'),
        ("{}", "fail", "$: 'lines' is a required property"),
        ('{"lines": [1, "2"]}', "fail", "$.lines[1]: '2' is not of type 'integer'"),
        ("[]", "fail", "$: [] is not of type 'object'"),
    ],
)
def test_json_by_a_schema(response: str, outcome: str, found: str) -> None:
    result = result_of({"kind": "json", "schema": SCHEMA}, talk(response=response))

    assert told(result) == (outcome, "JSON that fits the schema", found, "response")


REPORT = "# Report\n\n- one\n- two\n\nSee [the order](https://example.org/7).\n"

# What is wanted, the answer, outcome, looked for, found.
MARKDOWN = [
    pytest.param({}, REPORT, "pass", "well-formed Markdown", "heading, link, list", id="nothing special"),
    pytest.param({}, "On its way.", "pass", "well-formed Markdown", "plain text", id="plain text"),
    pytest.param({}, "", "pass", "well-formed Markdown", "plain text", id="nothing"),
    pytest.param(
        {"headings": ["Report"], "require": ["list", "link"]},
        REPORT,
        "pass",
        'well-formed Markdown with a heading "Report", a list, a link',
        "heading, link, list",
        id="all is there",
    ),
    pytest.param(
        {"headings": ["Summary", "Report"], "require": ["table"]},
        REPORT,
        "fail",
        'well-formed Markdown with a heading "Summary", a heading "Report", a table',
        'no heading "Summary"; no table',
        id="something is missing",
    ),
    pytest.param(
        {"require": ["heading"]},
        "```\nx",
        "fail",
        "well-formed Markdown with a heading",
        "no heading; line 1: the fence is never closed",
        id="missing and broken",
    ),
    pytest.param(
        {},
        "[a]()\n[b]()\n[c]()\n[d]()\n[e]()",
        "fail",
        "well-formed Markdown",
        (
            "line 1: the link has no target; line 2: the link has no target; line 3: the link has no target; "
            "2 more"
        ),
        id="many faults",
    ),
]


@pytest.mark.parametrize(("wanted", "response", "outcome", "looked_for", "found"), MARKDOWN)
def test_markdown(wanted: JsonObject, response: str, outcome: str, looked_for: str, found: str) -> None:
    result = result_of({"kind": "markdown", **wanted}, talk(response=response))

    assert told(result) == (outcome, looked_for, found, "response")


@pytest.mark.parametrize(
    ("kind", "outcome", "failed"),
    [
        ("json", "fail", True),
        ("markdown", "fail", True),
        ("json", "warn", True),
        ("json", "pass", False),
        ("text_contains", "fail", False),
        ("tool_called", "fail", False),
    ],
)
def test_whether_the_structure_failed(kind: str, outcome: CheckOutcome, *, failed: bool) -> None:
    passed = CheckResult(check_id="a", kind="markdown", outcome="pass", looked_for="", found="")
    result = CheckResult(check_id="b", kind=kind, outcome=outcome, looked_for="", found="")

    assert structure_failed([passed, result]) is failed
    assert not structure_failed([])
