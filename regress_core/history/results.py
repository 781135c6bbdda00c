"""What the history knows of cases: a candidate's newest results, and cases that a suite no longer has."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from regress_core.history.store import History
from regress_core.suite.loading import CaseRef

Only = Literal["missing", "failed", "inconclusive"]
"""Which cases of a candidate: those that it has no result on, or whose newest result is such."""

_COLUMNS = (
    "evaluation_id",
    "case_id",
    "candidate_id",
    "trial",
    "revision",
    "status",
    "inconclusive",
    "baseline_sha256",
    "finished_at",
)


@dataclass(frozen=True, slots=True)
class OrphanedCase:
    """A case with results that the suite no longer has.

    Attributes:
        case_id: The case.
        evaluation_id: The last evaluation with a result of it.
        finished_at: When that result was decided, UTC.
    """

    case_id: str
    evaluation_id: str
    finished_at: datetime


def lacking(
    history: History, suite: str, candidate_id: str, cases: Sequence[CaseRef], only: Only
) -> tuple[CaseRef, ...]:
    """Pick the cases on which a candidate has no result yet, or one that failed or told nothing.

    A result on another baseline record is none. Of several results that of the evaluation begun last counts,
    for its rules are the newest; of several trials the worst, as in a summary.

    Args:
        history: The history.
        suite: The suite's name.
        candidate_id: The candidate.
        cases: The cases to pick from, as the suite has them now.
        only: Which.
    """
    baselines = {case.case_id: case.baseline.sha256 for case in cases}
    rows = [
        row
        for row in history.columns_of("case_results", suite, _COLUMNS).to_pylist()
        if row["candidate_id"] == candidate_id and row["baseline_sha256"] == baselines.get(row["case_id"])
    ]
    found = {case_id: _result(trials) for case_id, trials in _newest(rows, _begun(history, suite)).items()}
    return tuple(case for case in cases if found.get(case.case_id, "missing") == only)


def orphaned(history: History, suite: str, case_ids: Iterable[str]) -> tuple[OrphanedCase, ...]:
    """List the cases that the history has results of and the suite does not have any more, by id."""
    there = set(case_ids)
    rows = history.columns_of("case_results", suite, _COLUMNS).to_pylist()
    gone = [row for row in rows if row["case_id"] not in there]
    return tuple(
        OrphanedCase(case_id, trials[0]["evaluation_id"], _decided(trials))
        for case_id, trials in sorted(_newest(gone, _begun(history, suite)).items())
    )


def _begun(history: History, suite: str) -> dict[str, datetime]:
    """Give by evaluation id when it was begun."""
    rows = history.columns_of("evaluations", suite, ("evaluation_id", "created_at")).to_pylist()
    return {row["evaluation_id"]: row["created_at"] for row in rows}


def _newest(rows: Sequence[dict[str, Any]], begun: Mapping[str, datetime]) -> dict[str, list[dict[str, Any]]]:
    """Give each case's trials in the evaluation begun last, the newest revision of each trial."""
    trials: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for row in rows:
        of_case = trials.setdefault((row["case_id"], row["evaluation_id"]), {})
        before = of_case.get(row["trial"])
        if before is None or before["revision"] <= row["revision"]:
            of_case[row["trial"]] = row
    newest: dict[str, tuple[datetime, list[dict[str, Any]]]] = {}
    for (case_id, evaluation_id), of_case in trials.items():
        found = list(of_case.values())
        # An evaluation's tables appear one after the other: this one's own row may not be there yet.
        moment = begun.get(evaluation_id) or _decided(found)
        if case_id not in newest or newest[case_id][0] < moment:
            newest[case_id] = (moment, found)
    return {case_id: found for case_id, (_, found) in newest.items()}


def _decided(trials: Sequence[dict[str, Any]]) -> datetime:
    return max(row["finished_at"] for row in trials)


def _result(trials: Sequence[dict[str, Any]]) -> str:
    """Give what a case came to: a failed trial counts before one that nothing is known of."""
    if any(row["status"] == "fail" for row in trials):
        return "failed"
    return "inconclusive" if any(row["inconclusive"] for row in trials) else "decided"
