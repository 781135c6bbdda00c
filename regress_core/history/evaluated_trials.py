"""What the trials of one evaluation came to, case by case, as statistics need it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from regress_core.errors import InputError
from regress_core.history.store import History
from regress_core.history.tables import EvaluationTable
from regress_core.stats.trials import Trials

_EVALUATION_ID = re.compile("[A-Za-z0-9-]+")  # what stands in the names of files
_TRIAL = ("case_id", "trial", "revision")

_Rows = Mapping[tuple[str, int], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class EvaluatedCase:
    """One case of an evaluation, over its conclusive trials, in their order.

    Attributes:
        baseline_sha256: SHA-256 of the baseline that it was compared with.
        results: Of each trial, whether it passed: whether its status is other than fail.
        inconclusive: How many further trials came to nothing.
        scores: Of each trial that was scored, the mean over the axes.
        costs: Of each trial that was run here, what the candidate's calls cost, US dollars.
    """

    baseline_sha256: str | None
    results: tuple[bool, ...]
    inconclusive: int
    scores: tuple[float, ...]
    costs: tuple[float, ...]

    @property
    def trials(self) -> Trials:
        """How many trials passed."""
        return Trials(sum(self.results), len(self.results))


@dataclass(frozen=True, slots=True)
class EvaluatedTrials:
    """One finished evaluation.

    Attributes:
        axes: What the axes judge scored.
        judges: Model and version of the instructions of whoever scored.
        cases: Its cases by id.
    """

    evaluation_id: str
    suite: str
    candidate_id: str
    candidate_label: str
    created_at: datetime
    axes: frozenset[str]
    judges: frozenset[tuple[str | None, str | None]]
    cases: Mapping[str, EvaluatedCase]


def evaluated_trials(history: History, evaluation_id: str, *, field: str) -> EvaluatedTrials:
    """Read an evaluation, each trial in its newest revision.

    Args:
        history: The history.
        evaluation_id: The evaluation.
        field: What names it, for errors.

    Raises:
        InputError: If there is no such finished evaluation, or a file of it cannot be read.
    """
    facts = ("evaluation_id", "suite", "candidate_id", "candidate_label", "created_at")
    known = _EVALUATION_ID.fullmatch(evaluation_id) is not None
    rows = list(history.rows_of("evaluations", evaluation_id, facts)) if known else []
    if not rows:
        remedy = '`regress sql "SELECT evaluation_id, suite, created_at FROM evaluations"` lists them'
        message = f"no finished evaluation {evaluation_id}"
        raise InputError(message, file=history.root, field=field, remedy=remedy)
    results = _newest(history, "case_results", evaluation_id, "status", "inconclusive", "baseline_sha256")
    runs = _newest(history, "candidate_records", evaluation_id, "cost_usd")
    axes = _axes_rows(history, evaluation_id, results)
    trials: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for key in sorted(results):
        trials[key[0]].append(key)
    return EvaluatedTrials(
        **rows[-1],
        axes=frozenset(row["dimension"] for found in axes.values() for row in found),
        judges=frozenset(
            (row["judge_model"], row["judge_prompt_version"]) for found in axes.values() for row in found
        ),
        cases={case_id: _case(keys, results, runs, axes) for case_id, keys in trials.items()},
    )


def _newest(history: History, table: EvaluationTable, evaluation_id: str, *columns: str) -> _Rows:
    """Give the row of each trial in its newest revision, from a table that has one a trial."""
    newest: dict[tuple[str, int], dict[str, Any]] = {}
    for row in history.rows_of(table, evaluation_id, (*_TRIAL, *columns)):
        key = (row["case_id"], row["trial"])
        if key not in newest or newest[key]["revision"] < row["revision"]:
            newest[key] = row
    return newest


def _axes_rows(
    history: History, evaluation_id: str, results: _Rows
) -> Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]:
    """Give the scores of each trial's result; those of an earlier revision say nothing of it."""
    columns = (*_TRIAL, "judge", "dimension", "score", "judge_model", "judge_prompt_version")
    found: defaultdict[tuple[str, int], list[Mapping[str, Any]]] = defaultdict(list)
    for row in history.rows_of("judge_dimensions", evaluation_id, columns):
        result = results.get((row["case_id"], row["trial"]))
        if row["judge"] == "axes" and result is not None and result["revision"] == row["revision"]:
            found[row["case_id"], row["trial"]].append(row)
    return found


def _case(
    keys: Sequence[tuple[str, int]],
    results: _Rows,
    runs: _Rows,
    axes: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]],
) -> EvaluatedCase:
    conclusive = [key for key in keys if not results[key]["inconclusive"]]
    scored = [[row["score"] for row in axes[key]] for key in conclusive if key in axes]
    costs = [runs[key]["cost_usd"] for key in conclusive if key in runs]
    return EvaluatedCase(
        baseline_sha256=results[keys[0]]["baseline_sha256"],
        results=tuple(results[key]["status"] != "fail" for key in conclusive),
        inconclusive=len(keys) - len(conclusive),
        scores=tuple(math.fsum(scores) / len(scores) for scores in scored),
        costs=tuple(cost for cost in costs if cost is not None),
    )
