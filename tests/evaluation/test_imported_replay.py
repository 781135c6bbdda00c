"""Real conversations, turn by turn, replayed on a harness that does the same again."""

from __future__ import annotations

import asyncio
import re
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
from regress_core.records.json_io import JsonValue, dumps, loads
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


def _assert_all_pass(cases: list[RunRegressionSuiteCase]) -> None:
    names = {call.name for case in cases for call in extract_tool_calls(case.baseline)}
    allowing = CandidateAgent(
        agent=agent([tool(name, parameters={}) for name in sorted(names)]),
        model=_repeating,
        run_options=RunOptions(policies=allow_all(), max_turns=30),
    )

    result = asyncio.run(run_regression_suite(RunRegressionSuite(cases=cases), allowing))

    assert [case.name for case in result.summary.cases if case.status != "pass"] == []
    assert [(entry.name, entry.comparison.differences) for entry in result.results] == [
        (case.name, []) for case in cases
    ]


@pytest.mark.parametrize("trial", TURNS)
def test_every_turn_of_tau_bench_passes(data_dir: Path, trial: int) -> None:
    cases = _turns(data_dir, trial)

    _assert_all_pass(cases)

    assert len(cases) == TURNS[trial]
    calls = sum(call.has_output for case in cases for call in extract_tool_calls(case.baseline))
    assert calls > 500


# Files, and the turns in them that end with an answer, counted by hand.
REAL = {
    "claude-code/sample_session.jsonl": 1,
    "inspect-ai/2025-05-12T20-27-36-04-00_browser.json.gz": 1,
    "inspect-ai/log_formats.eval": 1,
    "tau2-bench/telecom-no-user__gpt-4.1_4trials_5tasks.json.gz": 20,
}


@pytest.mark.parametrize("name", REAL)
def test_every_turn_of_real_logs_passes(data_dir: Path, name: str) -> None:
    file = data_dir / name
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    formats = list(known_formats(FormatOptions()).values())
    outcomes = imported_cases([file_source(file)], formats, Choice(turns="each"), file)
    imported = [found for found in outcomes if isinstance(found, Imported)]

    _assert_all_pass([RunRegressionSuiteCase(baseline=one.record, name=one.name) for one in imported])

    assert len(imported) == REAL[name]


def _documented() -> dict[str, list[JsonValue]]:
    """Give the rows of docs/getting-records.md that hold a call of a tool, by format."""
    text = (Path(__file__).parents[2] / "docs" / "getting-records.md").read_text(encoding="utf-8")
    found: dict[str, list[JsonValue]] = {}
    for title, block in re.findall(r"```json title=(\S+)\n(.*?)```", text, flags=re.DOTALL):
        lines = title.endswith(".jsonl")
        found[title] = (
            [loads(line.encode()) for line in block.splitlines()] if lines else loads(block.encode())
        )
    return found


@pytest.mark.parametrize(
    ("title", "format_name"),
    [
        ("responses.jsonl", "openai-responses"),
        ("messages.jsonl", "anthropic-messages"),
        ("histories/order-7.json", "pydantic-ai"),
        ("sessions/s1.jsonl", "claude-code"),
        ("changed.jsonl", "openai-chat"),
    ],
)
def test_every_turn_of_the_documents_logs_passes(tmp_path: Path, title: str, format_name: str) -> None:
    file = tmp_path / Path(title).name
    rows = _documented()[title]
    file.write_bytes(b"\n".join(map(dumps, rows)) if title.endswith(".jsonl") else dumps(rows))
    formats = list(known_formats(FormatOptions()).values())
    assert next(one.name for one in formats if one.is_it(rows[0])) == format_name
    outcomes = imported_cases([file_source(file)], formats, Choice(turns="each"), file)
    imported = [found for found in outcomes if isinstance(found, Imported)]

    _assert_all_pass([RunRegressionSuiteCase(baseline=one.record, name=one.name) for one in imported])

    assert any(extract_tool_calls(one.record) for one in imported)
