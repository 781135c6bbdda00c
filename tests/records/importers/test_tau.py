"""Results of tau-bench and tau2-bench: each rule by hand, then the real files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from regress_core.errors import InputError
from regress_core.records.importers.base import Outcome, Rejected, SourceRow
from regress_core.records.importers.conversations import Conversation
from regress_core.records.importers.tau import TauRun, read_tau, tau_runs
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from regress_core.records.model import RunRecord
from regress_core.records.tool_calls import extract_tool_calls
from regress_pipeline.cli.main import app
from tests.records.importers.support import cases, imported, rejection, rows_of, write_lines
from tests.support.records import message, tool_call, tool_output

HELLO: JsonObject = {"role": "user", "content": "hello"}
DONE: JsonObject = {"role": "assistant", "content": "Done."}


def says(text: str | None, **more: JsonValue) -> JsonObject:
    return {"role": "user", "content": text, **more}


def calls(role: str, call_id: str, name: str, arguments: JsonValue = None, **more: JsonValue) -> JsonObject:
    call: JsonObject = {"id": call_id, "name": name, "arguments": arguments or {}, "requestor": role}
    return {"role": role, "content": None, "tool_calls": [call], **more}


def gives(call_id: str, content: str, requestor: str = "assistant", **more: JsonValue) -> JsonObject:
    return {"id": call_id, "role": "tool", "content": content, "requestor": requestor, **more}


def row(**changes: JsonValue) -> JsonObject:
    """Give a run of tau-bench, then `changes`; a member that is changed to None is left out."""
    run: JsonObject = {"task_id": 7, "reward": 1.0, "info": {}, "traj": [HELLO, DONE], "trial": 0}
    run |= changes
    return {key: value for key, value in run.items() if value is not None}


def simulation(*messages: JsonObject, **more: JsonValue) -> JsonObject:
    """Give a run of tau2-bench."""
    reward: JsonObject = {"reward": 1.0}
    return {"id": "s-1", "task_id": "7", "trial": 0, "reward_info": reward, "messages": messages} | more


def file_of(*simulations: JsonValue, **more: JsonValue) -> JsonObject:
    """Give a file of tau2-bench."""
    return {
        "timestamp": "2025-07-17T15:10:57",
        "info": {},
        "tasks": [],
        "simulations": list(simulations),
        **more,
    }


def outcomes(*values: JsonValue, trial: int | None = None) -> list[Outcome]:
    # By way of text, as an importer gets them.
    return cases(read_tau(rows_of(*json.loads(dumps(values))), trial))


def record_of(value: JsonObject) -> JsonObject:
    """Give the record of a source's only run."""
    (outcome,) = outcomes(value)
    return json.loads(dumps(imported(outcome).record.data))


def items_of(*messages: JsonObject) -> list[JsonObject]:
    """Give the items of a run of tau2-bench without what was kept of their messages."""
    items = record_of(file_of(simulation(*messages)))["items"]
    return [{key: value for key, value in item.items() if key != "rawItem"} for item in items]


def write_json(file: Path, value: JsonValue) -> Path:
    file.write_bytes(dumps(value))
    return file


def only_run(tmp_path: Path, value: JsonValue) -> TauRun:
    (run,) = tau_runs(write_json(tmp_path / "results.json", value))
    return run


