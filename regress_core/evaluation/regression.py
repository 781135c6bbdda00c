"""`run_regression_case` and `run_regression_suite`: the reference's functions, for agents built in code."""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from regress_core.calls.client import RunnerClient
from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.calls.trouble import TroubleError
from regress_core.compare.comparison import compare_run_records
from regress_core.compare.model import Comparison
from regress_core.compare.options import CompareOptions
from regress_core.errors import InputError
from regress_core.evaluation.candidate import CandidateEvidence, evidence_of
from regress_core.evaluation.engine import evaluate
from regress_core.evaluation.entering import begin
from regress_core.evaluation.events import Event
from regress_core.evaluation.plan import EvaluationPlan, HowToRun, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.evaluation.spending import Spending
from regress_core.harness.agent import Agent
from regress_core.harness.replay.recorded_tools import OnMissingToolCall, ReplayMode
from regress_core.harness.replay.replay import CandidateRun, ReplayOptions, replay_from_run_record
from regress_core.harness.replay.start import InputMode, refuse_multi_turn
from regress_core.harness.run import Runtime
from regress_core.harness.run_options import RunOptions
from regress_core.history.store import History
from regress_core.history.tables import TableName
from regress_core.ids import new_evaluation_id, new_run_id, utc_now
from regress_core.judge.contract import RunJudge
from regress_core.judge.outcome import JudgeOutcome
from regress_core.models.client import ModelClient
from regress_core.records.json_io import JsonObject, dumps, loads_own
from regress_core.records.model import RunRecord
from regress_core.records.naming import case_id_of
from regress_core.suite.candidate import Candidate
from regress_core.suite.config import GateConfig, SuiteConfig
from regress_core.suite.contract import (
    RunRegressionResult,
    RunRegressionSuite,
    RunRegressionSuiteCase,
    RunRegressionSuiteResult,
    RunRegressionSummary,
)
from regress_core.suite.gate import decide_gate
from regress_core.suite.loading import CaseRef, RecordRef, Suite
from regress_core.suite.summary import ClassifyCase, totals, worst


@dataclass(frozen=True, slots=True)
class CandidateAgent:
    """A candidate that is built in code.

    Attributes:
        agent: Its entry agent.
        model: What answers for it: one client for all runs, or a function of the baseline for each.
        mode: Where tool outputs come from.
        input_mode: What it is given.
        run_options: Policies, context (each baseline's, when left out), what is recorded.
        on_missing_tool_call: What to do about a call that has no recorded output left.
        comparison_options: How its records are compared, effects among it.
        limits: How hard providers are pressed, and with it how many runs go on at a time.
    """

    agent: Agent
    model: ModelClient | Callable[[RunRecord], ModelClient]
    mode: ReplayMode = "strict"
    input_mode: InputMode = "recorded"
    run_options: RunOptions = field(default_factory=RunOptions)
    on_missing_tool_call: OnMissingToolCall | None = None
    comparison_options: CompareOptions = field(default_factory=CompareOptions)
    limits: CallLimits = field(default_factory=CallLimits)


async def run_regression_case(
    baseline: RunRecord, candidate: CandidateAgent, *, name: str | None = None
) -> RunRegressionResult:
    """Run a candidate on one baseline and compare; no expectation, no judge.

    Args:
        baseline: The recorded run.
        candidate: The candidate.
        name: The case's name; the baseline's run id, when left out.

    Returns:
        The result; whatever the candidate raises is in its failed record.

    Raises:
        TroubleError: If there is no telling how the candidate behaves: its provider gives no answer, or the
            baseline cannot be replayed.
    """
    run = await _Runs(candidate, CallRunner(candidate.limits)).once(baseline)
    if run.trouble is not None:
        raise TroubleError(run.trouble)
    comparison = compare_run_records(baseline, run.record, candidate.comparison_options)
    return RunRegressionResult(
        name=name or baseline.run_id, baseline=baseline, candidate=run.record, comparison=comparison
    )


async def run_regression_suite(
    suite: RunRegressionSuite,
    candidate: CandidateAgent,
    *,
    judge: RunJudge | None = None,
    baseline_descriptor: JsonObject | None = None,
    candidate_descriptor: JsonObject | None = None,
    classify_case: ClassifyCase | None = None,
) -> RunRegressionSuiteResult:
    """Run a candidate on every case of a suite, compare, judge and sum up.

    Args:
        suite: The cases, with their one expectation.
        candidate: The candidate.
        judge: The application's judge. It is given both records as they are, nothing redacted.
        baseline_descriptor: What the judge is told of the old harness.
        candidate_descriptor: What the judge is told of the new one.
        classify_case: The application's own rule for the status of a case.

    Returns:
        Results in the suite's order, of the cases that came to one, and the summary over all of them; a case
        whose candidate met trouble is in the summary alone, as inconclusive.

    Raises:
        InputError: If two cases share a name.
    """
    with tempfile.TemporaryDirectory(prefix="regress-") as folder:
        plan = _plan(Path(folder), suite, candidate, baseline_descriptor)
        with Ports.open(Path(folder) / "store", limits=candidate.limits) as ports:
            source = _ApplicationCandidate(
                runs=_Runs(candidate, ports.calls),
                mode=candidate.mode,
                options=candidate.comparison_options,
                judge=judge,
                descriptor=candidate_descriptor,
            )
            plan = begin(plan, ports.journal)
            summary = await evaluate(plan, replace(ports, candidate=source), _ignore)
            results = _results(plan, suite, ports.history)
    if classify_case is not None:
        summary = _classified(summary, results, classify_case)
    order = [_name(case) for case in suite.cases]
    cases = sorted(summary.cases, key=lambda case: order.index(case.name))
    return RunRegressionSuiteResult.model_validate(
        {
            "results": [results[name] for name in order if name in results],
            "summary": summary.model_copy(update={"cases": cases}),
            **({} if suite.name is None else {"name": suite.name}),
            **({} if suite.expectation is None else {"expectation": suite.expectation}),
        }
    )


