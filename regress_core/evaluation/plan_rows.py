"""Plans as the journal keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from regress_core.evaluation.plan import EvaluationPlan, HowToRun, Trigger
from regress_core.harness.contracts import ContractChange
from regress_core.journal.journal import EvaluationRow, Journal
from regress_core.judge.contract import RunRegressionExpectation
from regress_core.records.json_io import JsonObject, dumps_text, loads_own
from regress_core.suite.candidate import Candidate, HarnessRef
from regress_core.suite.case_files import NO_CASE_CONFIG
from regress_core.suite.config import CaseConfig, SuiteConfig
from regress_core.suite.loading import CaseRef, RecordRef, Suite
from regress_core.suite.overrides import Override
from regress_core.suite.signoffs import SignOff


def row_of(plan: EvaluationPlan) -> EvaluationRow:
    """Give the journal's entry of a plan that begins, its cases aside."""
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
            "effects": dict(candidate.effects),
        },
        "how": plan.how.to_json(),
        "orphans": list(plan.orphans),
        "trigger": plan.trigger,
        "contracts": [change.to_json() for change in plan.contracts],
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


def cases_of(plan: EvaluationPlan) -> Iterator[str]:
    """Give the journal's entries of the planned cases, JSON text each."""
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


def trigger_of(row: EvaluationRow) -> Trigger:
    """Tell who started an evaluation of the journal."""
    return loads_own(row.plan)["trigger"]


def planned_case_ids(evaluation_id: str, journal: Journal) -> list[str]:
    """List the cases of an evaluation; none of one that the journal does not have."""
    return [loads_own(payload)[0] for payload in journal.planned_cases(evaluation_id)]


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
            effects=candidate.get("effects", {}),
        ),
        orphans=tuple(value["orphans"]),
        trigger=value["trigger"],
        created_at=row.created_at,
        revision=row.revision,
        redo=row.redo,
        how=HowToRun.from_json(value["how"]),
        contracts=tuple(map(ContractChange.from_json, value.get("contracts", []))),
    )
