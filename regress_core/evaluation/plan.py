"""The plan of an evaluation: what is evaluated against what, under which id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from regress_core.errors import InputError
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.start import InputMode
from regress_core.ids import Clock, IdFactory
from regress_core.journal.journal import EvaluationRow, Journal, Redo
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, dumps_text, loads_own
from regress_core.suite.candidate import Candidate, HarnessRef, orphans_of
from regress_core.suite.case_files import NO_CASE_CONFIG
from regress_core.suite.config import CaseConfig, SuiteConfig
from regress_core.suite.loading import CaseRef, RecordRef, Suite
from regress_core.suite.outcome import CaseOutcome
from regress_core.suite.overrides import Override
from regress_core.suite.signoffs import SignOff

Trigger = Literal["cli", "pipeline", "library"]
"""Who started an evaluation."""


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

    def is_settled(self, outcome: CaseOutcome) -> bool:
        """Tell whether a committed outcome stands in this revision, or is one that it does again."""
        return outcome.revision >= self.revision or not _is_redone(outcome, self.redo)


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
        "cases": [[case.case_id, _ref(candidate.records.get(case.case_id))[1]] for case in cases],
    }
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


def _is_redone(outcome: CaseOutcome, redo: Redo) -> bool:
    """Tell whether trouble kept a case, or a judge, from its end in a way that this redo tries again."""
    if redo == "none":
        return False
    if outcome.trouble is not None:
        return redo == "inconclusive" or outcome.trouble.retryable
    return any(one.trouble not in (None, "cap") for one in outcome.findings.judging)


def begin(plan: EvaluationPlan, journal: Journal, *, fresh: bool = False) -> EvaluationPlan:
    """Enter a plan in the journal, or take up the evaluation that the same plan has there.

    An unfinished one goes on, a finished one is reopened if any of its cases met trouble that may have
    passed; these cases are evaluated again. Otherwise, and with `fresh`, a new evaluation begins.
    """
    row = None if fresh else journal.latest_of_plan(plan.plan_key)
    if row is not None:
        row = _again(row, journal, "retryable")
    if row is None:
        row = journal.create_evaluation(_row(plan), _planned_cases(plan))
    # The key covers all content, so that only what the key leaves open is taken from the journal.
    return replace(
        plan,
        evaluation_id=row.evaluation_id,
        created_at=row.created_at,
        revision=row.revision,
        redo=row.redo,
    )


def planned(evaluation_id: str, journal: Journal) -> EvaluationPlan:
    """Give an evaluation's plan as the journal has it, and change nothing.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    return take_up(_entered(evaluation_id, journal), journal)


