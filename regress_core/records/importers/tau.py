"""Results of tau-bench and tau2-bench: labelled runs of an agent that serves a simulated user.

The formats are those of github.com/sierra-research/tau-bench (`EnvRunResult`: one row a run) and
github.com/sierra-research/tau2-bench (`Results`: one object a file, with its runs under `simulations`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from regress_core.errors import InputError
from regress_core.records.importers.base import Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation, Found, whole_record
from regress_core.records.importers.facts import RowFacts, row_facts
from regress_core.records.importers.members import object_of
from regress_core.records.importers.paths import find, require
from regress_core.records.importers.rows import read_rows
from regress_core.records.importers.tau_messages import read_tau_messages
from regress_core.records.importers.times import UNKNOWN_TIME, iso_time
from regress_core.records.json_io import JsonError, JsonObject, JsonValue
from regress_core.records.model import RunRecord

_REWARD_TOLERANCE = 1e-6  # both harnesses take a reward this near to 1 for a task done
_NORMAL_ENDS = ("user_stop", "agent_stop")
_TOLD_ELSEWHERE = ("policy", "tool_defs")  # long, and not to be repeated in each record


@dataclass(frozen=True, slots=True)
class TauRun:
    """One run of a results file.

    Attributes:
        task_id: The task.
        trial: Which attempt at the task it is, from 0; 0 where the file does not say.
        passed: Whether the task was done: a reward of 1. None where the run has no reward.
        domain: The benchmark's domain, such as `airline`; None where the file does not say.
        conversation: The run.
        tools: By name, the JSON Schemas of the agent's tools' arguments; empty where the file has none.
    """

    task_id: str
    trial: int
    passed: bool | None
    domain: str | None
    conversation: Conversation
    tools: Mapping[str, JsonObject]

    @property
    def record(self) -> RunRecord:
        """The run as one record, made anew at each call."""
        return whole_record(self.conversation)


@dataclass(frozen=True, slots=True)
class _Harness:
    """What a file says of all its runs; a file of tau-bench says nothing.

    Attributes:
        info: Its `info`, without what the other attributes hold whole.
        domain: The benchmark's domain.
        model: The agent's model.
        policy: What the agent was told to go by.
        tools: The JSON Schemas of the tools' arguments.
        tickets: By task, what an agent that works without a user is asked to do.
    """

    info: JsonValue
    domain: str | None
    model: str | None
    policy: str | None
    tools: Mapping[str, JsonObject]
    tickets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Source:
    """A run as the file has it, as a row of its own."""

    row: SourceRow
    position: str
    harness: _Harness


def read_tau(rows: Iterable[SourceRow], trial: int | None = None) -> Iterator[Found]:
    """Read the runs of the rows, all of them or one trial of each task.

    A case is called `task-<task id>` when one trial is chosen, else `task-<task id>-trial-<number>`. Its
    label is `pass` or `fail`.
    """
    for position, run in _runs(rows, trial):
        yield Rejected(position, str(run)) if isinstance(run, JsonError) else run.conversation


def is_tau(value: JsonValue) -> bool:
    """Tell whether a row is a run of tau-bench, or a file of tau2-bench."""
    row = object_of(value)
    return {"task_id", "traj"} <= row.keys() or {"simulations", "tasks"} <= row.keys()


def tau_runs(file: Path) -> Iterator[TauRun]:
    """Read the runs of a results file, plain or gzip, in its order.

    Raises:
        InputError: If the file cannot be read, or one of its runs cannot.
    """
    for position, run in _runs(read_rows(file), None):
        if isinstance(run, JsonError):
            raise InputError(
                run.reason,
                file=file,
                field=f"{position}: {run.path}",
                remedy="mend the file or take that run out",
            ) from run
        yield run


def _runs(rows: Iterable[SourceRow], trial: int | None) -> Iterator[tuple[str, TauRun | JsonError]]:
    """Give each run, or what is wrong with it, and where it stands."""
    for row in rows:
        try:
            sources = _sources(row)
        except JsonError as error:
            yield row.position, error
            continue
        for source in sources:
            try:
                run = _run(source, trial)
            except JsonError as error:
                yield source.position, error
                continue
            if run is not None:
                yield source.position, run


def _sources(row: SourceRow) -> Iterable[_Source]:
    file = row.members
    if file is None or "simulations" not in file:
        return [_Source(row, row.position, _harness({}))]
    harness = _harness(file)
    before = "" if row.alone else f"{row.position}, "
    return (
        _Source(SourceRow(row.file, number, simulation), f"{before}simulation {number}", harness)
        for number, simulation in enumerate(_list(file, "simulations"), start=1)
    )


def _harness(file: JsonObject) -> _Harness:
    info, environment = object_of(file.get("info")), object_of(_value(file, "info.environment_info"))
    if environment:
        environment_facts = {key: value for key, value in environment.items() if key not in _TOLD_ELSEWHERE}
        info = {**info, "environment_info": environment_facts}
    tools = {
        name: object_of(tool).get("params") for name, tool in object_of(environment.get("tool_defs")).items()
    }
    tasks = [object_of(task) for task in (_list(file, "tasks") if file.get("tasks") is not None else [])]
    return _Harness(
        info=info or None,
        domain=_text(environment.get("domain_name")),
        model=_text(_value(file, "info.agent_info.llm")),
        policy=_text(environment.get("policy")),
        tools={name: object_of(schema) for name, schema in tools.items() if isinstance(schema, dict)},
        tickets={str(task.get("id")): ticket for task in tasks if (ticket := _text(task.get("ticket")))},
    )


def _run(source: _Source, chosen_trial: int | None) -> TauRun | None:
    """Read a run; None when its trial is not the chosen one."""
    row, harness = source.row, source.harness
    time = iso_time(_value(row.value, "start_time")) or UNKNOWN_TIME
    facts = row_facts(row, id_path="task_id", time=time)
    run = row.members or {}
    task_id, trial, passed = facts.name, _trial(run), _passed(run)
    if chosen_trial not in (None, trial or 0):
        return None
    one_of_many = chosen_trial is None and trial is not None
    facts = dataclasses.replace(
        facts,
        name=f"task-{task_id}-trial-{trial}" if one_of_many else f"task-{task_id}",
        label=None if passed is None else "pass" if passed else "fail",
        model=harness.model or facts.model,
    )
    return TauRun(
        task_id=task_id,
        trial=trial or 0,
        passed=passed,
        domain=harness.domain,
        conversation=_conversation(source, facts, ticket=harness.tickets.get(task_id)),
        tools=harness.tools,
    )


def _trial(run: JsonObject) -> int | None:
    trial = run.get("trial")
    if trial is not None and (isinstance(trial, bool) or not isinstance(trial, int)):
        raise JsonError("$.trial", "no whole number")
    return trial


def _passed(run: JsonObject) -> bool | None:
    """Tell whether a task was done, as both harnesses do; None without a reward."""
    path = "reward" if "reward" in run else "reward_info.reward"
    reward = _value(run, path)
    if reward is None:
        return None
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise JsonError(f"$.{path}", "no number")
    return abs(reward - 1) <= _REWARD_TOLERANCE


def _conversation(source: _Source, facts: RowFacts, *, ticket: str | None) -> Conversation:
    run, harness = source.row.members or {}, source.harness
    messages_key = "traj" if "traj" in run else "messages"
    messages = require(run, messages_key)
    transcript = read_tau_messages(messages.value, messages.path, ticket=ticket)
    if transcript.prompt is None:  # the harness of tau2-bench makes one of the policy
        transcript = dataclasses.replace(transcript, prompt=harness.policy)
    noted: JsonObject = {"run": {key: value for key, value in run.items() if key != messages_key}}
    if harness.info is not None:
        noted["info"] = harness.info
    return Conversation(
        position=source.position,
        facts=facts,
        transcript=transcript,
        ended_at=iso_time(run.get("end_time")),
        failure=_failure(run),
        noted=noted,
        origin=run,
    )


def _failure(run: JsonObject) -> JsonObject:
    """Say what ended a run that neither side ended: a limit, or an exception.

    tau-bench gives `reward_info` when an episode ends, and null while it goes on.
    """
    reason, error = _text(run.get("termination_reason")), _text(_value(run, "info.error"))
    if (
        reason is None
        and "reward_info" in (info := object_of(run.get("info")))
        and info["reward_info"] is None
    ):
        reason = "unfinished"
    if reason in _NORMAL_ENDS or (reason is None and error is None):
        return {}
    named: JsonObject = {"errorName": reason, "errorMessage": error}
    return {key: value for key, value in named.items() if value is not None}


def _value(value: JsonValue, dotted_path: str) -> JsonValue:
    found = find(value, dotted_path)
    return None if found is None else found.value


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _list(file: JsonObject, key: str) -> list[JsonValue]:
    if not isinstance(file[key], list):
        raise JsonError(f"$.{key}", "no list")
    return cast("list[JsonValue]", file[key])
