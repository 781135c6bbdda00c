"""The semantic rubric: qualities of what the assistant says, told by evidence that is there or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regress_core.checks.assertions import holding
from regress_core.checks.config import SemanticDimension
from regress_core.checks.outcome import Finding
from regress_core.checks.own_part import Said
from regress_core.checks.texts import excerpt


def find_evidence(dimension: SemanticDimension, transcript: Sequence[Said]) -> Finding:
    """Look for a dimension's evidence in all that the assistant said: its messages and its answer."""
    looked_for = [f"{evidence.wording} said" for evidence in dimension.required]
    looked_for += [f"{evidence.wording} not said" for evidence in dimension.forbidden]
    faults = [*_missing(dimension, transcript), *_forbidden(dimension, transcript)]
    return Finding(
        holds=not faults,
        looked_for=f"{dimension.quality}: {', '.join(looked_for)}",
        found="; ".join(fault for fault, _ in faults) or "all evidence is as it should be",
        where=next((where for _, where in faults if where is not None), None),
    )


def _missing(dimension: SemanticDimension, transcript: Sequence[Said]) -> Iterator[tuple[str, str | None]]:
    for evidence in dimension.required:
        if next(holding(transcript, evidence.holds), None) is None:
            yield f"{evidence.wording} is never said", None


def _forbidden(dimension: SemanticDimension, transcript: Sequence[Said]) -> Iterator[tuple[str, str | None]]:
    for evidence in dimension.forbidden:
        said = next(holding(transcript, evidence.holds), None)
        if said is not None:
            yield f"{evidence.wording} is said: {excerpt(said.text, evidence.holds)}", said.where
