"""What `regress compare-evaluations` does once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from regress_core.errors import InputError
from regress_core.history.paired_evaluations import (
    ComparedEvaluation,
    PairedEvaluations,
    PairedOptions,
    compare_evaluations,
)
from regress_core.history.store import History
from regress_core.records.json_io import dumps
from regress_core.stats.bootstrap import MeanDifference
from regress_core.stats.drops import CaseDrop, Correction
from regress_core.stats.intervals import Interval
from regress_core.suite.gate import ExitCode
from regress_pipeline.cli.render import say
from regress_pipeline.settings import load_settings

_MOST_CASES = 20  # in a list; the JSON has them all
_CORRECTIONS: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def compare(a: str, b: str, options: PairedOptions, *, store: Path | None, as_json: bool) -> ExitCode:
    """Compare two evaluations and print what there is to say.

    Raises:
        InputError: If an option or an id is at fault, or the two have no case in common.
    """
    if not 0 < options.alpha < 1:
        remedy = "such as 0.05"
        raise InputError(f"{options.alpha:g} is no level between 0 and 1", field="--alpha", remedy=remedy)
    history = History.open(load_settings(store=store).store)
    rng = Random(f"{a} {b}")  # noqa: S311 - no secret; the same two evaluations give the same intervals
    found = compare_evaluations(history, a, b, options, rng)
    if as_json:
        sys.stdout.buffer.write(dumps(found.to_json(), indent=2) + b"\n")
    else:
        for line in _lines(found):
            say(line)
    return ExitCode.OK if found.cases else ExitCode.NOTHING_KNOWN


def _lines(found: PairedEvaluations) -> Iterator[str]:
    for name, side in (("A", found.a), ("B", found.b)):
        yield (
            f"{name}: evaluation {side.evaluation_id} of suite {side.suite}, "
            f"candidate {side.candidate_label}, {side.created_at}"
        )
    yield from _case_lines(found)
    if found.cases:
        yield from _test_lines(found)
        yield from _drop_lines(found)
        yield from _mean_lines("composite score", found.composite_score)
        yield from _mean_lines("candidate's cost of a trial, USD", found.cost_usd)
    yield found.detectable.text
    for text in found.notes:
        yield f"note: {text}"


def _case_lines(found: PairedEvaluations) -> Iterator[str]:
    trials = ", by how many of their trials passed" if found.several_trials else ""
    yield f"{found.cases} cases compared{trials}"
    for what, cases in (
        ("only in A", found.only_in_a),
        ("only in B", found.only_in_b),
        ("without a result in one of them", found.undecided),
    ):
        if cases:
            yield f"  not compared, {what}: {len(cases)} ({_listed(cases)})"
    for name, side in (("A", found.a), ("B", found.b)):
        if side.inconclusive:
            yield f"  left out of {name}: {side.inconclusive} inconclusive trials"


def _test_lines(found: PairedEvaluations) -> Iterator[str]:
    outcomes = found.test.outcomes
    yield f"  passed both times  {outcomes.passed_both:>6}"
    yield f"  regressed          {outcomes.regressed:>6}{_named(found.regressed)}"
    yield f"  fixed              {outcomes.fixed:>6}{_named(found.fixed)}"
    yield f"  failed both times  {outcomes.failed_both:>6}"
    if outcomes.mixed_both:
        yield f"  as often in both   {outcomes.mixed_both:>6}"
    yield f"pass rate A  {_rate_text(found.a)}"
    yield f"pass rate B  {_rate_text(found.b)}"
    if found.difference.value is not None:
        yield f"difference   {found.difference.value:+.3f}{_interval_text(found.difference.interval)}"
    version = ", mid-p" if found.test.mid_p else ""
    verdict = "significant" if found.significant else "not significant"
    yield f"McNemar's exact test{version}: p {found.test.p_value:.3g}, {verdict} at level {found.alpha:g}"


def _drop_lines(found: PairedEvaluations) -> Iterator[str]:
    """Tell of single cases, the least explicable by chance first."""
    if not found.several_trials:
        yield "one trial a case: of no single case can be said whether it dropped beyond its noise"
        return
    fallen = [drop for drop in found.drops if _fell(drop)]
    ranked = sorted(fallen, key=lambda drop: (drop.p_value, drop.case_id))
    dropped = sum(drop.dropped for drop in ranked)
    yield (
        f"{dropped} cases dropped beyond their own noise (Fisher's exact test, one-sided; "
        f"{_CORRECTIONS[found.correction]} over {found.cases} cases at level {found.alpha:g})"
    )
    for drop in ranked[:_MOST_CASES]:
        yield (
            f"  {'dropped' if drop.dropped else 'lower':<7} {drop.case_id}: {drop.first.hits} of "
            f"{drop.first.of}, then {drop.second.hits} of {drop.second.of}; p {drop.p_value:.3g}, "
            f"adjusted {drop.adjusted_p_value:.3g}"
        )
    if len(ranked) > _MOST_CASES:
        yield f"  and {len(ranked) - _MOST_CASES} more; --json has them all"


def _fell(drop: CaseDrop) -> bool:
    return drop.second.hits * drop.first.of < drop.first.hits * drop.second.of


def _mean_lines(what: str, found: MeanDifference | None) -> Iterator[str]:
    if found is not None and found.value is not None:
        yield (
            f"{what}, mean of {found.cases} cases: {found.first:.3g}, then {found.second:.3g}; "
            f"difference {found.value:+.3g}{_interval_text(found.interval, '.3g')}"
        )


def _rate_text(side: ComparedEvaluation) -> str:
    return f"{side.pass_rate:.3f} ({side.passed} of {side.trials} trials){_interval_text(side.interval)}"


def _interval_text(interval: Interval | None, digits: str = ".3f") -> str:
    return f", 95 % interval {interval.low:{digits}} to {interval.high:{digits}}" if interval else ""


def _named(cases: Sequence[str]) -> str:
    return f"  {_listed(cases)}" if cases else ""


def _listed(cases: Sequence[str]) -> str:
    more = [f"and {len(cases) - _MOST_CASES} more"] if len(cases) > _MOST_CASES else []
    return ", ".join([*cases[:_MOST_CASES], *more])
