"""What explains a comparison, as columns of the history: trajectory, answer, writes."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regress_core.compare.effect_rules import EffectsConfig
from regress_core.compare.options import CompareOptions
from regress_core.history.rows import explanation_columns
from regress_core.history.store import History
from regress_core.history.tables import SCHEMAS
from regress_core.records.json_io import JsonObject, dumps, loads
from tests.compare.support import compare, run_of, turns
from tests.history.support import arrow, asked, case_result, file_of, write, write_foreign

WRITES = CompareOptions(effects=EffectsConfig(write=("w",)))
UNKNOWN: dict[str, Any] = dict.fromkeys(
    (
        "trajectory",
        "first_divergence",
        "progress",
        "answer_change",
        "facts_lost",
        "facts_added",
        "facts_altered",
        "writes_a",
        "writes_b",
        "failed_writes_a",
        "failed_writes_b",
        "changed_writes",
        "missing_writes",
        "extra_writes",
    )
)
CALLS = {"trajectory": "same", "first_divergence": None, "progress": 1.0}
ANSWER = {"answer_change": "exact", "facts_lost": 0, "facts_added": 0, "facts_altered": ()}
NO_WRITES = dict.fromkeys(list(UNKNOWN)[7:], 0)


def run(notation: str, answer: str = "Done.") -> JsonObject:
    return run_of(turns(notation) if notation else (), decided=True, response=answer)


ROWS: dict[str, tuple[JsonObject, JsonObject, CompareOptions, dict[str, Any]]] = {
    "equal": (
        run("a1 | w1"),
        run("a1 | w1"),
        WRITES,
        {**CALLS, **ANSWER, **NO_WRITES, "writes_a": 1, "writes_b": 1},
    ),
    "no-calls": (run(""), run(""), WRITES, {**CALLS, "progress": None, **ANSWER, **NO_WRITES}),
    "nobody-knows-what-writes": (run("w1"), run("w1"), CompareOptions(), {**CALLS, **ANSWER}),
    "another-write-and-one-less": (
        run("a1 | w1 | w2 | a2"),
        run("a1 | w3 | a2"),
        WRITES,
        {
            "trajectory": "different",
            "first_divergence": "call 2 (w) has other arguments",
            "progress": 0.25,
            **ANSWER,
            **NO_WRITES,
            "writes_a": 2,
            "writes_b": 1,
            "changed_writes": 1,
            "missing_writes": 1,
        },
    ),
    "one-call-more": (
        run("a1"),
        run("a1 | w1"),
        WRITES,
        {
            "trajectory": "superset",
            "first_divergence": "call 2 of the candidate (w) is new",
            "progress": 1.0,
            **ANSWER,
            **NO_WRITES,
            "writes_b": 1,
            "extra_writes": 1,
        },
    ),
    "one-call-less": (
        run("a1 | a2"),
        run("a1"),
        WRITES,
        {
            "trajectory": "subset",
            "first_divergence": "call 2 (a) is missing",
            "progress": 0.5,
            **ANSWER,
            **NO_WRITES,
        },
    ),
    "facts": (
        run("", "It costs 12.50, less 20, and comes on 2026-03-09."),
        run("", "It costs 13.50."),
        CompareOptions(),
        {
            **CALLS,
            "progress": None,
            "answer_change": "different",
            "facts_lost": 3,
            "facts_added": 1,
            "facts_altered": ("number",),
        },
    ),
    "no-answer-compared": (
        run("a1"),
        run("a1"),
        CompareOptions(exclude_sections=("response",)),
        CALLS,
    ),
    "no-calls-compared": (
        run("a1"),
        run("a2"),
        CompareOptions(exclude_sections=("toolCalls",)),
        ANSWER,
    ),
    "the-references-rule": (run("a1"), run("w1"), CompareOptions(ignore_volatile=False), {}),
}


@pytest.mark.parametrize(("left", "right", "options", "expected"), ROWS.values(), ids=list(ROWS))
def test_what_explains_a_comparison(
    left: JsonObject, right: JsonObject, options: CompareOptions, expected: dict[str, Any]
) -> None:
    comparison: JsonObject = loads(dumps(compare(left, right, options).to_json()))

    assert explanation_columns(comparison) == UNKNOWN | expected


def test_a_comparison_of_an_older_version_explains_nothing() -> None:
    assert explanation_columns({"equal": True, "differences": []}) == UNKNOWN


def test_every_explanation_is_a_column() -> None:
    assert set(UNKNOWN) <= set(SCHEMAS["comparisons"].names)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path)


def test_files_of_before_have_nulls(history: History) -> None:
    result = case_result("a")
    compared = {name: value for name, value in result.items() if name != "status"}
    write_foreign(file_of(history, "comparisons"), arrow("comparisons", [compared], leave_out=list(UNKNOWN)))
    write_foreign(
        file_of(history, "case_results"), arrow("case_results", [result], leave_out=["effects_changed"])
    )
    explained = {"trajectory": "same", "progress": 1.0, "facts_altered": ("number",), "writes_a": 2}
    write(
        history,
        {
            "comparisons": [{**compared, "evaluation_id": "e2", **explained}],
            "case_results": [{**result, "evaluation_id": "e2", "effects_changed": True}],
        },
        evaluation_id="e2",
    )

    assert asked(
        history,
        "SELECT evaluation_id, effects_changed, trajectory, progress, facts_altered, writes_a, extra_writes "
        "FROM comparisons JOIN case_results USING (evaluation_id, case_id, trial) ORDER BY 1",
    ) == [
        ("e1", None, None, None, None, None, None),
        ("e2", True, "same", 1.0, ["number"], 2, None),
    ]
    assert history.table("comparisons").column("writes_a").to_pylist() == [None, 2]
