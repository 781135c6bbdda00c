"""Assertions on texts, and the semantic rubric."""

from __future__ import annotations

import pytest

from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.checks.support import result_of, results_of, talk, told

REFUND = talk(
    "One moment, I look it up.",
    ("find_order", {"id": 7}, "sent"),
    "The refund of 12.50 € is on its way.",
    response="The refund of 12.50 € is on its way.",
)

# The assertion, the run, outcome, what was looked for, found, and where.
TEXTS: list[tuple[str, JsonObject, RunRecord, tuple[str, str, str, str | None]]] = [
    (
        "there",
        {"kind": "text_contains", "text": "refund"},
        REFUND,
        ("pass", '"refund" in the answer', '"The refund of 12.50 € is on it…"', "response"),
    ),
    (
        "not there",
        {"kind": "text_contains", "text": "Refund"},
        REFUND,
        (
            "fail",
            '"Refund" in the answer',
            'not in "The refund of 12.50 € is on its way."',
            "response",
        ),
    ),
    (
        "without regard to case",
        {"kind": "text_contains", "text": "REFUND", "ignore_case": True},
        REFUND,
        ("pass", '"REFUND" in the answer', '"The refund of 12.50 € is on it…"', "response"),
    ),
    (
        "full case folding",
        {"kind": "text_contains", "text": "STRASSE", "ignore_case": True},
        talk(response="In der Straße."),
        ("pass", '"STRASSE" in the answer', '"In der Straße."', "response"),
    ),
    (
        "to the letter: decomposed is another text",
        {"kind": "text_contains", "text": "caf\u00e9"},
        talk(response="cafe\u0301"),
        ("fail", '"caf\u00e9" in the answer', 'not in "cafe\u0301"', "response"),
    ),
    (
        "an emoji",
        {"kind": "text_contains", "text": "😀"},
        talk(response="Done 😀"),
        ("pass", '"😀" in the answer', '"Done 😀"', "response"),
    ),
    (
        "an empty answer",
        {"kind": "text_contains", "text": "a"},
        talk(response=""),
        ("fail", '"a" in the answer', 'not in ""', "response"),
    ),
    (
        "rightly absent",
        {"kind": "text_not_contains", "text": "sorry"},
        REFUND,
        (
            "pass",
            'no "sorry" in the answer',
            'not in "The refund of 12.50 € is on its way."',
            "response",
        ),
    ),
    (
        "wrongly there",
        {"kind": "text_not_contains", "text": "12.50"},
        REFUND,
        ("fail", 'no "12.50" in the answer', '"The refund of 12.50 € is on its way."', "response"),
    ),
    (
        "in the transcript",
        {"kind": "text_contains", "text": "moment", "in": "transcript"},
        REFUND,
        (
            "pass",
            '"moment" in all that the assistant said',
            '"One moment, I look it up."',
            "items[1].content",
        ),
    ),
    (
        "not in the answer",
        {"kind": "text_contains", "text": "moment"},
        REFUND,
        (
            "fail",
            '"moment" in the answer',
            'not in "The refund of 12.50 € is on its way."',
            "response",
        ),
    ),
    (
        "nowhere in the transcript",
        {"kind": "text_contains", "text": "sorry", "in": "transcript"},
        REFUND,
        ("fail", '"sorry" in all that the assistant said', "nowhere", None),
    ),
    (
        "wrongly in the transcript",
        {"kind": "text_not_contains", "text": "look", "in": "transcript"},
        REFUND,
        (
            "fail",
            'no "look" in all that the assistant said',
            '"One moment, I look it up."',
            "items[1].content",
        ),
    ),
    (
        "an answer that is no message belongs to the transcript",
        {"kind": "text_contains", "text": "way", "in": "transcript"},
        talk("Hm."),
        ("pass", '"way" in all that the assistant said', '"On its way."', "response"),
    ),
    (
        "what the user and the input say does not count",
        {"kind": "text_contains", "text": "order", "in": "transcript"},
        talk("Which order?", given=2),
        ("fail", '"order" in all that the assistant said', "nowhere", None),
    ),
    (
        "a pattern",
        {"kind": "text_matches", "pattern": r"\d+\.\d{2} €"},
        REFUND,
        (
            "pass",
            'the pattern "\\\\d+\\\\.\\\\d{2} €" in the answer',
            '"The refund of 12.50 € is on its way."',
            "response",
        ),
    ),
    (
        "a pattern that is not there",
        {"kind": "text_matches", "pattern": "^refund"},
        REFUND,
        (
            "fail",
            'the pattern "^refund" in the answer',
            'not in "The refund of 12.50 € is on its way."',
            "response",
        ),
    ),
    (
        "a pattern without regard to case",
        {"kind": "text_matches", "pattern": "^the", "ignore_case": True},
        REFUND,
        ("pass", 'the pattern "^the" in the answer', '"The refund of 12.50 € i…"', "response"),
    ),
    (
        "a pattern over lines",
        {"kind": "text_matches", "pattern": r"(?m)^Total: \d+$"},
        talk(response="Here:\nTotal: 5\nBye."),
        (
            "pass",
            'the pattern "(?m)^Total: \\\\d+$" in the answer',
            '"Here:\\nTotal: 5\\nBye."',
            "response",
        ),
    ),
    (
        "half a surrogate pair is shown escaped",
        {"kind": "text_matches", "pattern": "b$"},
        talk(response="a\ud800b"),
        ("pass", 'the pattern "b$" in the answer', '"a\\ud800b"', "response"),
    ),
]


