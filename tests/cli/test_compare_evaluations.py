"""`regress compare-evaluations`: what it prints, and with which exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from regress_core.history.store import History, Row
from regress_core.history.tables import TableName
from tests.cli.support import Here
from tests.history.support import case_result, evaluation, write
from tests.support.suites import MIXED, write_suite

_STATUSES = {"p": "pass", "f": "fail", "?": "warn"}
_INCONCLUSIVE = "?"
# tests/stats/test_power.py: where 6 of 40 are needed, and its chance.
_DETECTABLE = (
    "with 40 cases a drop under 15 points cannot be seen (6 regressed, none fixed); a true drop of 23.6 "
    "points is seen 80 % of the time if 5 % of the cases differ by chance"
)


def _write(
    folder: Path,
    evaluation_id: str,
    cases: Mapping[str, str],
    more: Mapping[TableName, Sequence[Row]] | None = None,
) -> None:
    """Write an evaluation into the default store, a letter a trial."""
    rows = [
        case_result(
            case_id,
            evaluation_id=evaluation_id,
            trial=trial,
            status=_STATUSES[letter],
            inconclusive=letter == _INCONCLUSIVE,
        )
        for case_id, letters in cases.items()
        for trial, letter in enumerate(letters, start=1)
    ]
    history = History.open(folder / ".regress")
    write(
        history,
        {"evaluations": [evaluation(evaluation_id)], "case_results": rows, **(more or {})},
        evaluation_id=evaluation_id,
    )


def test_one_trial_a_case(here: Here) -> None:
    a = {f"c{number:02}": "p" if number < 36 else "f" for number in range(40)}
    b = a | dict.fromkeys(("c00", "c01", "c02", "c03", "c04", "c05", "c06"), "f") | {"c39": "p"}
    _write(here.folder, "a1", a | {"old": "p", "dark": "?"})
    _write(here.folder, "b1", b | {"dark": "p"})

    result = here("compare-evaluations", "a1", "b1")

    assert (result.code, result.err) == (0, "")
    # McNemar 2 * (1 + 8) / 2^8; Wilson for 36 and 30 of 40; noise 2 * 1 / 40.
    assert result.out.splitlines() == [
        "A: evaluation a1 of suite shop, candidate shop@2, 2026-03-31T21:30:00.123456+00:00",
        "B: evaluation b1 of suite shop, candidate shop@2, 2026-03-31T21:30:00.123456+00:00",
        "40 cases compared",
        "  not compared, only in A: 1 (old)",
        "  not compared, without a result in one of them: 1 (dark)",
        "  left out of A: 1 inconclusive trials",
        "  passed both times      29",
        "  regressed               7  c00, c01, c02, c03, c04, c05, c06",
        "  fixed                   1  c39",
        "  failed both times       3",
        "pass rate A  0.900 (36 of 40 trials), 95 % interval 0.769 to 0.960",
        "pass rate B  0.750 (30 of 40 trials), 95 % interval 0.598 to 0.858",
        "difference   -0.150, 95 % interval -0.296 to -0.007",
        "McNemar's exact test: p 0.0703, not significant at level 0.05",
        "one trial a case: of no single case can be said whether it dropped beyond its noise",
        _DETECTABLE,
    ]


def test_several_trials(here: Here) -> None:
    a = {"a": "ppppp", "b": "ppppf", "c": "fffff"}
    _write(here.folder, "a1", a)
    _write(here.folder, "b1", a | {"a": "fffff", "b": "pppff"})

    result = here("compare-evaluations", "a1", "b1", "--correction", "bh", "--mid-p", "--alpha", "0.1")

    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[2] == "3 cases compared, by how many of their trials passed"
    # Mid-p 1 / 2^2.
    assert "McNemar's exact test, mid-p: p 0.25, not significant at level 0.1" in lines
    # 1 / 252, of which there are three; (C(5,3) C(5,4) + C(5,2) C(5,5) ) / C(10,7) = (50 + 10) / 120.
    test = "Fisher's exact test, one-sided; Benjamini-Hochberg over 3 cases at level 0.1"
    assert lines[-4:-1] == [
        f"1 cases dropped beyond their own noise ({test})",
        "  dropped a: 5 of 5, then 0 of 5; p 0.00397, adjusted 0.0119",
        "  lower   b: 4 of 5, then 3 of 5; p 0.5, adjusted 0.75",
    ]


def _figures(evaluation_id: str, score: float, cost_usd: float) -> Mapping[TableName, Sequence[Row]]:
    """Give a score and a cost of case a, and of case b a score of 4 and no cost."""
    keys = {"evaluation_id": evaluation_id, "suite": "shop", "trial": 1, "revision": 1}
    judge = {"judge": "axes", "dimension": "tone"}
    return {
        "judge_dimensions": [
            {**keys, **judge, "case_id": "a", "score": score},
            {**keys, **judge, "case_id": "b", "score": 4.0},
        ],
        "candidate_records": [{**keys, "case_id": "a", "cost_usd": cost_usd}],
    }


def test_scores_and_costs(here: Here) -> None:
    _write(here.folder, "a1", {"a": "p", "b": "p"}, _figures("a1", 3.0, 0.01))
    _write(here.folder, "b1", {"a": "p", "b": "p"}, _figures("b1", 2.0, 0.025))

    lines = here("compare-evaluations", "a1", "b1").out.splitlines()

    # Of two cases, a quarter of all resamples is one of them twice.
    assert lines[-3:-1] == [
        "composite score, mean of 2 cases: 3.5, then 3; difference -0.5, 95 % interval -1 to 0",
        "candidate's cost of a trial, USD, mean of 1 cases: 0.01, then 0.025; difference +0.015",
    ]


def test_json(here: Here) -> None:
    _write(here.folder, "a1", {"a": "p", "b": "f"})
    _write(here.folder, "b1", {"a": "f", "b": "f"})

    result = here("compare-evaluations", "a1", "b1", "--json")

    assert (result.code, result.err) == (0, "")
    told = result.json
    assert list(told) == [
        "a",
        "b",
        "cases",
        "onlyInA",
        "onlyInB",
        "undecided",
        "severalTrials",
        "alpha",
        "correction",
        "regressed",
        "fixed",
        "test",
        "significant",
        "difference",
        "drops",
        "compositeScore",
        "costUsd",
        "detectable",
        "notes",
    ]
    assert told["test"] == {
        "outcomes": {"passedBoth": 0, "regressed": 1, "fixed": 0, "failedBoth": 1, "mixedBoth": 0},
        "pValue": 1.0,
        "midP": False,
    }
    assert (told["a"]["evaluationId"], told["a"]["passRate"], told["b"]["passRate"]) == ("a1", 0.5, 0.0)
    assert told["difference"]["value"] == -0.5
    assert (told["regressed"], told["alpha"], told["correction"]) == (["a"], 0.05, "holm")
    assert here("compare-evaluations", "a1", "b1", "--json").out == result.out


def test_two_runs(here: Here) -> None:
    """By kind: a, b and e pass or warn, c fails, d is inconclusive; then all are the same."""
    write_suite(here.folder / "suite", MIXED)
    write_suite(here.folder / "mended", dict.fromkeys(MIXED, "same"))
    here("run", "suite", "--store", "store")
    here("run", "suite", "--candidate-records", "mended/new", "--store", "store")
    ids = here(
        "sql", "SELECT evaluation_id FROM evaluations ORDER BY created_at", "--store", "store", "--json"
    )
    a, b = (row["evaluation_id"] for row in ids.json)

    told = here("compare-evaluations", a, b, "--store", "store", "--json").json

    assert (told["fixed"], told["regressed"], told["undecided"]) == (["c-failed"], [], ["d-missing"])
    assert told["test"]["outcomes"]["passedBoth"] == 3
    assert (told["costUsd"], told["compositeScore"], told["notes"]) == (None, None, [])


def test_nothing_to_compare_is_exit_3(here: Here) -> None:
    _write(here.folder, "a1", {"a": "?"})
    _write(here.folder, "b1", {"a": "p"})

    result = here("compare-evaluations", "a1", "b1")

    assert result.code == 3
    assert result.out.splitlines()[2:] == [
        "0 cases compared",
        "  not compared, without a result in one of them: 1 (a)",
        "  left out of A: 1 inconclusive trials",
        "with 0 cases no drop can be seen: 6 must regress to be significant at level 0.05",
    ]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["nope", "b1"], "A: no finished evaluation nope; `regress sql "),
        (["a1", "no\npe"], "B: no finished evaluation no pe; `regress sql "),
        (["a1", "a1"], "B: a1 is compared with itself; name two evaluations"),
        (["a1", "c1"], "have no case in common; name two of one suite"),
        (["a1", "b1", "--alpha", "0"], "--alpha: 0 is no level between 0 and 1; such as 0.05"),
        (["a1", "b1", "--alpha", "1"], "--alpha: 1 is no level between 0 and 1"),
        (["a1", "b1", "--alpha", "nan"], "--alpha: nan is no level between 0 and 1"),
        (["a1", "b1", "--store", "elsewhere"], "elsewhere/history: A: no finished evaluation a1; "),
    ],
)
def test_faults(here: Here, arguments: list[str], fault: str) -> None:
    _write(here.folder, "a1", {"a": "p"})
    _write(here.folder, "b1", {"a": "p"})
    _write(here.folder, "c1", {"c": "p"})

    assert fault in here("compare-evaluations", *arguments).fault
    assert not (here.folder / "elsewhere").exists()


def test_hostile_names_do_not_reach_the_terminal(here: Here) -> None:
    _write(here.folder, "a1", {"\x1b[31ma": "p"})
    _write(here.folder, "b1", {"\x1b[31ma": "f"})

    result = here("compare-evaluations", "a1", "b1")

    assert "\\u001b[31ma" in result.out
    assert "\x1b" not in result.out
