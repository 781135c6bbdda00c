"""The newest evaluation of a suite, as people look at it to decide about verdicts and records."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from regress_core.errors import InputError
from regress_core.history.sql import query
from regress_core.history.store import BadFile, History
from regress_core.judge.contract import Status
from regress_core.judge.outcome import JudgeName, JudgeOutcome
from regress_core.records.json_io import loads_own
from regress_core.records.model import RunStatus


@dataclass(frozen=True, slots=True)
class LatestEvaluation:
    """The newest finished evaluation of a suite, and the files that had to be left out to find it."""

    evaluation_id: str
    candidate_label: str
    created_at: datetime
    bad: tuple[BadFile, ...]


def latest_evaluation(history: History, suite: str) -> LatestEvaluation:
    """Find the evaluation of a suite that was begun last.

    Raises:
        InputError: If there is none.
    """
    # A suite's name holds no quotes.
    statement = (
        f"SELECT evaluation_id, candidate_label, created_at FROM evaluations WHERE suite = '{suite}' "  # noqa: S608 - as said
        "ORDER BY created_at DESC, evaluation_id DESC LIMIT 1"
    )
    answer = query(history, statement)
    rows = answer.table.to_pylist()
    if not rows:
        remedy = "run `regress run` first, or name another store with --store"
        raise InputError(f"no finished evaluation of suite {suite}", file=history.root, remedy=remedy)
    return LatestEvaluation(**rows[0], bad=answer.bad)


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A candidate's record as the history has it; `text` is its JSON."""

    run_id: str
    status: RunStatus
    text: str


@dataclass(frozen=True, slots=True)
class ReviewedTrial:
    """One trial of a case: its outcome, and what became of its judges.

    Attributes:
        case_id: The case.
        trial: Counts from 1.
        status: Pass, warn or fail.
        inconclusive: Whether trouble kept us from knowing.
        reasons: Why, most serious first.
        replay_miss: Whether the candidate asked for a tool output that the baseline does not have.
        baseline_sha256: SHA-256 of the baseline's file.
        failed_checks: The ids of the checks that failed.
        judges: What became of each judge.
    """

    case_id: str
    trial: int
    status: Status
    inconclusive: bool
    reasons: tuple[str, ...]
    replay_miss: bool
    baseline_sha256: str
    failed_checks: tuple[str, ...]
    judges: tuple[JudgeOutcome, ...]

    def outcome_of(self, judge: JudgeName) -> JudgeOutcome | None:
        """Give what became of a judge; None where it was none of this evaluation."""
        return next((outcome for outcome in self.judges if outcome.judge == judge), None)


def reviewed_trials(history: History, evaluation_id: str, case_id: str | None = None) -> list[ReviewedTrial]:
    """Give every trial of an evaluation, or of one of its cases, ordered by case id and trial.

    Raises:
        InputError: If a file of the evaluation cannot be read; the message names it.
    """
    judged = history.rows_by_trial("judge_results", evaluation_id, case_id)
    results = history.rows_by_trial("case_results", evaluation_id, case_id)
    return [
        ReviewedTrial(
            case_id=key[0],
            trial=key[1],
            status=row["status"],
            inconclusive=bool(row["inconclusive"]),
            reasons=tuple(row["reasons"] or ()),
            replay_miss=bool(row["replay_miss"]),
            baseline_sha256=row["baseline_sha256"],
            failed_checks=tuple(row["failed_checks"] or ()),
            judges=tuple(
                JudgeOutcome.from_json(loads_own(one["result_json"])) for one in judged.get(key, ())
            ),
        )
        for key, (row,) in sorted(results.items())
    ]


def candidate_records(history: History, evaluation_id: str, case_id: str) -> dict[int, CandidateRecord]:
    """Give the candidate's records of a case by trial.

    Raises:
        InputError: If a file of the evaluation cannot be read; the message names it.
    """
    found = history.rows_by_trial("candidate_records", evaluation_id, case_id)
    return {
        trial: CandidateRecord(row["run_id"], row["run_status"], row["record_json"])
        for (_, trial), (row,) in found.items()
    }


def why_undecidable(trials: Sequence[ReviewedTrial], candidates: Mapping[int, CandidateRecord]) -> str | None:
    """Say why nothing can be decided upon a case as its outcome stands; None where it can.

    What we do not know, and what ended in an error, is no behaviour that a person could accept or reject.
    """
    for trial in trials:
        reason = trial.reasons[0] if trial.reasons else "no reason is given"
        if trial.inconclusive:
            return f"inconclusive: {reason}"
        candidate = candidates.get(trial.trial)
        if candidate is None:
            return "there is no candidate record"
        if candidate.status == "failed" or trial.replay_miss:
            return reason
    return None
