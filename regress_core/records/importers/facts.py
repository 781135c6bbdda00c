"""What every importer of foreign rows takes from a row besides the talk, and the record it builds of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regress_core.records.canonical import hash_text, number_text
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.paths import Found, require
from regress_core.records.json_io import JsonError, JsonObject, JsonValue, clean_text
from regress_core.records.model import RunRecord

UNKNOWN_AGENT = "unknown"
UNRECORDED = ("policy", "suspendedProposals", "guardrails", "fingerprints", "descriptor")
"""The comparison sections that a log of what was said cannot know."""


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Facts of a row.

    Attributes:
        name: Its id, the name of its case.
        label: Its label; None when it has none.
        source: The name of its file.
        number: Which row of the file it is, from 1.
        time: When it was recorded, as ISO text.
        model: The model that answered, where the row says so.
    """

    name: str
    label: JsonValue
    source: str
    number: int
    time: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said in a run, in the run record's terms."""

    question: str
    response: str
    items: list[JsonObject]
    input_item_count: int
    prompt_snapshots: list[JsonObject]
    unrecorded: Sequence[str]


def row_facts(row: SourceRow, *, time: str, id_path: str | None = None) -> RowFacts:
    """Take the facts of a row; its own `id` or its number names it where no path does.

    Raises:
        JsonError: If the row is no object or has no id to name its case by.
    """
    value = row.members
    if value is None:
        raise JsonError("$", "no JSON object")
    model = value.get("model")
    return RowFacts(
        name=_row_name(row, value, id_path),
        label=None,
        source=row.file,
        number=row.number,
        time=time,
        model=model if isinstance(model, str) else None,
    )


def _row_name(row: SourceRow, value: JsonObject, id_path: str | None) -> str:
    if id_path is not None:
        return _name_text(require(value, id_path))
    if value.get("id") in (None, ""):
        return f"row-{row.number}"
    return _name_text(require(value, "id"))


def _name_text(found: Found) -> str:
    value = found.value
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    raise JsonError(found.path, "no text or number to name the case by")


def prompt_snapshots(prompt: str | None, messages: Sequence[JsonValue], time: str) -> list[JsonObject]:
    """Give the one snapshot of a prompt that a source tells, or none.

    Args:
        prompt: The prompt; None where the source has none.
        messages: The messages it was told in, where there are several or they hold more than its text.
        time: When it was used, as ISO text.
    """
    if prompt is None:
        return []
    snapshot: JsonObject = {
        "timestamp": time,
        "turn": 1,
        "agentName": UNKNOWN_AGENT,
        # A lone surrogate has no UTF-8; the reference hashes U+FFFD in its place, as Node does.
        "promptHash": hash_text(clean_text(prompt)),
        "promptText": prompt,
    }
    if messages:
        snapshot["rawItem"] = list(messages)
    return [snapshot]


def unrecorded(prompts: Sequence[JsonObject], *, tells_calls: bool) -> tuple[str, ...]:
    """Name the comparison sections that a log cannot know, prompts among them where it has none."""
    told = {"prompts": bool(prompts), "toolCalls": tells_calls}
    return (*UNRECORDED, *(name for name, is_told in told.items() if not is_told))


def build_record(name: str, facts: RowFacts, talk: Talk) -> RunRecord:
    """Build the record of a run; what the source lacks gets fixed values, so that it is the same every time.

    Raises:
        JsonError: If the talk makes no valid run record.
    """
    noted: JsonObject = {"name": name}
    if facts.label is not None:
        noted["label"] = facts.label
    noted |= {"source": facts.source, "row": facts.number, "unrecorded": list(talk.unrecorded)}
    model: JsonObject = {} if facts.model is None else {"model": facts.model}
    return RunRecord.parse(
        {
            "runId": name,
            "startedAt": facts.time,
            "completedAt": facts.time,
            "status": "completed",
            "agentName": UNKNOWN_AGENT,
            **model,
            "question": talk.question,
            "response": talk.response,
            "contextSnapshot": {},
            "items": talk.items,
            "inputItemCount": talk.input_item_count,
            "promptSnapshots": talk.prompt_snapshots,
            "requestFingerprints": [],
            "policyDecisions": [],
            "metadata": {"regress": noted},
        }
    )
