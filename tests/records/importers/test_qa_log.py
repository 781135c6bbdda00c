"""Rows of a question and its answer."""

from __future__ import annotations

import pytest

from regress_core.records.importers.qa_log import QaPaths, read_qa_log
from regress_core.records.json_io import JsonObject, JsonValue, dumps
from tests.records.importers.support import cases, imported, rejection, rows_of
from tests.support.records import message

ROW: JsonObject = {"query": "Where?", "response": "Here. \ud800", "timestamp": "2026-03-01T10:00:00Z"}


def test_record() -> None:
    (outcome,) = cases(read_qa_log(rows_of({**ROW, "model": "m", "rating": 5})), label="rating")
    run = imported(outcome)
    expected: JsonObject = {
        "runId": "row-1",
        "startedAt": "2026-03-01T10:00:00.000Z",
        "completedAt": "2026-03-01T10:00:00.000Z",
        "status": "completed",
        "agentName": "unknown",
        "model": "m",
        "question": "Where?",
        "response": "Here. \ud800",
        "contextSnapshot": {},
        "items": [message("Where?"), message("Here. \ud800", "assistant")],
        "inputItemCount": 1,
        "promptSnapshots": [],
        "requestFingerprints": [],
        "policyDecisions": [],
        "metadata": {
            "regress": {
                "name": "row-1",
                "label": 5,
                "source": "log.jsonl",
                "row": 1,
                "unrecorded": [
                    "policy",
                    "suspendedProposals",
                    "guardrails",
                    "fingerprints",
                    "descriptor",
                    "prompts",
                    "toolCalls",
                ],
            }
        },
    }
    assert dumps(run.record.data) == dumps(expected)
    assert (run.name, run.position, run.multi_turn) == ("row-1", "row 1", False)


def test_paths() -> None:
    row: JsonValue = {"q": {"text": "Where?"}, "a": ["Here."], "at": 1_700_000_000, "key": "k"}
    paths = QaPaths(query="q.text", response="a.0", timestamp="at")
    (outcome,) = cases(read_qa_log(rows_of(row), paths), name="{key}")
    data = imported(outcome).record.data
    assert (data["runId"], data["question"], data["response"], data["startedAt"]) == (
        "k",
        "Where?",
        "Here.",
        "2023-11-14T22:13:20.000Z",
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x", "$: no JSON object"),
        ({"response": "a"}, "$.query: the field is missing"),
        ({"query": "q"}, "$.response: the field is missing"),
        ({"query": ["q"], "response": "a"}, "$.query: no text"),
        ({"query": "q", "response": None}, "$.response: no text"),
        ({**ROW, "timestamp": "noon"},
         "$.timestamp: no time: neither ISO text nor seconds or milliseconds since 1970"),
        ({**ROW, "timestamp": {}},
         "$.timestamp: no time: neither ISO text nor seconds or milliseconds since 1970"),
        ({**ROW, "id": []}, "$.id: no text or number to name the case by"),
    ],
)  # fmt: skip
def test_rejected(row: JsonValue, reason: str) -> None:
    rejected, other = cases(read_qa_log(rows_of(row, ROW)))
    assert rejection(rejected) == ("row 1", reason)
    assert imported(other).name == "row-2"


@pytest.mark.parametrize("row", [{}, {"timestamp": None}])
def test_an_absent_time_is_the_epoch(row: JsonObject) -> None:
    (outcome,) = cases(read_qa_log(rows_of({"query": "q", "response": "a", **row})))
    assert imported(outcome).record.data["startedAt"] == "1970-01-01T00:00:00.000Z"
