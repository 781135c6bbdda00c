"""Names that are safe everywhere: case ids, suite names, case names of files (H59)."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.naming import SUITE_NAME, case_id_of, case_name_of_file, suite_name_of

SAFE_NAMES = [
    "a",
    "0",
    "case-1",
    "Case_1.v2",
    "a..b",
    "a.b.c",
    "-x",
    "_",
    "null",
    "console",
    "com",
    "com10",
    "con-1",
    "xcon",
    "x" * 80,
]

# An unsafe name and the slug that stands before its hash.
UNSAFE_NAMES: list[tuple[str, str]] = [
    ("https://x/y", "https-x-y"),
    ("a:b", "a-b"),
    ("a b", "a-b"),
    ("a/b", "a-b"),
    ("a\\b", "a-b"),
    ("a\nb", "a-b"),
    ("a\n", "a"),
    ("a\x00", "a"),
    ("CON", "CON"),
    ("con", "con"),
    ("nul.txt", "nul-txt"),
    ("Aux.tar.gz", "Aux-tar-gz"),
    ("prn", "prn"),
    ("COM1", "COM1"),
    ("com0.log", "com0-log"),
    ("lpt9", "lpt9"),
    ("..", "case"),
    (".", "case"),
    ("", "case"),
    ("   ", "case"),
    ("\u65e5\u672c", "case"),
    (".hidden", "hidden"),
    ("name.", "name"),
    ("a...b", "a-b"),
    ("a....b", "a-b"),
    ("\u00fcn\u00efcode/\U0001f600", "n-code"),
    ("x" * 81, "x" * 71),
    ("x" * 300, "x" * 71),
    ("x" * 70 + " y" * 20, "x" * 70),
    ("\u0661\u0662", "case"),
    ("\uff21", "case"),
    ("\ud800", "case"),
    ("-- a --", "a"),
]


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


@pytest.mark.parametrize("name", SAFE_NAMES)
def test_a_safe_name_is_its_own_id(name: str) -> None:
    assert case_id_of(name) == name


@pytest.mark.parametrize(("name", "slug"), UNSAFE_NAMES, ids=[repr(name)[:20] for name, _ in UNSAFE_NAMES])
def test_an_unsafe_name_becomes_a_slug_and_a_hash(name: str, slug: str) -> None:
    assert case_id_of(name) == f"{slug}-{_hash(name)}"


def test_the_hash_is_fixed_for_good() -> None:
    # printf 'a:b' | sha256sum
    assert case_id_of("a:b") == "a-b-6783a31e"


_NAMES = (
    st.text()
    | st.text("abcCONnul.-_:/ 19\u00e9", max_size=12)
    | st.sampled_from(SAFE_NAMES + [name for name, _ in UNSAFE_NAMES])
    | st.builds("x".__mul__, st.integers(60, 100))
)


@given(_NAMES)
def test_an_id_is_safe_everywhere(name: str) -> None:
    case_id = case_id_of(name)

    assert re.fullmatch(r"[A-Za-z0-9._-]{1,80}", case_id)
    assert not case_id.startswith(".")
    assert not case_id.endswith(".")
    assert "..." not in case_id
    stem = case_id.split(".")[0].upper()
    assert stem not in {"CON", "PRN", "AUX", "NUL"}
    assert not re.fullmatch(r"(COM|LPT)[0-9]", stem)


@given(_NAMES, _NAMES)
def test_different_names_have_different_ids(left: str, right: str) -> None:
    assert (case_id_of(left) == case_id_of(right)) is (left == right)


@given(_NAMES)
def test_a_file_named_by_an_id_belongs_to_that_id(name: str) -> None:
    case_id = case_id_of(name)

    assert case_id_of(case_id) == case_id


@pytest.mark.parametrize(
    ("folders", "suite"),
    [
        ([], "suite"),
        (["airline"], "airline"),
        (["home", "suites", "Airline Bot"], "airline-bot"),
        (["suites", "airline", "records"], "airline"),
        (["suites", "airline", "baseline", "runrecords"], "airline"),
        (["airline", "candidate"], "airline"),
        (["airline", "Baseline"], "airline"),
        (["records"], "suite"),
        (["records-2"], "records-2"),
        (["My.Suite_v2"], "my-suite_v2"),
        (["__x__"], "x"),
        (["\u65e5\u672c"], "suite"),
        (["airline", "\u65e5\u672c"], "airline"),
        (["/", "tmp", ""], "tmp"),
        (["x" * 100], "x" * 64),
        (["a" * 63 + "-b"], "a" * 63),
        (["\u00fcn\u00efcode"], "n-code"),
        (["2024 Q1"], "2024-q1"),
    ],
)
def test_suite_name(folders: list[str], suite: str) -> None:
    assert suite_name_of(folders) == suite


@given(st.lists(st.text() | st.sampled_from(["records", "A b", "_", "x" * 90]), max_size=3))
def test_a_default_suite_name_is_a_suite_name(folders: list[str]) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", suite_name_of(folders))


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("a", True),
        ("airline-2_b", True),
        ("9", True),
        ("a" * 64, True),
        ("", False),
        ("a" * 65, False),
        ("A", False),
        ("-a", False),
        ("_a", False),
        ("a b", False),
        ("a/b", False),
        ("a.b", False),
        ("a\n", False),
        ("\u00e9", False),
        ("\u0661", False),
    ],
)
def test_what_a_suite_may_be_called(name: str, *, valid: bool) -> None:
    assert bool(SUITE_NAME.fullmatch(name)) is valid


@pytest.mark.parametrize(
    ("file_name", "case_name"),
    [
        ("a.json", "a"),
        ("a.runrecord.json", "a"),
        ("a.b.json", "a.b"),
        ("a.json.json", "a.json"),
        ("runrecord.json", "runrecord"),
        (".json", ""),
        ("a b.json", "a b"),
    ],
)
def test_case_name_of_a_file(file_name: str, case_name: str) -> None:
    assert case_name_of_file(file_name) == case_name
