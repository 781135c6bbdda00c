"""J13: a pass that speaks against itself is kept, and flagged."""

from __future__ import annotations

import pytest

from regress_core.judge.contract import RunJudgeFinding, RunJudgeResult, Status
from regress_core.judge.contradictions import ERROR_FOUND, contradictions


def said(summary: str, *findings: RunJudgeFinding, verdict: Status = "pass") -> RunJudgeResult:
    return RunJudgeResult(verdict=verdict, summary=summary, findings=list(findings))


WORSE: list[tuple[str, str]] = [
    ("The answer got worse.", "worse"),
    ("The answer is shorter, and WORSE than before.", "worse"),
    ("The tone has worsened", "worsened"),
    ("It is a regression in clarity.", "regression"),
    ("Two regressions: tone and length.", "regressions"),
    ("The candidate regresses on facts.", "regresses"),
    ("Quality is degraded.", "degraded"),
    ("A degradation of tone", "degradation"),
    ("Its wording deteriorated.", "deteriorated"),
    ("The new answer is inferior.", "inferior"),
    ("No new facts. The tone is worse.", "worse"),
    ("Not shorter, but worse", "worse"),
    ("It does not greet; that is worse", "worse"),
    ("It doesn't greet, although it did before: worse", "worse"),
]


@pytest.mark.parametrize(("text", "word"), WORSE)
def test_words_that_say_it_got_worse(text: str, word: str) -> None:
    assert contradictions(said(text)) == [f"the verdict is pass, and summary says {word!r}"]


FINE = [
    "The answer is as good as before.",
    "The answer is better.",
    "It is not worse.",
    "It isn't any worse.",
    "It isn’t any worse.",  # noqa: RUF001 - models write both apostrophes
    "No regression was found.",
    "There are no signs of any regression",
    "Neither worse nor better.",
    "The candidate never regressed.",
    "It changes the tone without a degradation of content.",
    "Nothing got worse.",
    "It is free of regressions.",
    "It avoids the regression of the last version.",
    "The regression suite asks for children's words.",
    "As a regression-judge I looked at both runs.",
    "It aggressively shortens the text.",
    "Worseley is a place.",
]


@pytest.mark.parametrize("text", FINE)
def test_words_that_do_not(text: str) -> None:
    assert contradictions(said(text)) == []


def test_every_text_of_a_verdict_is_looked_at() -> None:
    better = RunJudgeFinding(severity="info", reason="Better.", evidence="worse")
    worse = RunJudgeFinding(severity="warn", reason="Worse wording.")
    error = RunJudgeFinding(severity="error", reason="A fact is gone.")

    assert contradictions(said("Fine.", better, worse, error)) == [
        ERROR_FOUND,
        "the verdict is pass, and findings[1] says 'worse'",
    ]


@pytest.mark.parametrize("verdict", ["warn", "fail"])
def test_other_verdicts_do_not_contradict_it(verdict: Status) -> None:
    error = RunJudgeFinding(severity="error", reason="A fact is gone.")

    assert contradictions(said("It got worse.", error, verdict=verdict)) == []
