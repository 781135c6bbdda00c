"""What one case came to, trial by trial and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from regress_core.calls.trouble import Trouble
from regress_core.compare.model import Signals, signals_of
from regress_core.judge.contract import Status
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import (
    CaseJudgeSummary,
    CaseTroubleSummary,
    RunRegressionCaseSummary,
    TrialTotals,
)

_SUMMARY_FIELDS = {
    "name",
    "status",
    "baseline_run_id",
    "candidate_run_id",
    "signals",
    "case_id",
    "inconclusive",
    "reasons",
}


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The outcome of one case and trial, final for its revision.

    Attributes:
        trial: Counts from 1.
        revision: 1, and one more each time the evaluation is reopened.
        status: Pass, warn or fail; an inconclusive case warns.
        reasons: Why, most serious first.
        equal: Whether the comparison found no deciding difference; None without a comparison.
        baseline_run_id: None if the baseline could not be read.
        candidate_run_id: Empty without a candidate record.
        replay_miss: Whether the candidate asked for a tool output that the baseline does not have.
        judge: What an application's judge said; None without a verdict.
        trouble: Set exactly when the case is inconclusive.
        duration_s: Wall time of the case, seconds.
        cost_usd: Money spent on it, US dollars.
        finished_at: When it was decided, UTC.
    """

    case_id: str
    case_name: str
    trial: int
    revision: int
    status: Status
    reasons: tuple[str, ...]
    signals: Signals
    equal: bool | None
    baseline_run_id: str | None
    candidate_run_id: str
    baseline_sha256: str
    candidate_sha256: str | None
    replay_miss: bool
    judge: CaseJudgeSummary | None
    trouble: Trouble | None
    duration_s: float
    cost_usd: float
    finished_at: datetime

    @property
    def inconclusive(self) -> bool:
        """Whether trouble kept us from knowing."""
        return self.trouble is not None

    def summary(self) -> RunRegressionCaseSummary:
        """Give the case's entry in the summary."""
        trouble = self.trouble
        # Without validation: the values are typed already, and thousands of entries share one set of names.
        return RunRegressionCaseSummary.model_construct(
            _fields_set(judged=self.judge is not None, troubled=trouble is not None),
            judge=self.judge,
            trouble=CaseTroubleSummary(kind=trouble.kind, code=trouble.code, retryable=trouble.retryable)
            if trouble
            else None,
            name=self.case_name,
            status=self.status,
            baseline_run_id=self.baseline_run_id or "",
            candidate_run_id=self.candidate_run_id,
            signals=self.signals,
            case_id=self.case_id,
            inconclusive=self.inconclusive,
            reasons=list(self.reasons),
        )

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {
            "caseId": self.case_id,
            "caseName": self.case_name,
            "trial": self.trial,
            "revision": self.revision,
            "status": self.status,
            "reasons": list(self.reasons),
            "signals": list(self.signals.raised()),
            "equal": self.equal,
            "baselineRunId": self.baseline_run_id,
            "candidateRunId": self.candidate_run_id,
            "baselineSha256": self.baseline_sha256,
            "candidateSha256": self.candidate_sha256,
            "replayMiss": self.replay_miss,
            "judge": None if self.judge is None else self.judge.to_json(),
            "trouble": None if self.trouble is None else self.trouble.to_json(),
            "durationS": self.duration_s,
            "costUsd": self.cost_usd,
            "finishedAt": self.finished_at.isoformat(),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> CaseOutcome:
        """Read back what `to_json` wrote."""
        trouble: JsonObject | None = value["trouble"]
        judge: JsonObject | None = value["judge"]
        raised: list[str] = value["signals"]
        return cls(
            case_id=value["caseId"],
            case_name=value["caseName"],
            trial=value["trial"],
            revision=value["revision"],
            status=value["status"],
            reasons=tuple(value["reasons"]),
            signals=signals_of(tuple(raised)),
            equal=value["equal"],
            baseline_run_id=value["baselineRunId"],
            candidate_run_id=value["candidateRunId"],
            baseline_sha256=value["baselineSha256"],
            candidate_sha256=value["candidateSha256"],
            replay_miss=value["replayMiss"],
            judge=None if judge is None else CaseJudgeSummary.from_json(judge),
            trouble=None if trouble is None else Trouble(**trouble),
            duration_s=value["durationS"],
            cost_usd=value["costUsd"],
            finished_at=datetime.fromisoformat(value["finishedAt"]),
        )


@cache
def _fields_set(*, judged: bool, troubled: bool) -> set[str]:
    more = {name for name, there in (("judge", judged), ("trouble", troubled)) if there}
    return _SUMMARY_FIELDS | more


_WORDS = (("pass", "passed"), ("warn", "warned"), ("fail", "failed"), ("inconclusive", "inconclusive"))


def counted(trials: Sequence[CaseOutcome]) -> CaseOutcome:
    """Give the trial that counts for its case: the worst one, the first of equals.

    A failed trial is worse than one we know nothing of, and that is worse than one that warns.
    """
    ranks = {"fail": 0, "warn": 2, "pass": 3}
    return min(trials, key=lambda trial: 1 if trial.inconclusive else ranks[trial.status])


def case_summary(trials: Sequence[CaseOutcome]) -> RunRegressionCaseSummary:
    """Give the summary's entry of a case, from the outcomes of its trials."""
    worst = counted(trials)
    if len(trials) == 1:
        return worst.summary()
    statuses = ["inconclusive" if trial.inconclusive else trial.status for trial in trials]
    totals = TrialTotals(
        passed=statuses.count("pass"),
        warned=statuses.count("warn"),
        failed=statuses.count("fail"),
        inconclusive=statuses.count("inconclusive"),
        counted=worst.trial,
    )
    entry = worst.summary()
    if not entry.reasons:
        return entry.model_copy(update={"trials": totals})
    counts = ", ".join(f"{statuses.count(status)} {word}" for status, word in _WORDS if status in statuses)
    head = f"trial {worst.trial} of {len(trials)} counts ({counts})"
    return entry.model_copy(update={"trials": totals, "reasons": [head, *entry.reasons]})