class _Runs:
    """Runs a candidate that is built in code."""

    def __init__(self, candidate: CandidateAgent, calls: CallRunner) -> None:
        self._candidate = candidate
        self._calls = calls
        self._runtime = Runtime(clock=utc_now, new_run_id=new_run_id)

    async def once(self, baseline: RunRecord) -> CandidateRun:
        """Run it on a baseline.

        Raises:
            TroubleError: If the baseline cannot be replayed.
        """
        refuse_multi_turn(baseline)
        candidate = self._candidate
        model = candidate.model if isinstance(candidate.model, ModelClient) else candidate.model(baseline)
        return await replay_from_run_record(
            baseline,
            candidate.agent,
            model=RunnerClient(model, self._calls, "candidate"),
            runtime=self._runtime,
            options=ReplayOptions(
                mode=candidate.mode,
                input_mode=candidate.input_mode,
                rules=candidate.comparison_options.arguments,
                on_missing_tool_call=candidate.on_missing_tool_call,
            ),
            run_options=candidate.run_options,
        )


@dataclass(frozen=True, slots=True)
class _ApplicationCandidate:
    """A candidate that an application hands over, as an evaluation's source of records."""

    runs: _Runs
    mode: ReplayMode
    options: CompareOptions
    judge: RunJudge | None
    descriptor: JsonObject | None

    async def run(
        self,
        case: CaseRef,  # noqa: ARG002 - the baseline is all that is run on
        baseline: RunRecord,
        trial: int,  # noqa: ARG002 - all are alike
        spending: Spending,  # noqa: ARG002 - the application pays for its own client
    ) -> CandidateEvidence:
        """Run the candidate on a case.

        Raises:
            TroubleError: If the baseline cannot be replayed.
        """
        return evidence_of(await self.runs.once(baseline), self.mode)


def _ignore(_: Event) -> None:
    """Watch nothing."""


def _name(case: RunRegressionSuiteCase) -> str:
    return case.name or case.baseline.run_id


def _plan(
    folder: Path,
    suite: RunRegressionSuite,
    candidate: CandidateAgent,
    baseline_descriptor: JsonObject | None,
) -> EvaluationPlan:
    """Plan the suite's cases, with their baselines in files of the folder.

    Raises:
        InputError: If two cases share a name.
    """
    cases: dict[str, CaseRef] = {}
    for case in suite.cases:
        name = _name(case)
        case_id = case_id_of(name)
        if case_id in cases:
            raise InputError("two cases with this name", case=name, remedy="give each a name of its own")
        path, data = folder / f"{case_id}.json", dumps(case.baseline.data)
        path.write_bytes(data)
        cases[case_id] = CaseRef(case_id, name, RecordRef(str(path), hashlib.sha256(data).hexdigest()))
    planned = Suite(
        name=suite.name or "suite",
        root=folder,
        config=_config(candidate.comparison_options),
        baseline_descriptor=baseline_descriptor,
        expectation=suite.expectation,
        cases=tuple(sorted(cases.values(), key=lambda case: case.case_id)),
        content_hash="",
    )
    return build_plan(
        planned,
        Candidate(candidate_id=candidate.agent.name, label=candidate.agent.name, kind="application"),
        planned.cases,
        trigger="library",
        clock=utc_now,
        new_id=new_evaluation_id,
        how=HowToRun(candidate.mode, candidate.input_mode),
    )


def _config(options: CompareOptions) -> SuiteConfig:
    """Say in a suite's words how runs are compared: there, effects are a mapping of their own."""
    return SuiteConfig(compare=options.model_copy(update={"effects": None}), effects=options.effects)


def _results(
    plan: EvaluationPlan, suite: RunRegressionSuite, history: History
) -> dict[str, RunRegressionResult]:
    """Read the results back, by the names of their cases."""
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for table, column in _EVIDENCE:
        for row in history.rows_of(table, plan.evaluation_id):
            texts[row["case_name"]][table] = row[column]
    baselines = {_name(case): case.baseline for case in suite.cases}
    return {
        name: _result(name, baselines[name], text) for name, text in texts.items() if "comparisons" in text
    }


_EVIDENCE: tuple[tuple[TableName, str], ...] = (
    ("candidate_records", "record_json"),
    ("comparisons", "comparison_json"),
    ("judge_results", "result_json"),
)


def _result(name: str, baseline: RunRecord, texts: Mapping[str, str]) -> RunRegressionResult:
    result = RunRegressionResult(
        name=name,
        baseline=baseline,
        candidate=RunRecord(loads_own(texts["candidate_records"])),
        comparison=Comparison.from_json(loads_own(texts["comparisons"])),
    )
    judged = JudgeOutcome.from_json(loads_own(texts["judge_results"])) if "judge_results" in texts else None
    return result if judged is None else result.model_copy(update={"judge": judged.result})


def _classified(
    summary: RunRegressionSummary, results: Mapping[str, RunRegressionResult], classify_case: ClassifyCase
) -> RunRegressionSummary:
    """Let the application's rule decide every case that came to a result."""
    cases = [
        case.model_copy(update={"status": classify_case(results[case.name]), "reasons": []})
        if case.name in results
        else case
        for case in summary.cases
    ]
    return summary.model_copy(
        update={
            "status": worst(case.status for case in cases),
            "totals": totals(cases).model_copy(update={"inconclusive": summary.totals.inconclusive}),
            "cases": cases,
            "gate": decide_gate(cases, GateConfig()),
        }
    )
