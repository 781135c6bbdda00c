"""A regression judge's verdict: strict on content, whatever it is wrapped in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.judge.contract import RunJudgeFinding, RunJudgeResult
from regress_core.judge.parsing import parse_judge_result
from regress_core.judge.question import JudgeReplyError
from regress_core.records.json_io import JsonObject, JsonValue, dumps_text
from tests.support.strategies import JSON_VALUES

LEAST: JsonObject = {"verdict": "pass", "summary": "Fine."}
FINDING: JsonObject = {"severity": "warn", "reason": "Curt."}


def test_a_whole_verdict() -> None:
    said = {
        "verdict": "warn",
        "summary": "Curt.",
        "findings": [{"severity": "error", "reason": "No greeting.", "evidence": "On its way."}],
        "score": 0.5,
        "judgeModel": "self",
        "judgePromptVersion": "v9",
        "mood": "good",
    }

    result = parse_judge_result(dumps_text(said), judge_model="m", judge_prompt_version="v1")

    assert result == RunJudgeResult(
        verdict="warn",
        summary="Curt.",
        findings=[RunJudgeFinding(severity="error", reason="No greeting.", evidence="On its way.")],
        score=0.5,
        judge_model="self",
        judge_prompt_version="v9",
    )


def test_what_a_verdict_leaves_out_stays_out() -> None:
    assert parse_judge_result(LEAST).to_json() == {**LEAST, "findings": []}


def test_model_and_version_are_told_where_the_verdict_does_not_name_them() -> None:
    result = parse_judge_result(LEAST, judge_model="m", judge_prompt_version="v1")

    assert (result.judge_model, result.judge_prompt_version) == ("m", "v1")


@pytest.mark.parametrize("name", ["score", "judgeModel", "judgePromptVersion"])
def test_null_is_as_good_as_absent(name: str) -> None:
    assert parse_judge_result({**LEAST, name: None}).to_json() == {**LEAST, "findings": []}


def test_null_evidence_is_as_good_as_none() -> None:
    result = parse_judge_result({**LEAST, "findings": [{**FINDING, "evidence": None}]})

    assert result.to_json()["findings"] == [FINDING]


# Changes to a verdict that make it none; None takes the field away.
REFUSED: list[tuple[str, str, JsonValue]] = [
    ("no verdict", "verdict", None),
    ("J7: a verdict in capitals", "verdict", "PASS"),
    ("another verdict", "verdict", "passed"),
    ("a verdict that is none", "verdict", True),
    ("no summary", "summary", None),
    ("an empty summary", "summary", ""),
    ("a blank summary", "summary", " \n"),
    ("a summary that is no text", "summary", 5),
    ("findings that are no list", "findings", {}),
    ("a finding that is no object", "findings", [None]),
    ("a finding without a reason", "findings", [{"severity": "info"}]),
    ("a finding with a blank reason", "findings", [{**FINDING, "reason": " "}]),
    ("a finding of another severity", "findings", [{**FINDING, "severity": "high"}]),
    ("a finding with blank evidence", "findings", [{**FINDING, "evidence": ""}]),
    ("evidence that is no text", "findings", [{**FINDING, "evidence": ["x"]}]),
    ("J7: a score in quotes", "score", "0.5"),
    ("J7: a score in words", "score", "nan"),
    ("a score that is a bool", "score", True),
    ("a score that is a list", "score", [1]),
    ("a score beyond a double", "score", 10**400),
    ("a blank model", "judgeModel", ""),
    ("a version that is no text", "judgePromptVersion", 1),
]


@pytest.mark.parametrize(
    ("name", "value"), [pytest.param(name, value, id=kind) for kind, name, value in REFUSED]
)
@pytest.mark.parametrize("as_text", [False, True], ids=["json", "text"])
def test_what_is_no_verdict_is_refused(name: str, value: JsonValue, *, as_text: bool) -> None:
    said = {**LEAST, name: value}
    if value is None:
        del said[name]

    with pytest.raises(JudgeReplyError) as refusal:
        parse_judge_result(dumps_text(said) if as_text else said)

    assert name in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_is_refused(score: float) -> None:
    with pytest.raises(JudgeReplyError):
        parse_judge_result({**LEAST, "score": score})


@pytest.mark.parametrize(
    "raw",
    [None, 5, True, [], [LEAST], {}, "", "null", "[]", f"[{dumps_text(LEAST)}]", "I cannot evaluate this"],
    ids=repr,
)
def test_what_is_no_object_is_refused(raw: JsonValue) -> None:
    with pytest.raises(JudgeReplyError):
        parse_judge_result(raw)


@pytest.mark.parametrize("score", [0, 1, -3, 0.25, 1e308])
def test_any_finite_score_is_kept(score: float) -> None:
    assert parse_judge_result(dumps_text({**LEAST, "score": score})).score == score


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "verdict": st.sampled_from(["pass", "warn", "fail", "PASS"]) | JSON_VALUES,
            "summary": st.just("Fine.") | JSON_VALUES,
            "findings": st.just([FINDING]) | JSON_VALUES,
            "score": st.floats() | JSON_VALUES,
        },
    )
    | JSON_VALUES
)
def test_a_verdict_says_what_the_json_says(said: JsonValue) -> None:
    try:
        result = parse_judge_result(said)
    except JudgeReplyError:
        return
    assert result.verdict == said["verdict"]
    assert result.summary == said["summary"]
    assert result.score == said.get("score")
    assert [finding.to_json() for finding in result.findings] == said.get("findings", [])
