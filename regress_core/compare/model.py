"""What a comparison finds, in the reference's JSON shape plus extra keys."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import Field

from regress_core.compare.answers import AnswerComparison
from regress_core.compare.sections import SectionName
from regress_core.records.json_io import JsonValue
from regress_core.records.wire import WireModel

DifferenceKind = Literal["mismatch", "missing_left", "missing_right"]
SectionState = Literal["same", "different", "not compared"]


class Difference(WireModel):
    """One fact on which two records differ.

    Attributes:
        path: Where, such as `response` or `toolCalls[1].arguments`; indexes count in the left record, or in
            the right one where the left has nothing.
        kind: Whether the values differ or one side has none.
        left: The baseline's value; unset when it has none.
        right: The candidate's value; unset when it has none.
    """

    path: str
    kind: DifferenceKind
    left: JsonValue = None
    right: JsonValue = None


def mismatch(path: str, left: JsonValue, right: JsonValue) -> Difference:
    """Both sides have a value, and they differ."""
    return Difference(path=path, kind="mismatch", left=left, right=right)


def missing_left(path: str, right: JsonValue) -> Difference:
    """Only the candidate has a value."""
    return Difference(path=path, kind="missing_left", right=right)


def missing_right(path: str, left: JsonValue) -> Difference:
    """Only the baseline has a value."""
    return Difference(path=path, kind="missing_right", left=left)


class ComparisonSummary(WireModel):
    """The reference's four answers; a section that is not compared counts as the same."""

    same_final_response: bool
    same_tool_call_shape: bool
    same_policy_decisions: bool
    same_guardrail_decisions: bool


class ComparisonMetrics(WireModel):
    """Counts; calls match by name and canonical arguments, whatever their order.

    Lengths are in Unicode code points, where the reference counts UTF-16 units.
    """

    response_length_a: int
    response_length_b: int
    tool_calls_a: int
    tool_calls_b: int
    matched_tool_calls: int
    missing_tool_calls: int
    extra_tool_calls: int


class EffectsComparison(WireModel):
    """What became of the effective writes of two runs; what is neither of the three last is the same.

    Attributes:
        writes_a: The baseline's writes that changed something.
        writes_b: The candidate's.
        failed_a: The baseline's that came to nothing.
        failed_b: The candidate's.
        changed: Pairs of one tool with other arguments.
        missing: What only the baseline did.
        extra: What only the candidate did.
    """

    writes_a: int
    writes_b: int
    failed_a: int
    failed_b: int
    changed: int
    missing: int
    extra: int


StepKind = Literal["kept", "changed", "removed", "inserted", "moved"]
Trajectory = Literal["same", "reordered", "superset", "subset", "different"]


class TrajectoryStep(WireModel):
    """One step of the script that makes the candidate's trajectory of the baseline's.

    Attributes:
        kind: What became of a call.
        tool: The tool's name; empty for an output without its call.
        left: The call's index in the baseline, from 0; None if inserted.
        right: The call's index in the candidate, from 0; None if removed.
    """

    kind: StepKind
    tool: str
    left: int | None
    right: int | None


class TrajectoryComparison(WireModel):
    """How the candidate's calls follow the baseline's; see `alignment`.

    Attributes:
        trajectory: What the script comes to.
        first_divergence: The first step that is not kept, in words; None if all are.
        progress: Share of the baseline's calls that are kept before one is changed, removed or moved; None
            for a baseline without calls.
        steps: The steps that are not kept.
    """

    trajectory: Trajectory
    first_divergence: str | None
    progress: float | None
    steps: list[TrajectoryStep] = Field(default_factory=list[TrajectoryStep])


SignalName = Literal["statusChanged", "toolsChanged", "policyChanged", "finalOutputChanged", "effectsChanged"]


class Signals(WireModel):
    """The signals of a case: the RFC's four, and ours.

    Attributes:
        effects_changed: Ours: what the candidate changed outside of the conversation is not what the baseline
            did. Left out where the suite does not say which tools write.
    """

    status_changed: bool
    tools_changed: bool
    policy_changed: bool
    final_output_changed: bool
    effects_changed: bool = False

    def raised(self) -> tuple[SignalName, ...]:
        """Name the signals that are set."""
        flags: dict[SignalName, bool] = {
            "statusChanged": self.status_changed,
            "toolsChanged": self.tools_changed,
            "policyChanged": self.policy_changed,
            "finalOutputChanged": self.final_output_changed,
            "effectsChanged": self.effects_changed,
        }
        return tuple(name for name, is_set in flags.items() if is_set)


@lru_cache
def signals_of(names: tuple[str, ...]) -> Signals:
    """Give the signals of these names and no others; a few values serve any number of cases."""
    effects = {"effects_changed": True} if "effectsChanged" in names else {}
    return Signals(
        status_changed="statusChanged" in names,
        tools_changed="toolsChanged" in names,
        policy_changed="policyChanged" in names,
        final_output_changed="finalOutputChanged" in names,
        **effects,
    )


NO_SIGNALS = signals_of(())


class Comparison(WireModel):
    """The deterministic comparison of a baseline with a candidate.

    Attributes:
        equal: Whether no deciding section differs.
        differences: What differs in deciding sections, in the order of the sections.
        provenance: What differs in sections that only explain.
        sections: What became of each section.
        signals: The signals.
        effects: What became of the effective writes; None where the suite does not say which tools write.
        trajectory: How the candidate's calls follow the baseline's; None where calls are not compared.
        answer: What became of what the user was told; None where the response is not compared.
    """

    equal: bool
    summary: ComparisonSummary
    metrics: ComparisonMetrics
    differences: list[Difference]
    provenance: list[Difference] = Field(default_factory=list[Difference])
    sections: dict[SectionName, SectionState] = Field(default_factory=dict[SectionName, SectionState])
    signals: Signals = NO_SIGNALS
    effects: EffectsComparison | None = None
    trajectory: TrajectoryComparison | None = None
    answer: AnswerComparison | None = None
