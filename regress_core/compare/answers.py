"""Comparing what two agents told the user: the last answer, and the facts of everything said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from regress_core.compare.facts import FACT_KINDS, VALUES, Fact, FactKind, facts_of, told_by
from regress_core.records.model import RunRecord
from regress_core.records.turn_groups import input_scope
from regress_core.records.wire import WireModel

AnswerChange = Literal["exact", "same text", "same facts", "different"]
"""How near two answers are: the same characters; the same up to white space and Markdown; other words with
the same facts, of which there are some; or none of these."""


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
        altered: Kinds of values of which some are lost and others stand in their place: there the answers
            contradict each other.
    """

    change: AnswerChange
    lost: list[ToldFact] = Field(default_factory=list[ToldFact])
    added: list[ToldFact] = Field(default_factory=list[ToldFact])
    altered: list[FactKind] = Field(default_factory=list[FactKind])


EXACT = AnswerComparison(change="exact")


def compare_answers(left: RunRecord, right: RunRecord) -> AnswerComparison:
    """Compare what two runs told the user.

    A fact that the user has said is no news from the agent, on either side. A message that asks the user for
    something makes a proposal; its facts count as told, but leaving a proposal out loses nothing.
    """
    a, b = _told(left), _told(right)
    if a == b:
        return EXACT
    lost, added = _news(left, a, b), _news(right, b, a)
    altered = {fact.kind for fact in lost} & {fact.kind for fact in added} & VALUES
    return AnswerComparison(
        change=_change(a.answer, b.answer),
        lost=[ToldFact(kind=fact.kind, text=text) for fact, text in lost.items()],
        added=[ToldFact(kind=fact.kind, text=text) for fact, text in added.items()],
        altered=[kind for kind in FACT_KINDS if kind in altered],
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What an agent told the user: all its messages, those of them that answer, and the last one."""

    messages: Sequence[str]
    answers: Sequence[str]
    answer: str


def _told(record: RunRecord) -> _Told:
    own = record.items[input_scope(record).items :]
    messages = [item["content"] for item in own if item["type"] == "message" and item["role"] == "assistant"]
    if record.response and record.response not in messages:
        messages.append(record.response)
    # Nobody could reply to the last one, so that it is what the run came to, whatever it asks.
    answers = [text for text in messages[:-1] if not asks(text)] + messages[-1:]
    return _Told(messages, answers, record.response)


def _news(record: RunRecord, told: _Told, other: _Told) -> dict[Fact, str]:
    """Give the facts that one side answered with, and the other side and the user never said."""
    facts = {fact: text for message in told.answers for fact, text in facts_of(message).items()}
    if not facts:
        return {}
    said = [item["content"] for item in record.items if item["type"] == "message" and item["role"] == "user"]
    known = told_by((*other.messages, record.question, *said))
    return {fact: text for fact, text in facts.items() if not known(fact)}


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


_MARKDOWN = re.compile(r"[*_`#>~|]+|^[ \t]*(?:[-+•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)


def _change(a: str, b: str) -> AnswerChange:
    if a == b:
        return "exact"
    if _bare(a) == _bare(b):
        return "same text"
    facts, others = facts_of(a).keys(), facts_of(b).keys()
    return "same facts" if facts and facts == others else "different"


def _bare(text: str) -> str:
    """Take Markdown off a text and make every run of white space one space."""
    return " ".join(_MARKDOWN.sub(" ", text).split())