def test_a_run_of_tau_bench() -> None:
    call: JsonObject = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
    info: JsonObject = {"task": {"user_id": "u", "actions": []}, "user_cost": 0.1}
    traj = [
        {"role": "system", "content": "Be kind."},
        HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "Error: none found"},
        DONE,
        says("###STOP###"),
    ]
    record = record_of(row(traj=traj, info=info, trial=3, reward=0.0))
    assert record == {
        "runId": "task-7-trial-3",
        "startedAt": "1970-01-01T00:00:00.000Z",
        "completedAt": "1970-01-01T00:00:00.000Z",
        "status": "completed",
        "agentName": "unknown",
        "question": "hello",
        "response": "Done.",
        "contextSnapshot": {},
        "items": [
            message("hello"),
            tool_call("c1", "find", arguments={"a": 1}),
            tool_output("c1", output="Error: none found"),
            message("Done.", "assistant"),
            message("###STOP###"),
        ],
        "inputItemCount": 1,
        "promptSnapshots": [
            {
                "timestamp": "1970-01-01T00:00:00.000Z",
                "turn": 1,
                "agentName": "unknown",
                # printf 'Be kind.' | sha256sum
                "promptHash": "5499befb38dbf3fcc08107141cb2a9e7f42a6aae403361dc3601b8296d7967ea",
                "promptText": "Be kind.",
            }
        ],
        "requestFingerprints": [],
        "policyDecisions": [],
        "metadata": {
            "regress": {
                "name": "task-7-trial-3",
                "label": "fail",
                "source": "log.jsonl",
                "row": 1,
                "unrecorded": ["policy", "suspendedProposals", "guardrails", "fingerprints", "descriptor"],
                "run": {"task_id": 7, "reward": 0.0, "info": info, "trial": 3},
            }
        },
    }


def test_a_run_of_tau2_bench() -> None:
    info: JsonObject = {
        "seed": 300,
        "agent_info": {"implementation": "llm_agent", "llm": "model-1"},
        "environment_info": {"domain_name": "airline", "policy": "Be kind.", "tool_defs": None},
    }
    greeting: JsonObject = {"role": "assistant", "content": "Hi!", "tool_calls": None, "cost": 0.0}
    known: JsonObject = {
        "id": "s-1",
        "task_id": "7",
        "start_time": "2025-08-01T16:20:44.321269",
        "end_time": "2025-08-01T16:21:03.551551",
        "termination_reason": "user_stop",
        "agent_cost": 0.5,
        "reward_info": {"reward": 1.0, "db_check": None},
        "trial": 0,
    }
    value = file_of({**known, "messages": [greeting, HELLO, DONE]}, info=info)
    record = record_of(value)
    assert record["items"] == [
        {**message("Hi!", "assistant"), "rawItem": greeting},
        message("hello"),
        message("Done.", "assistant"),
    ]
    assert (record["question"], record["response"], record["inputItemCount"]) == ("hello", "Done.", 2)
    assert (record["startedAt"], record["completedAt"]) == (
        "2025-08-01T16:20:44.321Z",
        "2025-08-01T16:21:03.551Z",
    )
    assert (record["model"], record["status"]) == ("model-1", "completed")
    assert [snapshot["promptText"] for snapshot in record["promptSnapshots"]] == ["Be kind."]
    noted = record["metadata"]["regress"]
    assert (noted["name"], noted["label"]) == ("task-7-trial-0", "pass")
    assert (noted["source"], noted["row"]) == ("log.jsonl", 1)
    assert noted["run"] == known
    assert noted["info"] == {**info, "environment_info": {"domain_name": "airline"}}


def test_a_prompt_that_the_file_does_not_have_is_unrecorded() -> None:
    assert "prompts" in record_of(row())["metadata"]["regress"]["unrecorded"]
    assert record_of(row())["promptSnapshots"] == []


