"""The application's judge: rules of thumb in place of a model.

It looks at what the comparison cannot decide: whether the new answer keeps the facts, suits the learner's
age, and went where the expectation says. Its verdict is advisory: a case can warn or fail by it, that is all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regress_core import RunJudgeInput, RunJudgeResult, RunRecord, extract_tool_calls
from regress_core.judge.contract import RunJudgeFinding, Status

HARD_WORDS = {
    "absorb": 12,
    "accelerat": 13,
    "approximately": 12,
    "attract": 11,
    "chemical": 12,
    "chlorophyll": 12,
    "convert": 12,
    "glucose": 12,
    "gravitational": 12,
    "mass": 11,
    "mutual": 12,
    "pigment": 12,
    "possess": 11,
    "synthesis": 13,
}
"""How words begin, and from which age, in years, they are understood. Guesses, made for this example."""

FACTS = {
    "photosynthesis": (("light",), ("water",), ("carbon dioxide",), ("sugar", "glucose"), ("oxygen",)),
    "gravity": (("pull", "attract"), ("fall",), ("weigh",), ("moon",), ("sixth",)),
}
"""By topic, what an answer has to say: one of the words of each group."""


def judge(asked: RunJudgeInput) -> RunJudgeResult:
    """Judge the candidate's answer."""
    findings = [*_tools(asked), _facts(asked), *_wording(asked)]
    verdict = _verdict(findings)
    told = [finding.reason for finding in findings if verdict == "pass" or finding.severity != "info"]
    return RunJudgeResult(
        verdict=verdict,
        summary="; ".join(told),
        findings=findings,
        judge_model="rules of thumb, no model",
    )


def _verdict(findings: list[RunJudgeFinding]) -> Status:
    severities = {finding.severity for finding in findings}
    if "error" in severities:
        return "fail"
    return "warn" if "warn" in severities else "pass"


def _tools(asked: RunJudgeInput) -> Iterator[RunJudgeFinding]:
    expected = asked.expectation.should_use_tools if asked.expectation else None
    called = {call.name for call in extract_tool_calls(asked.candidate)}
    for name in expected or ():
        if name in called:
            yield RunJudgeFinding(severity="info", reason=f"{name} is called")
        else:
            yield RunJudgeFinding(severity="error", reason=f"{name} is not called")


def _facts(asked: RunJudgeInput) -> RunJudgeFinding:
    topics = [
        call.arguments["topic"]
        for call in extract_tool_calls(asked.baseline)
        if call.name == "get_topic_facts"
    ]
    answer = asked.candidate.response.lower()
    lost = [
        words[0] for topic in topics for words in FACTS[topic] if not any(word in answer for word in words)
    ]
    if lost:
        return RunJudgeFinding(severity="error", reason=f"says nothing of: {', '.join(lost)}")
    return RunJudgeFinding(severity="info", reason="keeps the facts")


def _wording(asked: RunJudgeInput) -> Iterator[RunJudgeFinding]:
    """Look at words and sentences, by the age range that the candidate itself was told."""
    known = _age_range(asked.candidate)
    if known is None:
        yield RunJudgeFinding(severity="warn", reason="the learner's age range is not known")
        return
    youngest, ages = known
    hard = {
        word: sentence
        for sentence in _sentences(asked.candidate.response)
        for word in _words(sentence)
        if any(word.lower().startswith(start) and youngest < age for start, age in HARD_WORDS.items())
    }
    if hard:
        reason = f"too hard for {ages}: {', '.join(hard)}"
        yield RunJudgeFinding(severity="warn", reason=reason, evidence=" ".join(dict.fromkeys(hard.values())))
    else:
        yield RunJudgeFinding(severity="info", reason=f"its words suit {ages}")
    yield _lengths(asked, youngest, ages)


def _lengths(asked: RunJudgeInput, youngest: int, ages: str) -> RunJudgeFinding:
    """Look at the mean length of a sentence: shorter than before, and at most age + 5 words."""
    before, now = (_words_a_sentence(record.response) for record in (asked.baseline, asked.candidate))
    evidence = f"{now:.1f} words a sentence, {before:.1f} in the baseline"
    if now >= before:
        return RunJudgeFinding(severity="warn", reason="no shorter sentences than before", evidence=evidence)
    if now > youngest + 5:
        return RunJudgeFinding(severity="warn", reason=f"long sentences for {ages}", evidence=evidence)
    return RunJudgeFinding(severity="info", reason="shorter sentences than before", evidence=evidence)


def _age_range(candidate: RunRecord) -> tuple[int, str] | None:
    """Give the youngest age of the range that the tool gave, and the range in words."""
    for call in extract_tool_calls(candidate):
        if call.name == "get_age_range" and call.has_output and not call.is_error:
            ages = call.output["data"]
            return ages["from"], f"ages {ages['from']} to {ages['to']}"
    return None


def _words_a_sentence(text: str) -> float:
    sentences = _sentences(text)
    return sum(len(_words(sentence)) for sentence in sentences) / max(len(sentences), 1)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text.strip()) if sentence]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text)
