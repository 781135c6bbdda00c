"""Imported runs go into the suite, each whole; what cannot go in is listed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.importers.writing import (
    REJECTS_FILE,
    Counts,
    ImportReport,
    count_only,
    write_imported,
)
from regress_core.records.json_io import JsonValue, loads
from regress_core.records.loading import list_record_files, load_record
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json, tool_call, tool_output

FAILED_WARNING = (
    "status failed: f0, f1, f2, f3, f4 and 2 more; replaying a baseline to an equal run needs a completed one"
)
MULTI_TURN_WARNING = (
    "multi-turn: 2 of 10 records can be compared with recorded candidates only; "
    "import with --turns each to replay"
)


def run(
    name: str, *, position: str | None = None, multi_turn: bool = False, **changes: JsonValue
) -> Imported:
    record = RunRecord.parse(record_json(runId=name, **changes))
    place = position or f"position of {name}"
    return Imported(name, record, place, multi_turn=multi_turn, file="log.jsonl")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_and_report(tmp_path: Path) -> None:
    suite = tmp_path / "new" / "suite"
    skipped, rejected = Skipped("index.json", "no run"), Rejected("row 2", "$.x: bad", "log.jsonl")
    report = write_imported([run("b"), skipped, rejected, run("a")], suite)
    assert report == ImportReport(
        folder=suite / "records",
        written=2,
        unchanged=0,
        counts=Counts(cases=2),
        skipped=(skipped,),
        rejected=(rejected,),
    )
    assert sorted(tree(suite)) == [REJECTS_FILE, "records/a.json", "records/b.json"]
    (line,) = (suite / REJECTS_FILE).read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"file": "log.jsonl", "position": "row 2", "reason": "$.x: bad"}
    text = (suite / "records" / "a.json").read_text(encoding="utf-8")
    assert text.startswith('{\n  "runId": "a",\n  "startedAt"')
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ünïcode/😀", "n-code-f34af28d.json"),
        ("a.runrecord", "a.json"),
        ("a.json", "a.json.json"),
    ],
)
def test_file_names(tmp_path: Path, name: str, file: str) -> None:
    write_imported([run(name)], tmp_path)
    assert list(tree(tmp_path)) == [f"records/{file}"]


@pytest.mark.parametrize("name", ["https://x/y", "a:b", "CON", "..", "x" * 300, "", "\ud800", "a.runrecord"])
def test_what_is_written_loads_again_as_one_case(tmp_path: Path, name: str) -> None:
    response = "\ud800 \x00 \x1b[31m \u2028 é"
    write_imported([run(name, response=response, unknown={"z": 1, "a": 1.0})], tmp_path)
    (file,) = list_record_files(tmp_path / "records")
    loaded = load_record(file)
    assert file.path.name == f"{file.case_id}.json"
    assert list(loaded.record.data.items()) == list(
        record_json(runId=name, response=response, unknown={"z": 1, "a": 1.0}).items()
    )


@pytest.mark.parametrize(("first", "second"), [("a", "a"), ("Case", "cASE"), ("a", "a.runrecord")])
def test_of_two_runs_of_one_case_the_first_is_taken(tmp_path: Path, first: str, second: str) -> None:
    runs = [run("other"), run(first, position="row 1"), run(second, position="row 9")]
    report = write_imported(runs, tmp_path)
    (rejected,) = report.rejected
    assert (rejected.file, rejected.position) == ("log.jsonl", "row 9")
    assert rejected.reason.startswith("the same case as log.jsonl: row 1, letter case aside: ")
    assert "--name" in rejected.reason
    assert (report.written, report.counts.cases) == (2, 2)
    assert sorted(tree(tmp_path)) == sorted([REJECTS_FILE, "records/other.json", f"records/{first}.json"])


def test_a_source_that_breaks_off_writes_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Outcome]:
        yield run("a")
        raise InputError("cut short")

    suite = tmp_path / "suite"
    suite.mkdir()
    with pytest.raises(InputError, match="cut short"):
        write_imported(broken(), suite)
    assert list(suite.iterdir()) == []
    with pytest.raises(InputError, match="cut short"):
        write_imported(broken(), suite / "deeper" / "still")
    assert list(suite.iterdir()) == []


def test_importing_again_changes_nothing(tmp_path: Path) -> None:
    write_imported([run("a")], tmp_path)
    before = tree(tmp_path)
    report = write_imported([run("a")], tmp_path)
    assert (report.written, report.unchanged, report.counts.cases) == (0, 1, 1)
    report = write_imported([run("a"), run("b")], tmp_path)
    assert (report.written, report.unchanged, report.counts.cases) == (1, 1, 2)
    assert tree(tmp_path)["records/a.json"] == before["records/a.json"]


@pytest.mark.parametrize(
    "existing", ["records/a.json", "records/A.json", "records/a.runrecord.json", "records/a/1.json"]
)
def test_another_run_of_the_case_is_there_already(tmp_path: Path, existing: str) -> None:
    file = tmp_path / existing
    file.parent.mkdir(parents=True)
    file.write_text("{}", encoding="utf-8")
    report = write_imported([run("a"), run("b")], tmp_path)
    (rejected,) = report.rejected
    named = existing.removesuffix("/1.json")
    assert rejected.reason.startswith(
        f"{tmp_path / named} stands there already, with another run of the case"
    )
    assert (rejected.file, rejected.position) == ("log.jsonl", "position of a")
    assert (report.written, report.unchanged) == (1, 0)
    after = tree(tmp_path)
    assert sorted(after) == sorted([REJECTS_FILE, existing, "records/b.json"])
    assert after[existing] == b"{}"


def test_nothing_to_write_leaves_nothing(tmp_path: Path) -> None:
    report = write_imported([Skipped("x", "no run")], tmp_path / "suite")
    assert report.counts.cases == 0
    assert not (tmp_path / "suite").exists()


def test_a_suite_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_imported([run("a")], file)
    (tmp_path / "records").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_imported([run("a")], tmp_path)


def test_a_record_too_deep_to_be_read_again_is_rejected(tmp_path: Path) -> None:
    deep = loads("[" * 200 + "]" * 200)
    report = write_imported([run("a", position="row 1", contextSnapshot=deep), run("b")], tmp_path)
    assert report.rejected == (Rejected("row 1", "$: nests deeper than 200", "log.jsonl"),)
    assert sorted(tree(tmp_path)) == [REJECTS_FILE, "records/b.json"]


def test_warnings_sum_up(tmp_path: Path) -> None:
    failed = [run(f"f{number}", status="failed") for number in range(7)]
    talks = [run("m1", multi_turn=True), run("m2", multi_turn=True)]
    report = write_imported([*failed, *talks, run("x")], tmp_path)
    assert [*report.counts.warnings()] == [FAILED_WARNING, MULTI_TURN_WARNING]


def test_labelled_runs_are_counted(tmp_path: Path) -> None:
    labelled = run("a", metadata={"regress": {"label": 0}})
    assert write_imported([labelled, run("b")], tmp_path).counts.labelled == 1


def test_what_the_records_hold_is_counted(tmp_path: Path) -> None:
    items = [
        tool_call("c1", "f"),
        tool_call("c2", "f"),
        tool_output("c1"),
        {**tool_output("c2"), "isError": True},
        message("Done.", "assistant"),
    ]
    report = count_only([run("a", items=items), run("b"), Rejected("row 3", "no")], tmp_path)
    counts = report.counts
    assert (counts.cases, counts.calls, counts.outputs, counts.errors) == (2, 2, 2, 1)
    assert (report.written, report.unchanged, len(report.rejected)) == (0, 0, 1)
    assert tree(tmp_path) == {}


def test_the_list_of_rejects_is_that_of_the_last_import(tmp_path: Path) -> None:
    write_imported([run("a"), Rejected("row 2", "no", "x.json")], tmp_path)
    assert (tmp_path / REJECTS_FILE).is_file()
    write_imported([run("a")], tmp_path)
    assert not (tmp_path / REJECTS_FILE).exists()
