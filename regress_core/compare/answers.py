"""Comparing what two agents told the user: the last answer, and the facts of everything said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from regress_core.compare.facts import FACT_KINDS, VALUES, Fact, FactKind, Told, without_markdown
from regress_core.records.model import RunRecord
from regress_core.records.turn_groups import input_scope
from regress_core.records.wire import WireModel

AnswerChange = Literal["exact", "same text", "same facts", "different"]
"""How near two answers are: the same characters; the same up to white space, Markdown and Unicode's two ways
to compose a letter; other words with the same facts, of which there are some; or none of these."""


class ToldFact(WireModel):
    """A fact that only one side told, as it was written there."""

    kind: FactKind
    text: str


class AnswerComparison(WireModel):
    """What became of what the baseline told the user.

    Attributes:
        change: How near the last answers are.
        lost: Facts of the baseline's answers that the candidate told nowhere.
        added: Facts of the candidate's answers that the baseline told nowhere.
        altered: Kinds of values of which each side's closing has one that the other never told: there the
            answers contradict each other. The closing is the last answer with any values in it.
    """

    change: AnswerChange
    lost: list[ToldFact] = Field(default_factory=list[ToldFact])
    added: list[ToldFact] = Field(default_factory=list[ToldFact])
    altered: list[FactKind] = Field(default_factory=list[FactKind])


EXACT = AnswerComparison(change="exact")


def compare_answers(left: RunRecord, right: RunRecord) -> AnswerComparison:
    """Compare what two runs told the user.

    What the user said first is no news from the agent, on either side. A message that asks the user for
    something makes a proposal; its facts count as told, but leaving a proposal out loses nothing. Nor does
    saying all of it in the same words.
    """
    a, b = _side(left), _side(right)
    if a.messages == b.messages and a.answer == b.answer:
        return EXACT
    change = _change(a.answer, b.answer)
    if [_bare(text) for text in a.messages] == [_bare(text) for text in b.messages]:
        return AnswerComparison(change=change)
    lost, added = _news(a, b), _news(b, a)
    altered = _kinds(a.closing, lost) & _kinds(b.closing, added)
    return AnswerComparison(
        change=change,
        lost=[ToldFact(kind=fact.kind, text=text) for fact, text in lost.items()],
        added=[ToldFact(kind=fact.kind, text=text) for fact, text in added.items()],
        altered=[kind for kind in FACT_KINDS if kind in altered],
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """What an agent told the user.

    Attributes:
        messages: All of its messages, in their order.
        told: What they tell.
        answers: Those that answer, each with its facts, but for what the user had said first.
        answer: The run's answer.
    """

    messages: Sequence[str]
    told: Told
    answers: Sequence[Mapping[Fact, str]]
    answer: str

    @property
    def facts(self) -> dict[Fact, str]:
        """The facts of all answers."""
        return {fact: text for answer in self.answers for fact, text in answer.items()}

    @property
    def closing(self) -> Mapping[Fact, str]:
        """The facts of the last answer that has any values."""
        with_values = (
            facts for facts in reversed(self.answers) if any(fact.kind in VALUES for fact in facts)
        )
        return next(with_values, self.answers[-1] if self.answers else {})


def _side(record: RunRecord) -> _Side:
    given = input_scope(record).items
    said, told = Told([record.question]), Told()
    own: set[Fact] = set()
    spoken: list[tuple[str, dict[Fact, str]]] = []
    replied = False

    def speak(text: str) -> None:
        facts = told.add(text)
        # What is the agent's stays so: the user may repeat it later.
        news = {fact: written for fact, written in facts.items() if fact in own or not said.holds(fact)}
        own.update(news)
        spoken.append((text, news))

    for number, item in enumerate(record.items):
        if item["type"] != "message" or item["role"] == "system":
            continue
        replied = item["role"] == "user"
        if replied:
            said.add(item["content"])
        elif number >= given:
            speak(item["content"])
    if record.response and all(text != record.response for text, _ in spoken):
        speak(record.response)
        replied = False
    return _Side([text for text, _ in spoken], told, _answers(spoken, replied=replied), record.response)


def _answers(spoken: Sequence[tuple[str, dict[Fact, str]]], *, replied: bool) -> list[dict[Fact, str]]:
    """Leave proposals out; a message that nobody replied to is what the run came to, whatever it asks."""
    last = None if replied else len(spoken) - 1
    return [facts for number, (text, facts) in enumerate(spoken) if number == last or not asks(text)]


def _news(side: _Side, other: _Side) -> dict[Fact, str]:
    """Give the facts that one side answered with, and the other never told."""
    return {fact: text for fact, text in side.facts.items() if not other.told.holds(fact)}


def _kinds(closing: Mapping[Fact, str], news: Mapping[Fact, str]) -> set[FactKind]:
    return {fact.kind for fact in closing if fact in news and fact.kind in VALUES}


_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - these end sentences in Chinese and Japanese
_COURTESY = re.compile(
    r"feel free|\bif you (?:need|have)|\b(?:anything|something) else|\b(?:further|any other|any more) \w+",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[?？؟]|\b(?:please|let me know|confirm)\b",  # noqa: RUF001 - question marks of other scripts
    re.IGNORECASE,
)


def asks(message: str) -> bool:
    """Tell whether a message ends with a question or a request to the user, courtesies aside.

    Question marks are known in several scripts, requests without one in English only.
    """
    sentences = [s for s in _SENTENCE_END.split(message) if s.strip() and not _COURTESY.search(s)]
    return bool(sentences) and _REQUEST.search(sentences[-1]) is not None


def _change(a: str, b: str) -> AnswerChange:
    if a == b:
        return "exact"
    if _bare(a) == _bare(b):
        return "same text"
    told_a, told_b = Told(), Told()
    facts, others = told_a.add(a), told_b.add(b)
    same = all(map(told_b.holds, facts)) and all(map(told_a.holds, others))
    return "same facts" if same and (facts or others) else "different"


def _bare(text: str) -> str:
    """Take Markdown and the lines of tables off a text, and make every run of white space one space."""
    return " ".join(without_markdown(text).replace("|", " ").split())
