"""What a person reads on the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from regress_core.harness.contracts import ContractChange
from regress_core.suite.contract import RunRegressionCaseSummary, RunRegressionSummary
from regress_core.suite.verdict_diff import verdict_diff

# Control characters, marks that reverse the direction of text, lone surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MOST_CHANGES = 20
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
    yield from contract_lines(summary.contracts)
    yield from judge_lines(summary)
    if summary.orphans:
        yield f"  candidate records without a baseline: {', '.join(summary.orphans)}"
    if not summary.complete:
        yield "  not complete: some planned cases have no outcome yet"
    if summary.gate:
        reasons = f" ({'; '.join(summary.gate.reasons)})" if summary.gate.reasons else ""
        yield f"gate: {summary.gate.status}{reasons}"


def contract_lines(changes: Sequence[ContractChange]) -> Iterator[str]:
    """Tell what changed of the contracts of tools, one line a change."""
    for change in changes[:_MOST_CHANGES]:
        yield f"contract of {change}"
    if len(changes) > _MOST_CHANGES:
        yield f"and {len(changes) - _MOST_CHANGES} more changes of contracts; summary.json has them all"


def judge_lines(summary: RunRegressionSummary) -> Iterator[str]:
    """Tell what the judges came to, their scores, what they cost; nothing where there is no judge."""
    for judge in summary.judges:
        counts = (
            (judge.verdicts, "verdicts"),
            (judge.errors, "without a verdict"),
            (judge.skipped, "not asked"),
            (judge.left_out, "left out"),
            (judge.cached, "from the cache"),
        )
        told = ", ".join(f"{count} {what}" for count, what in counts if count or what == "verdicts")
        known = "uncalibrated" if judge.agreement is None else f"agreement {judge.agreement:.2f}"
        who = f" ({judge.model}, {judge.prompt_version}, {known})" if judge.model else ""
        yield f"{judge.judge} judge{who}: {told}"
    axes = summary.axes
    if axes is not None and axes.composite_score is not None:
        means = ", ".join(f"{axis} {mean:.2f}" for axis, mean in axes.axis_breakdown.items())
        yield (
            f"axes: composite {axes.composite_score:.2f} over {axes.total} cases ({means}); "
            f"{axes.passed} passed, {axes.failed} failed, {axes.not_judged} not judged"
        )
    cost = summary.cost
    if cost is not None and cost.candidate_usd:
        cap = "" if cost.candidate_cap_usd is None else f" of ${cost.candidate_cap_usd:.4f}"
        yield f"the candidate's calls cost ${cost.candidate_usd:.4f}{cap}"
    if cost is not None and cost.judge_cap_usd is not None:
        more = f", {cost.skipped_by_cap} verdicts skipped by the cap" if cost.skipped_by_cap else ""
        yield (
            f"judges cost ${cost.judge_usd:.4f} of ${cost.judge_cap_usd:.4f}, "
            f"the cache saved ${cost.saved_by_cache_usd:.4f}{more}"
        )
    flagged = sum(bool(one.flags) for case in summary.cases for one in case.judging)
    if flagged:
        yield f"{flagged} verdicts speak against themselves; see `regress review`"
    for warning in summary.warnings:
        yield f"warning: {warning}"


def flip_lines(summary: RunRegressionSummary, suite: str, store: str | None) -> Iterator[str]:
    """Show each verdict that differs from the last accepted one, with the commands to decide about it.

    Args:
        summary: The summary.
        suite: The suite, as a command names it.
        store: The store, where a command has to name it.
    """
    for case in summary.cases:
        for one in case.rubric or ():
            if one.flipped and one.passed is not None and one.decision != "rejected":
                yield from verdict_diff(
                    case.case_id or case.name,
                    one.dimension_id,
                    passed=one.passed,
                    reason=one.reason,
                    suite=suite,
                    evaluation_id=summary.evaluation_id or "",
                    store=store,
                )


def case_lines(cases: list[RunRegressionCaseSummary]) -> Iterator[str]:
    """List cases, the worst first, each with its reasons."""
    order = ("fail", "warn", "pass")
    ranked = sorted(cases, key=lambda case: (order.index(case.status), case.inconclusive, case.name))
    for case in ranked[:_MOST_CASES]:
        status = "inconclusive" if case.inconclusive else case.status
        yield f"  {status:<5} {case.name}"
        for reason in case.reasons:
            yield f"          {reason}"
        if case.override is not None:
            override = case.override
            yield f"          does not count until {override.expires} ({override.owner}: {override.reason})"
    if len(ranked) > _MOST_CASES:
        yield f"  and {len(ranked) - _MOST_CASES} more; summary.json has them all"
