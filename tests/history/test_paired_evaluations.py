"""Two evaluations on the same cases: what is paired, what is left out, what it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.history.compact import compact
from regress_core.history.paired_evaluations import PairedEvaluations, PairedOptions, compare_evaluations
from regress_core.history.store import History, Row
from regress_core.history.tables import TableName
from regress_core.stats.bootstrap import MeanDifference
from regress_core.stats.intervals import Interval, wilson
from regress_core.stats.paired import PairedOutcomes, rate_difference
from tests.history.support import case_result, evaluation, file_of, write

# A letter a trial: passed, warned, failed, inconclusive.
_STATUSES = {"p": "pass", "w": "warn", "f": "fail", "?": "warn"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def _write(
    history: History,
    evaluation_id: str,
    cases: Mapping[str, str],
    *more: tuple[TableName, Row],
    number: int = 1,
    **changes: Any,  # noqa: ANN401 - columns
) -> None:
    """Write one revision: its cases with a letter a trial, further rows, what else its results say."""
    rows: dict[TableName, Sequence[Row]] = {
        "evaluations": [evaluation(evaluation_id, number)],
        "case_results": [
            case_result(
                case_id,
                number,
                evaluation_id=evaluation_id,
                trial=trial,
                status=_STATUSES[letter],
                inconclusive=letter == "?",
                **{"baseline_sha256": "s1"} | changes,
            )
            for case_id, letters in cases.items()
            for trial, letter in enumerate(letters, start=1)
        ],
    }
    for table, row in more:
        rows[table] = [*rows.get(table, ()), {**row, "evaluation_id": evaluation_id, "revision": number}]
    write(history, rows, evaluation_id=evaluation_id, number=number)


def _scored(case_id: str, model: str = "m-1", **scores: float) -> list[tuple[TableName, Row]]:
    common = case_result(case_id)
    common = {name: common[name] for name in common if name != "status"}
    judge = {"judge": "axes", "judge_model": model, "judge_prompt_version": "v1"}
    return [
        ("judge_dimensions", {**common, **judge, "dimension": axis, "score": score})
        for axis, score in scores.items()
    ]


def _run(case_id: str, cost_usd: float | None, trial: int = 1) -> tuple[TableName, Row]:
    common = case_result(case_id, trial=trial)
    row = {name: common[name] for name in common if name != "status"}
    return ("candidate_records", {**row, "record_json": "{}", "cost_usd": cost_usd})


def _compared(history: History, options: PairedOptions | None = None) -> PairedEvaluations:
    rng = Random(1)  # noqa: S311 - no secret
    return compare_evaluations(history, "a1", "b1", options or PairedOptions(), rng)


def _pair(history: History, a: Mapping[str, str], b: Mapping[str, str]) -> PairedEvaluations:
    _write(history, "a1", a)
    _write(history, "b1", b)
    return _compared(history)


def _outcomes(
    passed_both: int = 0, regressed: int = 0, fixed: int = 0, failed_both: int = 0, mixed_both: int = 0
) -> PairedOutcomes:
    return PairedOutcomes(
        passed_both=passed_both,
        regressed=regressed,
        fixed=fixed,
        failed_both=failed_both,
        mixed_both=mixed_both,
    )


PAIRED: dict[str, tuple[dict[str, str], dict[str, str], PairedOutcomes]] = {
    "one of each": (
        {"a": "p", "b": "p", "c": "f", "d": "f"},
        {"a": "p", "b": "f", "c": "p", "d": "f"},
        _outcomes(1, 1, 1, 1),
    ),
    "a warning passes": ({"a": "w", "b": "p"}, {"a": "p", "b": "w"}, _outcomes(2)),
    "inconclusive is neither": (
        {"a": "?", "b": "p", "c": "p"},
        {"a": "f", "b": "?", "c": "f"},
        _outcomes(0, 1),
    ),
    "in one only": ({"a": "p", "b": "f"}, {"b": "p", "c": "f"}, _outcomes(fixed=1)),
    "rates of three trials": (
        {"a": "ppp", "b": "fpf", "c": "fff", "d": "pfp", "e": "ppp"},
        {"a": "ppf", "b": "ppf", "c": "fff", "d": "fpp", "e": "ppp"},
        _outcomes(1, 1, 1, 1, 1),
    ),
    # Five trials are likelier to hold a failed one than one is: only the first of the five is compared.
    "unequal numbers of trials": (
        {"a": "p", "b": "ppf"},
        {"a": "pffff", "b": "fp"},
        _outcomes(0, 1, 0, 0, 1),
    ),
    "an inconclusive trial moves up the next": ({"a": "?p"}, {"a": "fp"}, _outcomes(0, 1)),
}


@pytest.mark.parametrize(("a", "b", "outcomes"), PAIRED.values(), ids=PAIRED.keys())
def test_what_is_paired(
    history: History, a: dict[str, str], b: dict[str, str], outcomes: PairedOutcomes
) -> None:
    assert _pair(history, a, b).test.outcomes == outcomes


def test_what_is_left_out_is_told(history: History) -> None:
    a = {"both": "p?", "none-in-a": "?", "none-in-b": "pp", "old": "p"}
    b = {"both": "f", "none-in-a": "p", "none-in-b": "??", "new": "f"}

    found = _pair(history, a, b)

    assert (found.cases, found.undecided) == (1, ["none-in-a", "none-in-b"])
    assert (found.only_in_a, found.only_in_b) == (["old"], ["new"])
    assert (found.a.inconclusive, found.b.inconclusive) == (2, 2)
    assert (found.a.trials, found.a.passed, found.b.trials, found.b.passed) == (1, 1, 1, 0)


def test_one_trial_a_case(history: History) -> None:
    """By hand: 8 of 10 passed, then 7; Wilson's and Newcombe's intervals have tests of their own."""
    cases = [f"c{number}" for number in range(10)]
    found = _pair(
        history, dict(zip(cases, "ppppppppff", strict=True)), dict(zip(cases, "ppppppffpf", strict=True))
    )

    assert (found.regressed, found.fixed) == (["c6", "c7"], ["c8"])
    assert found.test.p_value == 1.0
    assert not found.significant
    assert (found.a.pass_rate, found.a.interval) == (0.8, wilson(8, 10))
    assert (found.b.pass_rate, found.b.interval) == (0.7, wilson(7, 10))
    assert found.difference == rate_difference(_outcomes(6, 2, 1, 1))
    assert not found.several_trials
    assert found.detectable.noise == pytest.approx(0.2)
    assert (found.composite_score, found.cost_usd, found.notes) == (None, None, [])


def test_the_same_cases_are_no_independent_proportions(history: History) -> None:
    """H71: 60 of 100, then 50, each of the ten worse: Fisher's test of 60 and 50 of 100 gives 0.2."""
    a = {f"c{number:03}": "p" if number < 60 else "f" for number in range(100)}
    found = _pair(history, a, a | {f"c{number:03}": "f" for number in range(50, 60)})

    assert found.test.p_value == 2 / 1024
    assert found.significant
    assert found.difference.interval is not None
    assert found.difference.interval.high < 0
    assert found.a.interval is not None
    assert found.b.interval is not None
    assert found.a.interval.low < found.b.interval.high  # which, taken for themselves, overlap


