"""What a person reads on the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from regress_core.suite.contract import RunRegressionCaseSummary, RunRegressionSummary

# Control characters, marks that reverse the direction of text, lone surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MOST_CASES = 100  # more would scroll the verdict away; the outputs and the history have them all


def say(line: str) -> None:
    """Print a line for whoever reads the result."""
    sys.stdout.write(f"{printable(line)}\n")


def note(line: str) -> None:
    """Print a line beside the result: progress, warnings, hints."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def printable(text: str) -> str:
    """Escape what a terminal would obey or could not show, so that recorded text cannot command it."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def summary_lines(summary: RunRegressionSummary) -> Iterator[str]:
    """Sum an evaluation up: totals, every case that did not pass with its reasons, the gate."""
    candidate = summary.candidate or {}
    yield f"suite {summary.suite}, candidate {candidate.get('label')}, evaluation {summary.evaluation_id}"
    totals = summary.totals
    inconclusive = f" ({totals.inconclusive} inconclusive)" if totals.inconclusive else ""
    yield (
        f"{totals.cases} cases: {totals.passed} passed, {totals.warned} warned{inconclusive}, "
        f"{totals.failed} failed"
    )
    yield from case_lines([case for case in summary.cases if case.status != "pass"])
    if summary.orphans:
        yield f"  candidate records without a baseline: {', '.join(summary.orphans)}"
    if not summary.complete:
        yield "  not complete: some planned cases have no outcome yet"
    if summary.gate:
        reasons = f" ({'; '.join(summary.gate.reasons)})" if summary.gate.reasons else ""
        yield f"gate: {summary.gate.status}{reasons}"


def case_lines(cases: list[RunRegressionCaseSummary]) -> Iterator[str]:
    """List cases, the worst first, each with its reasons."""
    order = ("fail", "warn", "pass")
    ranked = sorted(cases, key=lambda case: (order.index(case.status), case.inconclusive, case.name))
    for case in ranked[:_MOST_CASES]:
        status = "inconclusive" if case.inconclusive else case.status
        yield f"  {status:<5} {case.name}"
        for reason in case.reasons:
            yield f"          {reason}"
    if len(ranked) > _MOST_CASES:
        yield f"  and {len(ranked) - _MOST_CASES} more; summary.json has them all"
