"""The reference's public types of a suite, its results and its summary."""

from __future__ import annotations

from pydantic import Field

from regress_core.calls.trouble import TroubleKind
from regress_core.compare.model import Comparison, Signals
from regress_core.judge.contract import RunJudgeResult, RunRegressionExpectation, Status
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.records.wire import WireModel


class RunRegressionResult(WireModel):
    """One case with its concrete artifacts."""

    name: str
    baseline: RunRecord
    candidate: RunRecord
    comparison: Comparison
    judge: RunJudgeResult | None = None
    expectation: RunRegressionExpectation | None = None


class RunRegressionSuiteCase(WireModel):
    """A baseline, with a name where its run id is not name enough."""

    baseline: RunRecord
    name: str | None = None


class RunRegressionSuite(WireModel):
    """Cases that share one expectation."""

    cases: list[RunRegressionSuiteCase]
    name: str | None = None
    expectation: RunRegressionExpectation | None = None


class CaseJudgeSummary(WireModel):
    """What the summary keeps of a verdict."""

    verdict: Status
    summary: str


class TrialTotals(WireModel):
    """How many trials of a case came to what; `counted` is the one whose status is the case's."""

    passed: int
    warned: int
    failed: int
    inconclusive: int
    counted: int


class CaseTroubleSummary(WireModel):
    """What kept us from knowing how a case behaves; words and codes of `regress_core.calls.trouble`."""

    kind: TroubleKind
    code: str
    retryable: bool


class RunRegressionCaseSummary(WireModel):
    """One case of a summary.

    Attributes:
        case_id: Ours: the case's id, which names its files.
        candidate_run_id: Empty when there is no candidate record.
        inconclusive: Ours: set when infrastructure or a missing record kept us from knowing.
        reasons: Ours: why the status is what it is.
        trouble: Ours: what that was.
        trials: Ours: how the trials went, where there are several.
    """

    name: str
    status: Status
    baseline_run_id: str
    candidate_run_id: str
    signals: Signals
    judge: CaseJudgeSummary | None = None
    case_id: str | None = None
    inconclusive: bool = False
    reasons: list[str] = Field(default_factory=list)
    trouble: CaseTroubleSummary | None = None
    trials: TrialTotals | None = None


class RunRegressionTotals(WireModel):
    """How many cases came to what. `inconclusive`, ours, counts a part of `warned`."""

    cases: int
    passed: int
    warned: int
    failed: int
    inconclusive: int = 0


class GateSummary(WireModel):
    """The release policy's decision; exit code and Dagster check follow it."""

    status: Status
    reasons: list[str]


class RunRegressionSummary(WireModel):
    """The compact result of a suite: the RFC's shape, plus extra keys of ours.

    Attributes:
        gate: The release policy's decision.
        evaluation_id: The evaluation this sums up.
        candidate: Id and label of the candidate.
        orphans: Case ids of candidate records without a baseline.
        complete: Whether every planned case has an outcome.
    """

    suite: str | None = None
    status: Status
    totals: RunRegressionTotals
    cases: list[RunRegressionCaseSummary]
    gate: GateSummary | None = None
    evaluation_id: str | None = None
    candidate: JsonObject | None = None
    orphans: list[str] = Field(default_factory=list)
    complete: bool = True


class RunRegressionSuiteResult(WireModel):
    """Results and summary of one suite run in memory."""

    results: list[RunRegressionResult]
    summary: RunRegressionSummary
    name: str | None = None
    expectation: RunRegressionExpectation | None = None