def test_the_level_and_mid_p(history: History) -> None:
    cases = [f"c{number}" for number in range(5)]
    _write(history, "a1", dict.fromkeys(cases, "p"))
    _write(history, "b1", dict.fromkeys(cases, "f"))

    told = [
        (found.test.p_value, found.significant, found.detectable.regressions_needed)
        for options in (PairedOptions(), PairedOptions(mid_p=True), PairedOptions(alpha=0.1))
        for found in [_compared(history, options)]
    ]

    assert told == [(2 / 32, False, 6), (1 / 32, True, 5), (2 / 32, True, 5)]


def test_several_trials(history: History) -> None:
    a = {"a": "ppppp", "b": "ppppp", "c": "ppfpp", "d": "fffff"}
    found = _pair(history, a, a | {"a": "fffff", "b": "ppppf"})

    assert found.several_trials
    # (1 + 1 + 0.8 + 0) / 4, then (0 + 0.8 + 0.8 + 0) / 4.
    assert (found.a.pass_rate, found.b.pass_rate) == (0.7, 0.4)
    assert found.difference.value == pytest.approx(-0.3)
    # Of 4 cases 2.8 passed, so between the intervals of 2 and of 3.
    assert found.a.interval == Interval(low=wilson(2, 4).low, high=wilson(3, 4).high)
    # Fisher: 1 / C(10, 5), 1 / 2, and no drop; Holm: times 4, times 3, no less than the one before.
    assert [(drop.case_id, drop.dropped) for drop in found.drops] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("d", False),
    ]
    assert [drop.adjusted_p_value for drop in found.drops] == pytest.approx([4 / 252, 1.0, 1.0, 1.0])


