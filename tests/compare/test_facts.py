"""What in a text can be right or wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.compare.facts import Fact, FactKind, Told, facts_of, without_markdown

TEXTS: list[tuple[str, list[tuple[FactKind, str]]]] = [
    # Numbers, whatever their unit, sign and separators.
    ("It costs $1,234.50.", [("number", "1234.5")]),
    ("It costs 1.234,50 €.", [("number", "1234.5")]),
    ("It costs 1.234.567 yen.", [("number", "1234567")]),
    ("it is 12,34,567 rupees", [("number", "1234567")]),
    ("It costs 5 or 5.00.", [("number", "5")]),
    ("007 agents", [("number", "7")]),
    ("up to 20 kg, 20kg or 20%", [("number", "20")]),
    ("0.50", [("number", "0.5")]),
    # Dates and times.
    ("on May 20, 2024", [("date", "2024-05-20")]),
    ("on 2024-05-20", [("date", "2024-05-20")]),
    ("on May 20", [("date", "05-20")]),
    ("at 3 pm, which is 15:00", [("time", "15:00")]),
    ("at 3:05 p.m. sharp", [("time", "15:05")]),
    ("at 12 am", [("time", "00:00")]),
    ("from 15:00:30", [("time", "15:00:30")]),
    ("at 2024-05-20T15:00:00Z", [("date", "2024-05-20"), ("time", "15:00")]),
    ("February 30 is no day", []),
    # Ids and addresses.
    ("Order #W1234567 is on its way", [("id", "w1234567")]),
    ("order w1234567", [("id", "w1234567")]),
    ("flight HAT039", [("id", "hat039")]),
    ("version 1.2.3", [("id", "1.2.3")]),
    ("id 71fd3e8f-81c4-479f-b6c5-9486cb61dae6.", [("id", "71fd3e8f-81c4-479f-b6c5-9486cb61dae6")]),
    ("ticket AB-12", [("id", "ab-12")]),
    ("See https://Example.org/a?b=1.", [("url", "https://example.org/a?b=1")]),
    ("Write to Jane.Doe@example.org!", [("url", "jane.doe@example.org")]),
    # Names.
    ("I met Ann Lee there", [("name", "Ann Lee")]),
    ("we asked Ann's mother", [("name", "Ann")]),
    # None of them.
    ("Hello there", []),
    ("in May we meet", []),
    ("", []),
    ("1. first\n2. second\n(3) third", []),
    ("**bold** _and_ `code`", []),
    ("a b2 c3d", []),
]


@pytest.mark.parametrize(("text", "facts"), TEXTS)
def test_facts(text: str, facts: list[tuple[FactKind, str]]) -> None:
    assert [(fact.kind, fact.value) for fact in facts_of(text)] == facts


def test_a_fact_is_shown_as_it_is_first_written() -> None:
    assert facts_of("$1,250.00, that is 1250 dollars") == {Fact("number", "1250"): "1,250.00"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**today**.", "today."),
        ("# Title\n> quote\n- one\n1. two", "Title\nquote\none\ntwo"),
        ("user_id and 2*3", "user_id and 2*3"),
        ("__init__", "init"),
        ("cafe\u0301", "café"),
        ("~~gone~~", "gone"),
    ],
)
def test_markdown_is_taken_off(text: str, plain: str) -> None:
    assert without_markdown(text) == plain


@pytest.mark.parametrize(
    ("told", "fact", "held"),
    [
        (["three of them"], Fact("number", "3"), True),
        (["May 20, 2024"], Fact("date", "05-20"), True),
        (["May 20, 2024"], Fact("date", "2024-05"), True),
        (["May 20"], Fact("date", "2024-05-20"), True),
        (["May 21"], Fact("date", "2024-05-20"), False),
        (["2025-05-20"], Fact("date", "2024-05-20"), False),
        (["2025-05-20 or May 20"], Fact("date", "2024-05-20"), True),
        (["ann and lee"], Fact("name", "Ann Lee"), True),
        (["ann"], Fact("name", "Ann Lee"), False),
        (["30"], Fact("number", "3"), False),
        ([], Fact("number", "3"), False),
    ],
)
def test_what_is_told_in_any_way(told: list[str], fact: Fact, held: bool) -> None:  # noqa: FBT001 - a column of the table
    assert Told(told).holds(fact) is held


_WORDS = st.sampled_from(
    ["It", "costs", "$5.00", "on", "May 20", "at 3 pm", "W1234567", "Ann Lee", "x@y.org", "ok"]
)
_SENTENCES = st.lists(_WORDS, min_size=1, max_size=8).map(" ".join)


@given(_SENTENCES, st.sampled_from(["**", "_", "`", "***"]))
def test_emphasis_changes_no_fact(text: str, mark: str) -> None:
    assert facts_of(f"{mark}{text}{mark}").keys() == facts_of(text).keys()


@given(st.text(max_size=200))
def test_any_text_has_facts_or_none(text: str) -> None:
    found = facts_of(text)
    told = Told([text])
    assert all(told.holds(fact) for fact in found)


@pytest.mark.parametrize(
    "part", ["1,", "a-1", "May ", "x@", "A ", "1:", "**", "\u4e00", "http://", "v1.", "x.", "A-", "+"]
)
def test_a_long_text_ends(part: str) -> None:
    """Half a million characters that nearly make a fact; in quadratic time this would take hours."""
    facts_of(part * (500_000 // len(part)))
