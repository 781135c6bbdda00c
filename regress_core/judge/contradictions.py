"""Verdicts that speak against themselves: kept as they were given, and shown to a person."""

from __future__ import annotations

import re

from regress_core.judge.contract import RunJudgeResult

ERROR_FOUND = "the verdict is pass, and a finding has severity error"

_CLAUSE_ENDS = re.compile(r"[.;:,!?\n]|\b(?:but|however|although|though|yet|while|whereas)\b", re.IGNORECASE)
_WORSE = re.compile(
    r"""\b(?: worse | worsen(?:s|ed|ing)? | regress(?:es|ed)? | degrad(?:es?|ed|ing|ations?)
    | deteriorat(?:es?|ed|ing|ions?) | inferior
    | regressions? (?! [ -] (?:suite|test|check|case|judge|run|evaluation)s?\b ) )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|nor|none|neither|nothing|without|free of|cannot|avoid\w*|rather than)\b|n['’]t\b",  # noqa: RUF001 - models write both apostrophes
    re.IGNORECASE,
)


def contradictions(result: RunJudgeResult) -> list[str]:
    """Say where a pass speaks against itself, a line each; other verdicts do not.

    A text is taken to say that the candidate got worse by a few plain words, unless a negation stands before
    them in the same clause. That is a hint for a person, and changes no verdict.
    """
    if result.verdict != "pass":
        return []
    found = [ERROR_FOUND] if any(finding.severity == "error" for finding in result.findings) else []
    texts = [("summary", result.summary)]
    texts += [(f"findings[{index}]", finding.reason) for index, finding in enumerate(result.findings)]
    for place, text in texts:
        word = _claims_worse(text)
        if word is not None:
            found.append(f"the verdict is pass, and {place} says {word!r}")
    return found


def _claims_worse(text: str) -> str | None:
    for clause in _CLAUSE_ENDS.split(text):
        for word in _WORSE.finditer(clause):
            if not _NEGATION.search(clause, 0, word.start()):
                return word[0].lower()
    return None
