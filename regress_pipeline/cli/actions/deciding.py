"""What every decision about a case starts from: who decides, why, and whether it can be decided at all."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path

from regress_core.errors import InputError
from regress_core.history.review import (
    CandidateRecord,
    ReviewedTrial,
    candidate_records,
    reviewed_trials,
    why_undecidable,
)
from regress_core.records.naming import case_id_of
from regress_core.suite.verdict_diff import PLACE_OF_THE_REASON
from regress_pipeline.cli.actions.review import UnderReview, open_review


@dataclass(frozen=True, slots=True)
class Decision:
    """What the options of `accept` and `reject` say."""

    suite: str
    case: str
    evaluation: str | None
    dimension: str | None
    reason: str
    by: str | None
    store: Path | None


@dataclass(frozen=True, slots=True)
class Decidable:
    """A case of a suite's latest evaluation about which a person may decide.

    Attributes:
        review: The suite and its evaluation.
        case_id: The case.
        trials: Its trials, in order.
        candidates: The candidate's records by trial.
        reason: Why it is decided so.
        who: Who decides.
    """

    review: UnderReview
    case_id: str
    trials: list[ReviewedTrial]
    candidates: dict[int, CandidateRecord]
    reason: str
    who: str

    def refusal(self, reason: str) -> InputError:
        """Give the error that nothing can be decided, for a reason."""
        message = f"nothing to decide about in evaluation {self.review.latest.evaluation_id}: {reason}"
        return InputError(message, case=self.case_id, remedy="evaluate it again with `regress run`")


def decidable(decision: Decision) -> Decidable:
    """Find what a decision is about.

    Raises:
        InputError: If the options say nothing of use, the latest evaluation is not the one they name or does
            not have the case, or what the case came to is no ground for a decision.
    """
    reason, who = said(decision.reason, "--reason"), _who(decision.by)
    review = open_review(decision.suite, decision.store)
    case_id = case_id_of(decision.case)
    evaluation_id = review.latest.evaluation_id
    if decision.evaluation not in (None, evaluation_id):
        message = f"{decision.evaluation} is not the suite's latest evaluation, {evaluation_id}"
        remedy = "look at that one with `regress review`, or evaluate again with `regress run`"
        raise InputError(message, field="--evaluation", remedy=remedy)
    trials = reviewed_trials(review.history, evaluation_id, case_id)
    if not trials:
        message = f"no such case in the latest evaluation, {evaluation_id}"
        remedy = "see `regress review`, or evaluate the case with `regress run`"
        raise InputError(message, case=decision.case, remedy=remedy)
    candidates = candidate_records(review.history, evaluation_id, case_id)
    found = Decidable(review, case_id, trials, candidates, reason, who)
    why_not = why_undecidable(trials, candidates)
    if why_not is not None:
        raise found.refusal(why_not)
    return found


def said(text: str, option: str) -> str:
    """Give a text that an option has to say.

    Raises:
        InputError: If it says nothing, or is what stands in a ready-made command.
    """
    if text.strip() in ("", PLACE_OF_THE_REASON):
        raise InputError("says nothing", field=option, remedy="use a few words; they are kept")
    return text


def _who(by: str | None) -> str:
    if by is not None:
        return said(by, "--by")
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:  # in a container users often have no names
        raise InputError("who you are cannot be told", field="--by", remedy="name yourself") from error
