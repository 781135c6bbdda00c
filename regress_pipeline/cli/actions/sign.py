"""What `regress accept` and `regress reject` do about verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder
from regress_core.ids import utc_now
from regress_core.suite.signoffs import SIGNOFFS_FILE, SignOff, append_signoffs
from regress_core.suite.verdict_diff import change_of
from regress_pipeline.cli.actions.deciding import Decidable, Decision, decidable
from regress_pipeline.cli.actions.review import Verdict, verdicts_of
from regress_pipeline.cli.render import say

_Word = Literal["accepted", "rejected"]


def sign(decision: Decision, word: _Word) -> None:
    """Take down a decision about one verdict of the rubric judge, or about all that have flipped.

    Raises:
        InputError: If there is no such verdict, or nothing can be decided as the case stands.
    """
    case = decidable(decision)
    _refuse_missing_verdict(case)
    verdicts = verdicts_of(case.trials, case.review.signoffs)
    if decision.dimension is None:
        chosen = _flipped(case.case_id, verdicts, word)
    else:
        chosen = [_named(case.case_id, verdicts, decision.dimension)]
    path = case.review.folder.root / SIGNOFFS_FILE
    append_signoffs(path, _lines(case, chosen, word))
    for verdict in chosen:
        same = "pass" if verdict.passed else "fail"
        change = change_of(passed=verdict.passed) if verdict.flip.flipped else same
        say(f"{word}: case {case.case_id}, dimension {verdict.found.dimension_id}: {change}")
    say(f"of {case.review.shown_evaluation}")
    say(f"kept in {relative_to_working_folder(path)}; it counts from the next evaluation on")


def _refuse_missing_verdict(case: Decidable) -> None:
    for trial in case.trials:
        outcome = trial.outcome_of("rubric")
        if outcome is None:
            message = "has no verdict of the rubric judge"
            raise InputError(message, case=case.case_id, remedy="to accept its record, give --record")
        if outcome.state != "verdict":
            raise case.refusal(f"the rubric judge gave no verdict ({outcome.state}): {outcome.reason}")


def _flipped(case_id: str, verdicts: Sequence[Verdict], word: _Word) -> list[Verdict]:
    """Give the verdicts that have flipped and are not decided so already."""
    chosen = [one for one in verdicts if one.flip.flipped and one.flip.decision != word]
    if not chosen:
        remedy = "name a dimension to decide about it all the same"
        raise InputError("no verdict has flipped", case=case_id, field="--dimension", remedy=remedy)
    return chosen


def _named(case_id: str, verdicts: Sequence[Verdict], dimension: str) -> Verdict:
    found = {one.found.dimension_id: one for one in verdicts}
    if dimension not in found:
        remedy = f"dimensions with a verdict: {', '.join(found) or 'none'}"
        message = f"no verdict on a dimension {dimension!r}"
        raise InputError(message, case=case_id, field="--dimension", remedy=remedy)
    return found[dimension]


def _lines(case: Decidable, verdicts: Sequence[Verdict], word: _Word) -> list[SignOff]:
    when = utc_now().isoformat()
    return [
        SignOff(
            case_id=case.case_id,
            dimension=verdict.found.dimension_id,
            passed=verdict.passed,
            decision=word,
            reason=case.reason,
            who=case.who,
            when=when,
            judge_model=verdict.found.judge_model,
            prompt_version=verdict.outcome.prompt_version,
            evidence_hash=verdict.outcome.evidence_hash,
            dimension_hash=verdict.found.dimension_hash,
        )
        for verdict in verdicts
    ]
