"""What a suite may say about how its runs are compared."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pydantic import Field, ValidationInfo, field_validator, model_validator

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.sections import (
    DECIDING,
    REFERENCE_SECTIONS,
    SECTION_NAMES,
    SectionName,
    SectionPlan,
)
from regress_core.records.argument_rules import ArgumentRules
from regress_core.records.wire import ConfigModel


class CompareOptions(ConfigModel):
    """Options of `compare_run_records`; the `compare` mapping of suite.yaml.

    Attributes:
        include_sections: Look at these sections only.
        exclude_sections: Do not look at these.
        deciding: Sections that decide `equal` although they are provenance by default.
        provenance: Sections that are only reported although they decide by default.
        ignore_volatile: True (default): what differs between any two runs of one harness is no difference:
            timestamps, run ids, call ids, the order of calls inside a turn group, an ok envelope around bare
            data. False: the reference's own rule and its five sections, all of them deciding.
        arguments: What does not count of tool arguments. Not with the reference's rule, which has no such.
        effects: Which tools write, and when two writes come to the same; in suite.yaml a mapping of its own.
            Without it the section `effects` is not compared, nor with the reference's rule.
    """

    include_sections: tuple[SectionName, ...] | None = Field(default=None, strict=False)
    exclude_sections: tuple[SectionName, ...] = Field(default=(), strict=False)
    deciding: tuple[SectionName, ...] = Field(default=(), strict=False)
    provenance: tuple[SectionName, ...] = Field(default=(), strict=False)
    ignore_volatile: bool = True
    arguments: ArgumentRules = ArgumentRules()
    effects: EffectsConfig | None = None

    @model_validator(mode="after")
    def _moved_once(self) -> CompareOptions:
        both = set(self.deciding) & set(self.provenance)
        if both:
            raise ValueError(f"{', '.join(sorted(both))}: named in both deciding and provenance")
        return self

    @field_validator("arguments")
    @classmethod
    def _not_as_reference(cls, rules: ArgumentRules, info: ValidationInfo) -> ArgumentRules:
        if rules and info.data.get("ignore_volatile") is False:
            raise ValueError("the reference's rule (ignore_volatile: false) has no rules on arguments")
        return rules

    def plan(self, unrecorded: AbstractSet[str] = frozenset()) -> SectionPlan:
        """Settle which sections are compared, given those that either record's source cannot know."""
        default = frozenset(SECTION_NAMES) if self.ignore_volatile else REFERENCE_SECTIONS
        chosen = default if self.include_sections is None else frozenset(self.include_sections)
        compared = chosen - frozenset(self.exclude_sections) - unrecorded
        if self.effects is None or not self.ignore_volatile or "toolCalls" in unrecorded:
            compared -= {"effects"}
        deciding = DECIDING if self.ignore_volatile else REFERENCE_SECTIONS
        return SectionPlan(
            compared=tuple(name for name in SECTION_NAMES if name in compared),
            deciding=(deciding | frozenset(self.deciding)) - frozenset(self.provenance),
        )
