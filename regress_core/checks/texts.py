"""Looking into texts: whether one holds what is wanted, and the stretch that says so."""

from __future__ import annotations

from collections.abc import Callable

from regress_core.records.json_io import JsonValue, dumps_text
from regress_core.records.patterns import Holds

LONGEST_QUOTATION = 80
"""Characters of a value that are quoted in a result."""

_AROUND = 20  # characters quoted on either side of what was found


def holds_text(wanted: str, *, ignore_case: bool = False) -> Holds:
    """Look for a text, to the letter or without regard to case (full Unicode case folding)."""
    if not ignore_case:
        return lambda text: wanted in text
    folded = wanted.casefold()
    return lambda text: folded in text.casefold()


def excerpt(text: str, holds: Holds) -> str:
    """Quote from a text that holds what is wanted a short stretch that does, with a little around it."""
    # Whatever is left of the text always holds it, wherever the two searches end.
    end = _least(len(text), lambda length: holds(text[:length]))
    start = end - _least(end, lambda length: holds(text[end - length : end]))
    stretch = text[start:end]
    if len(stretch) > LONGEST_QUOTATION:
        return quoted(stretch)
    begin, stop = max(0, start - _AROUND), end + _AROUND
    return dumps_text(("…" if begin else "") + text[begin:stop] + ("…" if stop < len(text) else ""))


def _least(most: int, suffices: Callable[[int], bool]) -> int:
    """Find a small number that suffices, in as few steps as `most`, which does, has binary digits."""
    too_few, enough = -1, most
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if suffices(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def quoted(value: JsonValue) -> str:
    """Give a value as JSON on one line, cut to a bounded length."""
    if isinstance(value, str):
        return dumps_text(cut(value))
    return cut(dumps_text(value))


def cut(text: str, longest: int = LONGEST_QUOTATION) -> str:
    """Cut a text to a length, an ellipsis in place of its end."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