@pytest.mark.parametrize(
    ("assertion", "record", "expected"), [pytest.param(*case[1:], id=case[0]) for case in TEXTS]
)
def test_texts(assertion: JsonObject, record: RunRecord, expected: tuple[str, str, str, str | None]) -> None:
    assert told(result_of(assertion, record)) == expected


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "([a-z]+)*x"])
def test_no_pattern_holds_a_check_up(pattern: str) -> None:
    record = talk(response="a" * 200_000 + "!")  # a backtracking search would not come to an end

    assert result_of({"kind": "text_matches", "pattern": pattern}, record).outcome == "fail"


def test_a_long_answer_is_quoted_where_the_evidence_is() -> None:
    record = talk(response="x" * 5000 + " refund " + "y" * 5000)

    result = result_of({"kind": "text_not_contains", "text": "refund"}, record)

    assert result.found == '"…' + "x" * 19 + " refund " + "y" * 19 + '…"'


def test_a_long_answer_without_evidence_is_cut() -> None:
    result = result_of({"kind": "text_contains", "text": "z"}, talk(response="x" * 5000))

    assert result.found == 'not in "' + "x" * 79 + '…"'


POLITE: JsonObject = {
    "id": "owns-the-mistake",
    "quality": "the assistant owns a mistake and does not blame the customer",
    "required": ["sorry", {"pattern": r"\b(we|our)\b", "ignore_case": True}],
    "forbidden": [{"text": "your fault", "ignore_case": True}],
}

_LOOKED_FOR = (
    "the assistant owns a mistake and does not blame the customer: "
    '"sorry" said, the pattern "\\\\b(we|our)\\\\b" said, "your fault" not said'
)

SEMANTIC = [
    pytest.param(
        talk("I am sorry.", response="We refund it."),
        ("pass", _LOOKED_FOR, "all evidence is as it should be", None),
        id="all is well, over several messages",
    ),
    pytest.param(
        talk(response="Our mistake."),
        ("fail", _LOOKED_FOR, '"sorry" is never said', None),
        id="something is missing",
    ),
    pytest.param(
        talk("That is YOUR fault.", response="We are sorry."),
        ("fail", _LOOKED_FOR, '"your fault" is said: "That is YOUR fault."', "items[1].content"),
        id="something is forbidden",
    ),
    pytest.param(
        talk(response="Your fault."),
        (
            "fail",
            _LOOKED_FOR,
            (
                '"sorry" is never said; the pattern "\\\\b(we|our)\\\\b" is never said; '
                '"your fault" is said: "Your fault."'
            ),
            "response",
        ),
        id="all is wrong",
    ),
    pytest.param(
        talk("We are sorry.", response="", given=2),
        (
            "fail",
            _LOOKED_FOR,
            '"sorry" is never said; the pattern "\\\\b(we|our)\\\\b" is never said',
            None,
        ),
        id="what the recorded input says does not count",
    ),
]


@pytest.mark.parametrize(("record", "expected"), SEMANTIC)
def test_the_semantic_rubric(record: RunRecord, expected: tuple[str, str, str, str | None]) -> None:
    (result,) = results_of({"semanticRubric": [POLITE]}, record)

    assert (result.check_id, result.kind) == ("owns-the-mistake", "semantic")
    assert told(result) == expected
