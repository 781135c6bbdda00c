"""The recorder: what the record of a run holds besides what happened, and where else it goes."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from regress_core.harness.recorder import iso_time, question_of
from regress_core.harness.run_options import RecordOptions
from regress_core.harness.tools import RunContext, Tool
from regress_core.records.json_io import JsonValue
from regress_core.records.model import Item, RunRecord
from tests.harness.support import allowing, ended, ok, outputs, recording, run
from tests.support.harness import WatchedClient, agent, asks, call, says, scripted
from tests.support.records import message, tool_call

SECRET = {"user": {"id": "u1", "card": "4111"}, "lang": "en"}


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 5, 1, tzinfo=UTC), "2026-05-01T00:00:00.000Z"),
        (datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "2026-12-31T23:59:59.999Z"),
        (datetime(2026, 5, 1, 7, 8, 9, 1_000, tzinfo=UTC), "2026-05-01T07:08:09.001Z"),
    ],
)
def test_times(moment: datetime, text: str) -> None:
    assert iso_time(moment) == text


@pytest.mark.parametrize(
    ("items", "question"),
    [
        ([], ""),
        ([message("Hi")], "Hi"),
        ([message("  Hi \n")], "Hi"),
        ([message("A"), message("B", "assistant"), message("C")], "A\n\nC"),
        ([message("S", "system"), message(" "), message("A")], "A"),
        ([tool_call("c1", "look"), message("B", "assistant")], ""),
    ],
)
def test_the_question_of_an_input(items: list[Item], question: str) -> None:
    assert question_of(items) == question


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (RecordOptions(), None),
        (RecordOptions(include_prompt_text=True), "Be brief."),
    ],
)
def test_the_prompts_text_is_recorded_where_asked_for(options: RecordOptions, text: str | None) -> None:
    record = run(agent(prompt_version="v3"), [says("Hi.")], allowing(record=options)).record

    (snapshot,) = record.data["promptSnapshots"]
    assert (snapshot.get("promptText"), snapshot.get("promptVersion")) == (text, "v3")


def test_no_prompt_is_recorded_as_an_empty_one() -> None:
    record = run(agent(instructions=None), [says("Hi.")], recording(include_prompt_text=True)).record

    (snapshot,) = record.data["promptSnapshots"]
    assert snapshot.get("promptText") == ""
    assert "promptVersion" not in snapshot


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        pytest.param(None, None, id="none"),
        pytest.param({}, {}, id="empty"),
        pytest.param({"scenario": "night", "n": (1, 2)}, {"scenario": "night", "n": [1, 2]}, id="some"),
    ],
)
def test_metadata(given: Any, recorded: JsonValue) -> None:  # noqa: ANN401 - any metadata
    record = run(agent(), [says("Hi.")], recording(metadata=given)).record

    assert record.data.get("metadata") == recorded
    assert ("metadata" in record.data) == (given is not None)


def test_metadata_that_is_no_json_fails_the_run() -> None:
    done = run(agent(), [says("Hi.")], recording(metadata={"score": float("nan")}))

    assert ended(done) == ("failed", "TypeError", "no JSON value: NaN and infinities")
    assert "metadata" not in done.record.data


def test_a_given_run_id() -> None:
    assert run(agent(), [says("Hi.")], recording(run_id="case-7/1")).record.run_id == "case-7/1"
    assert run(agent(), [says("Hi.")]).record.run_id == "run-1"


def _without_card(context: Any) -> Any:  # noqa: ANN401 - a context
    return {**context, "user": {"id": context["user"]["id"]}}


async def _without_card_later(context: Any) -> Any:  # noqa: ANN401 - a context
    await asyncio.sleep(0)
    return _without_card(context)


def _takes_card_away(context: Any) -> Any:  # noqa: ANN401 - a context
    del context["user"]["card"]
    return context


def _card_of_context(_arguments: JsonValue, context: RunContext) -> JsonValue:
    return context.context["user"]["card"]


@pytest.mark.parametrize(
    "redactor",
    [_without_card, _without_card_later, _takes_card_away],
    ids=["makes another", "makes another later", "changes what it is given"],
)
def test_a_redactor_decides_what_is_kept_of_the_context(redactor: Any) -> None:  # noqa: ANN401 - a redactor
    options = allowing(context=SECRET, record=RecordOptions(context_redactor=redactor))
    entry = agent([Tool("card", "", _card_of_context)])

    record = run(entry, [asks(call("card")), says("Done.")], options).record

    assert record.data["contextSnapshot"] == {"user": {"id": "u1"}, "lang": "en"}
    assert record.data.get("contextRedacted") is True
    assert outputs(record) == [ok("4111")]  # tools have the whole


def test_without_a_redactor_the_context_is_kept() -> None:
    record = run(agent(), [says("Hi.")], allowing(context=SECRET)).record

    assert record.data["contextSnapshot"] == SECRET
    assert record.data.get("contextRedacted") is False


def _raises(_: object) -> object:
    raise LookupError("no rules")


async def _raises_later(_: object) -> object:
    await asyncio.sleep(0)
    raise LookupError("no rules")


def _gives_an_object(_: object) -> object:
    return object()


@pytest.mark.parametrize(
    ("redactor", "error"),
    [(_raises, "LookupError"), (_raises_later, "LookupError"), (_gives_an_object, "TypeError")],
)
def test_a_redactor_that_fails_fails_the_run_and_nothing_of_the_context_is_kept(
    redactor: Any,  # noqa: ANN401 - a redactor
    error: str,
) -> None:
    model = WatchedClient(scripted(says("Hi.")))
    told: list[RunRecord] = []
    options = allowing(context=SECRET, record=RecordOptions(context_redactor=redactor, sink=told.append))

    record = run(agent(), model, options).record

    assert (record.status, record.error_name) == ("failed", error)
    assert record.data["contextSnapshot"] is None
    assert record.data.get("contextRedacted") is True
    assert model.requests == []
    assert told == [record]


def test_the_sink_gets_every_record_sync_or_async() -> None:
    told: list[RunRecord] = []

    async def later(record: RunRecord) -> None:
        await asyncio.sleep(0)
        told.append(record)

    completed = run(agent(), [says("Hi.")], recording(sink=told.append)).record
    failed = run(agent(), [asks(call("unknown"))], recording(sink=later)).record

    assert told == [completed, failed]
    assert [record.status for record in told] == ["completed", "failed"]


async def _sink_fails_later(_: RunRecord) -> None:
    await asyncio.sleep(0)
    raise OSError("disk full")


def _sink_fails(_: RunRecord) -> None:
    raise OSError("disk full")


@pytest.mark.parametrize("sink", [_sink_fails, _sink_fails_later], ids=["sync", "async"])
def test_a_sink_that_fails_is_logged_and_changes_nothing(sink: Any, caplog: pytest.LogCaptureFixture) -> None:  # noqa: ANN401 - a sink
    with caplog.at_level(logging.ERROR):
        done = run(agent(), [says("Hi.")], recording(sink=sink))

    assert ended(done) == ("completed", None, None)
    (logged,) = caplog.records
    assert logged.getMessage() == "the record sink failed; the run of run-1 is not affected"
    assert logged.exc_info is not None
    assert str(logged.exc_info[1]) == "disk full"


def test_a_record_says_who_answered_last() -> None:
    record = run(agent(name="Only", model=" m-blank "), [says("Hi.")]).record

    assert (record.data["agentName"], record.data.get("model")) == ("Only", " m-blank ")
    assert record.data["requestFingerprints"][0]["model"] == "m-blank"


def test_lone_surrogates_go_through_a_whole_run() -> None:
    entry = agent({"lo\udfffok": "o\ud800"}, name="A\ud800", instructions="P\udfff")
    calls = asks(call("lo\udfffok", "c\ud800", q="a\ud800"))

    record = run(
        entry, [calls, says("Done\udfff")], allowing(context={"\ud800": "x"}), start="q\ud800"
    ).record

    assert (record.data["question"], record.response) == ("q\ud800", "Done\udfff")
    assert record.data["contextSnapshot"] == {"\ud800": "x"}
