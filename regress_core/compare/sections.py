"""The sections of a comparison, by the names that suite.yaml and the reference use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

SectionName = Literal[
    "status",
    "response",
    "toolCalls",
    "effects",
    "policy",
    "suspendedProposals",
    "guardrails",
    "errors",
    "prompts",
    "fingerprints",
    "descriptor",
    "metadata",
]

SECTION_NAMES: tuple[SectionName, ...] = get_args(SectionName)
"""Every section, in the order in which differences are reported."""

DECIDING: frozenset[SectionName] = frozenset(
    ("status", "response", "toolCalls", "effects", "policy", "suspendedProposals", "guardrails", "errors")
)
"""What decides `equal` by default. The rest is provenance: why a run may differ, not what got worse."""

REFERENCE_SECTIONS: frozenset[SectionName] = frozenset(
    ("response", "toolCalls", "policy", "guardrails", "metadata")
)
"""What the reference compares; all five decide there."""


@dataclass(frozen=True, slots=True)
class SectionPlan:
    """Which sections are looked at in one comparison, and which of them decide."""

    compared: tuple[SectionName, ...]
    deciding: frozenset[SectionName]

    @property
    def decides(self) -> bool:
        """Whether any section that decides is compared at all; without one, equal would mean nothing."""
        return not self.deciding.isdisjoint(self.compared)
