"""A journal of an earlier version is brought up to date, and nothing in it is lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from regress_core.journal.journal import Journal
from regress_core.journal.schema import SCHEMA_VERSION
from regress_core.records.json_io import JsonObject, dumps_text, loads_own
from tests.journal.support import row

# As version 1 wrote them.
PLAN: JsonObject = {
    "suite": {"name": "shop", "root": "/shop", "config": {}, "expectation": None, "contentHash": "c"},
    "candidate": {"id": "a", "label": "shop@2"},
    "orphans": [],
    "trigger": "cli",
}
OUTCOME: JsonObject = {"caseId": "a", "trial": 1, "revision": 1, "status": "pass", "trouble": None}


# As version 2 wrote them.
JUDGED: JsonObject = {"judge": "regression", "state": "error", "reason": "the judge said ü", "advisory": True}


def _version(number: int, path: Path) -> str:
    """Make a journal of an older version, with one evaluation; give its id."""
    with Journal.open(path) as journal:
        evaluation_id = journal.create_evaluation(row()).evaluation_id
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE schema_version SET version = ?", (number,))
        for table in ("calls", "announcements"):
            connection.execute(f"DROP TABLE {table}")
    return evaluation_id


def _version_1(path: Path, outcomes: dict[str, JsonObject]) -> None:
    evaluation_id = _version(1, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE evaluations SET plan = ?", (json.dumps(PLAN),))
        connection.executemany(
            "INSERT INTO steps VALUES (?, ?, 1, ?, 1, ?)",
            [
                (evaluation_id, case_id, stage, json.dumps(payload))
                for case_id, outcome in outcomes.items()
                for stage, payload in (("outcome", outcome), ("candidate", {"runId": case_id}))
            ],
        )


def _read(path: Path) -> tuple[JsonObject, dict[tuple[str, str], JsonObject], int]:
    with closing(sqlite3.connect(path)) as connection:
        ((plan,),) = connection.execute("SELECT plan FROM evaluations").fetchall()
        steps = connection.execute("SELECT case_id, stage, payload FROM steps").fetchall()
        ((version,),) = connection.execute("SELECT version FROM schema_version").fetchall()
    return loads_own(plan), {(case, stage): loads_own(payload) for case, stage, payload in steps}, version


def test_plans_say_how_candidates_are_run(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    _version_1(path, {})

    Journal.open(path).close()

    plan, _, version = _read(path)
    assert version == SCHEMA_VERSION
    assert plan["how"] == {"mode": "strict", "inputMode": "recorded", "trials": 1, "fromTurn": 0}
    assert plan["candidate"] == {"id": "a", "label": "shop@2", "kind": "records", "harness": None}
    assert plan["suite"] == {**PLAN["suite"], "baselineDescriptor": None}
    assert {key: plan[key] for key in ("orphans", "trigger")} == {"orphans": [], "trigger": "cli"}


@pytest.mark.parametrize(
    ("code", "kind", "stage"),
    [
        ("no candidate record", "input", "candidate"),
        ("input changed", "input", "candidate"),
        ("nothing to compare", "input", "comparison"),
        ("internal error", "internal error", "comparison"),
    ],
)
def test_trouble_gets_kind_stage_and_code(tmp_path: Path, code: str, kind: str, stage: str) -> None:
    path = tmp_path / "journal.sqlite"
    trouble = {"kind": code, "message": "why", "retryable": True}
    _version_1(path, {"a": OUTCOME, "b": {**OUTCOME, "caseId": "b", "trouble": trouble}})

    for _ in range(2):  # a second opening changes nothing
        Journal.open(path).close()

    _, steps, _ = _read(path)
    assert steps["a", "outcome"] == {**OUTCOME, "replayMiss": False, "judge": None}
    assert steps["a", "candidate"] == {"runId": "a"}
    assert steps["b", "outcome"]["trouble"] == {
        "kind": kind,
        "stage": stage,
        "code": code,
        "message": "why",
        "retryable": True,
    }


def test_a_judge_becomes_a_list_of_judges(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    evaluation_id = _version(2, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO steps VALUES (?, 'a', 1, ?, 1, ?)",
            [(evaluation_id, "judge", dumps_text(JUDGED)), (evaluation_id, "outcome", dumps_text(OUTCOME))],
        )

    for _ in range(2):  # a second opening changes nothing
        Journal.open(path).close()

    _, steps, version = _read(path)
    assert version == SCHEMA_VERSION
    assert steps == {("a", "judge"): [JUDGED], ("a", "outcome"): OUTCOME}


def test_an_older_journal_gets_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    _version(2, path)

    with Journal.open(path) as journal:
        assert list(journal.ledger().calls_of("e1", 1)) == []


def test_a_journal_of_version_3_can_note_announcements(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path) as journal:
        journal.create_evaluation(row())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE schema_version SET version = 3")
        connection.execute("DROP TABLE announcements")

    with Journal.open(path) as journal:
        assert journal.announcements().claim("e1", 1, datetime(2026, 3, 1, tzinfo=UTC))

    assert _read(path)[2] == SCHEMA_VERSION
