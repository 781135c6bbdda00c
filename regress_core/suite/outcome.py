"""What one case came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from regress_core.compare.model import Signals, signals_of
from regress_core.judge.contract import Status
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import RunRegressionCaseSummary

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
class Trouble:
    """Why we could not know how a case behaves: infrastructure, a missing or changed file; no verdict.

    Attributes:
        kind: `no candidate record`, `input changed`, `unreadable input`, `nothing to
            compare` or `internal error`.
        message: One line for a person.
        retryable: Whether the same command may come to know.
    """

    kind: str
    message: str
    retryable: bool

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {"kind": self.kind, "message": self.message, "retryable": self.retryable}


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
        # Without validation: the values are typed already, and thousands of entries share one set of names.
        return RunRegressionCaseSummary.model_construct(
            _SUMMARY_FIELDS,
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
            "trouble": None if self.trouble is None else self.trouble.to_json(),
            "durationS": self.duration_s,
            "costUsd": self.cost_usd,
            "finishedAt": self.finished_at.isoformat(),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> CaseOutcome:
        """Read back what `to_json` wrote."""
        trouble: JsonObject | None = value["trouble"]
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
            trouble=None if trouble is None else Trouble(**trouble),
            duration_s=value["durationS"],
            cost_usd=value["costUsd"],
            finished_at=datetime.fromisoformat(value["finishedAt"]),
        )
