"""Sign-offs: what people have decided about verdicts of the rubric judge, in signoffs.jsonl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from regress_core.judge.outcome import RubricVerdict
from regress_core.records.wire import WireModel
from regress_core.suite.appended_lines import Moment, Said, append_lines, load_lines
from regress_core.suite.contract import CaseDimension, Decision

SIGNOFFS_FILE = "signoffs.jsonl"

_EXPECTED_AT_FIRST = True


class SignOff(WireModel):
    """A line of signoffs.jsonl: a person accepted or rejected a verdict.

    Attributes:
        case_id: The case.
        dimension: The dimension of the rubric.
        passed: The verdict that was accepted or rejected.
        decision: Which of both.
        reason: Why.
        who: Who decided.
        when: When, UTC.
        judge_model: The model that was configured.
        prompt_version: The version of its instructions.
        evidence_hash: SHA-256 of what the judge was shown.
        dimension_hash: SHA-256 of the question and its two rules; None counts for any.
    """

    model_config = ConfigDict(strict=True)

    case_id: Said
    dimension: Said
    passed: bool
    decision: Literal["accepted", "rejected"]
    reason: Said
    who: Said
    when: Moment
    judge_model: str | None = None
    prompt_version: str | None = None
    evidence_hash: str | None = None
    dimension_hash: str | None = None


def load_signoffs(path: Path) -> tuple[SignOff, ...]:
    """Read the sign-offs of a suite, oldest first; none where there is no file.

    Raises:
        InputError: If a line is at fault; names file and line.
    """
    return load_lines(SignOff, path)


def append_signoffs(path: Path, signoffs: Sequence[SignOff]) -> None:
    """Append sign-offs, all of them or none; other lines stay byte for byte.

    Raises:
        InputError: If another process does not let go of the file.
        OSError: If the file cannot be read or written.
    """
    append_lines(path, [signoff.to_json() for signoff in signoffs])


def standing(signoffs: Sequence[SignOff], case_id: str, verdict: RubricVerdict) -> SignOff | None:
    """Give the sign-off that counts for a dimension of a case: the last one about the same question."""
    hashes = (None, verdict.dimension_hash)
    return next(
        (
            one
            for one in reversed(signoffs)
            if (one.case_id, one.dimension) == (case_id, verdict.dimension_id)
            and one.dimension_hash in hashes
        ),
        None,
    )


@dataclass(frozen=True, slots=True)
class Flip:
    """What people's decisions make of a verdict.

    Attributes:
        expected: The verdict that passes silently.
        flipped: Whether this one is another.
        decision: `accepted` or `rejected` by the sign-off that counts, `logged` for a failed verdict that
            differs and nobody has decided about; None otherwise. A flip that is not rejected is open.
    """

    expected: bool
    flipped: bool
    decision: Decision | None


def judge_flip(signoffs: Sequence[SignOff], case_id: str, verdict: RubricVerdict) -> Flip:
    """Tell whether a verdict differs from what is expected, and what a person has decided about it.

    Expected is a pass at first, later the verdict that was accepted last. Of two verdicts, to reject one is
    to expect the other, so that a rejection also takes an earlier acceptance back. A question in other words
    is another question, of which a pass is expected again. Judge model and evidence are of no account:
    another wording of the candidate must not undo a decision.

    Args:
        signoffs: The suite's sign-offs, oldest first.
        case_id: The case.
        verdict: The verdict; one of a question that does not apply is never a flip.
    """
    passed = verdict.passed
    last = standing(signoffs, case_id, verdict)
    if last is None:
        expected = _EXPECTED_AT_FIRST
    else:
        expected = last.passed if last.decision == "accepted" else not last.passed
    flipped = passed is not None and passed != expected
    if last is not None and last.passed == passed:
        return Flip(expected, flipped, last.decision)
    return Flip(expected, flipped, "logged" if flipped and not passed else None)


def signed(
    verdicts: Sequence[RubricVerdict], case_id: str, signoffs: Sequence[SignOff]
) -> tuple[CaseDimension, ...]:
    """Give the verdicts on a case with what people have decided about them."""
    dimensions: list[CaseDimension] = []
    for verdict in verdicts:
        flip = judge_flip(signoffs, case_id, verdict)
        dimensions.append(
            CaseDimension(
                dimension_id=verdict.dimension_id,
                passed=verdict.passed,
                reason=verdict.reason,
                decision=flip.decision,
                flipped=flip.flipped,
            )
        )
    return tuple(dimensions)
