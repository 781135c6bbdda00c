"""Evaluating suites whose judges ask a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.engine import run_evaluation
from regress_core.evaluation.entering import begin, resume
from regress_core.evaluation.events import Event
from regress_core.evaluation.ports import Ports
from regress_core.judge.contract import Status
from regress_core.judge.outcome import JudgeName
from regress_core.models.client import ModelClient
from regress_core.records.json_io import JsonObject
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.signoffs import SIGNOFFS_FILE, SignOff, append_signoffs
from tests.evaluation.support import by_case, ignore, plan_of
from tests.support.judges import Asked, JudgeModel, Replies
from tests.support.suites import Kind, write_suite

ALL: frozenset[JudgeName] = frozenset(("regression", "rubric", "axes"))


@dataclass(frozen=True)
class Case:
    """What the candidate did, what the judges answer, and what the case comes to."""

    kind: Kind
    replies: Mapping[JudgeName, Replies]
    status: Status
    reasons: Sequence[str]
    """How each reason begins."""
    asked: frozenset[JudgeName] = ALL
    signed: Sequence[tuple[bool, str]] = field(default=())
    """Verdicts on `calm` that people decided about, and how."""


def judge(
    root: Path | None,
    store: Path,
    client: ModelClient,
    *,
    emit: Callable[[Event], None] = ignore,
    out: Path | None = None,
    concurrency: int = 4,
    cases: Sequence[str] | None = None,
    resumed: str | None = None,
) -> RunRegressionSummary:
    """Plan and evaluate a suite folder as `regress run` does; each call is tried once.

    Args:
        root: The suite's folder; None for an evaluation that is taken up by its id.
        store: The store.
        client: The judges' model.
        emit: Takes the events.
        out: Where the outputs go.
        concurrency: Calls in flight at a time.
        cases: Picks cases and sets their order.
        resumed: The id of that evaluation.
    """
    limits = CallLimits(concurrency=concurrency, attempts=1, failures_to_open=1000)
    with Ports.open(store, out=out, limits=limits) as ports:
        journal = ports.journal
        plan = resume(resumed or "", journal) if root is None else begin(plan_of(root, cases), journal)
        return run_evaluation(plan, replace(ports, judge_client=client), emit)


def replies_of(cases: Mapping[str, Case]) -> dict[Asked, Replies]:
    """Give what the judges answer, as `JudgeModel` takes it."""
    return {(name, judge): reply for name, case in cases.items() for judge, reply in case.replies.items()}


def write_cases(root: Path, cases: Mapping[str, Case], config: str) -> Path:
    """Write a suite of such cases, and what people have decided about them."""
    write_suite(root, {name: case.kind for name, case in cases.items()}, config=config)
    lines: list[JsonObject] = [
        {
            "caseId": name,
            "dimension": "calm",
            "passed": passed,
            "decision": decision,
            "reason": "seen",
            "who": "ann",
            "when": "2026-01-01T00:00:00+00:00",
        }
        for name, case in cases.items()
        for passed, decision in case.signed
    ]
    if lines:
        append_signoffs(root / SIGNOFFS_FILE, [SignOff.from_json(line) for line in lines])
    return root


def assert_begin(reasons: Sequence[str], beginnings: Sequence[str]) -> None:
    """Assert that reasons begin so, one by one."""
    assert len(reasons) == len(beginnings), reasons
    for reason, beginning in zip(reasons, beginnings, strict=True):
        assert reason.startswith(beginning)


def evaluated_one(tmp_path: Path, case: Case, config: str, model: JudgeModel | None = None) -> JsonObject:
    """Evaluate a suite of one case, `a`, assert what it comes to, and give its entry."""
    root = write_cases(tmp_path / "suite", {"a": case}, config)
    client = model or JudgeModel(replies_of({"a": case}))
    entry = by_case(judge(root, tmp_path / "store", client))["a"]
    assert entry["status"] == case.status
    assert_begin(entry["reasons"], case.reasons)
    assert {judge for _, judge in client.asked} == case.asked
    return entry
