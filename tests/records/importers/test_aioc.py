"""Run records of the reference: taken as they are, named by file or run id."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from regress_core.records.importers.aioc import is_aioc, read_aioc
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped, SourceRow
from regress_core.records.importers.importing import Choice, Format, imported_cases
from regress_core.records.importers.sources import open_sources
from regress_core.records.json_io import JsonValue, dumps
from tests.support.records import record_json


def outcomes(source: Path) -> list[Outcome]:
    with open_sources(source) as (files, skipped):
        formats = [Format("aioc", read_aioc, is_aioc)]
        return [*skipped, *imported_cases(files, formats, Choice(), source)]


def test_the_value_stays_with_unknown_fields_and_the_order_of_keys() -> None:
    value = {"zzz": [1.0, 10**30, None], **record_json(response="\ud800\x00"), "more": {"b": 1, "a": 2}}
    (outcome,) = read_aioc([SourceRow("a.json", 1, value, alone=True)])
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
    assert (outcome.name, outcome.position, outcome.file) == (name, "", file)


@pytest.mark.parametrize("form", ["array.json", "lines.json", "lines.jsonl"])
def test_several_records_are_named_by_their_run_ids(tmp_path: Path, form: str) -> None:
    texts = [dumps(record_json(runId="r1")), dumps(record_json(runId="r2"))]
    text = b"\n".join(texts) if form.startswith("lines") else b"[" + b",".join(texts) + b"]"
    (tmp_path / form).write_bytes(text)
    got = outcomes(tmp_path / form)
    assert [(run.name, run.position) for run in got if isinstance(run, Imported)] == [
        ("r1", "row 1"),
        ("r2", "row 2"),
    ]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (3, Skipped("", "no run record: no JSON object")),
        ({}, Skipped("", "no run record: none of runId, items and question is there")),
        ({"samples": []}, Skipped("", "no run record: none of runId, items and question is there")),
        ({"runId": "r"}, Rejected("", "$.startedAt: the field is missing")),
        (record_json(runId=3), Rejected("", "$.runId: input should be a valid string")),
        (record_json(items=[{"type": "tool_call_item", "callId": "c"}]),
         Rejected("", "$.items[0].name: the field is missing")),
    ],
)  # fmt: skip
def test_what_is_no_record_and_what_is_a_broken_one(value: JsonValue, outcome: Outcome) -> None:
    (found,) = read_aioc([SourceRow("x.json", 1, value, alone=True)])
    assert found == (replace(outcome, origin=value) if isinstance(outcome, Rejected) else outcome)


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(dumps(record_json()))
    (tmp_path / "a.json").write_bytes(dumps(record_json()))
    (tmp_path / "c.jsonl").write_bytes(dumps(record_json(runId="r")))
    (tmp_path / "README.md").write_text("about", encoding="utf-8")
    (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.json").write_bytes(dumps(record_json()))

    skipped, *others = outcomes(tmp_path)

    assert skipped == Skipped("README.md", "no JSON file")
    named = [(run.name, run.file) for run in others if isinstance(run, Imported)]
    assert named == [("a", "a.json"), ("b", "b.json"), ("r", "c.jsonl"), ("d", "sub/d.json")]
    assert len(others) == 4


def test_a_broken_file_is_rejected_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(dumps(record_json()))
    (tmp_path / "b.json").write_text('{"runId": ', encoding="utf-8")
    (tmp_path / "c.json.gz").write_bytes(gzip.compress(dumps(record_json()))[:-4])
    (tmp_path / "d.json").write_bytes(dumps(record_json()))

    first, broken, cut, last = outcomes(tmp_path)

    assert [one.name for one in (first, last) if isinstance(one, Imported)] == ["a", "d"]
    assert isinstance(broken, Rejected)
    assert broken.file == "b.json"
    assert broken.reason.startswith("not JSON at line 1, column 11")
    assert isinstance(cut, Rejected)
    assert (cut.file, cut.position) == ("c.json.gz", "")
    assert "the compressed data is cut short" in cut.reason
