"""Which cases of a suite are picked: by pattern, tag and age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from regress_core.suite.loading import CaseRef, Suite, Warn, ignore_warnings


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases are picked; each field narrows it, one that is left out does not.

    Attributes:
        patterns: Globs, of which one has to match a case's id or name.
        tags: Tags, of which the case or its whole suite has to have one.
        since: The recorded run must have begun then or later.
    """

    patterns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None


def select_cases(suite: Suite, selection: Selection, warn: Warn = ignore_warnings) -> tuple[CaseRef, ...]:
    """Give the cases that a selection picks, in their order.

    Where it picks some, warn of each pattern that meets no case at all; where it picks none, the caller has
    to say so.
    """
    picked = tuple(case for case in suite.cases if _picked(suite, case, selection))
    for pattern in selection.patterns if picked else ():
        if not any(_meets(name, pattern) for case in suite.cases for name in (case.case_id, case.name)):
            warn(f"suite {suite.name}: no case matches {pattern}")
    return picked


def _meets(name: str, pattern: str) -> bool:
    """Tell whether a name meets a glob, or is what it says: names may hold what globs are made of."""
    return name == pattern or fnmatchcase(name, pattern)


def _picked(suite: Suite, case: CaseRef, selection: Selection) -> bool:
    names = (case.case_id, case.name)
    if selection.patterns and not any(_meets(n, p) for p in selection.patterns for n in names):
        return False
    if selection.tags and set(selection.tags).isdisjoint((*suite.config.tags, *case.config.tags)):
        return False
    return selection.since is None or (case.recorded_at is not None and case.recorded_at >= selection.since)
