"""Helpers of these tests: rows in, outcomes out."""

from __future__ import annotations

import json
from pathlib import Path

from regress_core.records.importers.base import Imported, Outcome, SourceRow
from regress_core.records.importers.chat import ChatOptions, import_openai_chat
from regress_core.records.json_io import JsonObject, JsonValue, dumps


def rows_of(*values: JsonValue, file: str = "log.jsonl") -> list[SourceRow]:
    return [SourceRow(file, number, value) for number, value in enumerate(values, start=1)]


def imported(outcome: Outcome) -> Imported:
    assert isinstance(outcome, Imported), outcome
    return outcome


def chat_record(messages: JsonValue, **more: JsonValue) -> JsonObject:
    """Import one row of chat messages whole, and give its record as JSON."""
    (outcome,) = import_openai_chat(rows_of({"messages": messages, **more}), ChatOptions())
    return json.loads(dumps(imported(outcome).record.data))


def write_lines(file: Path, *rows: JsonValue) -> Path:
    """Write rows as JSON lines."""
    file.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    return file
