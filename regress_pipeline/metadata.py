"""What a person sees in Dagster of a case, and of a suite's evaluations."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import dagster as dg

from regress_core.evaluation.events import CaseDone
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.history.store import Row
from regress_core.history.trends import TrendPoint
from regress_core.report.trend_plot import trend_plot
from regress_core.suite.contract import CostSummary, RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome

Metadata = dict[str, "dg.RawMetadataValue"]  # which Dagster has for type checkers only

SHOWN_EVALUATIONS = 14
"""How many of the last evaluations table and plot show."""

_MOST_LINES, _MOST_CHARACTERS = 60, 4000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def case_metadata(
    plan: EvaluationPlan,
    done: CaseDone,
    answers: tuple[str, str] | None,
    explanation: Row,
    *,
    baseline_file: str,
    candidate_file: str,
) -> Mapping[str, Metadata]:
    """Give what each asset of a case shows.

    Args:
        plan: The evaluation's plan.
        done: What the case came to.
        answers: The two answers where they differ, the accepted one first.
        explanation: The columns of `comparisons` that explain how the runs differ, as far as they are there.
        baseline_file: The baseline's record.
        candidate_file: The candidate's record, which may be written only once the evaluation is complete.
    """
    outcome = done.outcome
    common: Metadata = {
        "evaluation_id": plan.evaluation_id,
        "candidate": plan.candidate.label,
        "revision": outcome.revision,
        "resumed": done.resumed,
    }
    signals = ", ".join(outcome.signals.raised()) or "none"
    differs = explained(explanation)
    if answers is not None:
        differs["answer"] = dg.MetadataValue.md(answer_diff(*answers))
    files: Metadata = {
        "baseline_file": dg.MetadataValue.path(baseline_file),
        "candidate_file": dg.MetadataValue.path(candidate_file),
    }
    summary: Metadata = {
        "status": outcome.status,
        "reasons": dg.MetadataValue.md(as_list(outcome.reasons)),
        "signals": signals,
        "verdict": judge_word(outcome),
        "failed_checks": ", ".join(outcome.findings.failed_checks) or "none",
        "cost_usd": outcome.cost_usd,
        "duration_s": outcome.duration_s,
    }
    judge: Metadata = {"judge": judge_word(outcome), "cost_usd": outcome.cost_usd}
    if outcome.judge is not None:
        judge["summary"] = summary["verdict_summary"] = visible(outcome.judge.summary)
    return {
        "baseline_records": {
            **common,
            "run_id": outcome.baseline_run_id or "",
            "sha256": outcome.baseline_sha256,
            "file": files["baseline_file"],
        },
        "candidate_records": {
            **common,
            "run_id": outcome.candidate_run_id,
            "sha256": outcome.candidate_sha256 or "",
            "file": files["candidate_file"],
        },
        "comparisons": {**common, "equal": bool(outcome.equal), "signals": signals, **differs},
        "judge_results": {**common, **judge},
        "case_summaries": {**common, **summary, **differs, **files},
    }


def explained(explanation: Row) -> Metadata:
    """Give how a candidate's calls followed the baseline's, and what became of the effective writes."""
    found: dict[str, str | None] = {
        "trajectory": explanation.get("trajectory"),
        "first_divergence": explanation.get("first_divergence"),
        "effects": _effects(explanation),
    }
    return {name: visible(text) for name, text in found.items() if text is not None}


def _effects(explanation: Row) -> str | None:
    if explanation.get("writes_a") is None:
        return None
    counts = {what: explanation[f"{what}_writes"] for what in ("changed", "missing", "extra")}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "the same"
    return f"{explanation['writes_a']} → {explanation['writes_b']} writes: {told}"


def judge_word(outcome: CaseOutcome) -> str:
    """Give the regression judge's verdict, else what became of it; `none` where there is no such judge."""
    if outcome.judge is not None:
        return outcome.judge.verdict
    states = [one.state for one in outcome.findings.judging if one.judge == "regression"]
    return states[0] if states else "none"


