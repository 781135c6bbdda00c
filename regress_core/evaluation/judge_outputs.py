"""Verdicts and checks as the output folder tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regress_core.history.store import History
from regress_core.history.tables import TableName
from regress_core.records.json_io import JsonObject, dumps_text, loads_own

Row = dict[str, Any]


def rows_by_trial(history: History, table: TableName, evaluation_id: str) -> dict[tuple[str, int], list[Row]]:
    """Give an evaluation's rows of a table by case id and trial, each of the newest revision there is."""
    found: dict[tuple[str, int], list[Row]] = {}
    for row in history.rows_of(table, evaluation_id):  # revision after revision
        rows = found.setdefault((row["case_id"], row["trial"]), [])
        if rows and rows[0]["revision"] < row["revision"]:
            rows.clear()
        rows.append(row)
    return found


def verdicts_of(rows: Sequence[Row]) -> JsonObject:
    """Give the RFC's `judge` of a case, where there is such a verdict, and ours beside it, by judge.

    A verdict of the regression judge is the RFC's RunJudgeResult with what we know besides.
    """
    verdicts: JsonObject = {}
    for row in rows:
        outcome: JsonObject = loads_own(row["result_json"])
        if row["judge"] != "regression":
            verdicts[row["judge"]] = outcome
        elif "result" in outcome:
            result: JsonObject = outcome.pop("result")
            verdicts["judge"] = {**result, **outcome}
    return verdicts


def verdicts_text(rows: Sequence[Row]) -> str:
    """Give a file of `judges/`: what the regression judge said, the other judges under their names."""
    verdicts: JsonObject = {}
    for row in rows:
        outcome: JsonObject = loads_own(row["result_json"])
        if row["judge"] == "regression":
            result: JsonObject = outcome.pop("result", {})
            verdicts = {**result, **outcome, **verdicts}
        else:
            verdicts[row["judge"]] = outcome
    return dumps_text(verdicts, indent=2)


def checks_of(rows: Sequence[Row]) -> list[JsonObject]:
    """Give the results of the checks of a case."""
    names = {"check_id": "checkId", "looked_for": "lookedFor"}
    columns = ("check_id", "kind", "outcome", "looked_for", "found", "where")
    return [{names.get(name, name): row[name] for name in columns if row[name] is not None} for row in rows]
