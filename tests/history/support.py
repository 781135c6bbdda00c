"""Rows and files of a history, by hand."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from regress_core.history.sql import query
from regress_core.history.store import History, Row
from regress_core.history.tables import SCHEMAS, TableName

AT = datetime(2026, 3, 31, 21, 30, 0, 123456, tzinfo=UTC)


def evaluation(evaluation_id: str = "e1", revision: int = 1, **changes: Any) -> Row:  # noqa: ANN401 - columns
    """Give a row of `evaluations`, all columns filled, then `changes`."""
    row: dict[str, Any] = {
        "evaluation_id": evaluation_id,
        "suite": "shop",
        "candidate_id": "cand",
        "revision": revision,
        "schema_version": 1,
        "candidate_label": "shop@2",
        "plan_key": "plan",
        "trigger": "library",
        "candidate_kind": "harness",
        "model": "openai:m-small",
        "mode": "strict",
        "input_mode": "recorded",
        "trials": 1,
        "from_turn": 0,
        "status": "warn",
        "gate_status": "warn",
        "gate_reasons": ("1 of 3 cases warned", "1 of 3 cases inconclusive"),
        "cases": 3,
        "passed": 1,
        "warned": 2,
        "failed": 0,
        "inconclusive": 1,
        "pass_rate": 1.0,
        "orphans": (),
        "cost_usd": 0.0,
        "created_at": AT,
        "finished_at": AT,
        "candidate_usd": 0.0,
        "judge_usd": 0.0,
        "saved_by_cache_usd": 0.0,
        "skipped_by_cap": 0,
        "axes_judged": None,
        "composite_score": None,
        "composite_warn": 3.5,
        "composite_block": 3.0,
        "axis_minimum": 2.0,
        "min_pass_rate": None,
        "pass_rate_low": 0.2,
        "pass_rate_high": 1.0,
        "smallest_drop": None,
    }
    return row | changes


def case_result(case_id: str, revision: int = 1, **changes: Any) -> Row:  # noqa: ANN401 - columns
    """Give a row of `case_results` with little more than its keys, then `changes`."""
    row: dict[str, Any] = {
        "evaluation_id": "e1",
        "suite": "shop",
        "case_id": case_id,
        "case_name": case_id,
        "candidate_id": "cand",
        "trial": 1,
        "revision": revision,
        "schema_version": 1,
        "status": "pass",
    }
    return row | changes


def write(
    history: History, rows: Mapping[TableName, Sequence[Row]], *, evaluation_id: str = "e1", number: int = 1
) -> None:
    """Write one revision of the suite `shop`, in March 2026."""
    with history.writer("shop", "2026-03", evaluation_id, number) as writer:
        for table, some in rows.items():
            writer.write(table, some)


def file_of(history: History, table: TableName, name: str = "e1-1") -> Path:
    """Give the file of a revision, as design section 9 names it."""
    return history.root / table / "suite=shop" / "month=2026-03" / f"{name}.parquet"


def write_foreign(path: Path, table: pa.Table, *, version: str | None = "1") -> Path:
    """Write a file of the history as another program would, with its schema version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = None if version is None else {"regress.schema_version": version}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


def arrow(table: TableName, rows: Sequence[Row], *, leave_out: Sequence[str] = ()) -> pa.Table:
    """Give rows as an Arrow table of today's schema, without some columns."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMAS[table]).drop_columns(list(leave_out))


def asked(history: History, sql: str) -> list[tuple[Any, ...]]:
    """Give what a query returns; no file may have been bad."""
    answer = query(history, sql)
    assert answer.bad == ()
    return [tuple(row.values()) for row in answer.table.to_pylist()]
