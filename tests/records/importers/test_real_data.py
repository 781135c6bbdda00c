"""Logs that none of us wrote: every call keeps its output, and the counts are those of the data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from regress_core.records.importers.base import Imported, Outcome, Skipped
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.formats import FormatOptions, known_formats
from regress_core.records.importers.importing import Choice, imported_cases
from regress_core.records.importers.naming import Naming
from regress_core.records.importers.sources import open_sources
from regress_core.records.importers.writing import write_imported
from regress_core.records.json_io import JsonObject
from regress_core.records.loading import list_record_files, load_record
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls

TRIALS = range(4)


@pytest.fixture(scope="module")
def tau_file(data_dir: Path) -> Path:
    return existing(data_dir / "tau-bench" / "airline__gpt-4o_4trials.json.gz")


def existing(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"no real data: {path} is missing")
    return path


def read_gzip(file: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(gzip.decompress(file.read_bytes()))


def cases(source: Path, format_name: str, choice: Choice, messages: str = "messages") -> list[Outcome]:
    formats = [known_formats(FormatOptions(messages=messages))[format_name]]
    with open_sources(source) as (files, skipped):
        return [*skipped, *imported_cases(files, formats, choice, source)]


def tau(file: Path, trial: int, turns: Turns = "whole") -> list[Outcome]:
    choice = Choice(where=f"trial = {trial}", turns=turns, naming=Naming("{task_id}", "reward"))
    return cases(file, "openai-chat", choice, "traj")


def all_calls(messages: list[JsonObject]) -> list[JsonObject]:
    return [call for message in messages for call in calls_of(message)]


def calls_of(message: JsonObject) -> list[JsonObject]:
    return message.get("tool_calls") or []


def source_calls(messages: list[JsonObject]) -> list[tuple[str, str, str]]:
    """Pair as the data allows by eye: each assistant message has at most one call, and its output is next."""
    return [
        (call["function"]["name"], call["function"]["arguments"], messages[index + 1]["content"])
        for index, message in enumerate(messages)
        for call in calls_of(message)
    ]


@pytest.mark.parametrize("trial", TRIALS)
def test_tau_whole(tau_file: Path, tmp_path: Path, trial: int) -> None:
    report = write_imported(tau(tau_file, trial), tmp_path)
    assert (report.written, report.counts.labelled, report.skipped, report.rejected) == (50, 50, (), ())
    (warning,) = report.counts.warnings()
    assert warning.startswith("multi-turn: 50 of 50 records")
    rows = {str(row["task_id"]): row for row in read_gzip(tau_file) if row["trial"] == trial}
    for file in list_record_files(tmp_path / "records"):
        record, row = load_record(file).record, rows[file.case_id]
        calls = extract_tool_calls(record)
        assert [(call.name, call.arguments, call.output) for call in calls] == [
            (name, json.loads(arguments), content) for name, arguments, content in source_calls(row["traj"])
        ]
        assert len({call.call_id for call in calls}) == len(calls)
        assert record.regress_metadata["label"] == row["reward"]
        assert record.data["promptSnapshots"][0].get("promptText") == row["traj"][0]["content"]


def test_tau_totals(tau_file: Path) -> None:
    calls = answered = turns = skipped = 0
    for trial in TRIALS:
        for outcome in tau(tau_file, trial):
            assert isinstance(outcome, Imported)
            extracted = extract_tool_calls(outcome.record)
            calls += len(extracted)
            answered += sum(call.has_output and call.name != "" for call in extracted)
        for outcome in tau(tau_file, trial, turns="each"):
            turns += isinstance(outcome, Imported)
            skipped += isinstance(outcome, Skipped)
    assert (calls, answered, turns, skipped) == (1164, 1164, 1290, 200)


def test_tau_imports_are_the_same_wherever_the_source_lies(tau_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / tau_file.name
    copy.parent.mkdir()
    copy.write_bytes(tau_file.read_bytes())
    for source, suite in ((tau_file, "a"), (copy, "b")):
        write_imported(tau(source, 0), tmp_path / suite)
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / suite / "records").iterdir()}
        for suite in ("a", "b")
    )
    assert first == second
    assert not any(str(tmp_path).encode() in text for text in first.values())


def test_tau_without_a_choice_of_trial_takes_the_first(tau_file: Path, tmp_path: Path) -> None:
    outcomes = cases(tau_file, "openai-chat", Choice(naming=Naming("{task_id}")), "traj")
    report = write_imported(outcomes, tmp_path)
    assert (report.written, len(report.rejected)) == (50, 150)
    first = report.rejected[0]
    assert (first.file, first.position) == (tau_file.name, "row 51")
    assert first.reason.startswith(f"the same case as {tau_file.name}: row 1, letter case aside: ")


@pytest.mark.parametrize("model", ["gpt-4.1", "ft-gpt-4.1"])
def test_tau2_calls_without_a_function_member(data_dir: Path, tmp_path: Path, model: str) -> None:
    file = existing(data_dir / "tau2-bench" / f"airline-split__{model}.json.gz")
    simulations = read_gzip(file)["simulations"]
    source = tmp_path / "simulations.json"
    source.write_text(json.dumps(simulations), encoding="utf-8")
    outcomes = cases(source, "openai-chat", Choice(naming=Naming("{task_id}")))
    assert len(outcomes) == len(simulations) == 20
    for outcome, simulation in zip(outcomes, simulations, strict=True):
        assert isinstance(outcome, Imported)
        messages: list[JsonObject] = simulation["messages"]
        outputs = {message["id"]: message for message in messages if message["role"] == "tool"}
        calls = all_calls(messages)
        assert [
            (call.call_id, call.name, call.arguments, call.output, call.is_error)
            for call in extract_tool_calls(outcome.record)
        ] == [
            (call["id"], call["name"], call["arguments"], outputs[call["id"]]["content"],
             outputs[call["id"]]["error"])
            for call in calls
        ]  # fmt: skip


def test_aioc_records(data_dir: Path, tmp_path: Path) -> None:
    folder = existing(data_dir / "aioc-runrecords")
    report = write_imported(cases(folder, "aioc", Choice()), tmp_path)
    reason = "no run record: none of runId, items and question is there"
    assert (report.written, report.skipped) == (7, (Skipped("", reason, "index.json"),))
    assert (report.rejected, [*report.counts.warnings()]) == ((), [])
    for file in (tmp_path / "records").iterdir():
        source = (folder / file.name).read_text(encoding="utf-8")
        written = file.read_text(encoding="utf-8")
        assert json.dumps(json.loads(written)) == json.dumps(json.loads(source))
        RunRecord.parse(json.loads(written))
