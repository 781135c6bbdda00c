"""How often each case of a suite has passed before: its own noise."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from regress_core.history.store import History
from regress_core.stats.trials import Trials

_EVALUATION = ("evaluation_id", "revision", "created_at", "gate_status")
_CASE = ("evaluation_id", "case_id", "trial", "revision", "status", "inconclusive", "baseline_sha256")


def earlier_trials(
    history: History, suite: str, *, before: datetime, most: int, baselines: Mapping[str, str]
) -> dict[str, Trials]:
    """Count each case's conclusive trials in the last evaluations that the gate did not fail.

    An evaluation that the gate failed is no measure of noise: a case that broke would soon count as one that
    is always so.

    Args:
        history: The history.
        suite: The suite's name.
        before: Only evaluations created before this moment.
        most: At most so many, the newest.
        baselines: SHA-256 of each case's baseline, by case id; trials against another one do not count.
    """
    chosen = _last(history, suite, before, most)
    newest: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in history.columns_of("case_results", suite, _CASE).to_pylist():
        if row["evaluation_id"] in chosen and row["baseline_sha256"] == baselines.get(row["case_id"]):
            key = (row["evaluation_id"], row["case_id"], row["trial"])
            if key not in newest or newest[key]["revision"] < row["revision"]:
                newest[key] = row
    conclusive = [row for row in newest.values() if not row["inconclusive"]]
    passed = Counter(row["case_id"] for row in conclusive if row["status"] != "fail")
    return {
        case_id: Trials(passed[case_id], count)
        for case_id, count in Counter(row["case_id"] for row in conclusive).items()
    }


def _last(history: History, suite: str, before: datetime, most: int) -> set[str]:
    newest: dict[str, dict[str, Any]] = {}
    for row in history.columns_of("evaluations", suite, _EVALUATION).to_pylist():
        known = newest.get(row["evaluation_id"])
        if known is None or known["revision"] < row["revision"]:
            newest[row["evaluation_id"]] = row
    good = [row for row in newest.values() if row["created_at"] < before and row["gate_status"] != "fail"]
    good.sort(key=lambda row: (row["created_at"], row["evaluation_id"]))
    return {row["evaluation_id"] for row in good[-most:]}
