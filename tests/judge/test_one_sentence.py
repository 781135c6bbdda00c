"""What counts as one sentence: the rule for the texts of a rubric."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.judge.one_sentence import LONGEST_SENTENCE, one_sentence

ONE = [
    "Does the answer name a date?",
    "The answer names a date.",
    "The answer names a date",
    "Never!",
    "What?!",
    "Pass.",
    "5",
    # Abbreviations.
    "It offers a remedy, e.g. a refund or a voucher.",
    "It names a city, e.g. Rome.",
    "It names the buyer, i.e. Mr. Smith, and not Dr. Jones.",
    "It greets J. Smith of the U.S. Treasury.",
    "It says 5 p.m. Monday.",
    "It quotes No. 5 and fig. 3 on pp. 4 to 6.",
    "It costs max. 20 euros, approx. 5 of them tax.",
    "It compares A vs. B.",
    "Es nennt z. B. Rom.",
    "It lists dates, prices, etc. in a table.",
    # Full stops that end nothing.
    "It says 3.5 or v1.2.3, and links example.com/a.b.",
    "It refunds EUR 1.000,50.",
    "It runs on Node.js.",
    # Ellipses.
    "It trails off... and then goes on.",
    "It trails off … Then it goes on.",
    "It starts with ... And does not end",
    # Quotes.
    'It says "I am sorry. Please wait." before the refund.',
    "It says \u201cStop! Now.\u201d and leaves.",
    "It runs `a. B` as a command.",
    'It asks "Where?" and "When?" in one go.',
    "It does not say «Non. Jamais.» to the user",
    "It is polite (as in chat. not mail) throughout.",
    # Other scripts and no words after.
    "\u56de\u7b54\u4e2d\u6709\u65e5\u671f\u3002",
    "\u300c\u306f\u3044\u3002\u300d\u3068\u7b54\u3048\u308b\u3002",
    "\u4ed6\u8bf4\u201c\u597d\u3002\u201d\u7136\u540e\u79bb\u5f00\u3002",
    "\u0647\u0644 \u064a\u0630\u0643\u0631 \u062a\u0627\u0631\u064a\u062e\u064b\u0627\u061f",
    "Well done! \U0001f389",
    "It ends (politely.)",
]


@pytest.mark.parametrize("text", ONE)
def test_one_sentence(text: str) -> None:
    assert one_sentence(text) == text


SEVERAL = [
    ("It apologises. It then refunds.", "It then refunds."),
    ("Does it apologise? Does it refund?", "Does it refund?"),
    ("Stop! Then refund.", "Then refund."),
    ("It apologises.  Then (perhaps) it refunds", "Then (perhaps) it refunds"),
    ('It says "stop." Then it leaves.', "Then it leaves."),
    ("It says (stop.) Then it leaves.", "Then it leaves."),
    ('It leaves. "Then" it is.', '"Then" it is.'),
    ("It names dates, prices, etc. The answer is short.", "The answer is short."),
    ("The answer is no. It says why.", "It says why."),
    ("It says v1.2. Then it stops.", "Then it stops."),
    ("Uses a table. 3 rows at least.", "3 rows at least."),
    ("1. Offers a refund", "Offers a refund"),
    ("It refunds. \u00c9l\u00e9gant.", "\u00c9l\u00e9gant."),
    (
        "\u56de\u7b54\u4e2d\u6709\u65e5\u671f\u3002\u6ca1\u6709\u4ef7\u683c\u3002",
        "\u6ca1\u6709\u4ef7\u683c\u3002",
    ),
    ("\u662f\u5417\uff1f\u662f\u7684", "\u662f\u7684"),
    ("\u65e5\u671f\u3002 ok", "ok"),
    (
        "\u0647\u0644 \u064a\u0639\u062a\u0630\u0631\u061f \u0647\u0644 \u064a\u062f\u0641\u0639\u061f",
        "\u0647\u0644 \u064a\u062f\u0641\u0639\u061f",
    ),
]


@pytest.mark.parametrize(("text", "second"), SEVERAL)
def test_a_second_sentence_is_refused_and_shown(text: str, second: str) -> None:
    with pytest.raises(ValueError, match="has a second sentence") as raised:
        one_sentence(text)

    assert repr(second) in str(raised.value)
    assert "make a dimension of each" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says nothing; write one sentence"),
        (" \n ", "says nothing; write one sentence"),
        ("...", "says nothing; write one sentence"),
        ("It apologises,\nand refunds.", "has several lines; write one sentence on one line"),
        ("It apologises.\n\nIt refunds.", "has several lines; write one sentence on one line"),
        ("a" * (LONGEST_SENTENCE + 1), "has 301 characters, and 300 are the most; shorten it"),
    ],
)
def test_what_is_no_sentence_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        one_sentence(text)


@pytest.mark.parametrize("text", [" It refunds. ", "It refunds.\n", "\n\tIt refunds.\n\n"])
def test_blanks_around_do_not_count(text: str) -> None:
    assert one_sentence(text) == "It refunds."


def test_the_longest() -> None:
    assert one_sentence("a" * LONGEST_SENTENCE) == "a" * LONGEST_SENTENCE


def test_a_long_second_sentence_is_cut_short_in_the_message() -> None:
    with pytest.raises(ValueError, match=r"second sentence, 'B{40}\u2026';"):
        one_sentence(f"Then. {'B' * 100}")


_PLAIN = st.lists(st.sampled_from(["agent", "refund", "order", "never", "quietly"]), min_size=1, max_size=6)


@given(sentences=st.lists(_PLAIN, min_size=1, max_size=4), mark=st.sampled_from(".!?"))
def test_plain_sentences_are_told_apart(sentences: list[list[str]], mark: str) -> None:
    text = " ".join(" ".join(words).capitalize() + mark for words in sentences)

    if len(sentences) == 1:
        assert one_sentence(text) == text
    else:
        with pytest.raises(ValueError, match="has a second sentence"):
            one_sentence(text)


@given(st.text(max_size=400))
def test_any_text_is_kept_without_its_ends_or_refused(text: str) -> None:
    try:
        sentence = one_sentence(text)
    except ValueError:
        return
    assert sentence == text.strip()
    assert one_sentence(sentence) == sentence
