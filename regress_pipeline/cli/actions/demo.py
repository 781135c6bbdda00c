"""What `regress demo` shows, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder as shown
from regress_core.suite.contract import RunRegressionTotals
from regress_core.suite.gate import ExitCode
from regress_core.suite.selection import Selection
from regress_pipeline.cli.actions.sql import ask
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import case_lines, note, say, summary_lines
from regress_pipeline.home import dagster_home
from regress_pipeline.launch import Launched, Wanted, enter, launch, plan_wanted
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import SuiteFolder, find_suite


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """An evaluation that the demo shows, and what it is made to come to."""

    candidate: str
    title: str
    expected: RunRegressionTotals


_SUPPORT = "support-agent"
_SUPPORT_EVALUATIONS = (
    _Evaluation(
        "candidate.yaml",
        "recorded runs of v2, which only words two answers differently",
        RunRegressionTotals(cases=12, passed=10, warned=2, failed=0),
    ),
    _Evaluation(
        "candidates/v3.yaml",
        "recorded runs of v3, which refunds a wrong amount, skips a checked call and fails once",
        RunRegressionTotals(cases=12, passed=9, warned=0, failed=3),
    ),
)
_TREND = """
SELECT candidate_label AS candidate, created_at, cases, passed, warned, failed, gate_status AS gate
FROM evaluations WHERE suite = 'support-agent' ORDER BY created_at
"""

_AGE = "age-adapted-explanation"
_AGE_EVALUATION = _Evaluation(
    "candidate.yaml",
    "a changed harness, run here with a scripted model: it has a new tool and a judge",
    RunRegressionTotals(cases=2, passed=1, warned=1, failed=0),
)
_RUNS = """
SELECT case_name AS "case", replayed_from_record AS recorded, live_fallback_calls AS live, verdict, summary
FROM candidate_records JOIN judge_results USING (evaluation_id, case_id, case_name, trial)
WHERE evaluation_id = '{evaluation_id}' ORDER BY case_id
"""


def demonstrate(store: Path | None) -> ExitCode:
    """Run the demo; exit 0 only if every evaluation comes to what the examples are made to show.

    Raises:
        InputError: If an example suite is not below the suites root.
    """
    settings = load_settings(store=store)
    support, age = (find_suite(name, settings) for name in (_SUPPORT, _AGE))
    ended_well = True
    for evaluation in _SUPPORT_EVALUATIONS:
        launched = _evaluate(support, evaluation, settings)
        ended_well &= launched.summary.totals == evaluation.expected
    say(f"== the trend of {_SUPPORT} over every evaluation so far; ask your own with: .venv/bin/regress sql")
    _ask(_TREND, settings)
    launched = _evaluate(age, _AGE_EVALUATION, settings)
    ended_well &= launched.summary.totals == _AGE_EVALUATION.expected
    say("== how many tool outputs were recorded ones, how many came live, and what the judge says")
    _ask(_RUNS.format(evaluation_id=launched.evaluation_id), settings)
    _point_to_files(settings)
    if not ended_well:
        note("regress: the examples did not come to what they are made to show; were they changed?")
        return ExitCode.GATE
    return ExitCode.OK


def _evaluate(suite: SuiteFolder, evaluation: _Evaluation, settings: Settings) -> Launched:
    say(f"== {suite.name}: {evaluation.title}")
    with show_progress() as emit:
        wanted = Wanted(suite, suite.root / evaluation.candidate, Selection())
        plan = plan_wanted(wanted, settings, trigger="pipeline", warn=note)
        if plan is None:
            raise InputError("no cases", file=suite.root)
        launched = launch(enter(plan, settings), suite, settings, observe=emit, warn=note)
    for line in summary_lines(launched.summary):
        say(line)
    say("  the others:")
    for line in case_lines([case for case in launched.summary.cases if case.status == "pass"]):
        say(line)
    say(f"outputs: {shown(launched.outputs)}")
    say("")
    return launched


def _ask(statement: str, settings: Settings) -> None:
    for line in statement.strip().splitlines():
        say(f"  {line}")
    ask(statement, store=settings.store, as_json=False, as_csv=False)
    say("")


def _point_to_files(settings: Settings) -> None:
    store = settings.store
    say("== where things are")
    say(f"summaries, records, comparisons, results: {shown(store / 'outputs')}")
    say(f"history (Parquet):                        {shown(store / 'history')}")
    say(f"journal:                                  {shown(store / 'journal.sqlite')}")
    say("== to look at it in Dagster")
    say(f"export DAGSTER_HOME={dagster_home(store).resolve()}")
    say(".venv/bin/dagster dev -w workspace.yaml      # or: .venv/bin/regress pipeline dev")
