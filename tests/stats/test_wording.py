"""What the words of others mean, as a table says, and no more."""

from __future__ import annotations

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonValue
from regress_core.stats.wording import parse_wording, word_of


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("pass", "pass"),
        (" pass\n", "pass"),
        ("Pass", "Pass"),
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("01", "01"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("-0.0", "0"),
        (True, "true"),
        ("true", "true"),
        ("True", "True"),
        (None, "null"),
        (["pass"], '["pass"]'),
        ("", ""),
        ('"pass"', '"pass"'),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_words(value: JsonValue, word: str) -> None:
    assert word_of(value) == word


@pytest.mark.parametrize(
    ("table", "wording"),
    [
        ("pass=pass,fail=fail", {"pass": True, "fail": False}),
        ("pass=pass, fail=fail ,refuse = fail", {"pass": True, "fail": False, "refuse": False}),
        ("1.0=pass,0=fail", {"1": True, "0": False}),
        ("a=b=pass", {"a=b": True}),
        ('"yes, it does=pass",no=fail', {"yes, it does": True, "no": False}),
        ("1=pass,1.0=pass", {"1": True}),
    ],
)
def test_tables(table: str, wording: dict[str, bool]) -> None:
    assert parse_wording(table, "--map-label") == wording


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "no table of words"),
        ("pass", "'pass' gives no word a meaning"),
        ("ok=good", "'ok=good' gives no word a meaning"),
        ("=pass", "'=pass' gives no word a meaning"),
        ("ok=pass,", "'' gives no word a meaning"),
        ('"ok=pass', "no table of words"),
        ("ok=pass\nno=fail", "no table of words"),
        ("1=pass,1.0=fail", "1 has two meanings"),
    ],
)
def test_what_is_no_table(table: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_wording(table, "--map-label")

    assert str(raised.value).startswith(f"--map-label: {message}; ")
