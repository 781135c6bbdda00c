"""Cutting texts of any length to what fits into a reason."""

from __future__ import annotations

SHOWN_CHARACTERS = 80


def in_one_line(text: str, characters: int = 300) -> str:
    """Put a text of any shape on one line of bounded length."""
    return window(" ".join(text.split()), 0, characters)


def window(text: str, start: int, characters: int = SHOWN_CHARACTERS) -> str:
    """Cut a long text to the stretch in which it first differs."""
    if len(text) <= characters:
        return text
    begin = max(0, min(start - characters // 4, len(text) - characters))
    end = begin + characters
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")