def test_the_correction_is_the_chosen_one(history: History) -> None:
    a = {f"c{number:02}": "ppppp" for number in range(20)}
    _write(history, "a1", a)
    _write(history, "b1", a | {f"c{number:02}": "fffff" for number in range(12)})

    dropped = {
        correction: sum(drop.dropped for drop in found.drops)
        for correction in ("holm", "bh")
        for found in [_compared(history, PairedOptions(correction=correction))]
    }

    assert dropped == {"holm": 0, "bh": 12}  # 20 / 252, and 20 / 12 / 252


def test_repeats_of_50_cases_tell_no_more_of_other_cases(history: History, tmp_path: Path) -> None:
    """50 tasks of 50 equal repeats each: every interval is as wide as with 2."""
    a = {f"c{number:02}": "p" if number % 10 else "f" for number in range(50)}
    b = {f"c{number:02}": "p" if number % 4 else "f" for number in range(50)}
    many = History.open(tmp_path / "many")

    once = _pair(history, a, b)
    few, most = (
        _pair(store, {c: x * n for c, x in a.items()}, {c: x * n for c, x in b.items()})
        for store, n in ((History.open(tmp_path / "few"), 2), (many, 50))
    )

    assert most.difference == few.difference
    assert most.difference.value == pytest.approx(once.difference.value)
    assert (most.a.pass_rate, most.a.interval) == (once.a.pass_rate, once.a.interval)
    assert (most.b.pass_rate, most.b.interval) == (once.b.pass_rate, once.b.interval)
    assert most.test == once.test
    assert (most.a.trials, once.a.trials) == (2500, 50)


def test_the_newest_revision_counts(history: History) -> None:
    _write(history, "a1", {"a": "?", "b": "p"})
    _write(history, "a1", {"a": "p"}, number=2)
    _write(history, "b1", {"a": "f", "b": "p"})

    found = _compared(history)
    compact(history)

    assert found.test.outcomes == _outcomes(1, 1)
    assert _compared(history) == found


def test_scores_and_costs(history: History) -> None:
    """By case: 3 then 2, 4 then 4, 5 then 3; a cent, two, three, then twice as much."""
    cases = {"a": "p", "b": "p", "c": "p"}
    _write(
        history,
        "a1",
        cases,
        *_scored("a", tone=2.0, truth=4.0),
        *_scored("b", tone=4.0, truth=4.0),
        *_scored("c", tone=5.0, truth=5.0),
        *(_run(case, cents / 100) for case, cents in (("a", 1), ("b", 2), ("c", 3))),
    )
    _write(
        history,
        "b1",
        cases,
        *_scored("a", tone=1.0, truth=3.0),
        *_scored("b", tone=4.5, truth=3.5),
        *_scored("c", tone=3.0, truth=3.0),
        *(_run(case, cents / 100) for case, cents in (("a", 2), ("b", 4), ("c", 6))),
    )

    found = _compared(history)

    assert found.composite_score is not None
    score = found.composite_score
    assert (score.cases, score.first, score.second, score.value) == (3, 4.0, 3.0, -1.0)
    # Three cases: all resamples lie between the extreme differences, and both are drawn often enough.
    assert score.interval == Interval(low=-2.0, high=0.0)
    assert found.cost_usd is not None
    assert (found.cost_usd.first, found.cost_usd.second) == pytest.approx((0.02, 0.04))
    assert found.cost_usd.interval is not None
    assert (found.cost_usd.interval.low, found.cost_usd.interval.high) == pytest.approx((0.01, 0.03))
    assert found.notes == []


