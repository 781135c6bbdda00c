"""Two evaluations on the cases that both have: what changed, and whether chance explains it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from regress_core.errors import InputError
from regress_core.history.evaluated_trials import EvaluatedCase, EvaluatedTrials, evaluated_trials
from regress_core.history.store import History
from regress_core.records.wire import WireModel
from regress_core.stats.bootstrap import RESAMPLES, MeanDifference, PairedValues, bootstrap_difference
from regress_core.stats.drops import CaseDrop, Correction, case_drops
from regress_core.stats.intervals import Interval, wilson
from regress_core.stats.paired import (
    PairedOutcomes,
    PairedTest,
    RateDifference,
    paired_test,
    rate_difference,
)
from regress_core.stats.power import DetectableDrop, detectable_drop

_MOST_DRAWS = 20_000_000  # of cases, for one interval: about a second
_FEWEST_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class PairedOptions:
    """How to test.

    Attributes:
        alpha: The level of every test, above 0 and below 1.
        mid_p: Whether McNemar's test is the mid-p version.
        correction: How single cases are adjusted for their number.
    """

    alpha: float = 0.05
    mid_p: bool = False
    correction: Correction = "holm"


class ComparedEvaluation(WireModel):
    """One of the two, over the cases that are compared.

    Attributes:
        evaluation_id: Which.
        suite: Its suite.
        candidate_id: Its candidate.
        candidate_label: The candidate's label.
        created_at: When it was begun, ISO 8601, UTC.
        trials: Trials that came to a result.
        passed: Of these, those that did not fail.
        inconclusive: Trials that came to none; they count neither as passed nor as failed.
        pass_rate: Mean of the cases' pass rates; None where there is no case.
        interval: How sure it is: Wilson's, as if each case were one trial, whole cases rounded outwards. With
            several trials that is too wide, never too narrow.
    """

    evaluation_id: str
    suite: str
    candidate_id: str
    candidate_label: str
    created_at: str
    trials: int
    passed: int
    inconclusive: int
    pass_rate: float | None
    interval: Interval | None


class PairedEvaluations(WireModel):
    """Evaluation B set beside evaluation A; a difference is B's figure less A's.

    Attributes:
        a: The one to compare with.
        b: The other one.
        cases: How many cases are compared.
        only_in_a: Cases that B does not have.
        only_in_b: Cases that A does not have.
        undecided: Cases of both without a result in one of them.
        several_trials: Whether any compared case has more than one result on a side.
        alpha: The level of every test.
        correction: How single cases are adjusted for their number.
        regressed: Cases that passed in A and not in B, or less often.
        fixed: The other way round.
        test: McNemar's exact test on those.
        significant: Whether its p value is at or below the level.
        difference: Of the pass rates: Newcombe's interval, or with several trials a bootstrap over cases.
        drops: Each compared case for itself: whether its pass rate dropped beyond its own noise.
        composite_score: Of the axes judge's mean score; None where no case is scored alike in both.
        cost_usd: Of the candidate's calls for a trial, US dollars; None where no run was made here.
        detectable: How large a drop must be to be seen on so many cases.
        notes: What else to know before believing the figures.
    """

    a: ComparedEvaluation
    b: ComparedEvaluation
    cases: int
    only_in_a: list[str]
    only_in_b: list[str]
    undecided: list[str]
    several_trials: bool
    alpha: float
    correction: Correction
    regressed: list[str]
    fixed: list[str]
    test: PairedTest
    significant: bool
    difference: RateDifference
    drops: list[CaseDrop]
    composite_score: MeanDifference | None
    cost_usd: MeanDifference | None
    detectable: DetectableDrop
    notes: list[str]


def compare_evaluations(
    history: History, a: str, b: str, options: PairedOptions, rng: Random
) -> PairedEvaluations:
    """Compare two evaluations case by case, each in its newest revision.

    The same cases, so a paired test: two independent proportions would see far less. A case passes a trial
    unless the trial failed; inconclusive trials are left out. With several trials a case is one unit still.

    Args:
        history: The history that has both.
        a: The evaluation to compare with.
        b: The other one.
        options: How to test.
        rng: For the bootstrap.

    Raises:
        InputError: If an id is of no finished evaluation, both are the same, they have no case in common, or
            a file of the history cannot be read.
    """
    if a == b:
        raise InputError(f"{b} is compared with itself", field="B", remedy="name two evaluations")
    first, second = evaluated_trials(history, a, field="A"), evaluated_trials(history, b, field="B")
    common = sorted(first.cases.keys() & second.cases.keys())
    if not common:
        message = f"evaluation {a} of suite {first.suite} and {b} of suite {second.suite}"
        raise InputError(f"{message} have no case in common", field="B", remedy="name two of one suite")
    pairs = {case_id: (first.cases[case_id], second.cases[case_id]) for case_id in common}
    decided = {case_id: pair for case_id, pair in pairs.items() if all(case.results for case in pair)}
    several = any(len(case.results) > 1 for pair in decided.values() for case in pair)
    changes = {case_id: _change(*pair) for case_id, pair in decided.items()}
    test = paired_test(_outcomes(decided, changes), mid_p=options.mid_p)
    means = _Means(list(decided.values()), rng)
    return PairedEvaluations(
        a=_compared(first, common, [one for one, _ in decided.values()]),
        b=_compared(second, common, [other for _, other in decided.values()]),
        cases=len(decided),
        only_in_a=sorted(first.cases.keys() - second.cases.keys()),
        only_in_b=sorted(second.cases.keys() - first.cases.keys()),
        undecided=[case_id for case_id in common if case_id not in decided],
        several_trials=several,
        alpha=options.alpha,
        correction=options.correction,
        regressed=[case_id for case_id, change in changes.items() if change < 0],
        fixed=[case_id for case_id, change in changes.items() if change > 0],
        test=test,
        significant=test.p_value <= options.alpha,
        difference=means.of_rates() if several else rate_difference(test.outcomes),
        drops=case_drops(
            {case_id: (one.trials, other.trials) for case_id, (one, other) in decided.items()},
            alpha=options.alpha,
            correction=options.correction,
        ),
        composite_score=means.of(lambda case: case.scores) if first.axes == second.axes else None,
        cost_usd=means.of(lambda case: case.costs),
        detectable=_detectable(test.outcomes, options),
        notes=list(_notes(first, second, pairs)),
    )


def _change(one: EvaluatedCase, other: EvaluatedCase) -> int:
    """Give how many trials more passed the second time, of as many as both have."""
    trials = min(len(one.results), len(other.results))
    return sum(other.results[:trials]) - sum(one.results[:trials])


def _outcomes(
    pairs: Mapping[str, tuple[EvaluatedCase, EvaluatedCase]], changes: Mapping[str, int]
) -> PairedOutcomes:
    same = [(*one.results, *other.results) for case_id, (one, other) in pairs.items() if not changes[case_id]]
    passed, failed = sum(all(results) for results in same), sum(not any(results) for results in same)
    return PairedOutcomes(
        passed_both=passed,
        regressed=sum(change < 0 for change in changes.values()),
        fixed=sum(change > 0 for change in changes.values()),
        failed_both=failed,
        mixed_both=len(same) - passed - failed,
    )


@dataclass(frozen=True, slots=True)
class _Means:
    """Differences of means over the compared cases, each with an interval that resamples cases."""

    pairs: Sequence[tuple[EvaluatedCase, EvaluatedCase]]
    rng: Random

    def of(self, values: Callable[[EvaluatedCase], Sequence[float]]) -> MeanDifference | None:
        """Give the difference of some values; None where no case has any on both sides."""
        cases = [PairedValues(values(one), values(other)) for one, other in self.pairs]
        resamples = min(RESAMPLES, max(_FEWEST_RESAMPLES, _MOST_DRAWS // max(1, len(cases))))
        found = bootstrap_difference(cases, self.rng, resamples=resamples)
        return found if found.cases else None

    def of_rates(self) -> RateDifference:
        """Give the difference of the cases' pass rates."""
        found = self.of(lambda case: case.results)
        return RateDifference(value=found and found.value, interval=found and found.interval)


