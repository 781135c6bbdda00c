"""The summary of an evaluation, from the outcomes and the ledger in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from regress_core.calls.prices import NANOUSD
from regress_core.evaluation.entering import outcomes_of
from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.history.calibrations import calibration_of
from regress_core.history.earlier_trials import earlier_trials
from regress_core.history.store import History
from regress_core.judge.outcome import JudgeName
from regress_core.stats.power import smallest_drop
from regress_core.stats.trials import Trials
from regress_core.suite.contract import (
    CaseOverride,
    CostSummary,
    RunRegressionCaseSummary,
    RunRegressionSummary,
)
from regress_core.suite.gate import decide_gate, pass_rate
from regress_core.suite.judge_summaries import axes_over, judge_summaries
from regress_core.suite.noise import within_noise
from regress_core.suite.outcome import case_summary, conclusive_trials
from regress_core.suite.overrides import active
from regress_core.suite.summary import totals, worst
from regress_core.suite.trials_report import trials_report


def summarize_evaluation(plan: EvaluationPlan, ports: Ports) -> RunRegressionSummary:
    """Sum up every planned case that has an outcome, ordered by case id.

    Of several trials the worst counts, unless the gate says that a case may fail within its noise.
    """
    cases: list[RunRegressionCaseSummary] = []
    conclusive: dict[str, Trials] = {}
    settled = 0
    outcomes = outcomes_of(ports.journal, plan.evaluation_id)
    for case_id, group in groupby(outcomes, key=lambda outcome: outcome.case_id):
        trials = list(group)
        cases.append(_with_override(plan, case_id, case_summary(trials)))
        conclusive[case_id] = conclusive_trials(trials)
        settled += sum(map(plan.is_settled, trials))
    cases = _excused(cases, conclusive, plan, ports.history)
    counted = totals(cases).model_copy(update={"inconclusive": sum(case.inconclusive for case in cases)})
    axes = axes_over(cases)
    passed = pass_rate(cases)
    told: dict[str, Any] = {
        "judges": list(judge_summaries(cases, partial(_agreement, ports.history))),
        "axes": axes,
        "trials": trials_report(conclusive, plan.how.trials) if plan.how.trials > 1 else None,
        "contracts": list(plan.contracts),
        "pass_rate": passed if passed.of else None,
        "smallest_drop": smallest_drop(passed.of),
        "warnings": _warnings(plan),
    }
    return RunRegressionSummary(
        suite=plan.suite.name,
        status=worst(case.status for case in cases),
        totals=counted,
        cases=cases,
        gate=decide_gate(cases, plan.suite.config.gate, axes),
        evaluation_id=plan.evaluation_id,
        candidate={"id": plan.candidate.candidate_id, "label": plan.candidate.label},
        orphans=list(plan.orphans),
        complete=settled == len(plan.suite.cases) * plan.how.trials,
        cost=_cost(plan, ports, cases),
        **{name: value for name, value in told.items() if value},
    )


def _excused(
    cases: list[RunRegressionCaseSummary],
    conclusive: Mapping[str, Trials],
    plan: EvaluationPlan,
    history: History,
) -> list[RunRegressionCaseSummary]:
    """Have cases warn that fail no more often than before, where the gate looks at that."""
    gate = plan.suite.config.gate.trials
    if gate.rule == "worst" or plan.how.trials == 1:
        return cases
    baselines = {case.case_id: case.baseline.sha256 for case in plan.suite.cases}
    earlier = earlier_trials(
        history, plan.suite.name, before=plan.created_at, most=gate.evaluations, baselines=baselines
    )
    both = {case_id: (earlier.get(case_id, Trials(0, 0)), now) for case_id, now in conclusive.items()}
    reasons = within_noise(both, gate)
    return [
        case.model_copy(update={"status": "warn", "reasons": [reasons[case.case_id], *case.reasons]})
        if case.status == "fail" and case.case_id in reasons
        else case
        for case in cases
    ]


def _with_override(
    plan: EvaluationPlan, case_id: str, case: RunRegressionCaseSummary
) -> RunRegressionCaseSummary:
    """Say that a case does not count, as of the time the evaluation was planned: a resume changes nothing."""
    override = active(plan.suite.overrides, case_id, plan.created_at)
    if override is None:
        return case
    told = CaseOverride(owner=override.owner, reason=override.reason, expires=override.expires)
    return case.model_copy(update={"override": told})


def _agreement(
    history: History, judge: JudgeName, model: str | None, prompt_version: str | None
) -> float | None:
    found = calibration_of(history, judge, model, prompt_version)
    return None if found is None else found.calibration.agreement.value


def _cost(plan: EvaluationPlan, ports: Ports, cases: Sequence[RunRegressionCaseSummary]) -> CostSummary:
    spent = ports.journal.ledger(ports.clock).totals(plan.evaluation_id)
    judges = [row for row in spent if row.purpose == "judge"]
    config = plan.suite.config.judge
    return CostSummary(
        candidate_usd=sum(row.spent_nanousd for row in spent if row.purpose == "candidate") / NANOUSD,
        judge_usd=sum(row.spent_nanousd for row in judges) / NANOUSD,
        candidate_cap_usd=plan.suite.config.candidate_cap_usd,
        judge_cap_usd=None if config is None else config.cap_usd,
        saved_by_cache_usd=sum(row.saved_nanousd for row in judges) / NANOUSD,
        skipped_by_cap=sum(one.trouble == "cap" for case in cases for one in case.judging),
        by_judge={row.judge or "": row.spent_nanousd / NANOUSD for row in judges},
    )


def _warnings(plan: EvaluationPlan) -> list[str]:
    config = plan.suite.config.judge
    if config is None or config.regression is None or config.regression.input_mode != "full":
        return []
    what = "whole records, with context, prompts, messages and tool outputs"
    return [f"judge.regression.input_mode is full: {what}, are sent to {config.model}"]
