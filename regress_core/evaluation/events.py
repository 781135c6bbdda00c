"""What an evaluation tells while it runs: ids and small facts, never records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regress_core.harness.contracts import ContractChange
from regress_core.journal.steps import Stage
from regress_core.suite.contract import RunRegressionSummary
from regress_core.suite.outcome import CaseOutcome


@dataclass(frozen=True, slots=True)
class EvaluationStarted:
    """The evaluation begins or goes on.

    Attributes:
        planned: Its cases in all.
        cases: Those that this run of it looks after.
        settled: How many of these have their outcome already.
        contracts: What the candidate changed of the contracts of its tools.
    """

    evaluation_id: str
    revision: int
    planned: int
    cases: int
    settled: int
    contracts: tuple[ContractChange, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseStarted:
    """A case begins."""

    case_id: str
    trial: int


@dataclass(frozen=True, slots=True)
class StageDone:
    """A stage of a case is committed. `ref` is its key in the journal."""

    case_id: str
    trial: int
    stage: Stage
    ref: str


@dataclass(frozen=True, slots=True)
class CaseDone:
    """A case's outcome is committed; `resumed` if it was so before this process began."""

    outcome: CaseOutcome
    resumed: bool


@dataclass(frozen=True, slots=True)
class EvaluationDone:
    """This process's part is done; the summary is over all planned cases that have an outcome."""

    summary: RunRegressionSummary


Event = EvaluationStarted | CaseStarted | StageDone | CaseDone | EvaluationDone

Emit = Callable[[Event], None]
"""Takes each event as it happens. What it raises ends the evaluation; what is committed stays."""
