"""The reference's public types of a suite, its results and its summary."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from regress_core.calls.trouble import TroubleKind
from regress_core.compare.model import Comparison, Signals
from regress_core.harness.contracts import ContractChange
from regress_core.judge.axes_report import AxesReport
from regress_core.judge.contract import RunJudgeResult, RunRegressionExpectation, Status
from regress_core.judge.outcome import JudgeName, JudgeState, JudgeTrouble
from regress_core.records.json_io import JsonObject
from regress_core.records.model import RunRecord
from regress_core.records.wire import WireModel
from regress_core.stats.intervals import Rate
from regress_core.suite.trials_report import TrialsReport

Decision = Literal["accepted", "rejected", "logged"]
"""What people have decided about a verdict of the rubric judge."""


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


class CaseJudging(WireModel):
    """Whether a judge gave a verdict on a case, and what that took; fields as in `JudgeOutcome`.

    Attributes:
        trial: On which trial, where there are several.
    """

    judge: JudgeName
    state: JudgeState
    trial: int | None = None
    model: str | None = None
    prompt_version: str | None = None
    reason: str | None = None
    intended: bool = False
    trouble: JudgeTrouble | None = None
    flags: list[str] = Field(default_factory=list)
    cached: bool = False
    cost_usd: float = 0.0


class CaseDimension(WireModel):
    """The answer to one question of a rubric, and what a person has decided about it.

    Attributes:
        dimension_id: Which question.
        passed: The answer; None where the question does not apply.
        reason: The judge's.
        decision: `accepted` or `rejected` by a person's sign-off, `logged` where nobody has decided about a
            failed one; None otherwise.
        flipped: Whether the answer differs from the last accepted one.
    """

    dimension_id: str
    passed: bool | None
    reason: str
    decision: Decision | None = None
    flipped: bool = False


class CaseOverride(WireModel):
    """Why a case does not count for the gate: who answers for that, and until when."""

    owner: str
    reason: str
    expires: str


class TrialTotals(WireModel):
    """How the trials of a case went.

    Attributes:
        passed: How many passed.
        warned: How many warned.
        failed: How many failed.
        inconclusive: How many told nothing.
        counted: The worst one: its status is the case's, unless its failure is within the case's noise.
        pass_rate: Share of the conclusive ones that did not fail; None without any.
        flaky: Whether some conclusive ones failed, and others did not.
        axes: Lowest and highest score of each axis over the trials, where the axes judge scored several.
    """

    passed: int
    warned: int
    failed: int
    inconclusive: int
    counted: int
    pass_rate: float | None = None
    flaky: bool = False
    axes: dict[str, tuple[float, float]] | None = None


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
        failed_checks: Ours: the ids of the checks that failed.
        judging: Ours: what became of each judge; of several trials on the one that counts, and on any other
            that trouble kept it from.
        rubric: Ours: the verdict of the rubric judge.
        axes: Ours: the scores of the axes judge, 1 to 5, by axis.
        override: Ours: set when the case does not count for the gate.
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
    failed_checks: list[str] = Field(default_factory=list)
    judging: list[CaseJudging] = Field(default_factory=list[CaseJudging])
    rubric: list[CaseDimension] | None = None
    axes: dict[str, float] | None = None
    override: CaseOverride | None = None


class RunRegressionTotals(WireModel):
    """How many cases came to what. `inconclusive`, ours, counts a part of `warned`."""

    cases: int
    passed: int
    warned: int
    failed: int
    inconclusive: int = 0


class JudgeSummary(WireModel):
    """What one judge came to over all cases.

    Attributes:
        judge: Which judge.
        model: The model that is configured; None for an application's judge.
        prompt_version: The version of its instructions.
        verdicts: Cases with a verdict; the only ones that any mean is taken over.
        errors: Cases where its reply held no verdict.
        skipped: Cases on which it could not be asked.
        left_out: Cases on which the suite wanted it left out.
        cached: Verdicts of earlier evaluations.
        agreement: How often this judge, with this model and these instructions, agreed with people's labels
            (`regress calibrate`), 0 to 1; None while it is uncalibrated.
    """

    judge: JudgeName
    model: str | None
    prompt_version: str | None
    verdicts: int
    errors: int
    skipped: int
    left_out: int
    cached: int
    agreement: float | None


class CostSummary(WireModel):
    """What an evaluation cost, US dollars. What cannot be known counts with its upper bound.

    Attributes:
        candidate_usd: The candidate's model calls, as far as their price is known.
        candidate_cap_usd: What these may cost; None without a cap.
        judge_usd: The judges' calls.
        judge_cap_usd: What the judges may spend; None where no judge asks a model.
        saved_by_cache_usd: What verdicts of earlier evaluations had cost.
        skipped_by_cap: Verdicts there are none of because of the cap.
        by_judge: The judges' calls, by judge.
    """

    candidate_usd: float
    candidate_cap_usd: float | None
    judge_usd: float
    judge_cap_usd: float | None
    saved_by_cache_usd: float
    skipped_by_cap: int
    by_judge: dict[str, float]


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
        judges: What each judge came to.
        axes: The scores of the axes judge over all cases that count for the gate.
        cost: What the evaluation cost.
        trials: How the trials went, where there are several of each case.
        contracts: What the candidate changed of the contracts of its tools; it decides nothing.
        pass_rate: Of the conclusive cases that count for the gate, how many did not fail; with its 95 %
            Wilson interval, which takes the cases as drawn at random from all that users ask.
        smallest_drop: The smallest drop of that rate, from 0 to 1, that `regress compare-evaluations` can
            call significant on as many cases; None where there are too few for any.
        warnings: What whoever reads the summary ought to know of how it was made.
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
    judges: list[JudgeSummary] = Field(default_factory=list[JudgeSummary])
    axes: AxesReport | None = None
    cost: CostSummary | None = None
    trials: TrialsReport | None = None
    contracts: list[ContractChange] = Field(default_factory=list[ContractChange])
    pass_rate: Rate | None = None
    smallest_drop: float | None = None
    warnings: list[str] = Field(default_factory=list)


class RunRegressionSuiteResult(WireModel):
    """Results and summary of one suite run in memory."""

    results: list[RunRegressionResult]
    summary: RunRegressionSummary
    name: str | None = None
    expectation: RunRegressionExpectation | None = None