def resume(evaluation_id: str, journal: Journal) -> EvaluationPlan:
    """Take an evaluation up by its id; its inconclusive cases are evaluated again.

    Of a finished one that is the next revision.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    row = _entered(evaluation_id, journal)
    return take_up(_again(row, journal, "inconclusive") or row, journal)


def _entered(evaluation_id: str, journal: Journal) -> EvaluationRow:
    row = journal.evaluation(evaluation_id)
    if row is None:
        remedy = "see `regress sql` for the ids, or name another store with --store"
        raise InputError(f"no evaluation {evaluation_id} in this store", field="--resume", remedy=remedy)
    return row


def _again(row: EvaluationRow, journal: Journal, redo: Redo) -> EvaluationRow | None:
    """Have the trials that met trouble evaluated again; None for a finished evaluation without any."""
    troubled = [outcome for outcome in outcomes_of(journal, row.evaluation_id) if _is_redone(outcome, redo)]
    if row.state == "finished":
        return journal.reopen(row.evaluation_id, redo) if troubled else None
    met = [(outcome.case_id, outcome.trial) for outcome in troubled if outcome.revision == row.revision]
    journal.take_back(row.evaluation_id, row.revision, met)
    return row


def join(plan: EvaluationPlan, journal: Journal) -> EvaluationPlan:
    """Enter a plan under the id it has, or take up what stands under that id already."""
    return take_up(journal.create_evaluation(_row(plan), _planned_cases(plan)), journal)


def outcomes_of(journal: Journal, evaluation_id: str) -> Iterator[CaseOutcome]:
    """Give the newest outcome of every case that has one, ordered by case id."""
    for step in journal.outcomes(evaluation_id):
        yield CaseOutcome.from_json(loads_own(step.payload))


def _row(plan: EvaluationPlan) -> EvaluationRow:
    suite, candidate = plan.suite, plan.candidate
    value: JsonObject = {
        "suite": {
            "name": suite.name,
            "root": str(suite.root),
            "config": _config_json(suite.config),
            "expectation": None if suite.expectation is None else suite.expectation.to_json(),
            "baselineDescriptor": suite.baseline_descriptor,
            "contentHash": suite.content_hash,
            "judgeInstructions": suite.judge_instructions,
            "signoffs": [signoff.to_json() for signoff in suite.signoffs],
            "overrides": [override.to_json() for override in suite.overrides],
        },
        "candidate": {
            "id": candidate.candidate_id,
            "label": candidate.label,
            "kind": candidate.kind,
            "harness": None if candidate.harness is None else asdict(candidate.harness),
        },
        "how": plan.how.to_json(),
        "orphans": list(plan.orphans),
        "trigger": plan.trigger,
    }
    return EvaluationRow(
        evaluation_id=plan.evaluation_id,
        plan_key=plan.plan_key,
        suite=suite.name,
        state="running",
        revision=plan.revision,
        redo=plan.redo,
        created_at=plan.created_at,
        plan=dumps_text(value),
    )


def _planned_cases(plan: EvaluationPlan) -> Iterator[str]:
    for case in plan.suite.cases:
        candidate = plan.candidate.records.get(case.case_id)
        config = None if case.config is NO_CASE_CONFIG else _config_json(case.config)
        accepted = [_ref(ref) for ref in case.accepted]
        more = [config, accepted] if accepted else [] if config is None else [config]
        yield dumps_text([case.case_id, case.name, *_ref(case.baseline), *_ref(candidate), *more])


def _config_json(config: CaseConfig) -> JsonObject:
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _ref(ref: RecordRef | None) -> tuple[str | None, str | None]:
    return (None, None) if ref is None else (ref.path, ref.sha256)


def take_up(row: EvaluationRow, journal: Journal) -> EvaluationPlan:
    """Take up an evaluation as the journal has it; its files are not looked at."""
    value: JsonObject = loads_own(row.plan)
    suite: JsonObject = value["suite"]
    candidate: JsonObject = value["candidate"]
    harness: JsonObject | None = candidate["harness"]
    expectation = suite["expectation"]
    cases: list[CaseRef] = []
    records: dict[str, RecordRef] = {}
    for payload in journal.planned_cases(row.evaluation_id):
        case_id, name, path, sha256, candidate_path, candidate_sha256, *more = loads_own(payload)
        config = more[0] if more else None
        own = NO_CASE_CONFIG if config is None else CaseConfig.from_json(config)
        accepted = tuple(RecordRef(*ref) for ref in more[1]) if len(more) > 1 else ()
        cases.append(CaseRef(case_id, name, RecordRef(path, sha256), own, accepted))
        if candidate_path is not None:
            records[case_id] = RecordRef(candidate_path, candidate_sha256)
    return EvaluationPlan(
        evaluation_id=row.evaluation_id,
        plan_key=row.plan_key,
        suite=Suite(
            name=suite["name"],
            root=Path(suite["root"]),
            config=SuiteConfig.from_json(suite["config"]),
            baseline_descriptor=suite["baselineDescriptor"],
            expectation=None if expectation is None else RunRegressionExpectation.from_json(expectation),
            cases=tuple(cases),
            content_hash=suite["contentHash"],
            judge_instructions=suite.get("judgeInstructions"),
            signoffs=tuple(SignOff.from_json(line) for line in suite.get("signoffs", [])),
            overrides=tuple(Override.from_json(line) for line in suite.get("overrides", [])),
        ),
        candidate=Candidate(
            candidate_id=candidate["id"],
            label=candidate["label"],
            kind=candidate["kind"],
            records=records,
            harness=None if harness is None else HarnessRef(**harness),
        ),
        orphans=tuple(value["orphans"]),
        trigger=value["trigger"],
        created_at=row.created_at,
        revision=row.revision,
        redo=row.redo,
        how=HowToRun.from_json(value["how"]),
    )
