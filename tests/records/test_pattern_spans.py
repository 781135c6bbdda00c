"""Where a regular expression matches, letters of any script included."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.pattern_spans import pattern_spans

# A pattern, a text, and the matches that are not empty.
FOUND: list[tuple[str, str, list[str]]] = [
    ("a", "banana", ["a", "a", "a"]),
    ("x+", "axxbx", ["xx", "x"]),
    ("a|ab", "ab", ["a"]),
    (r"\w+", "José_1 a\u0301b-Ωμέγα", ["José_1", "a\u0301b", "Ωμέγα"]),
    (r"\w+", "漢字, кириллица", ["漢字", "кириллица"]),
    (r"\W+", "é, ü", [", "]),
    (r"[\w.]+@", "ü.é@", ["ü.é@"]),
    (r"[^\w]+", "é!ü", ["!"]),
    (r"\d+", "1\u0662३x", ["1\u0662३"]),
    (r"\D+", "a\u0662b", ["a", "b"]),
    (r"[x\D]+", "a\u0662b", ["a", "b"]),
    (r"[^\D]+", "a\u0662b", ["\u0662"]),
    (r"\s+", "a\u00a0\u2003\v\x1cb", ["\u00a0\u2003\v\x1c"]),
    (r"\S+", "a\u00a0b", ["a", "b"]),
    (r"(?i)É", "é", ["é"]),
    ("(?i)STRASSE", "strasse", ["strasse"]),
    (r"\\w", r"\w", [r"\w"]),
    (r"\Q\w[\E\w", r"\w[é", [r"\w[é"]),
    (r"[]\d]+", "]\u0662a", ["]\u0662"]),
    (r"[^]\d]+", "]\u0662a", ["a"]),
    (r"[[\d]+", "[\u0662", ["[\u0662"]),
    (r"[\]\d]+\d", "]\u0662\u0662", ["]\u0662\u0662"]),
    (r"\p{Lu}", "aÉ", ["É"]),
    ("(?m)^b$", "a\nb\nc", ["b"]),
    (".+", "a\nb", ["a", "b"]),
    ("(?s).+", "a\nb", ["a\nb"]),
    ("x.", "x\ud800x😀", ["x\ud800", "x😀"]),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), FOUND)
def test_what_is_found(pattern: str, text: str, expected: list[str]) -> None:
    found = [text[start:end] for start, end in pattern_spans(pattern)(text)]

    assert [part for part in found if part] == expected


# What is refused, and why.
REFUSED: list[tuple[str, str]] = [
    ("(", "no regular expression of RE2"),
    ("a\\", "no regular expression of RE2"),
    ("(?=a)", "which has no look-around or backreferences"),
    ("(?<!a)b", "which has no look-around or backreferences"),
    (r"(a)\1", "which has no look-around or backreferences"),
    (r"(?:a{1000}){1000}", "no regular expression of RE2"),
    ("\ud800", "half of a surrogate pair"),
    (r"\bé\b", r"\b knows English letters only; leave it out"),
    (r"a\B", r"\B knows English letters only; leave it out"),
    (r"\C", r"\C is a part of a character"),
    (r"[[:alpha:]]+", r"[:alpha:] knows English letters only"),
    (r"[a[:^digit:]]", r"[:^digit:] knows English letters only"),
    (r"[\s\S]", "(?s:.) for anything"),
    (r"[^\W\d_]", "write [^…] without it"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED)
def test_what_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        pattern_spans(pattern)


def test_a_refusal_prints_nothing() -> None:
    """The library has a log of its own."""
    code = """
from regress_core.records.pattern_spans import pattern_spans
try:
    pattern_spans("(")
except ValueError:
    pass
"""

    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    assert (done.stdout, done.stderr) == (b"", b"")


_SIMPLE = st.lists(
    st.sampled_from(["a", "é", ".", r"\w", r"\d", r"\s", "[ab]", r"[^\w]", "(?:a|ab)", " "]).flatmap(
        lambda atom: st.sampled_from([atom, f"{atom}+", f"{atom}*?b", f"(?:{atom})?"])
    ),
    min_size=1,
    max_size=4,
).map("".join)


@given(_SIMPLE, st.text("abé1 \n.😀", max_size=20))
def test_what_python_finds_too(pattern: str, text: str) -> None:
    ours = {span for span in pattern_spans(pattern)(text) if span[0] < span[1]}

    assert ours == {match.span() for match in re.finditer(pattern, text) if match[0]}


@given(st.text(r"\wWdDsSbQE[]^:ap{}()|", max_size=8))
def test_no_pattern_is_an_error_of_another_kind(pattern: str) -> None:
    try:
        spans = pattern_spans(pattern)
    except ValueError:
        return
    for start, end in spans("a\\w[é]:{}"):
        assert 0 <= start <= end <= 9