def suite_metadata(
    plan: EvaluationPlan,
    summary: RunRegressionSummary,
    outputs: Path,
    points: Sequence[TrendPoint],
    alarm: str | None,
) -> Metadata:
    """Give what suite_summary shows: this evaluation, and the last ones of its kind as table and plot.

    Args:
        plan: The evaluation's plan.
        summary: What it came to so far.
        outputs: Where its outputs are, once it is complete.
        points: The last finished evaluations of the same trigger, oldest first.
        alarm: What is to be said of a slow decline.
    """
    totals, gate = summary.totals, summary.gate
    metadata: Metadata = {
        "evaluation_id": plan.evaluation_id,
        "candidate": plan.candidate.label,
        "trigger": plan.trigger,
        "complete": summary.complete,
        "status": summary.status,
        "gate": gate.status if gate else summary.status,
        "gate_reasons": dg.MetadataValue.md(as_list(gate.reasons if gate else ())),
        "planned": len(plan.suite.cases),
        "cases": totals.cases,
        "passed": totals.passed,
        "warned": totals.warned,
        "failed": totals.failed,
        "inconclusive": totals.inconclusive,
        "trend": alarm or "no decline",
        **_money(summary.cost),
    }
    if summary.contracts:
        metadata["contracts"] = dg.MetadataValue.md(as_list([str(change) for change in summary.contracts]))
    if summary.orphans:
        metadata["orphans"] = dg.MetadataValue.md(as_list(summary.orphans))
    if summary.complete:
        metadata["outputs"] = dg.MetadataValue.path(outputs.absolute())
    if points:
        shown = points[-SHOWN_EVALUATIONS:]
        metadata["last_evaluations"] = dg.MetadataValue.md(evaluations_table(shown))
        picture = base64.b64encode(trend_plot(shown).encode()).decode()
        metadata["plot"] = dg.MetadataValue.md(f"![last evaluations](data:image/svg+xml;base64,{picture})")
    return metadata


def _money(cost: CostSummary | None) -> Metadata:
    """Give what an evaluation cost, and what it might have; a cap that is not set is left out."""
    if cost is None:
        return {}
    money: dict[str, float | None] = {
        "candidate_usd": cost.candidate_usd,
        "candidate_cap_usd": cost.candidate_cap_usd,
        "judge_usd": cost.judge_usd,
        "judge_cap_usd": cost.judge_cap_usd,
        "saved_by_cache_usd": cost.saved_by_cache_usd,
    }
    return {name: usd for name, usd in money.items() if usd is not None}


def evaluations_table(points: Sequence[TrendPoint]) -> str:
    """Give evaluations as a Markdown table, the newest first."""
    head = "| UTC | candidate | gate | pass rate | passed | warned | failed | inconclusive | USD |"
    rows = [
        f"| {point.created_at:%Y-%m-%d %H:%M} | {_cell(point.candidate_label)} | {point.gate_status or '-'} "
        f"| {_number(point.pass_rate, 3)} | {point.passed} | {point.warned - point.inconclusive} "
        f"| {point.failed} | {point.inconclusive} | {_number(point.cost_usd, 4)} |"
        for point in reversed(points)
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|---|---|", *rows])


def answer_diff(old: str, new: str) -> str:
    """Give the difference of two answers as a fenced Markdown block, as much of it as one cares to read."""
    lines = unified_diff(
        visible(old).splitlines(), visible(new).splitlines(), "baseline", "candidate", n=2, lineterm=""
    )
    shown = list(islice(lines, _MOST_LINES + 1))
    more = len(shown) > _MOST_LINES
    text = "\n".join(shown[:_MOST_LINES])
    more = more or len(text) > _MOST_CHARACTERS
    text = text[:_MOST_CHARACTERS]
    # A fence longer than any in the text, so that nothing in it ends the block.
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}diff\n{text}\n{fence}" + ("\n\nand more; the records have it all" if more else "")


def as_list(texts: Sequence[str]) -> str:
    """Give texts as a Markdown list, each on one line as it reads."""
    return "\n".join(f"- {_plain(text)}" for text in texts) or "none"


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", " ".join(visible(text).split()))


def _cell(text: str) -> str:
    return _plain(text)[:80]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def visible(text: str) -> str:
    """Show what no browser shows, or would obey: control characters, turns of direction, lone surrogates."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