@pytest.mark.parametrize(
    ("messages", "items"),
    [
        pytest.param(
            [HELLO, calls("assistant", "c1", "find"), gives("c1", "no", error=True), DONE],
            [message("hello"), tool_call("c1", "find", arguments={}),
             tool_output("c1", output="no", isError=True), message("Done.", "assistant")],
            id="an error that is flagged",
        ),
        pytest.param(
            [HELLO, calls("assistant", "c1", "find"), gives("c1", "Error: no", error=False)],
            [message("hello"), tool_call("c1", "find", arguments={}), tool_output("c1", output="Error: no")],
            id="an error in words alone",
        ),
        pytest.param(
            [HELLO, calls("user", "u1", "check_status"), gives("u1", "on", "user"), says("It is on."), DONE],
            [message("hello"), message("It is on."), message("Done.", "assistant")],
            id="the user calls a tool, then speaks",
        ),
        pytest.param(
            [HELLO, calls("user", "u1", "a"), gives("u1", "x", "user"), calls("user", "u2", "b"),
             gives("u2", "y", "user", error=True), says("Both."), DONE],
            [message("hello"), message("Both."), message("Done.", "assistant")],
            id="the user calls twice",
        ),
        pytest.param(
            [HELLO, calls("user", "u1", "a", content="One moment."), gives("u1", "x", "user"), says("Yes.")],
            [message("hello"), message("One moment.\nYes.")],
            id="the user speaks with the call",
        ),
        pytest.param(
            [HELLO, DONE, calls("user", "u1", "a"), gives("u1", "x", "user")],
            [message("hello"), message("Done.", "assistant"), message("")],
            id="the run ends while the user is busy",
        ),
        pytest.param(
            [calls("user", "u1", "a"), gives("u1", "x", "user"), DONE],
            [message(""), message("Done.", "assistant")],
            id="the user says nothing",
        ),
        pytest.param([says(None), DONE], [message(""), message("Done.", "assistant")], id="no text"),
        pytest.param(
            [HELLO, calls("user", "c1", "a"), gives("c1", "x", "user"), says("Yes."),
             calls("assistant", "c1", "a"), gives("c1", "y")],
            [message("hello"), message("Yes."), tool_call("c1", "a", arguments={}),
             tool_output("c1", output="y")],
            id="the user's call has the id of one of the agent's",
        ),
        pytest.param(
            [HELLO, calls("assistant", "c1", "a"), calls("assistant", "c2", "b"),
             {"role": "tool", "tool_messages": [gives("c2", "of b"), gives("c1", "of a", error=True)]}],
            [message("hello"), tool_call("c1", "a", arguments={}), tool_call("c2", "b", arguments={}),
             tool_output("c2", output="of b"), tool_output("c1", output="of a", isError=True)],
            id="outputs in a group",
        ),
        pytest.param(
            [HELLO, calls("user", "u1", "a"),
             {"role": "tool", "requestor": "user", "tool_messages": [{"id": "u1", "role": "tool"}]},
             says("Yes.")],
            [message("hello"), message("Yes.")],
            id="the user's outputs in a group",
        ),
        pytest.param(
            [HELLO, calls("assistant", "c1", "a"), gives("c1", "1"), calls("assistant", "c1", "a"),
             gives("c1", "2")],
            [message("hello"), tool_call("c1", "a", arguments={}), tool_output("c1", output="1"),
             tool_call("c1#2", "a", arguments={}), tool_output("c1#2", output="2")],
            id="a call id that repeats",
        ),
    ],
)  # fmt: skip
def test_items(messages: list[JsonObject], items: list[JsonObject]) -> None:
    assert items_of(*messages) == items


def test_what_the_user_did_with_tools_is_kept_whole() -> None:
    did = [calls("user", "u1", "a", {"x": 1}, cost=0.1), gives("u1", "on", "user", turn_idx=2), says("Yes.")]
    item = record_of(file_of(simulation(HELLO, *did)))["items"][1]
    assert item == {
        **message("Yes."),
        "rawItem": {"role": "user", "content": "Yes.", "messages": did},
    }


def test_calls_of_the_user_are_no_calls_of_the_record() -> None:
    value = file_of(simulation(HELLO, calls("user", "u1", "a"), gives("u1", "x", "user"), says("Yes."), DONE))
    assert extract_tool_calls(RunRecord.parse(record_of(value))) == []


TASKS = [{"id": "6", "ticket": "Another."}, {"id": "7", "ticket": "Fix the phone."}]


