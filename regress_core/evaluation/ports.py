"""What an evaluation needs of the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from regress_core.calls.limits import CallLimits
from regress_core.calls.runner import CallRunner
from regress_core.evaluation.candidate import CandidateSource
from regress_core.history.store import History
from regress_core.ids import Clock, utc_now
from regress_core.journal.journal import Journal
from regress_core.models.client import ModelClient

JOURNAL_FILE = "journal.sqlite"


def unfinished_evaluations(store: Path) -> frozenset[str]:
    """Give the ids of the evaluations of a store that are not finished; none where it has no journal.

    Raises:
        InputError: If the journal cannot be read.
    """
    if not (store / JOURNAL_FILE).is_file():
        return frozenset()
    with Journal.open(store / JOURNAL_FILE) as journal:
        return frozenset(row.evaluation_id for row in journal.unfinished())


@dataclass(frozen=True, slots=True)
class Ports:
    """The places an evaluation writes to, and its clock.

    Attributes:
        store: The store's folder.
        journal: Open journal of the store.
        history: History of the store.
        out: Where the outputs of the evaluation go; None for `<store>/outputs/<evaluation_id>`.
        clock: Gives the time.
        limits: How hard providers are pressed, and with it how many runs of a candidate harness go on at a
            time: a quarter more than calls in flight.
        calls: Makes every call to a provider.
        candidate: The candidate, where an application brings it as an object; None to open the plan's.
        judge_client: What answers for the judges' model, where an application brings it; else the real one.
    """

    store: Path
    journal: Journal
    history: History
    out: Path | None = None
    clock: Clock = utc_now
    limits: CallLimits = field(default_factory=CallLimits)
    calls: CallRunner = field(default_factory=lambda: CallRunner(CallLimits()))
    candidate: CandidateSource | None = None
    judge_client: ModelClient | None = None

    @classmethod
    def open(
        cls,
        store: Path,
        *,
        out: Path | None = None,
        clock: Clock = utc_now,
        limits: CallLimits | None = None,
    ) -> Ports:
        """Open the journal and history of a store, creating the store where it is missing.

        Raises:
            InputError: If the store cannot be used.
        """
        limits = limits or CallLimits()
        return cls(
            store,
            Journal.open(store / JOURNAL_FILE),
            History.open(store),
            out,
            clock,
            limits,
            CallRunner(limits),
        )

    def outputs_of(self, evaluation_id: str) -> Path:
        """Give the folder that an evaluation's outputs go to."""
        return self.out or self.store / "outputs" / evaluation_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()
