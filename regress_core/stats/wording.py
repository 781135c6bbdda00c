"""Tables from the words of others to pass and fail; what a table does not hold is never guessed."""

from __future__ import annotations

import csv
from collections.abc import Mapping

from regress_core.errors import InputError
from regress_core.records.canonical import canonical_json
from regress_core.records.json_io import JsonError, JsonValue, loads

Wording = Mapping[str, bool]
"""Whether a word means pass; by its text as `word_of` gives it."""

_MEANINGS = {"pass": True, "fail": False}


def word_of(value: JsonValue) -> str:
    """Give a value as the text by which a table knows it; the number 1 and the text "1.0" are one."""
    if not isinstance(value, str):
        return canonical_json(value)
    text = value.strip()
    try:
        read = loads(text)
    except JsonError:
        return text
    return canonical_json(read) if isinstance(read, int | float) else text


def parse_wording(table: str, option: str) -> Wording:
    """Read a table such as `good=pass,bad=fail`; a word that holds a comma makes its entry a quoted one.

    Args:
        table: The text.
        option: The option that it was given with, for errors.

    Raises:
        InputError: If it is no such table, or gives a word two meanings.
    """
    try:
        (entries,) = csv.reader([table], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        entries = []
    if not entries:
        raise InputError("no table of words", field=option, remedy="write WORD=pass,WORD=fail")
    wording: dict[str, bool] = {}
    for entry in entries:
        word, _, meaning = entry.rpartition("=")
        known = word_of(word)
        if not known or meaning.strip() not in _MEANINGS:
            raise InputError(
                f"{entry!r} gives no word a meaning", field=option, remedy="write WORD=pass or WORD=fail"
            )
        means_pass = _MEANINGS[meaning.strip()]
        if wording.setdefault(known, means_pass) != means_pass:
            raise InputError(f"{known} has two meanings", field=option, remedy="keep one of them")
    return wording