@pytest.mark.parametrize(
    ("messages", "tasks", "question", "first", "input_items"),
    [
        pytest.param([calls("assistant", "c1", "fix"), gives("c1", "ok")], TASKS, "Fix the phone.",
                     message("Fix the phone."), 1, id="no user: the ticket is the question"),
        pytest.param([HELLO, DONE], TASKS, "hello", message("hello"), 1, id="a user: the ticket is not used"),
        pytest.param([DONE], [{"id": "7", "ticket": None}], "", message("Done.", "assistant"), 0,
                     id="neither"),
        pytest.param([DONE], None, "", message("Done.", "assistant"), 0, id="no tasks"),
    ],
)  # fmt: skip
def test_what_a_run_is_asked(
    messages: list[JsonObject], tasks: JsonValue, question: str, first: JsonObject, input_items: int
) -> None:
    record = record_of(file_of(simulation(*messages), tasks=tasks))
    assert (record["question"], record["items"][0], record["inputItemCount"]) == (
        question,
        first,
        input_items,
    )


@pytest.mark.parametrize(
    ("trial", "chosen", "names"),
    [
        (None, None, ["task-7"]),
        (None, 0, ["task-7"]),
        (None, 1, []),
        (0, None, ["task-7-trial-0"]),
        (2, None, ["task-7-trial-2"]),
        (2, 2, ["task-7"]),
        (2, 0, []),
    ],
)
def test_names_and_the_choice_of_a_trial(trial: int | None, chosen: int | None, names: list[str]) -> None:
    values = (row(trial=trial), file_of(simulation(HELLO, DONE, trial=trial)))
    for value in values:
        found = [imported(outcome) for outcome in outcomes(value, trial=chosen)]
        assert [(run.name, run.record.run_id) for run in found] == [(name, name) for name in names]


@pytest.mark.parametrize(
    ("reward", "passed", "label"),
    [
        (1.0, True, "pass"),
        (1, True, "pass"),
        (0.9999995, True, "pass"),
        (1.0000005, True, "pass"),
        (0.999998, False, "fail"),
        (0.0, False, "fail"),
        (0, False, "fail"),
        (-1.0, False, "fail"),
        (None, None, None),
    ],
)
def test_labels(tmp_path: Path, reward: float | None, passed: bool | None, label: str | None) -> None:  # noqa: FBT001 - a row of the table
    for value in ([row(reward=reward)], file_of(simulation(HELLO, DONE, reward_info={"reward": reward}))):
        run = only_run(tmp_path, value)
        assert (run.passed, run.record.regress_metadata.get("label")) == (passed, label)


def test_a_run_that_was_not_rated_has_no_label(tmp_path: Path) -> None:
    run = only_run(tmp_path, file_of(simulation(HELLO, DONE, reward_info=None)))
    assert run.passed is None
    assert "label" not in run.record.regress_metadata


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"termination_reason": "user_stop"}, ("completed", None, None)),
        ({"termination_reason": "agent_stop", "info": {"error": "late"}}, ("completed", None, None)),
        ({"termination_reason": "max_steps"}, ("failed", "max_steps", None)),
        ({"info": {"reward_info": None}}, ("failed", "unfinished", None)),
        ({"info": {"reward_info": {"reward": 0.0}}}, ("completed", None, None)),
        ({"info": {"reward_info": None}, "termination_reason": "user_stop"}, ("completed", None, None)),
        ({"termination_reason": "agent_error", "info": {"error": "x"}}, ("failed", "agent_error", "x")),
        ({"info": {"error": "no answer", "traceback": "…"}, "traj": []}, ("failed", None, "no answer")),
        ({}, ("completed", None, None)),
    ],
)  # fmt: skip
def test_how_a_run_ended(changes: JsonObject, ending: tuple[str, str | None, str | None]) -> None:
    record = record_of(row(**changes))
    assert (record["status"], record.get("errorName"), record.get("errorMessage")) == ending


def test_users_who_speak_again_make_a_run_multi_turn() -> None:
    once, twice = outcomes(row(), row(traj=[HELLO, DONE, HELLO]))
    assert not imported(once).multi_turn
    assert imported(twice).multi_turn


