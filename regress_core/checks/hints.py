"""The expectation's hints about tools: whether they were followed. Findings, and no policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regress_core.checks.outcome import CheckResult, Finding
from regress_core.checks.own_part import OwnCall


def check_hints(
    should_use: Sequence[str], should_avoid: Sequence[str], calls: Sequence[OwnCall]
) -> Iterator[CheckResult]:
    """Give a result for each tool that should be used or avoided; `noted` where that was not followed."""
    firsts: dict[str, OwnCall] = {}
    for call in calls:
        firsts.setdefault(call.name, call)
    for tool in dict.fromkeys(should_use):
        yield _hint(tool, firsts.get(tool), use=True).result(f"hint:use:{tool}", "should_use_tool", "noted")
    for tool in dict.fromkeys(should_avoid):
        finding = _hint(tool, firsts.get(tool), use=False)
        yield finding.result(f"hint:avoid:{tool}", "should_avoid_tool", "noted")


def _hint(tool: str, first: OwnCall | None, *, use: bool) -> Finding:
    return Finding(
        holds=(first is not None) == use,
        looked_for=f"a call of {tool}" if use else f"no call of {tool}",
        found="no call of it" if first is None else "called",
        where=None if first is None else first.where,
    )
