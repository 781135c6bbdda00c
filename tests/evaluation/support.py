"""Planning and evaluating suites on disk, with a real journal and history."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from regress_core.calls.limits import CallLimits
from regress_core.evaluation.engine import evaluate
from regress_core.evaluation.entering import begin, resume
from regress_core.evaluation.events import CaseDone, CaseStarted, EvaluationStarted, Event
from regress_core.evaluation.plan import EvaluationPlan, build_plan
from regress_core.evaluation.ports import Ports
from regress_core.history.store import History
from regress_core.history.tables import TableName
from regress_core.ids import new_evaluation_id, utc_now
from regress_core.records.json_io import JsonObject
from regress_core.suite.candidate import load_candidate
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.loading import load_suite
from tests.support.suites import as_json


def plan_of(root: Path, cases: Sequence[str] | None = None) -> EvaluationPlan:
    """Plan a suite folder as its files stand now; `cases` picks cases and sets their order."""
    suite = load_suite(root)
    by_id = {case.case_id: case for case in suite.cases}
    chosen = suite.cases if cases is None else tuple(by_id[case] for case in cases)
    candidate = load_candidate(root / "candidate.yaml")
    return build_plan(suite, candidate, chosen, trigger="library", clock=utc_now, new_id=new_evaluation_id)


@dataclass
class Log:
    """An `emit` that keeps the events, and is interrupted at one of them, counted from 0, or raises there."""

    interrupt_at: int | None = None
    error: BaseException = field(default_factory=KeyboardInterrupt)
    events: list[Event] = field(default_factory=list[Event])

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) - 1 == self.interrupt_at:
            raise self.error

    @property
    def started(self) -> list[str]:
        """The cases that were evaluated."""
        return [event.case_id for event in self.events if isinstance(event, CaseStarted)]

    @property
    def resumed(self) -> list[str]:
        """The cases whose outcome was there before."""
        return [e.outcome.case_id for e in self.events if isinstance(e, CaseDone) and e.resumed]

    @property
    def opening(self) -> EvaluationStarted:
        """The first event."""
        first = self.events[0]
        assert isinstance(first, EvaluationStarted)
        return first


def ignore(_: Event) -> None:
    """Take an event and drop it."""


def run(
    plan: EvaluationPlan,
    store: Path,
    emit: Callable[[Event], None] = ignore,
    out: Path | None = None,
    *,
    concurrency: int | None = None,
) -> RunRegressionSummary:
    """Evaluate a plan that stands in the journal, as a process of its own would."""
    limits = None if concurrency is None else CallLimits(concurrency=concurrency)
    ended: list[RunRegressionSummary | KeyboardInterrupt] = []

    async def main() -> None:
        try:
            ended.append(await evaluate(plan, ports, emit))
        except KeyboardInterrupt as error:  # left in the task, the collector would log it at any later time
            ended.append(error)

    with Ports.open(store, out=out, limits=limits) as ports:
        asyncio.run(main())
    if isinstance(ended[0], KeyboardInterrupt):
        raise ended[0]
    return ended[0]


def taken_up(plan: EvaluationPlan, store: Path, *, fresh: bool = False) -> EvaluationPlan:
    """Enter a plan as the command line does."""
    with Ports.open(store) as ports:
        return begin(plan, ports.journal, fresh=fresh)


def evaluated(
    root: Path, store: Path, emit: Callable[[Event], None] = ignore, *, out: Path | None = None
) -> RunRegressionSummary:
    """Plan and evaluate a suite folder; what the command `regress run` does."""
    return run(taken_up(plan_of(root), store), store, emit, out)


def resumed(evaluation_id: str, store: Path) -> EvaluationPlan:
    """Take an evaluation up by its id, as `--resume` does."""
    with Ports.open(store) as ports:
        return resume(evaluation_id, ports.journal)


def interrupted(root: Path, store: Path, at: int, *, plan: EvaluationPlan | None = None) -> EvaluationPlan:
    """Plan and evaluate until the event of this number, which is the last; an earlier end is fine too."""
    begun = taken_up(plan or plan_of(root), store)
    with suppress(KeyboardInterrupt):
        run(begun, store, Log(interrupt_at=at))
    return begun


def by_case(summary: RunRegressionSummary) -> dict[str, JsonObject]:
    """Give the entries of a summary by case id."""
    return {case["caseId"]: case for case in as_json(summary)["cases"]}


def rows_by_case(store: Path, table: TableName) -> dict[str, JsonObject]:
    """Give the rows of a table of the history, one a case, by case id."""
    rows = History.open(store).table(table).to_pylist()
    by_id = {row["case_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    return by_id


@dataclass(frozen=True)
class Place:
    """Where one test keeps its suite and its store."""

    root: Path
    store: Path
