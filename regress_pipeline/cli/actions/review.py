"""What `regress review` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from regress_core.errors import InputError
from regress_core.files import relative_to_working_folder
from regress_core.history.review import LatestEvaluation, ReviewedTrial, latest_evaluation, reviewed_trials
from regress_core.history.store import History
from regress_core.judge.outcome import JudgeOutcome, RubricVerdict
from regress_core.suite.signoffs import SIGNOFFS_FILE, Flip, SignOff, judge_flip, load_signoffs
from regress_core.suite.verdict_diff import decision_command, verdict_diff
from regress_core.suite.wording import in_one_line
from regress_pipeline.cli.render import note, say
from regress_pipeline.settings import load_settings
from regress_pipeline.suites import SuiteFolder, find_suite


@dataclass(frozen=True, slots=True)
class UnderReview:
    """A suite with its latest evaluation and its sign-offs.

    Attributes:
        folder: The suite.
        history: Where the evaluation is.
        latest: The evaluation.
        signoffs: What people have decided so far.
        store: The store, where a command line option named it.
    """

    folder: SuiteFolder
    history: History
    latest: LatestEvaluation
    signoffs: tuple[SignOff, ...]
    store: Path | None

    @property
    def shown_suite(self) -> str:
        """The suite as a command names it."""
        return relative_to_working_folder(self.folder.root)

    @property
    def shown_evaluation(self) -> str:
        """Whose verdicts and records they are."""
        return f"candidate {self.latest.candidate_label}, evaluation {self.latest.evaluation_id}"

    @property
    def shown_store(self) -> str | None:
        """The store as a command names it; None where it need not."""
        return None if self.store is None else str(self.store)


def open_review(suite: str, store: Path | None) -> UnderReview:
    """Find a suite, its sign-offs and its latest evaluation.

    Raises:
        InputError: If there is no such suite, store or evaluation, or a sign-off is at fault.
    """
    settings = load_settings(store=store)
    folder = find_suite(suite, settings)
    if not settings.store.is_dir():
        remedy = "run `regress run` first, or name it with --store"
        raise InputError("no such store", file=settings.store, remedy=remedy)
    history = History.open(settings.store)
    latest = latest_evaluation(history, folder.name)
    for bad in latest.bad:
        note(f"warning: left out {bad.path}: {bad.reason}")
    return UnderReview(folder, history, latest, load_signoffs(folder.root / SIGNOFFS_FILE), store)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on one dimension of a case, from the trial that a decision is about.

    Attributes:
        outcome: What became of the rubric judge on that trial.
        found: The verdict.
        passed: Its answer.
        flip: What people's decisions make of it.
    """

    outcome: JudgeOutcome
    found: RubricVerdict
    passed: bool
    flip: Flip


def verdicts_of(trials: Sequence[ReviewedTrial], signoffs: Sequence[SignOff]) -> list[Verdict]:
    """Give one verdict for each dimension of a case that applies to it.

    Of several trials it is the first verdict that has flipped, else the first.
    """
    by_dimension: dict[str, list[Verdict]] = {}
    for trial in trials:
        outcome = trial.outcome_of("rubric")
        for found in (outcome.dimensions or ()) if outcome else ():
            if outcome is not None and found.passed is not None:
                flip = judge_flip(signoffs, trial.case_id, found)
                verdict = Verdict(outcome, found, found.passed, flip)
                by_dimension.setdefault(found.dimension_id, []).append(verdict)
    return [
        next((verdict for verdict in verdicts if verdict.flip.flipped), verdicts[0])
        for verdicts in by_dimension.values()
    ]


def show(suite: str, *, store: Path | None) -> None:
    """List open flips, warnings and flags of judges.

    Raises:
        InputError: As `open_review`.
    """
    review = open_review(suite, store)
    latest = review.latest
    say(f"suite {review.folder.name}, {review.shown_evaluation} of {latest.created_at:%Y-%m-%d %H:%M}Z")
    trials = reviewed_trials(review.history, latest.evaluation_id)
    lines = [
        line
        for case_id, group in groupby(trials, key=lambda trial: trial.case_id)
        for line in _lines_of_case(case_id, list(group), review)
    ]
    for line in lines or ["nothing waits for a decision"]:
        say(line)


def _lines_of_case(case_id: str, trials: list[ReviewedTrial], review: UnderReview) -> Iterator[str]:
    suite, evaluation_id, store = review.shown_suite, review.latest.evaluation_id, review.shown_store
    for verdict in verdicts_of(trials, review.signoffs):
        if verdict.flip.flipped and verdict.flip.decision != "rejected":
            yield from verdict_diff(
                case_id,
                verdict.found.dimension_id,
                passed=verdict.passed,
                reason=verdict.found.reason,
                suite=suite,
                evaluation_id=evaluation_id,
                store=store,
            )
    unlike = False
    for trial in trials:
        case = f"case {case_id}" if len(trials) == 1 else f"case {case_id}, trial {trial.trial}"
        for outcome in trial.judges:
            unlike |= outcome.result is not None and outcome.result.verdict != "pass"
            yield from (f"{case}: {text}" for text in _remarks(outcome))
    if unlike:
        words = ["--record", "--suite", suite, "--case", case_id]
        yield f"  {decision_command('accept', words, evaluation_id, store)}"


def _remarks(outcome: JudgeOutcome) -> Iterator[str]:
    """Say what of a judge's outcome a person should look at, the verdicts of a rubric aside."""
    result = outcome.result
    if result is not None and result.verdict != "pass":
        yield f"{outcome.judge} judge: {result.verdict}: {in_one_line(result.summary)}"
    if outcome.absence is not None:
        yield f"{outcome.judge} judge: {in_one_line(outcome.absence)}"
    for flag in outcome.flags:
        yield f"{outcome.judge} judge: look at this: {in_one_line(flag)}"
