"""What an evaluation knows of its candidate: something that gives a record for each case."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from regress_core.calls.trouble import Trouble
from regress_core.compare.options import CompareOptions
from regress_core.evaluation.run_facts import RunFacts
from regress_core.evaluation.spending import Spending
from regress_core.harness.replay.recorded_tools import ReplayMode
from regress_core.harness.replay.replay import CandidateRun
from regress_core.judge.contract import RunJudge
from regress_core.records.json_io import JsonObject, dumps_text
from regress_core.records.model import RunRecord
from regress_core.suite.loading import CaseRef


@dataclass(frozen=True, slots=True)
class CandidateEvidence:
    """A candidate's record of a case.

    Attributes:
        record: The record.
        text: The record as JSON text: as its file has it, or as it was made.
        sha256: SHA-256 of that text, in hexadecimal.
        facts: How the run went; None for a record made elsewhere.
        trouble: What kept the run from its end, if that was not the candidate's doing.
    """

    record: RunRecord
    text: str
    sha256: str
    facts: RunFacts | None = None
    trouble: Trouble | None = None


class CandidateSource(Protocol):
    """Gives the candidate's record of each case."""

    @property
    def options(self) -> CompareOptions:
        """How its records are compared."""
        ...

    @property
    def judge(self) -> RunJudge | None:
        """The application's judge."""
        ...

    @property
    def descriptor(self) -> JsonObject | None:
        """What the candidate's descriptor holds, for the judge."""
        ...

    async def run(
        self, case: CaseRef, baseline: RunRecord, trial: int, spending: Spending
    ) -> CandidateEvidence:
        """Give the candidate's record of a case.

        Args:
            case: The case.
            baseline: Its recorded run.
            trial: Counts from 1.
            spending: Pays for the calls of real models.

        Raises:
            TroubleError: If there is none, for a reason that is not the candidate's.
        """
        ...


def evidence_of(run: CandidateRun, mode: ReplayMode, cost_usd: float = 0.0) -> CandidateEvidence:
    """Give the evidence of a run that was made here.

    Args:
        run: The run.
        mode: Where its tool outputs came from.
        cost_usd: What its calls cost, US dollars.

    Raises:
        JsonError: If the record is not valid.
    """
    facts = RunFacts(
        mode=mode,
        replay_stats=run.replay_stats.to_json(),
        replay_miss=run.replay_miss,
        usage=run.usage,
        duration_s=run.duration_s,
        cost_usd=cost_usd,
    )
    text = dumps_text(RunRecord.parse(run.record.data).data)  # checked: the history could not take any other
    sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return CandidateEvidence(run.record, text, sha256, facts, run.trouble)
