"""Evaluation logs of Inspect: samples of logs and archives, tools' errors, texts kept apart."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.records.importers.base import Imported, Outcome, Rejected
from regress_core.records.importers.conversations import Turns
from regress_core.records.importers.inspect_ai import is_inspect, read_inspect
from regress_core.records.importers.rows import read_rows
from regress_core.records.json_io import JsonObject, JsonValue
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message, tool_call, tool_output
from tests.support.strategies import JSON_VALUES

EVAL: JsonObject = {
    "task": "orders",
    "model": "openai/m",
    "created": "2026-03-01T10:00:00+00:00",
    "config": {},
}
HELLO: JsonObject = {"role": "user", "content": "Where is it?"}
CALLS: JsonObject = {
    "role": "assistant",
    "content": [{"type": "reasoning", "reasoning": "Look."}, {"type": "text", "text": "Let me see."}],
    "tool_calls": [
        {"id": "c1", "function": "find", "arguments": {"n": 1}, "type": "function"},
        {"id": "c2", "function": "find", "arguments": {"n": 2}, "parse_error": "odd"},
    ],
}
ERROR: JsonObject = {
    "role": "tool",
    "tool_call_id": "c2",
    "function": "find",
    "content": "",
    "error": {"type": "timeout", "message": "too slow"},
}
GIVES: JsonObject = {"role": "tool", "tool_call_id": "c1", "function": "find", "content": "here"}
DONE: JsonObject = {"role": "assistant", "content": "It is here."}


def sample(*messages: JsonObject, **more: JsonValue) -> JsonObject:
    return {"id": 7, "epoch": 1, "input": "x", "target": "y", "messages": list(messages), **more}


def log(*samples: JsonValue, **more: JsonValue) -> JsonObject:
    return {"version": 2, "status": "success", "eval": EVAL, "samples": list(samples), **more}


def read(*rows: JsonValue, turns: Turns = "whole") -> list[Outcome]:
    return cases(read_inspect(rows_of(*rows, file="log.json")), turns=turns)


def bare(outcome: Outcome) -> list[JsonObject]:
    items = imported(outcome).record.items
    return [{k: v for k, v in item.items() if k not in ("rawItem", "reasoning")} for item in items]


def test_a_sample() -> None:
    usage = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 80}
    prompt: JsonObject = {"role": "system", "content": "Be kind."}
    one = sample(
        prompt, HELLO, CALLS, ERROR, GIVES, DONE, scores={"match": {"value": "C"}}, model_usage={"m": usage}
    )
    (outcome,) = read(log(one))

    assert bare(outcome) == [
        message("Where is it?"),
        message("Let me see.", "assistant"),
        tool_call("c1", "find", arguments={"n": 1}),
        tool_call("c2", "find", arguments={"n": 2}),
        {**tool_output("c2", output="too slow"), "isError": True},
        tool_output("c1", output="here"),
        message("It is here.", "assistant"),
    ]
    run = imported(outcome)
    assert (run.name, run.position, run.record.response) == ("orders-7", "sample 1", "It is here.")
    assert (run.record.data.get("model"), run.record.data["startedAt"]) == (
        "openai/m",
        "2026-03-01T10:00:00.000Z",
    )
    assert run.record.data["promptSnapshots"][0].get("promptText") == "Be kind."
    noted = run.record.regress_metadata
    assert noted["scores"] == {"match": {"value": "C"}}
    assert "label" not in noted, "a score is no label unless --label says so"
    # The total is that of input and output, so that the cached tokens are among the input.
    assert (noted["usage"]["inputTokens"], noted["usage"]["cacheReadTokens"]) == (20, 80)


@pytest.mark.parametrize(
    ("usage", "inputs"),
    [
        ({"input_tokens": 20, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 80}, 20),
        ({"input_tokens": 100, "output_tokens": 5, "total_tokens": 105, "input_tokens_cache_read": 80}, 20),
        ({"input_tokens": 100, "output_tokens": 5}, 100),
    ],
)
def test_cached_tokens_are_apart_whichever_way_they_are_counted(usage: JsonObject, inputs: int) -> None:
    (outcome,) = read(log(sample(HELLO, DONE, model_usage={"m": usage})))
    assert imported(outcome).record.regress_metadata["usage"]["inputTokens"] == inputs


def test_an_archive_is_its_header_and_then_its_samples() -> None:
    one, two = read({"version": 2, "eval": EVAL}, sample(HELLO, DONE), sample(HELLO, DONE, id="b", epoch=2))
    assert [imported(found).name for found in (one, two)] == ["orders-7", "orders-b-epoch-2"]


def test_with_several_epochs_each_has_its_number() -> None:
    evaluation = {**EVAL, "config": {"epochs": 2}}
    outcomes = read(log(sample(HELLO, DONE), sample(HELLO, DONE, epoch=2), eval=evaluation))
    assert [imported(found).name for found in outcomes] == ["orders-7-epoch-1", "orders-7-epoch-2"]


def test_texts_that_are_kept_apart_are_put_back() -> None:
    key = "ab12"
    long = {"role": "user", "content": f"attachment://{key}"}
    given = {**GIVES, "content": [{"type": "text", "text": f"attachment://{key}"}]}
    (outcome,) = read(log(sample(long, CALLS, given, DONE, attachments={key: "a long text"})))
    assert bare(outcome)[0] == message("a long text")
    assert bare(outcome)[4] == tool_output("c1", output="a long text")


@pytest.mark.parametrize(
    ("more", "name", "text"),
    [
        ({"error": {"message": "out of memory", "traceback": "…"}}, "SampleError", "out of memory"),
        ({"limit": {"type": "message", "limit": 10}}, "LimitExceeded", "message: 10"),
    ],
)
def test_a_sample_that_was_cut_off_has_failed(more: JsonObject, name: str, text: str) -> None:
    record = imported(read(log(sample(HELLO, DONE, **more)))[0]).record
    assert (record.status, record.error_name, record.error_message) == ("failed", name, text)


@pytest.mark.parametrize(
    ("value", "position", "reason"),
    [
        (3, "row 1", "$: no JSON object"),
        ({"eval": EVAL, "samples": 3}, "row 1", "$.samples: no list"),
        (log({"id": 1}), "sample 1", "$.samples[0].messages: the field is missing"),
        (log(sample(HELLO, id=None)), "sample 1", "$.samples[0].id: no text or number to name the case by"),
        (log({**sample(), "messages": 3}), "sample 1", "$.samples[0].messages: no list of messages"),
        (log(sample(DONE, input=None)), "sample 1", "$.samples[0].messages: no message of the user"),
        (
            log(sample({"role": "robot"})),
            "sample 1",
            "$.samples[0].messages[0].role: the role 'robot' is unknown",
        ),
    ],
)
def test_rejected_with_the_path(value: JsonValue, position: str, reason: str) -> None:
    assert rejection(read(value)[0]) == (position, reason)


@pytest.mark.parametrize("given", ["Where is it?", [HELLO]])
def test_what_no_message_asks_the_samples_input_does(given: JsonValue) -> None:
    (outcome,) = read(log(sample(DONE, input=given)))
    assert bare(outcome) == [message("Where is it?"), message("It is here.", "assistant")]


def test_real_errors_of_tools(data_dir: Path) -> None:
    file = data_dir / "inspect-ai" / "log_tool_call_error.json"
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    (one,) = json.loads(file.read_bytes())["samples"]
    (outcome,) = cases(read_inspect(read_rows(file)))
    flagged = [item.get("isError") is True for item in imported(outcome).record.items[1:]]
    assert flagged == [bool(said.get("error")) for said in one["messages"]]
    assert any(flagged)


def test_of_a_log_the_sound_samples_are_read() -> None:
    first, second = read(log({"id": 1}, sample(HELLO, DONE)))
    assert isinstance(first, Rejected)
    assert imported(second).position == "sample 2"


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (log(), True),
        ({"version": 2, "eval": EVAL, "plan": {}}, True),
        (sample(HELLO), True),
        ({"messages": [HELLO]}, False),
        ({"eval": 3}, False),
        (None, False),
    ],
)
def test_what_looks_like_it(value: JsonValue, *, is_one: bool) -> None:
    assert is_inspect(value) is is_one


REAL = ["log_formats.eval", "log_read_sample.json", "2025-05-12T20-27-36-04-00_browser.json.gz"]


def _samples(file: Path) -> list[Any]:
    if file.name.endswith(".eval"):
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            return [json.loads(archive.read(name)) for name in names]
    data = file.read_bytes()
    return json.loads(gzip.decompress(data) if file.name.endswith(".gz") else data)["samples"]


@pytest.mark.parametrize("name", REAL)
def test_real_logs(data_dir: Path, name: str) -> None:
    file = data_dir / "inspect-ai" / name
    if not file.exists():
        pytest.skip(f"no real data: {file} is missing")
    samples = _samples(file)

    outcomes = cases(read_inspect(read_rows(file)))

    assert len(outcomes) == len(samples) == 1
    for outcome, one in zip(outcomes, samples, strict=True):
        kinds = [item["type"] for item in imported(outcome).record.items]
        calls = sum(len(said.get("tool_calls") or []) for said in one["messages"])
        assert kinds.count("tool_call_item") == calls
        assert kinds.count("tool_call_output_item") == sum(said["role"] == "tool" for said in one["messages"])
        assert imported(outcome).record.response == one["output"]["choices"][0]["message"]["content"]


_CALLS: st.SearchStrategy[JsonValue] = st.fixed_dictionaries(
    {"function": st.text(max_size=2) | JSON_VALUES}, optional={"id": JSON_VALUES}
)
_MESSAGES: st.SearchStrategy[JsonValue] = JSON_VALUES | st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system"]),
        "content": st.text(max_size=2) | JSON_VALUES,
    },
    optional={
        "tool_calls": JSON_VALUES | st.lists(_CALLS),
        "error": JSON_VALUES,
        "function": JSON_VALUES,
        "tool_call_id": JSON_VALUES,
    },
)
_SAMPLES: st.SearchStrategy[JsonValue] = JSON_VALUES | st.fixed_dictionaries(
    {"messages": st.lists(_MESSAGES, max_size=3) | JSON_VALUES},
    optional={
        "id": JSON_VALUES,
        "epoch": JSON_VALUES,
        "target": JSON_VALUES,
        "error": JSON_VALUES,
        "limit": JSON_VALUES,
        "model_usage": JSON_VALUES,
        "attachments": JSON_VALUES,
    },
)
_LOGS: st.SearchStrategy[JsonValue] = _SAMPLES | st.fixed_dictionaries(
    {"eval": JSON_VALUES | st.fixed_dictionaries({"task": JSON_VALUES, "config": JSON_VALUES})},
    optional={"samples": st.lists(_SAMPLES, max_size=2) | JSON_VALUES},
)


@given(st.lists(_LOGS, max_size=3), st.sampled_from(["whole", "each"]))
def test_any_json_is_a_record_or_a_reason(rows: list[JsonValue], turns: Turns) -> None:
    for row in rows:
        is_inspect(row)
    for outcome in read(*rows, turns=turns):
        assert isinstance(outcome, Imported) or outcome.reason
