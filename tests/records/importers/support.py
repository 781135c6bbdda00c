"""Helpers of these tests: rows in, outcomes out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from regress_core.records.importers.base import Imported, Outcome, Rejected, SourceRow
from regress_core.records.importers.chat import MESSAGES, read_openai_chat
from regress_core.records.importers.conversations import Found, Turns
from regress_core.records.importers.importing import Choice, cases_of
from regress_core.records.importers.naming import Naming
from regress_core.records.json_io import JsonObject, JsonValue, dumps


def rows_of(*values: JsonValue, file: str = "log.jsonl") -> list[SourceRow]:
    return [SourceRow(file, number, value) for number, value in enumerate(values, start=1)]


def cases(
    found: Iterable[Found], *, name: str | None = None, label: str | None = None, turns: Turns = "whole"
) -> list[Outcome]:
    """Make the cases of what was found."""
    return list(cases_of(found, Choice(turns=turns, naming=Naming(name, label))))


def chat(
    rows: Iterable[SourceRow],
    messages: str = MESSAGES,
    *,
    name: str | None = None,
    label: str | None = None,
    turns: Turns = "whole",
) -> list[Outcome]:
    """Import rows of chat messages."""
    return cases(read_openai_chat(rows, messages), name=name, label=label, turns=turns)


def imported(outcome: Outcome) -> Imported:
    assert isinstance(outcome, Imported), outcome
    return outcome


def rejection(outcome: Outcome) -> tuple[str, str]:
    """Give position and reason of what was rejected."""
    assert isinstance(outcome, Rejected), outcome
    return outcome.position, outcome.reason


def chat_record(messages: JsonValue, **more: JsonValue) -> JsonObject:
    """Import one row of chat messages whole, and give its record as JSON."""
    (outcome,) = chat(rows_of({"messages": messages, **more}))
    return json.loads(dumps(imported(outcome).record.data))


def write_lines(file: Path, *rows: JsonValue) -> Path:
    """Write rows as JSON lines."""
    file.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    return file
