"""The plan of an evaluation: what is evaluated against what, under which id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from regress_core.harness.contracts import ContractChange
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode
from regress_core.ids import Clock, IdFactory
from regress_core.journal.journal import Redo
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject
from regress_core.suite.candidate import Candidate, orphans_of
from regress_core.suite.loading import CaseRef, RecordRef, Suite
from regress_core.suite.outcome import CaseOutcome

Trigger = Literal["cli", "library", "pipeline", "night", "cases", "backfill"]
"""Who started an evaluation: a person or program at the command line, in a library or in Dagster; the
schedule; the sensor that saw cases change; a person who asked for a backfill."""


@dataclass(frozen=True, slots=True)
class HowToRun:
    """How a candidate harness is run on each case; of no account for recorded candidates.

    Attributes:
        mode: Where tool outputs come from.
        input_mode: What the candidate is given.
        trials: How often each case is run.
        from_turn: How many turns of the baseline are given as done.
    """

    mode: ReplayMode = "strict"
    input_mode: InputMode = "recorded"
    trials: int = 1
    from_turn: int = 0

    def to_json(self) -> JsonObject:
        """Give the JSON object the journal keeps."""
        return {
            "mode": self.mode,
            "inputMode": self.input_mode,
            "trials": self.trials,
            "fromTurn": self.from_turn,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> HowToRun:
        """Read back what `to_json` wrote."""
        return cls(value["mode"], value["inputMode"], value["trials"], value["fromTurn"])


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """One candidate against one suite.

    Attributes:
        evaluation_id: The evaluation's id.
        plan_key: SHA-256 over all that can change an outcome; the same command finds its evaluation by it.
        suite: The suite, with the planned cases only.
        candidate: The candidate.
        orphans: Case ids of candidate records that have no baseline in the whole suite.
        trigger: Who started it.
        created_at: When, UTC.
        revision: 1, and one more each time it was reopened.
        redo: Which finished cases this revision does again.
        portion: The planned case ids this process looks after; None for all.
        how: How a candidate harness is run.
        contracts: What the candidate changed of the contracts of its tools; known once it has been opened.
    """

    evaluation_id: str
    plan_key: str
    suite: Suite
    candidate: Candidate
    orphans: tuple[str, ...]
    trigger: Trigger
    created_at: datetime
    revision: int = 1
    redo: Redo = "none"
    portion: frozenset[str] | None = None
    how: HowToRun = HowToRun()
    contracts: tuple[ContractChange, ...] = ()

    def is_settled(self, outcome: CaseOutcome) -> bool:
        """Tell whether a committed outcome stands in this revision, or is one that it does again."""
        return outcome.revision >= self.revision or not is_redone(outcome, self.redo)


def redaction_warning(plan: EvaluationPlan) -> str | None:
    """Say that tools would be run with placeholders for what was hidden of baselines; None where none is."""
    redacted = sum(case.is_redacted for case in plan.suite.cases)
    if plan.how.mode == "strict" or not redacted:
        return None
    return (
        f"{redacted} of {len(plan.suite.cases)} baselines are redacted, and mode {plan.how.mode} runs tools: "
        "they get placeholders such as [EMAIL_1]; use --mode strict"
    )


def build_plan(
    suite: Suite,
    candidate: Candidate,
    cases: Sequence[CaseRef],
    *,
    trigger: Trigger,
    clock: Clock,
    new_id: IdFactory,
    how: HowToRun | None = None,
) -> EvaluationPlan:
    """Plan the given cases of a suite; the only place where evaluation ids are made.

    Args:
        suite: The suite.
        candidate: The candidate.
        cases: Which of its cases.
        trigger: Who starts it.
        clock: Gives the time.
        new_id: Makes the evaluation's id.
        how: How a candidate harness is run; as suite.yaml says, when left out.
    """
    now = clock()
    config = suite.config
    if how is None:
        how = HowToRun(config.mode, config.input_mode, config.trials)
    if candidate.kind == "records":
        how = HowToRun()  # nothing is run, so that nothing of it can change an outcome
    content: JsonObject = {
        "suite": suite.content_hash,
        "candidate": candidate.candidate_id,
        "how": how.to_json(),
        # The candidate's id covers its records, but not which is whose.
        "cases": [[case.case_id, _sha256(candidate.records.get(case.case_id))] for case in cases],
    }
    if candidate.effects:
        content["effects"] = dict(candidate.effects)
    return EvaluationPlan(
        evaluation_id=new_id(now),
        plan_key=canonical_hash(content),
        suite=replace(suite, cases=tuple(cases)),
        candidate=candidate,
        orphans=orphans_of(suite, candidate),
        trigger=trigger,
        created_at=now,
        how=how,
    )


def _sha256(ref: RecordRef | None) -> str | None:
    return None if ref is None else ref.sha256


def is_redone(outcome: CaseOutcome, redo: Redo) -> bool:
    """Tell whether trouble kept a case, or a judge, from its end in a way that this redo tries again."""
    if redo == "none":
        return False
    if outcome.trouble is not None:
        return redo == "inconclusive" or outcome.trouble.retryable
    return any(one.trouble not in (None, "cap") for one in outcome.findings.judging)