def _compared(
    side: EvaluatedTrials, common: Sequence[str], cases: Sequence[EvaluatedCase]
) -> ComparedEvaluation:
    of = len(cases)
    # Exact, so that whole cases stay whole.
    passing = sum((Fraction(*case.trials) for case in cases), Fraction())
    interval = None
    if of:
        interval = Interval(low=wilson(math.floor(passing), of).low, high=wilson(math.ceil(passing), of).high)
    return ComparedEvaluation(
        evaluation_id=side.evaluation_id,
        suite=side.suite,
        candidate_id=side.candidate_id,
        candidate_label=side.candidate_label,
        created_at=side.created_at.isoformat(),
        trials=sum(case.trials.of for case in cases),
        passed=sum(case.trials.passed for case in cases),
        inconclusive=sum(side.cases[case_id].inconclusive for case_id in common),
        pass_rate=float(passing / of) if of else None,
        interval=interval,
    )


def _detectable(outcomes: PairedOutcomes, options: PairedOptions) -> DetectableDrop:
    """Take for noise twice the rarer kind of change: a true change adds to the other kind only."""
    noise = 2 * min(outcomes.regressed, outcomes.fixed) / max(1, outcomes.pairs)
    return detectable_drop(outcomes.pairs, alpha=options.alpha, mid_p=options.mid_p, noise=noise)


def _notes(
    first: EvaluatedTrials,
    second: EvaluatedTrials,
    pairs: Mapping[str, tuple[EvaluatedCase, EvaluatedCase]],
) -> Iterator[str]:
    if first.suite != second.suite:
        yield f"the evaluations are of two suites, {first.suite} and {second.suite}"
    moved = sum(one.baseline_sha256 != other.baseline_sha256 for one, other in pairs.values())
    if moved:
        yield f"{moved} of {len(pairs)} common cases were compared with another baseline record in B"
    if first.axes and second.axes and first.axes != second.axes:
        yield "scores are not compared: the two were judged on different axes"
    elif first.axes == second.axes and first.judges != second.judges:
        yield "scores come from different judges, or versions of their instructions"
