"""Calibrating a judge: what it said, set against what is true."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from regress_core.records.wire import WireModel
from regress_core.stats.agreement import Confusion, Kappa, cohen_kappa
from regress_core.stats.intervals import Rate, rate

GapKind = Literal["no label", "unmapped label", "no verdict", "unreadable verdict", "unmapped verdict"]
_GAP_KINDS: tuple[GapKind, ...] = get_args(GapKind)


class JudgeVersion(NamedTuple):
    """The judge that a calibration is about; None for what was not named."""

    judge: str | None
    model: str | None
    prompt_version: str | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a row says nothing about its judge.

    Attributes:
        kind: What is missing.
        text: The word that no table holds, or what is wrong with a reply; empty where there is nothing.
    """

    kind: GapKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """A judge's verdict on an item, and the truth.

    Attributes:
        item: What was judged.
        version: Who judged.
        predicted: Whether the judge says pass; None with a gap.
        actual: Whether it is one; None with a gap.
        gap: Why the two cannot be compared.
    """

    item: str
    version: JudgeVersion
    predicted: bool | None
    actual: bool | None
    gap: Gap | None = None


class GapCount(WireModel):
    """How many rows have the same gap."""

    kind: GapKind
    text: str
    rows: int


class Calibration(WireModel):
    """How well the verdicts of one judge agree with the truth; every figure is over the compared rows.

    Attributes:
        judge: Which judge; None where it was not named.
        model: The model it asked; None likewise.
        prompt_version: The version of its instructions; None likewise.
        rows: How many rows there are of it.
        compared: How many of them hold a verdict and a label.
        gaps: Why the others could not be compared.
        confusion: The compared rows, by verdict and truth.
        agreement: How many verdicts are true.
        kappa: Agreement beyond chance.
        false_pass_rate: Of what is truly fail, how much it lets pass.
        false_fail_rate: Of what is truly pass, how much it fails.
        false_passes: The items it lets pass wrongly.
        false_fails: The items it fails wrongly.
    """

    judge: str | None
    model: str | None
    prompt_version: str | None
    rows: int
    compared: int
    gaps: list[GapCount]
    confusion: Confusion
    agreement: Rate
    kappa: Kappa
    false_pass_rate: Rate
    false_fail_rate: Rate
    false_passes: list[str]
    false_fails: list[str]


def calibrate(verdicts: Iterable[LabelledVerdict]) -> list[Calibration]:
    """Calibrate each judge, model and prompt version for itself, in the order of their names."""
    groups: defaultdict[JudgeVersion, list[LabelledVerdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.version].append(verdict)
    versions = sorted(groups, key=lambda version: tuple(name or "" for name in version))
    return [_calibration(version, groups[version]) for version in versions]


def items_in_common(verdicts: Iterable[LabelledVerdict]) -> tuple[int, int]:
    """Count the items that every judge was compared on, and those that any was.

    Where the two differ, the figures rank no judges.
    """
    compared: defaultdict[JudgeVersion, set[str]] = defaultdict(set)
    for verdict in verdicts:
        items = compared[verdict.version]
        if verdict.gap is None:
            items.add(verdict.item)
    judges = Counter(item for items in compared.values() for item in items)
    return sum(count == len(compared) for count in judges.values()), len(judges)


def count_gaps(verdicts: Iterable[LabelledVerdict]) -> list[GapCount]:
    """Count the gaps, by kind, the most frequent ones of a kind first."""
    counts = Counter(verdict.gap for verdict in verdicts if verdict.gap is not None)
    ranked = sorted(counts.items(), key=lambda gap: (_GAP_KINDS.index(gap[0].kind), -gap[1], gap[0].text))
    return [GapCount(kind=gap.kind, text=gap.text, rows=rows) for gap, rows in ranked]


def _calibration(version: JudgeVersion, verdicts: Sequence[LabelledVerdict]) -> Calibration:
    compared = [verdict for verdict in verdicts if verdict.gap is None]
    cells = Counter((verdict.predicted, verdict.actual) for verdict in compared)
    confusion = Confusion(
        true_pass=cells[True, True],
        false_pass=cells[True, False],
        false_fail=cells[False, True],
        true_fail=cells[False, False],
    )
    return Calibration(
        judge=version.judge,
        model=version.model,
        prompt_version=version.prompt_version,
        rows=len(verdicts),
        compared=len(compared),
        gaps=count_gaps(verdicts),
        confusion=confusion,
        agreement=rate(confusion.true_pass + confusion.true_fail, confusion.count),
        kappa=cohen_kappa(confusion),
        false_pass_rate=rate(confusion.false_pass, confusion.false_pass + confusion.true_fail),
        false_fail_rate=rate(confusion.false_fail, confusion.false_fail + confusion.true_pass),
        false_passes=[verdict.item for verdict in compared if verdict.predicted and not verdict.actual],
        false_fails=[verdict.item for verdict in compared if verdict.actual and not verdict.predicted],
    )
