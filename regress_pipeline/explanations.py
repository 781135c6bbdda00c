"""What explains a case's comparison: from the journal while it has that, else from the history."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from regress_core.evaluation.plan import EvaluationPlan
from regress_core.evaluation.ports import Ports
from regress_core.history.rows import explanation_columns
from regress_core.history.store import Row
from regress_core.records.json_io import loads_own
from regress_core.suite.outcome import CaseOutcome


class Explanations:
    """Reads what explains the comparisons of one evaluation."""

    def __init__(self, plan: EvaluationPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports

    def of(self, outcome: CaseOutcome) -> Row:
        """Give the columns of `comparisons` that explain a trial; none where it was not compared."""
        journal, evaluation_id = self._ports.journal, self._plan.evaluation_id
        text = journal.steps.evidence_of(evaluation_id, outcome.case_id, outcome.trial, "comparison")
        if text is not None:
            return explanation_columns(loads_own(text))
        return self._from_history.get((outcome.case_id, outcome.trial), {})

    @cached_property
    def _from_history(self) -> dict[tuple[str, int], dict[str, Any]]:
        columns = ("case_id", "trial", *explanation_columns({}))
        rows = self._ports.history.rows_of("comparisons", self._plan.evaluation_id, columns)
        return {(row["case_id"], row["trial"]): row for row in rows}
