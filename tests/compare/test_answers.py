"""How near what two agents told the user is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.answers import EXACT, AnswerChange, AnswerComparison, asks, compare_answers
from regress_core.compare.facts import FactKind
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json

QUESTION = "Where is my order?"


def told(*texts: str, question: str = QUESTION) -> RunRecord:
    """Give a run in which the agent says one thing after the other, the last as its answer."""
    said: list[JsonObject] = [message(text, "assistant") for text in texts]
    items = [message(question), *said]
    return RunRecord.parse(
        record_json(question=question, items=items, inputItemCount=1, response=texts[-1] if texts else "")
    )


def talk(*lines: str) -> RunRecord:
    """Give a run in which user and agent take turns."""
    items = [message(line, "assistant" if number % 2 else "user") for number, line in enumerate(lines)]
    return RunRecord.parse(record_json(question=lines[0], items=items, inputItemCount=1, response=lines[-1]))


def lists(found: AnswerComparison) -> tuple[list[str], list[str], list[FactKind]]:
    return [fact.text for fact in found.lost], [fact.text for fact in found.added], found.altered


@pytest.mark.parametrize(
    ("a", "b", "change"),
    [
        ("On its way.", "On its way.", "exact"),
        ("It comes **today**.", "It comes today.", "same text"),
        ("It  comes\ntoday.", "It comes today.", "same text"),
        ("- a\n- b", "1. a\n2. b", "same text"),
        ("| a | b |", "a b", "same text"),
        ("caf\u00e9", "cafe\u0301", "same text"),
        ("It costs $5.00.", "The price: 5 dollars.", "same facts"),
        ("It comes on May 20, 2024.", "Expect it 2024-05-20.", "same facts"),
        ("It comes at 3 pm.", "At 15:00 it comes.", "same facts"),
        ("It costs $5.", "It costs $6.", "different"),
        ("On its way.", "It is lost.", "different"),
        ("", "It is lost.", "different"),
        ("It costs $5.", "", "different"),
    ],
)
def test_how_near(a: str, b: str, change: AnswerChange) -> None:
    assert compare_answers(told(a), told(b)).change == change
    assert compare_answers(told(b), told(a)).change == change


@pytest.mark.parametrize(
    ("a", "b", "lost", "added", "altered"),
    [
        ("It costs $5 and 3 days.", "It costs $5.", ["3"], [], []),
        ("It costs $5.", "It costs $5 and 3 days.", [], ["3"], []),
        ("It costs $5.", "It costs $6.", ["5"], ["6"], ["number"]),
        ("It comes May 20.", "It comes May 21.", ["May 20"], ["May 21"], ["date"]),
        ("It comes 2024-05-20.", "It comes 2025-05-20.", ["2024-05-20"], ["2025-05-20"], ["date"]),
        ("Order W1234567.", "Order W7654321.", ["W1234567"], ["W7654321"], ["id"]),
        # Of different kinds: nothing contradicts.
        ("It costs $5.", "It comes May 21.", ["5"], ["May 21"], []),
        ("three days", "3 days", [], [], []),
        ("On its way.", "It is lost.", [], [], []),
    ],
)
def test_what_is_lost_added_and_altered(
    a: str, b: str, lost: list[str], added: list[str], altered: list[FactKind]
) -> None:
    assert lists(compare_answers(told(a), told(b))) == (lost, added, altered)


def test_what_the_user_said_first_is_no_news() -> None:
    question = "Where is order W1234567?"
    found = compare_answers(
        told("W1234567 is here.", question=question), told("It is here.", question=question)
    )
    assert lists(found) == ([], [], [])


def test_what_the_agent_said_first_stays_its_own() -> None:
    a = talk("Where?", "It costs $5. Right?", "So $5?", "Yes, $5.")
    b = talk("Where?", "It costs $6. Right?", "So $6?", "Yes, $6.")
    assert lists(compare_answers(a, b)) == (["5"], ["6"], ["number"])


def test_a_fact_told_before_the_answer_is_told() -> None:
    a, b = told("It costs $5.", "Done."), told("It is done.", "That was $5.")
    assert lists(compare_answers(a, b)) == ([], [], [])


def test_to_leave_a_proposal_out_loses_nothing() -> None:
    a = talk("Refund it.", "I can give $5. Shall I?", "Yes.", "Done.")
    b = talk("Refund it.", "Shall I?", "Yes.", "Done.")
    assert lists(compare_answers(a, b)) == ([], [], [])
    assert lists(compare_answers(b, a)) == ([], [], [])


def test_answers_contradict_each_other_where_their_closings_do() -> None:
    """What comes before the closing is on the way."""
    a, b = told("I found 3 flights.", "It costs $5."), told("I found 4 flights.", "It costs $5.")
    assert lists(compare_answers(a, b)) == (["3"], ["4"], [])


def test_the_same_run_told_nothing_else() -> None:
    assert compare_answers(told("It costs $5."), told("It costs $5.")) == EXACT


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        ("Shall I?", True),
        ("Done. Please confirm.", True),
        ("Let me know the date.", True),
        ("Done. If you need anything else, let me know!", False),
        ("Is it? It is.", False),
        ("Hecho. ¿Algo más?", True),
        ("完了しました。よろしいですか？", True),  # noqa: RUF001 - a question in Japanese
        ("Done.", False),
        ("", False),
    ],
)
def test_what_asks(text: str, asking: bool) -> None:  # noqa: FBT001 - a column of the table
    assert asks(text) is asking


_TEXTS = st.lists(
    st.sampled_from(
        ["It costs", "$5.", "$6.", "May 20", "2024-05-20", "at 3 pm.", "Shall I?", "W1234567", "Done."]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)


@given(st.lists(_TEXTS, min_size=1, max_size=3), st.lists(_TEXTS, min_size=1, max_size=3))
def test_the_sides_are_alike(a: list[str], b: list[str]) -> None:
    there, back = compare_answers(told(*a), told(*b)), compare_answers(told(*b), told(*a))

    assert there.change == back.change
    assert [fact.text for fact in there.lost] == [fact.text for fact in back.added]
    assert [fact.text for fact in there.added] == [fact.text for fact in back.lost]
    assert there.altered == back.altered


@given(st.lists(_TEXTS, min_size=1, max_size=3))
def test_markdown_and_space_lose_nothing(texts: list[str]) -> None:
    dressed = [f"**{text}**  \n" for text in texts]
    found = compare_answers(told(*texts), told(*dressed))

    assert found.change == "same text"
    assert lists(found) == ([], [], [])
