"""The plan of an evaluation: what is evaluated against what, under which id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from regress_core.errors import InputError
from regress_core.ids import Clock, IdFactory
from regress_core.journal.journal import EvaluationRow, Journal, Redo
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.canonical import canonical_hash
from regress_core.records.json_io import JsonObject, dumps_text, loads_own
from regress_core.suite.config import SuiteConfig
from regress_core.suite.loading import Candidate, CaseRef, RecordRef, Suite, orphans_of
from regress_core.suite.outcome import CaseOutcome

Trigger = Literal["cli", "pipeline", "library"]
"""Who started an evaluation."""


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

    def is_settled(self, outcome: CaseOutcome) -> bool:
        """Tell whether a committed outcome stands in this revision, or is one that it does again."""
        if outcome.revision >= self.revision or outcome.trouble is None:
            return True
        return self.redo == "none" or (self.redo == "retryable" and not outcome.trouble.retryable)


def build_plan(
    suite: Suite,
    candidate: Candidate,
    cases: Sequence[CaseRef],
    *,
    trigger: Trigger,
    clock: Clock,
    new_id: IdFactory,
) -> EvaluationPlan:
    """Plan the given cases of a suite; the only place where evaluation ids are made."""
    now = clock()
    content: JsonObject = {
        "suite": suite.content_hash,
        "candidate": candidate.candidate_id,
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
    )


def begin(plan: EvaluationPlan, journal: Journal, *, fresh: bool = False) -> EvaluationPlan:
    """Enter a plan in the journal, or take up the evaluation that the same plan has there.

    An unfinished one goes on. A finished one is reopened if any of its cases met trouble that may have
    passed; otherwise, and with `fresh`, a new evaluation begins.
    """
    row = None if fresh else journal.latest_of_plan(plan.plan_key)
    if row and row.state == "finished":
        may_pass = any(o.trouble and o.trouble.retryable for o in outcomes_of(journal, row.evaluation_id))
        row = journal.reopen(row.evaluation_id, "retryable") if may_pass else None
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


def resume(evaluation_id: str, journal: Journal) -> EvaluationPlan:
    """Take an evaluation up by its id; a finished one does its inconclusive cases again, as a new revision.

    Raises:
        InputError: If the journal has no such evaluation.
    """
    row = journal.evaluation(evaluation_id)
    if row is None:
        remedy = "see `regress sql` for the ids, or name another store with --store"
        raise InputError(f"no evaluation {evaluation_id} in this store", field="--resume", remedy=remedy)
    if row.state == "finished" and any(o.inconclusive for o in outcomes_of(journal, evaluation_id)):
        row = journal.reopen(evaluation_id, "inconclusive")
    return take_up(row, journal)


def join(plan: EvaluationPlan, journal: Journal) -> EvaluationPlan:
    """Enter a plan under the id it has, or take up what stands under that id already."""
    return take_up(journal.create_evaluation(_row(plan), _planned_cases(plan)), journal)


def outcomes_of(journal: Journal, evaluation_id: str) -> Iterator[CaseOutcome]:
    """Give the newest outcome of every case that has one, ordered by case id."""
    for step in journal.outcomes(evaluation_id):
        yield CaseOutcome.from_json(loads_own(step.payload))


def _row(plan: EvaluationPlan) -> EvaluationRow:
    suite = plan.suite
    value: JsonObject = {
        "suite": {
            "name": suite.name,
            "root": str(suite.root),
            "config": suite.config.model_dump(by_alias=True, exclude_unset=True),
            "expectation": None if suite.expectation is None else suite.expectation.to_json(),
            "contentHash": suite.content_hash,
        },
        "candidate": {"id": plan.candidate.candidate_id, "label": plan.candidate.label},
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
        yield dumps_text([case.case_id, case.name, *_ref(case.baseline), *_ref(candidate)])


def _ref(ref: RecordRef | None) -> tuple[str | None, str | None]:
    return (None, None) if ref is None else (ref.path, ref.sha256)


def take_up(row: EvaluationRow, journal: Journal) -> EvaluationPlan:
    """Take up an evaluation as the journal has it; its files are not looked at."""
    value: JsonObject = loads_own(row.plan)
    suite: JsonObject = value["suite"]
    expectation = suite["expectation"]
    cases: list[CaseRef] = []
    records: dict[str, RecordRef] = {}
    for payload in journal.planned_cases(row.evaluation_id):
        case_id, name, path, sha256, candidate_path, candidate_sha256 = loads_own(payload)
        cases.append(CaseRef(case_id, name, RecordRef(path, sha256)))
        if candidate_path is not None:
            records[case_id] = RecordRef(candidate_path, candidate_sha256)
    return EvaluationPlan(
        evaluation_id=row.evaluation_id,
        plan_key=row.plan_key,
        suite=Suite(
            name=suite["name"],
            root=Path(suite["root"]),
            config=SuiteConfig.from_json(suite["config"]),
            expectation=None if expectation is None else RunRegressionExpectation.from_json(expectation),
            cases=tuple(cases),
            content_hash=suite["contentHash"],
        ),
        candidate=Candidate(
            candidate_id=value["candidate"]["id"],
            label=value["candidate"]["label"],
            records=records,
        ),
        orphans=tuple(value["orphans"]),
        trigger=value["trigger"],
        created_at=row.created_at,
        revision=row.revision,
        redo=row.redo,
    )
