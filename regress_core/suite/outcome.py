"""What one case came to, trial by trial and in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from regress_core.calls.trouble import Trouble
from regress_core.compare.model import Signals, signals_of
from regress_core.judge.contract import Status
from regress_core.records.json_io import JsonObject
from regress_core.stats.trials import Trials, is_flaky, pass_rate
from regress_core.suite.contract import (
    CaseDimension,
    CaseJudgeSummary,
    CaseJudging,
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
class CaseFindings:
    """What checks and judges came to on one trial, as far as the summary tells it.

    Attributes:
        failed_checks: The ids of the checks that failed.
        judging: What became of each judge.
        rubric: The verdict of the rubric judge; None without one.
        axes: The scores of the axes judge, by axis; None without any.
    """

    failed_checks: tuple[str, ...] = ()
    judging: tuple[CaseJudging, ...] = ()
    rubric: tuple[CaseDimension, ...] | None = None
    axes: Mapping[str, float] | None = None

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {
            "failedChecks": list(self.failed_checks),
            "judging": [one.to_json() for one in self.judging],
            "rubric": None if self.rubric is None else [one.to_json() for one in self.rubric],
            "axes": None if self.axes is None else dict(self.axes),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> CaseFindings:
        """Read back what `to_json` wrote."""
        rubric: list[JsonObject] | None = value["rubric"]
        return cls(
            failed_checks=tuple(value["failedChecks"]),
            judging=tuple(CaseJudging.from_json(one) for one in value["judging"]),
            rubric=None if rubric is None else tuple(CaseDimension.from_json(one) for one in rubric),
            axes=value["axes"],
        )

    def summary(self) -> dict[str, Any]:
        """Give the fields of the case's entry in the summary that are not empty."""
        fields = {
            "failed_checks": list(self.failed_checks),
            "judging": list(self.judging),
            "rubric": None if self.rubric is None else list(self.rubric),
            "axes": None if self.axes is None else dict(self.axes),
        }
        return {name: value for name, value in fields.items() if value}


NO_FINDINGS = CaseFindings()


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
        judge: The verdict of the regression judge; None without one.
        trouble: Set exactly when the case is inconclusive.
        duration_s: Wall time of the case, seconds.
        cost_usd: Money spent on it, US dollars.
        finished_at: When it was decided, UTC.
        findings: What checks and judges came to.
        accepted_sha256: SHA-256 of the accepted run that the candidate was compared with, where that is not
            the baseline.
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
    findings: CaseFindings = NO_FINDINGS
    accepted_sha256: str | None = None

    @property
    def inconclusive(self) -> bool:
        """Whether trouble kept us from knowing."""
        return self.trouble is not None

    def summary(self) -> RunRegressionCaseSummary:
        """Give the case's entry in the summary."""
        more = {} if self.findings is NO_FINDINGS else self.findings.summary()
        if self.judge is not None:
            more["judge"] = self.judge
        if self.trouble is not None:
            kind, code, retryable = self.trouble.kind, self.trouble.code, self.trouble.retryable
            more["trouble"] = CaseTroubleSummary(kind=kind, code=code, retryable=retryable)
        # Without validation: the values are typed already, and thousands of entries share one set of names.
        return RunRegressionCaseSummary.model_construct(
            _fields_set(*more),
            **more,
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
            **({} if self.findings == NO_FINDINGS else {"findings": self.findings.to_json()}),
            **({} if self.accepted_sha256 is None else {"acceptedSha256": self.accepted_sha256}),
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
            findings=CaseFindings.from_json(value["findings"]) if "findings" in value else NO_FINDINGS,
            accepted_sha256=value.get("acceptedSha256"),
        )


@cache
def _fields_set(*more: str) -> set[str]:
    return _SUMMARY_FIELDS | set(more)


_WORDS = (("pass", "passed"), ("warn", "warned"), ("fail", "failed"), ("inconclusive", "inconclusive"))


def counted(trials: Sequence[CaseOutcome]) -> CaseOutcome:
    """Give the trial that counts for its case: the worst one, the first of equals.

    A failed trial is worse than one we know nothing of, and that is worse than one that warns.
    """
    ranks = {"fail": 0, "warn": 2, "pass": 3}
    return min(trials, key=lambda trial: 1 if trial.inconclusive else ranks[trial.status])


def conclusive_trials(trials: Sequence[CaseOutcome]) -> Trials:
    """Count the trials that told whether a case passes, and those of them that did not fail."""
    statuses = [trial.status for trial in trials if not trial.inconclusive]
    return Trials(sum(status != "fail" for status in statuses), len(statuses))


def _axes_spread(trials: Sequence[CaseOutcome]) -> dict[str, tuple[float, float]]:
    scored = [trial.findings.axes for trial in trials if trial.findings.axes]
    if len(scored) < 2:
        return {}
    every = dict.fromkeys(axis for scores in scored for axis in scores)
    found = {axis: [scores[axis] for scores in scored if axis in scores] for axis in every}
    return {axis: (min(scores), max(scores)) for axis, scores in found.items()}


def case_summary(trials: Sequence[CaseOutcome]) -> RunRegressionCaseSummary:
    """Give the summary's entry of a case, from the outcomes of its trials."""
    worst = counted(trials)
    if len(trials) == 1:
        return worst.summary()
    statuses = ["inconclusive" if trial.inconclusive else trial.status for trial in trials]
    conclusive = conclusive_trials(trials)
    axes = _axes_spread(trials)
    totals = TrialTotals(
        passed=statuses.count("pass"),
        warned=statuses.count("warn"),
        failed=statuses.count("fail"),
        inconclusive=statuses.count("inconclusive"),
        counted=worst.trial,
        pass_rate=pass_rate(conclusive),
        flaky=is_flaky(conclusive),
        **({"axes": axes} if axes else {}),
    )
    entry = worst.summary()
    judging = [
        one.model_copy(update={"trial": trial.trial}) for trial in trials for one in trial.findings.judging
    ]
    if judging:
        entry = entry.model_copy(update={"judging": judging})
    if not entry.reasons:
        return entry.model_copy(update={"trials": totals})
    counts = ", ".join(f"{statuses.count(status)} {word}" for status, word in _WORDS if status in statuses)
    head = f"trial {worst.trial} of {len(trials)} counts ({counts})"
    return entry.model_copy(update={"trials": totals, "reasons": [head, *entry.reasons]})
