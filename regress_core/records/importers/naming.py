"""How imported cases are called, and what label they get, as a person asks for it."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from regress_core.records.canonical import number_text
from regress_core.records.importers.base import Imported
from regress_core.records.importers.conversations import Conversation
from regress_core.records.importers.paths import find, require
from regress_core.records.json_io import JsonError, JsonObject, JsonValue

_FIELD = re.compile(r"\{([^{}]+)\}")
_OWN_NAME = "name"


@dataclass(frozen=True, slots=True)
class Naming:
    """What is asked for.

    Attributes:
        name: The name of each case, a text with `{PATH}` where something of the run is to stand; `{name}` is
            what the case would be called without. None for that alone.
        label: The dotted path of the label; None for that of the format, if it has one.
    """

    name: str | None = None
    label: str | None = None


PLAIN = Naming()
"""What the format says."""


def named(run: Conversation, naming: Naming) -> Conversation:
    """Give a conversation the name and label that are asked for.

    Raises:
        JsonError: If a path of the name leads to nothing a case can be called by.
    """
    origin = origin_of(run)
    label = None if naming.label is None else find(origin, naming.label)
    facts = dataclasses.replace(
        run.facts,
        name=_name(run.facts.name, origin, naming),
        label=run.facts.label if label is None else label.value,
    )
    return dataclasses.replace(run, facts=facts)


def named_record(run: Imported, naming: Naming) -> Imported:
    """Give a record the name that is asked for; what it notes itself stays, its label among it.

    Raises:
        JsonError: As `named`.
    """
    return dataclasses.replace(run, name=_name(run.name, origin_of(run), naming))


def _name(own: str, origin: JsonObject, naming: Naming) -> str:
    if naming.name is None:
        return own
    return _FIELD.sub(lambda place: own if place[1] == _OWN_NAME else _text(origin, place[1]), naming.name)


def origin_of(run: Conversation | Imported) -> JsonObject:
    """Give what paths and conditions look into: the row, or what is known where a run is more than a row."""
    if isinstance(run, Imported):
        return dict(run.record.data)
    if run.origin is not None:
        return run.origin
    facts = run.facts
    return {
        "name": facts.name,
        "file": facts.source,
        "model": facts.model,
        "startedAt": facts.time,
        "endedAt": run.ended_at,
        "failed": bool(run.failure),
        "turns": len(run.transcript.user_items),
        **run.noted,
    }


def _text(origin: JsonObject, path: str) -> str:
    found = require(origin, path)
    value: JsonValue = found.value
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JsonError(found.path, "no text or number to name the case by")
    return number_text(value) if isinstance(value, float) else str(value)
