"""Real conversations, turn by turn, replayed on a harness that does the same again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from regress_core.evaluation.regression import CandidateAgent, run_regression_suite
from regress_core.harness import RunOptions, allow_all
from regress_core.models import ModelClient, ScriptedClient
from regress_core.records.importers.base import Imported
from regress_core.records.importers.formats import FormatOptions, known_formats
from regress_core.records.importers.importing import Choice, imported_cases
from regress_core.records.importers.naming import Naming
from regress_core.records.importers.sources import file_source
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from regress_core.suite.contract import RunRegressionSuite, RunRegressionSuiteCase
from tests.support.harness import agent, tool
from tests.support.rebuilt import rebuild

TURNS = {0: 360, 1: 297, 2: 289, 3: 344}
"""Complete turns of each trial, 1,290 in all, counted in the source: user messages that got an answer."""


def _turns(data_dir: Path, trial: int) -> list[RunRegressionSuiteCase]:
    file = data_dir / "tau-bench" / "airline__gpt-4o_4trials.json.gz"
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    formats = [known_formats(FormatOptions(messages="traj"))["openai-chat"]]
    choice = Choice(where=f"trial = {trial}", turns="each", naming=Naming("{task_id}", "reward"))
    outcomes = imported_cases([file_source(file)], formats, choice, file)
    imported = [found for found in outcomes if isinstance(found, Imported)]
    return [RunRegressionSuiteCase(baseline=found.record, name=found.name) for found in imported]


def _repeating(baseline: RunRecord) -> ModelClient:
    return ScriptedClient(rebuild(baseline).replies)


@pytest.mark.parametrize("trial", TURNS)
def test_every_turn_of_tau_bench_passes(data_dir: Path, trial: int) -> None:
    cases = _turns(data_dir, trial)
    names = {call.name for case in cases for call in extract_tool_calls(case.baseline)}
    allowing = CandidateAgent(
        agent=agent([tool(name, parameters={}) for name in sorted(names)]),
        model=_repeating,
        run_options=RunOptions(policies=allow_all(), max_turns=30),
    )

    result = asyncio.run(run_regression_suite(RunRegressionSuite(cases=cases), allowing))

    assert len(cases) == TURNS[trial]
    assert [case.name for case in result.summary.cases if case.status != "pass"] == []
    assert [(entry.name, entry.comparison.differences) for entry in result.results] == [
        (case.name, []) for case in cases
    ]
    calls = sum(call.has_output for case in cases for call in extract_tool_calls(case.baseline))
    assert calls > 500
