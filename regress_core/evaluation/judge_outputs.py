"""Verdicts and checks as the output folder tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regress_core.checks.outcome import CheckResult
from regress_core.records.json_io import JsonObject, dumps_text, loads_own

Row = dict[str, Any]


def verdicts_of(rows: Sequence[Row]) -> JsonObject:
    """Give the RFC's `judge` of a case, where there is such a verdict, and ours beside it, by judge."""
    by_judge = _by_judge(rows)
    regression: JsonObject | None = by_judge.pop("regression", None)
    if regression is None or regression["state"] != "verdict":
        return by_judge
    return {"judge": regression, **by_judge}


def verdicts_text(rows: Sequence[Row]) -> str:
    """Give a file of `judges/`: what the regression judge said, the other judges under their names."""
    by_judge = _by_judge(rows)
    return dumps_text({**by_judge.pop("regression", {}), **by_judge}, indent=2)


def _by_judge(rows: Sequence[Row]) -> JsonObject:
    """Give what became of each judge: of the regression judge the RFC's RunJudgeResult, ours beside it."""
    by_judge: JsonObject = {}
    for row in rows:
        outcome: JsonObject = loads_own(row["result_json"])
        by_judge[row["judge"]] = {**outcome.pop("result", {}), **outcome}
    return by_judge


def checks_of(rows: Sequence[Row]) -> list[JsonObject]:
    """Give the results of the checks of a case."""
    names = CheckResult.model_fields
    return [
        CheckResult.model_validate({name: row[name] for name in names if row[name] is not None}).to_json()
        for row in rows
    ]
