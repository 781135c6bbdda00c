"""What `regress demo` shows, step by step."""

from __future__ import annotations

from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder as shown
from regress_core.suite.gate import ExitCode
from regress_pipeline.cli.actions.sql import ask
from regress_pipeline.cli.progress import show_progress
from regress_pipeline.cli.render import case_lines, note, say, summary_lines
from regress_pipeline.launch import Launched, dagster_home, launch
from regress_pipeline.settings import Settings, load_settings
from regress_pipeline.suites import SuiteFolder, find_suite

_SUITE = "support-agent"
_CANDIDATES = (
    ("v2, which only words two answers differently", "candidate.yaml", "warn"),
    ("v3, which refunds a wrong amount, skips a checked call and fails once", "candidates/v3.yaml", "fail"),
)
_TREND = """
SELECT candidate_label AS candidate, created_at, cases, passed, warned, failed, gate_status AS gate
FROM evaluations WHERE suite = 'support-agent' ORDER BY created_at
"""


def demonstrate(store: Path | None) -> ExitCode:
    """Run the demo; exit 0 only if both evaluations come to what the example is made to show.

    Raises:
        InputError: If the example suite is not below the suites root.
    """
    settings = load_settings(store=store)
    suite = find_suite(_SUITE, settings)
    ended_well = True
    for title, candidate, expected in _CANDIDATES:
        say(f"== {_SUITE} against candidate {title}")
        launched = _evaluate(suite, settings, suite.root / candidate)
        ended_well &= launched.summary.gate is not None and launched.summary.gate.status == expected
        say("")
    say("== the trend over every evaluation so far; ask your own with: .venv/bin/regress sql")
    for line in _TREND.strip().splitlines():
        say(f"  {line}")
    ask(_TREND, store=settings.store, as_json=False, as_csv=False)
    _point_to_files(settings)
    if not ended_well:
        note("regress: the example did not come to warn and fail as it should; was it changed?")
        return ExitCode.GATE
    return ExitCode.OK


def _evaluate(suite: SuiteFolder, settings: Settings, candidate: Path) -> Launched:
    with show_progress() as emit:
        launched = launch(
            suite, settings, candidate=candidate, cases=(), fresh=False, observe=emit, warn=note
        )
    if launched is None:
        raise InputError("no cases", file=suite.root)
    for line in summary_lines(launched.summary):
        say(line)
    say("  the others:")
    for line in case_lines([case for case in launched.summary.cases if case.status == "pass"]):
        say(line)
    say(f"outputs: {shown(launched.outputs)}")
    return launched


def _point_to_files(settings: Settings) -> None:
    store = settings.store
    say("")
    say("== where things are")
    say(f"summaries, records, comparisons, results: {shown(store / 'outputs')}")
    say(f"history (Parquet):                        {shown(store / 'history')}")
    say(f"journal:                                  {shown(store / 'journal.sqlite')}")
    say("== to look at it in Dagster")
    say(f"export DAGSTER_HOME={dagster_home(store).resolve()}")
    say(".venv/bin/dagster dev -w workspace.yaml      # or: .venv/bin/regress pipeline dev")
