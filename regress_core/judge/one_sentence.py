"""The single-sentence rule of a rubric: what counts as one sentence."""

from __future__ import annotations

import re

LONGEST_SENTENCE = 300
"""In characters."""

_CLOSERS = "\"'\u201d\u2019\u00bb\u300d\u300f\uff09)\\]"
_MARKS = ".!?\u2026\u061f\u06d4\u0964\u0965\u104b\u1362"  # the Arabic, Indic, Burmese and Ethiopic ones too
_WIDE_MARKS = "\u3002\uff01\uff1f\uff61"

_QUOTED = re.compile(
    '"[^"]*"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb|\u300c[^\u300d]*\u300d|\u300e[^\u300f]*\u300f|`[^`]*`'
)
# Marks right before the closing quote are left: they may end the sentence around it as well.
_MARK_WITHIN = re.compile(rf"[{_MARKS}{_WIDE_MARKS}](?=.*[^{_MARKS}{_WIDE_MARKS}].)", re.DOTALL)
# Full-width marks have no blank after them; directly before closing quotes they end what is quoted only.
_END = re.compile(rf"(?P<mark>[{_MARKS}]+)[{_CLOSERS}]*\s+|[{_WIDE_MARKS}]+\s*(?=[^\s{_CLOSERS}])")

_WORD_BEFORE = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\Z")
_LETTERS_WITH_STOPS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")  # e.g., U.S., J. Smith
_BEFORE_ANYTHING = re.compile("approx|ca|cf|dr|eg|excl|ie|incl|mr|mrs|ms|prof|resp|st|viz|vs", re.IGNORECASE)
_BEFORE_NUMBERS = re.compile("art|ch|fig|max|min|no|nr|para|pp|sec|vol", re.IGNORECASE)


def one_sentence(text: str) -> str:
    """Give a text that is one sentence, without the blanks around it.

    A sentence ends at a full stop, question mark or exclamation mark (and closing quotes or brackets) if a
    blank and then anything but a small letter follows; at a full-width mark, as in Chinese, if anything
    follows. No end is an ellipsis, the full stop of an abbreviation, or what stands in quotes or backticks.

    Raises:
        ValueError: If it is empty, of several lines or sentences, or too long; says what to do.
    """
    sentence = text.strip()
    if not any(char.isalnum() for char in sentence):
        raise ValueError("says nothing; write one sentence")
    if len(sentence.splitlines()) > 1:
        raise ValueError("has several lines; write one sentence on one line")
    if len(sentence) > LONGEST_SENTENCE:
        raise ValueError(
            f"has {len(sentence)} characters, and {LONGEST_SENTENCE} are the most; shorten it, "
            "or make dimensions of its parts"
        )
    second = _second_sentence(sentence)
    if second:
        raise ValueError(
            f"has a second sentence, {_excerpt(second)!r}; keep one, or make a dimension of each"
        )
    return sentence


def _second_sentence(text: str) -> str:
    """Give the text from where a second sentence begins; empty when none does."""
    # Of the same length, so that a position is the same in both.
    masked = _QUOTED.sub(lambda quoted: _MARK_WITHIN.sub("_", quoted[0]), text)
    for end in _END.finditer(masked):
        following = next((char for char in masked[end.end() :] if char.isalnum()), "")
        if following and not (end["mark"] and _goes_on(masked[: end.start()], end["mark"], following)):
            return text[end.end() :]
    return ""


def _goes_on(before: str, mark: str, following: str) -> bool:
    """Tell whether a sentence goes on after a mark and a blank."""
    if following.islower() or mark.endswith(("..", "\u2026")):
        return True
    word = _WORD_BEFORE.search(before)
    if mark != "." or word is None:
        return False
    return (
        _LETTERS_WITH_STOPS.fullmatch(word[0]) is not None
        or _BEFORE_ANYTHING.fullmatch(word[0]) is not None
        or (_BEFORE_NUMBERS.fullmatch(word[0]) is not None and following.isdigit())
    )


def _excerpt(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}\u2026"
