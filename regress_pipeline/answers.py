"""The answers of a case's two runs: from the journal while it has them, else from the history."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.history.tables import TableName
from regress_core.records.json_io import loads_own
from regress_core.records.redact import Redactor
from regress_core.suite.outcome import CaseOutcome


class Answers:
    """Reads answers of one evaluation; its suite's redaction applies, for Dagster shows them to others."""

    def __init__(self, plan: EvaluationPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports

    def of(self, outcome: CaseOutcome) -> tuple[str, str] | None:
        """Give the answer that was compared with and the candidate's; None where one of them is not kept.

        The journal drops what it has when an evaluation finishes, which may be before Dagster has written its
        events; by then the history holds it.
        """
        found = self._from_journal(outcome) or self._from_history(outcome)
        if found is None or self._plan.suite.config.redact is None:
            return found
        redactor = Redactor(self._plan.suite.config.redact, ahead=list(found))
        old, new = (str(redactor.redact(text)) for text in found)
        return old, new

    def _from_journal(self, outcome: CaseOutcome) -> tuple[str, str] | None:
        journal, evaluation_id = self._ports.journal, self._plan.evaluation_id
        candidate = journal.steps.evidence_of(evaluation_id, outcome.case_id, outcome.trial, "candidate")
        if outcome.accepted_sha256 is None:
            accepted = journal.steps.evidence_of(evaluation_id, outcome.case_id, 1, "baseline")
        else:
            others = journal.steps.evidence_of(evaluation_id, outcome.case_id, 1, "accepted")
            texts = {one["sha256"]: one["text"] for one in loads_own(others or "[]")}
            accepted = texts.get(outcome.accepted_sha256)
        if candidate is None or accepted is None:
            return None
        return loads_own(accepted)["response"], loads_own(candidate)["response"]

    def _from_history(self, outcome: CaseOutcome) -> tuple[str, str] | None:
        candidate = self._candidates.get((outcome.case_id, outcome.trial))
        key = (outcome.case_id, outcome.accepted_sha256 or outcome.baseline_sha256)
        accepted = self._accepted.get(key)
        return None if candidate is None or accepted is None else (accepted, candidate)

    @cached_property
    def _candidates(self) -> dict[tuple[str, int], str]:
        return {(row["case_id"], row["trial"]): row["response"] for row in self._rows("candidate_records")}

    @cached_property
    def _accepted(self) -> dict[tuple[str, str], str]:
        rows = [*self._rows("baseline_records"), *self._rows("accepted_records")]
        return {(row["case_id"], row["sha256"]): row["response"] for row in rows}

    def _rows(self, table: TableName) -> list[dict[str, Any]]:
        columns = ("case_id", "trial", "sha256", "response")
        return list(self._ports.history.rows_of(table, self._plan.evaluation_id, columns))
