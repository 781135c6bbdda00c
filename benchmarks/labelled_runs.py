"""Runs with a label, found below a folder, and the pairs that can be made of them.

Three kinds of files are read: results of tau-bench and tau2-bench; rows of chat messages (`messages`) with a
task and a label; and run records with a label in `metadata.regress.label`, as `regress import` writes them.
Any other file is passed over.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from regress_core.errors import InputError
from regress_core.records.importers.base import Imported
from regress_core.records.importers.chat import read_openai_chat
from regress_core.records.importers.importing import Choice, cases_of
from regress_core.records.importers.naming import Naming
from regress_core.records.importers.rows import read_rows
from regress_core.records.importers.sources import ROW_SUFFIXES, plain_name
from regress_core.records.importers.tau import tau_runs
from regress_core.records.json_io import JsonObject, JsonValue
from regress_core.records.model import RunRecord

_TRIAL = re.compile(r"(.*?)(?:-trial-|~)(\d+)")
_TASK_KEYS = ("task_id", "instance_id", "question_id", "case", "id")
_LABEL_KEYS = ("label", "passed", "success", "correct", "resolved", "score")
_PASS, _FAIL = ("pass", "passed", "correct", "success", "C"), ("fail", "failed", "incorrect", "failure", "I")


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run of a task, and whether it passed."""

    task: str
    trial: int
    passed: bool
    record: RunRecord


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The runs of one harness: a results file, or a folder of run records.

    Attributes:
        name: Its path below the folder that was searched, without suffix.
        tools: JSON Schemas of the tools' arguments, where it has some.
    """

    name: str
    runs: Sequence[LabelledRun]
    tools: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Pair:
    """A run that passed, as the baseline, and another one of the same task, as the candidate."""

    task: str
    baseline: RunRecord
    candidate: RunRecord


@dataclass(frozen=True, slots=True)
class PairSet:
    """What a classifier is measured on.

    Attributes:
        name: Where the runs are from.
        files: The files of the two sides.
        regressions: Pairs whose candidate failed.
        unchanged: Pairs whose candidate passed too.
    """

    name: str
    files: Sequence[LabelledFile]
    regressions: Sequence[Pair]
    unchanged: Sequence[Pair]


def find_labelled(folder: Path) -> list[LabelledFile]:
    """Read every labelled file below a folder."""
    found: list[LabelledFile] = []
    records: defaultdict[Path, list[LabelledRun]] = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if not (file.is_file() and plain_name(file.name).endswith(ROW_SUFFIXES)):
            continue
        first = _first_row(file)
        if "simulations" in first or "traj" in first or "reward_info" in first:
            labelled = _of_tau(file, folder)
            found += [labelled] if labelled.runs else []
        elif "runId" in first and "items" in first:
            records[file.parent] += _of_record(first)
        elif "messages" in first:
            found.append(_of_chat(file, folder, first))
    for parent, runs in records.items():
        found.append(LabelledFile(_name(parent, folder), runs))
    return [one for one in found if one.runs]


def pair_sets(files: Sequence[LabelledFile]) -> Iterator[PairSet]:
    """Pair the runs of each file, and those of files that are two harnesses on one set of tasks.

    Of one file: every ordered pair of trials of a task. Of two files of a folder whose names agree up to two
    underscores (`airline__before`, `airline__after`): the same trial of the same task, in both directions.
    """
    for file in files:
        pairs = [(a, b) for runs in _by_task(file.runs).values() for a, b in permutations(runs, 2)]
        if pairs:
            yield _pair_set(file.name, (file,), pairs)
    for before, after in permutations(files, 2):
        if before.name.partition("__")[0] == after.name.partition("__")[0] and "__" in before.name:
            later = {(run.task, run.trial): run for run in after.runs}
            pairs = [
                (run, later[run.task, run.trial]) for run in before.runs if (run.task, run.trial) in later
            ]
            yield _pair_set(f"{before.name} → {after.name.partition('__')[2]}", (before, after), pairs)


def _pair_set(
    name: str, files: Sequence[LabelledFile], pairs: Sequence[tuple[LabelledRun, LabelledRun]]
) -> PairSet:
    def those(*, passed: bool) -> list[Pair]:
        return [Pair(a.task, a.record, b.record) for a, b in pairs if a.passed and b.passed is passed]

    return PairSet(name, files, regressions=those(passed=False), unchanged=those(passed=True))


def _by_task(runs: Sequence[LabelledRun]) -> dict[str, list[LabelledRun]]:
    tasks: defaultdict[str, list[LabelledRun]] = defaultdict(list)
    for run in runs:
        tasks[run.task].append(run)
    return tasks


def _first_row(file: Path) -> JsonObject:
    try:
        row = next(iter(read_rows(file)), None)
    except InputError:
        return {}
    return (row.members if row is not None else None) or {}


def _of_tau(file: Path, folder: Path) -> LabelledFile:
    runs: list[LabelledRun] = []
    tools: JsonObject = {}
    for run in tau_runs(file):
        if run.passed is not None:
            runs.append(LabelledRun(run.task_id, run.trial, run.passed, run.record))
            tools.update(run.tools)
    return LabelledFile(_name(file, folder), runs, tools)


def _of_chat(file: Path, folder: Path, first: JsonObject) -> LabelledFile:
    """Read rows of chat messages; those without a task or a label that says pass or fail are left out."""
    task_key = next((key for key in _TASK_KEYS if key in first), None)
    label_key = next((key for key in _LABEL_KEYS if key in first), None)
    runs: list[LabelledRun] = []
    trials: Counter[str] = Counter()
    if task_key is not None and label_key is not None:
        choice = Choice(naming=Naming(f"{{{task_key}}}", label_key))
        for outcome in cases_of(read_openai_chat(read_rows(file)), choice):
            if not isinstance(outcome, Imported):
                continue
            passed = _passed(outcome.record.regress_metadata.get("label"))
            if passed is not None:
                runs.append(LabelledRun(outcome.name, trials[outcome.name], passed, outcome.record))
                trials[outcome.name] += 1
    return LabelledFile(_name(file, folder), runs)


def _passed(label: JsonValue) -> bool | None:
    if isinstance(label, bool):
        return label
    if isinstance(label, int | float):
        return label >= 1
    return True if label in _PASS else False if label in _FAIL else None


def _of_record(value: JsonObject) -> list[LabelledRun]:
    record = RunRecord.parse(value)
    noted = record.regress_metadata
    passed = _passed(noted.get("label"))
    if passed is None:
        return []
    name = str(noted.get("name", record.run_id))
    found = _TRIAL.fullmatch(name)
    task, trial = (found[1], int(found[2])) if found else (name, 0)
    return [LabelledRun(task, trial, passed, record)]


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    for suffix in (".gz", *ROW_SUFFIXES):
        name = name.removesuffix(suffix)
    return name
