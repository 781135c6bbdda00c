"""Run records of the reference: taken as they are, named by file or run id."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.aioc import import_aioc, list_sources, read_sources
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped, SourceRow
from regress_core.records.json_io import JsonValue, dumps
from tests.support.records import record_json


def outcomes(source: Path) -> list[Outcome]:
    files, skipped = list_sources(source)
    return [*skipped, *import_aioc(read_sources(files))]


def test_the_value_stays_with_unknown_fields_and_the_order_of_keys() -> None:
    value = {"zzz": [1.0, 10**30, None], **record_json(response="\ud800\x00"), "more": {"b": 1, "a": 2}}
    (outcome,) = import_aioc([SourceRow("a.json", 1, value, alone=True)])
    assert isinstance(outcome, Imported)
    assert outcome.record.data is value


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a.json", "a"),
        ("a.b.json", "a.b"),
        ("a.runrecord.json", "a"),
        ("a.json.gz", "a"),
        ("a.runrecord.json.gz", "a"),
    ],
)
def test_one_record_is_named_by_its_file(tmp_path: Path, file: str, name: str) -> None:
    text = dumps(record_json(), indent=2)
    (tmp_path / file).write_bytes(gzip.compress(text) if file.endswith(".gz") else text)
    (outcome,) = outcomes(tmp_path / file)
    assert isinstance(outcome, Imported)
    assert (outcome.name, outcome.position) == (name, file)


@pytest.mark.parametrize("form", ["array.json", "lines.json", "lines.jsonl"])
def test_several_records_are_named_by_their_run_ids(tmp_path: Path, form: str) -> None:
    texts = [dumps(record_json(runId="r1")), dumps(record_json(runId="r2"))]
    text = b"\n".join(texts) if form.startswith("lines") else b"[" + b",".join(texts) + b"]"
    (tmp_path / form).write_bytes(text)
    got = outcomes(tmp_path / form)
    assert [(run.name, run.position) for run in got if isinstance(run, Imported)] == [
        ("r1", f"{form}: row 1"),
        ("r2", f"{form}: row 2"),
    ]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (3, Skipped("x.json", "no run record: no JSON object")),
        ({}, Skipped("x.json", "no run record: none of runId, items and question is there")),
        ({"samples": []}, Skipped("x.json", "no run record: none of runId, items and question is there")),
        ({"runId": "r"}, Rejected("x.json", "$.startedAt: the field is missing")),
        (record_json(runId=3), Rejected("x.json", "$.runId: input should be a valid string")),
        (record_json(items=[{"type": "tool_call_item", "callId": "c"}]),
         Rejected("x.json", "$.items[0].name: the field is missing")),
    ],
)  # fmt: skip
def test_what_is_no_record_and_what_is_a_broken_one(value: JsonValue, outcome: Outcome) -> None:
    assert list(import_aioc([SourceRow("x.json", 1, value, alone=True)])) == [outcome]


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(dumps(record_json()))
    (tmp_path / "a.json").write_bytes(dumps(record_json()))
    (tmp_path / "c.jsonl").write_bytes(dumps(record_json(runId="r")))
    (tmp_path / "README.md").write_text("about", encoding="utf-8")
    (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    got = outcomes(tmp_path)
    assert got[:2] == [Skipped("README.md", "no JSON file"), Skipped("sub", "a sub-folder")]
    assert [run.name for run in got if isinstance(run, Imported)] == ["a", "b", "r"]


def test_a_broken_file_ends_the_import(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"runId": ')
    with pytest.raises(InputError, match=r"a\.json: not JSON"):
        outcomes(tmp_path)