def test_what_a_benchmark_takes_of_a_run(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    tool_defs = {
        "cancel": {"name": "cancel", "doc": "Cancels.", "params": schema, "returns": {"type": "string"}},
        "look": {"name": "look", "doc": "Looks.", "params": None},
    }
    environment = {"domain_name": "retail", "policy": "Be kind.", "tool_defs": tool_defs}
    value = file_of(simulation(HELLO, DONE, trial=2), info={"environment_info": environment})
    run = only_run(tmp_path, value)
    assert (run.task_id, run.trial, run.passed, run.domain) == ("7", 2, True, "retail")
    assert run.tools == {"cancel": schema}
    assert run.record.run_id == "task-7-trial-2"


def test_what_a_benchmark_takes_of_tau_bench(tmp_path: Path) -> None:
    run = only_run(tmp_path, [row(trial=None)])
    assert (run.task_id, run.trial, run.domain, run.tools) == ("7", 0, None, {})


def test_runs_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "results.json.gz"
    file.write_bytes(gzip.compress(dumps([row(task_id=2), row(task_id=1), row(task_id=2, trial=1)])))
    assert [(run.task_id, run.trial) for run in tau_runs(file)] == [("2", 0), ("1", 0), ("2", 1)]


def test_rows_are_read_one_by_one() -> None:
    def rows() -> Any:  # noqa: ANN401 - an iterator that never gets to its end
        yield SourceRow("log.jsonl", 1, row())
        pytest.fail("the second row was read before the first run was taken")

    assert isinstance(next(read_tau(rows())), Conversation)


@pytest.mark.parametrize(
    ("value", "position", "reason"),
    [
        (3, "row 1", "$: no JSON object"),
        ({}, "row 1", "$.task_id: the field is missing"),
        (row(task_id=True), "row 1", "$.task_id: no text or number to name the case by"),
        (row(traj=None), "row 1", "$.messages: the field is missing"),
        (row(traj="hi"), "row 1", "$.traj: no list of messages"),
        (row(traj=["hi"]), "row 1", "$.traj[0]: no message: no JSON object"),
        (row(traj=[HELLO, {"role": "robot"}]), "row 1", "$.traj[1].role: the role 'robot' is unknown"),
        (row(trial="1"), "row 1", "$.trial: no whole number"),
        (row(trial=True), "row 1", "$.trial: no whole number"),
        (row(reward="1.0"), "row 1", "$.reward: no number"),
        (row(reward=True), "row 1", "$.reward: no number"),
        ({"simulations": {}}, "row 1", "$.simulations: no list"),
        ({"simulations": [], "tasks": 3}, "row 1", "$.tasks: no list"),
        (file_of(3), "row 1, simulation 1", "$: no JSON object"),
        (file_of(simulation(HELLO, reward_info={"reward": "x"})), "row 1, simulation 1",
         "$.reward_info.reward: no number"),
        (file_of(simulation(HELLO, messages=None)), "row 1, simulation 1", "$.messages: no list of messages"),
        (file_of(simulation(HELLO, {"role": "tool", "tool_messages": {}})), "row 1, simulation 1",
         "$.messages[1].tool_messages: no list of messages"),
        (file_of(simulation(HELLO, {"role": "tool", "tool_messages": [gives("c1", "x"), 3]})),
         "row 1, simulation 1", "$.messages[1].tool_messages[1]: no message: no JSON object"),
        (file_of(simulation(calls("user", "u1", "a", content=[]))), "row 1, simulation 1",
         "$.messages[0].content: no text"),
        (file_of(simulation(calls("user", "u1", "a"), gives("u1", "x", "user"), says("y"), {"role": "x"})),
         "row 1, simulation 1", "$.messages[3].role: the role 'x' is unknown"),
    ],
)  # fmt: skip
def test_rejected_with_the_place_in_the_source(value: JsonValue, position: str, reason: str) -> None:
    assert [rejection(outcome) for outcome in outcomes(value)] == [(position, reason)]


def test_a_fault_does_not_stop_the_runs_after_it() -> None:
    first, second = outcomes(file_of(3, simulation(HELLO, DONE)))
    assert isinstance(first, Rejected)
    assert imported(second).position == "row 1, simulation 2"


def test_a_benchmark_is_told_of_a_fault_in_one_line(tmp_path: Path) -> None:
    value = file_of(simulation(HELLO, DONE), simulation(trial="x"))
    file = write_json(tmp_path / "results.json", value)
    runs = tau_runs(file)
    assert next(runs).task_id == "7"
    with pytest.raises(InputError) as raised:
        next(runs)
    assert str(raised.value) == (
        f"{file}: simulation 2: $.trial: no whole number; mend the file or take that run out"
    )


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["import", "tau", *(str(argument) for argument in arguments)])