def test_a_case_without_a_score_or_a_cost_is_out_of_that_mean(history: History) -> None:
    _write(
        history, "a1", {"a": "p", "b": "p"}, *_scored("a", tone=2.0), *_scored("b", tone=5.0), _run("a", 0.5)
    )
    _write(history, "b1", {"a": "p", "b": "f"}, *_scored("a", tone=3.0), _run("a", 0.5), _run("b", None))

    found = _compared(history)

    assert found.composite_score == MeanDifference(cases=1, first=2.0, second=3.0, value=1.0, interval=None)
    assert found.cost_usd == MeanDifference(cases=1, first=0.5, second=0.5, value=0.0, interval=None)


def test_a_score_of_an_earlier_revision_does_not_count(history: History) -> None:
    _write(history, "a1", {"a": "p"}, *_scored("a", tone=4.0))
    _write(history, "b1", {"a": "?"}, *_scored("a", tone=1.0))
    _write(history, "b1", {"a": "f"}, number=2)

    assert _compared(history).composite_score is None


def test_what_else_to_know(history: History) -> None:
    _write(history, "a1", {"a": "p", "b": "p"}, *_scored("a", tone=4.0))
    _write(history, "b1", {"a": "p", "b": "p"}, *_scored("a", model="m-2", tone=4.0), baseline_sha256="s2")

    assert _compared(history).notes == [
        "2 of 2 common cases were compared with another baseline record in B",
        "scores come from different judges, or versions of their instructions",
    ]


def test_scores_on_different_axes_are_not_compared(history: History) -> None:
    _write(history, "a1", {"a": "p"}, *_scored("a", tone=4.0))
    _write(history, "b1", {"a": "p"}, *_scored("a", truth=1.0))

    found = _compared(history)

    assert found.composite_score is None
    assert found.notes == ["scores are not compared: the two were judged on different axes"]


def test_two_suites_with_the_same_cases(history: History) -> None:
    _write(history, "a1", {"a": "p"})
    row = evaluation("b1", suite="bank")
    with history.writer("bank", "2026-03", "b1", 1) as writer:
        writer.write("evaluations", [row])
        writer.write(
            "case_results", [case_result("a", evaluation_id="b1", suite="bank", baseline_sha256="s1")]
        )

    assert _compared(history).notes == ["the evaluations are of two suites, shop and bank"]


def test_nothing_conclusive_is_no_figure(history: History) -> None:
    found = _pair(history, {"a": "p", "b": "?"}, {"a": "?", "b": "?"})

    assert (found.cases, found.test.p_value, found.significant) == (0, 1.0, False)
    assert (found.a.pass_rate, found.a.interval, found.difference.value) == (None, None, None)
    assert (found.drops, found.composite_score, found.cost_usd) == ([], None, None)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        pytest.param("nope", "b1", "A: no finished evaluation nope; ", id="unknown A"),
        pytest.param("a1", "nope", "B: no finished evaluation nope; ", id="unknown B"),
        pytest.param("*", "b1", "A: no finished evaluation *; ", id="a pattern"),
        pytest.param("../a1", "b1", "A: no finished evaluation ../a1; ", id="a path"),
        pytest.param("", "b1", "A: no finished evaluation ; ", id="empty"),
        pytest.param("a1", "a1", "B: a1 is compared with itself; ", id="twice the same"),
        pytest.param(
            "a1", "c1", "B: evaluation a1 of suite shop and c1 of suite shop have no case in common; "
        ),
    ],
)
def test_faults(history: History, a: str, b: str, message: str) -> None:
    _write(history, "a1", {"a": "p"})
    _write(history, "b1", {"a": "p"})
    _write(history, "c1", {"c": "p"})

    with pytest.raises(InputError) as raised:
        compare_evaluations(history, a, b, PairedOptions(), Random(1))  # noqa: S311 - no secret

    assert message in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_damaged_file_is_named(history: History) -> None:
    _pair(history, {"a": "p"}, {"a": "p"})
    bad = file_of(history, "case_results", "b1-1")
    bad.write_bytes(b"")

    with pytest.raises(InputError, match="cannot be read") as raised:
        _compared(history)

    assert raised.value.file == str(bad)
