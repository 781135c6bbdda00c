"""A suite as it was in an earlier evaluation: its rules from the journal, its records from the history."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from regress_core.errors import InputError
from regress_core.evaluation.entering import planned
from regress_core.evaluation.plan import EvaluationPlan, Trigger
from regress_core.evaluation.plan_rows import planned_case_ids, trigger_of
from regress_core.evaluation.ports import Ports
from regress_core.files import write_bytes
from regress_core.history.tables import TableName
from regress_core.journal.journal import EvaluationRow, Journal
from regress_core.records.canonical import hash_text
from regress_core.records.json_io import loads_own
from regress_core.records.times import utc_time
from regress_core.suite.loading import CaseRef, RecordRef, Suite

_FIELD = "--as-of"


def suite_as_of(name: str, as_of: str, ports: Ports) -> Suite:
    """Give a suite as an earlier evaluation had it, cases included whose files are gone since.

    The rules are those of that evaluation's plan. The records come whole from the history and are written
    below the store's `as_of/`, once each, for plans refer to files.

    Args:
        name: The suite's name.
        as_of: A finished evaluation's id; or a date, whose end in UTC counts, or a time. That means the suite
            as the newest finished evaluation begun by then found it, with all cases that were evaluated of
            it by then: of the evaluations with the same content the one with the most cases counts. Those of
            the sensor and of backfills do not count, for they are of a few cases, or of an older suite.
        ports: The store.

    Raises:
        InputError: If there is no such evaluation, it is another suite's or not finished, or its records are
            missing in the history.
    """
    row = _row(name, as_of, ports.journal)
    if row.suite != name:
        message = f"evaluation {row.evaluation_id} is of suite {row.suite}, not of {name}"
        raise InputError(message, field=_FIELD)
    if row.state != "finished":
        message = f"evaluation {row.evaluation_id} is not finished, so that its records are not kept yet"
        raise InputError(message, field=_FIELD, remedy=f"regress run --resume {row.evaluation_id}")
    plan = planned(row.evaluation_id, ports.journal)
    kept = _Kept(plan, ports)
    return replace(plan.suite, cases=tuple(kept.case(case) for case in plan.suite.cases))


def _row(name: str, as_of: str, journal: Journal) -> EvaluationRow:
    moment = _moment(as_of)
    if moment is None:
        row = journal.evaluation(as_of)
        if row is None:
            remedy = "name an evaluation's id (see `regress sql`), or a date such as 2026-06-30"
            raise InputError(f"no evaluation {as_of} in this store", field=_FIELD, remedy=remedy)
        return row
    rows = [
        row
        for row in journal.evaluations_of(name)
        if row.created_at <= moment and row.state == "finished" and trigger_of(row) not in _OF_A_PART
    ]
    if not rows:
        message = f"no finished evaluation of suite {name} up to {as_of}, those of a part of it aside"
        raise InputError(message, field=_FIELD, remedy="name a later date, or an evaluation's id")
    newest = _content_hash(rows[0])
    # The hash is over the whole suite, also where only some of its cases were evaluated.
    same = [row for row in rows if _content_hash(row) == newest]
    return max(same, key=lambda row: len(planned_case_ids(row.evaluation_id, journal)))


_OF_A_PART: tuple[Trigger, ...] = ("cases", "backfill")


def _content_hash(row: EvaluationRow) -> str:
    return loads_own(row.plan)["suite"]["contentHash"]


def _moment(text: str) -> datetime | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return utc_time(text)
    return datetime.combine(day, time.max, UTC)


class _Kept:
    """The records that the history keeps of an evaluation."""

    def __init__(self, plan: EvaluationPlan, ports: Ports) -> None:
        self._plan = plan
        self._folder = ports.store / "as_of"
        self._baselines = self._of("baseline_records", ports)
        self._accepted = self._of("accepted_records", ports)

    def case(self, case: CaseRef) -> CaseRef:
        """Give a case with references to the kept records in place of the files that it was planned with."""
        [baseline] = self._rows(self._baselines, case, 1)
        accepted = self._rows(self._accepted, case, len(case.accepted)) if case.accepted else []
        return replace(
            case,
            baseline=self._ref(baseline),
            accepted=tuple(self._ref(row) for row in accepted),
            recorded_at=baseline["started_at"],
        )

    def _of(self, table: TableName, ports: Ports) -> dict[str, list[dict[str, Any]]]:
        found = ports.history.rows_by_trial(table, self._plan.evaluation_id)
        return {case_id: rows for (case_id, trial), rows in found.items() if trial == 1}

    def _rows(
        self, found: dict[str, list[dict[str, Any]]], case: CaseRef, wanted: int
    ) -> list[dict[str, Any]]:
        rows = found.get(case.case_id, [])
        if len(rows) != wanted:
            message = f"the history has no whole record of it in evaluation {self._plan.evaluation_id}"
            remedy = "name another evaluation"
            raise InputError(message, field=_FIELD, case=case.case_id, remedy=remedy)
        return rows

    def _ref(self, row: dict[str, Any]) -> RecordRef:
        text: str = row["record_json"]
        data = text.encode()
        sha256 = hash_text(text)
        path = (self._folder / f"{sha256}.json").absolute()
        if not path.is_file() or path.read_bytes() != data:
            write_bytes(path, data)
        return RecordRef(str(path), sha256)
