"""Redaction of what is imported, before anything is written."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast, get_args

from regress_core.records.canonical import hash_text
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.json_io import JsonError, JsonObject, clean_text
from regress_core.records.model import RunRecord
from regress_core.records.personal_data import PersonalKind
from regress_core.records.redact import RedactConfig, Redactor

ALL_KINDS: tuple[PersonalKind, ...] = get_args(PersonalKind)

_HASH_LENGTH = 12


def everything_of(config: RedactConfig | None) -> RedactConfig:
    """Give what `--redact` hides: every kind of personal data, and what the suite hides itself."""
    return (config or RedactConfig()).model_copy(update={"kinds": ALL_KINDS})


def redacted(outcomes: Iterable[Outcome], config: RedactConfig, counts: Counter[str]) -> Iterator[Outcome]:
    """Hide in outcomes what is to be hidden: in whole records, in names, in what is said of rejects.

    Args:
        outcomes: The outcomes.
        config: What is to be hidden.
        counts: Takes how often what was hidden in records.
    """
    for outcome in outcomes:
        if isinstance(outcome, Imported):
            yield _redacted_run(outcome, config, counts)
            continue
        redactor = Redactor(config)
        texts = (outcome.position, outcome.reason, outcome.file)
        position, reason, file = (str(redactor.redact(text)) for text in texts)
        made = Skipped if isinstance(outcome, Skipped) else Rejected
        yield made(position, reason, file)


def _redacted_run(run: Imported, config: RedactConfig, counts: Counter[str]) -> Imported | Rejected:
    redactor = Redactor(config, keys=True)
    data = cast("JsonObject", redactor.redact(run.record.data))
    file, position = (str(redactor.redact(text)) for text in (run.file, run.position))
    if redactor.counts:
        data = _noted(data, dict(sorted(redactor.counts.items())))
    try:
        record = RunRecord.parse(data)
    except JsonError as error:
        return Rejected(position, f"the redacted record is no run record: {error}", file)
    counts.update(redactor.counts)
    name = run.name
    if redactor.redact(name) != name:
        # Not its placeholder: another record's first one is called the same.
        name = f"case-{hash_text(clean_text(name))[:_HASH_LENGTH]}"
    return dataclasses.replace(run, name=name, record=record, file=file, position=position)


def _noted(data: JsonObject, counts: JsonObject) -> JsonObject:
    metadata = data.get("metadata")
    metadata = cast("JsonObject", metadata) if isinstance(metadata, dict) else {}
    noted = metadata.get("regress")
    noted = cast("JsonObject", noted) if isinstance(noted, dict) else {}
    return {**data, "metadata": {**metadata, "regress": {**noted, "redacted": counts}}}