def test_the_command(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", row(task_id="a|b"), row(trial=1), row(task_id=3, trial=1))
    result = invoke(log, "--suite", tmp_path / "all")
    assert (result.exit_code, result.stderr) == (0, "")
    records = tmp_path / "all" / "records"
    assert result.stdout.splitlines()[-1] == f"records written to {records}: 3"
    assert sorted(file.name for file in (tmp_path / "all" / "records").iterdir()) == [
        "task-3-trial-1.json",
        "task-7-trial-1.json",
        # printf 'task-a|b-trial-0' | sha256sum
        "task-a-b-trial-0-0608f8e4.json",
    ]
    assert invoke(log, "--suite", tmp_path / "one", "--trial", "1").exit_code == 0
    assert sorted(file.name for file in (tmp_path / "one" / "records").iterdir()) == [
        "task-3.json",
        "task-7.json",
    ]


def test_the_command_with_a_trial_that_is_not_there(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log.jsonl", row())
    assert invoke(log, "--suite", tmp_path / "s", "--trial", "9").exit_code == 4
    assert invoke(log, "--suite", tmp_path / "s", "--trial", "-1").exit_code == 2


# Runs, passed ones, unfinished ones (`info.reward_info` is null), domain, calls; counted by other means.
FILES = {
    "tau-bench/airline__gpt-4o_4trials.json.gz": (200, 84, 5, None, 1164),
    "tau2-bench/airline-split__gpt-4.1.json.gz": (20, 10, 0, "airline", 148),
    "tau2-bench/airline-split__ft-gpt-4.1.json.gz": (20, 13, 0, "airline", 147),
    "tau2-bench/telecom-no-user__gpt-4.1_4trials_5tasks.json.gz": (20, 16, 0, "telecom", 192),
}


@pytest.mark.parametrize("name", FILES)
def test_real_results(data_dir: Path, name: str) -> None:
    file = data_dir / name
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    runs = list(tau_runs(file))
    all_calls = [call for run in runs for call in extract_tool_calls(run.record)]
    answered = [call for call in all_calls if call.has_output and call.name]
    passed = sum(run.passed is True for run in runs)
    unfinished = sum(run.record.status == "failed" for run in runs)
    assert (len(runs), passed, unfinished, runs[0].domain, len(all_calls)) == FILES[name]
    assert len(answered) == len(all_calls)
    assert len({(run.task_id, run.trial) for run in runs}) == len(runs)
    assert all(run.record.question and run.record.response for run in runs)


@pytest.mark.parametrize("name", FILES)
def test_nothing_of_a_real_run_is_lost(data_dir: Path, name: str) -> None:
    file = data_dir / name
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    source: Any = json.loads(gzip.decompress(file.read_bytes()))
    rows: list[JsonObject] = source if name.startswith("tau-bench") else source["simulations"]
    for run, original in zip(tau_runs(file), rows, strict=True):
        noted = run.record.regress_metadata["run"]
        key = "traj" if "traj" in original else "messages"
        assert noted == {member: value for member, value in original.items() if member != key}
        texts = [message["content"] for message in original[key] if message["role"] in ("user", "assistant")]
        kept = [item["content"] for item in run.record.items if item["type"] == "message"]
        asked = [] if any(message["role"] == "user" for message in original[key]) else [run.record.question]
        assert kept == [*asked, *(text for text in texts if text)]
