"""The summary of an evaluation, from the outcomes in the journal."""

from __future__ import annotations

from itertools import groupby

from regress_core.evaluation.plan import EvaluationPlan, outcomes_of
from regress_core.journal.journal import Journal
from regress_core.suite.contract import RunRegressionCaseSummary, RunRegressionSummary
from regress_core.suite.gate import decide_gate
from regress_core.suite.outcome import case_summary
from regress_core.suite.summary import totals, worst


def summarize_evaluation(plan: EvaluationPlan, journal: Journal) -> RunRegressionSummary:
    """Sum up every planned case that has an outcome, its worst trial, ordered by case id."""
    cases: list[RunRegressionCaseSummary] = []
    settled = 0
    outcomes = outcomes_of(journal, plan.evaluation_id)
    for _, group in groupby(outcomes, key=lambda outcome: outcome.case_id):
        trials = list(group)
        cases.append(case_summary(trials))
        settled += sum(map(plan.is_settled, trials))
    counted = totals(cases).model_copy(update={"inconclusive": sum(case.inconclusive for case in cases)})
    return RunRegressionSummary(
        suite=plan.suite.name,
        status=worst(case.status for case in cases),
        totals=counted,
        cases=cases,
        gate=decide_gate(cases, plan.suite.config.gate),
        evaluation_id=plan.evaluation_id,
        candidate={"id": plan.candidate.candidate_id, "label": plan.candidate.label},
        orphans=list(plan.orphans),
        complete=settled == len(plan.suite.cases) * plan.how.trials,
    )
