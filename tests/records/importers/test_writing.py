"""Imported runs go into the suite whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.base import Imported, Outcome, Rejected, Skipped
from regress_core.records.importers.writing import ImportReport, write_imported
from regress_core.records.json_io import JsonValue, loads
from regress_core.records.loading import list_record_files, load_record
from regress_core.records.model import RunRecord
from tests.support.records import record_json

SOURCE = Path("log.jsonl")

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
    return Imported(name, record, position or f"position of {name}", multi_turn=multi_turn)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_and_report(tmp_path: Path) -> None:
    suite = tmp_path / "new" / "suite"
    skipped, rejected = Skipped("index.json", "no run"), Rejected("row 2", "$.x: bad")
    report = write_imported([run("b"), skipped, rejected, run("a")], suite, SOURCE)
    assert report == ImportReport(
        folder=suite / "records",
        written=2,
        unchanged=0,
        labelled=0,
        skipped=(skipped,),
        rejected=(rejected,),
        warnings=(),
    )
    assert sorted(tree(suite)) == ["records/a.json", "records/b.json"]
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
    write_imported([run(name)], tmp_path, SOURCE)
    assert list(tree(tmp_path)) == [f"records/{file}"]


@pytest.mark.parametrize("name", ["https://x/y", "a:b", "CON", "..", "x" * 300, "", "\ud800", "a.runrecord"])
def test_what_is_written_loads_again_as_one_case(tmp_path: Path, name: str) -> None:
    response = "\ud800 \x00 \x1b[31m \u2028 é"
    write_imported([run(name, response=response, unknown={"z": 1, "a": 1.0})], tmp_path, SOURCE)
    (file,) = list_record_files(tmp_path / "records")
    loaded = load_record(file)
    assert file.path.name == f"{file.case_id}.json"
    assert list(loaded.record.data.items()) == list(
        record_json(runId=name, response=response, unknown={"z": 1, "a": 1.0}).items()
    )


@pytest.mark.parametrize(("first", "second"), [("a", "a"), ("Case", "cASE"), ("a", "a.runrecord")])
def test_two_runs_of_one_case(tmp_path: Path, first: str, second: str) -> None:
    suite = tmp_path / "suite"
    with pytest.raises(InputError) as caught:
        write_imported(
            [run("other"), run(first, position="row 1"), run(second, position="row 9")], suite, SOURCE
        )
    message = str(caught.value)
    assert "row 1 and row 9 are the same case" in message
    assert "--where" in message
    assert "--id" in message
    assert not suite.exists()


def test_a_source_that_breaks_off_writes_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Outcome]:
        yield run("a")
        raise InputError("cut short")

    suite = tmp_path / "suite"
    suite.mkdir()
    with pytest.raises(InputError, match="cut short"):
        write_imported(broken(), suite, SOURCE)
    assert list(suite.iterdir()) == []
    with pytest.raises(InputError, match="cut short"):
        write_imported(broken(), suite / "deeper" / "still", SOURCE)
    assert list(suite.iterdir()) == []


def test_importing_again_changes_nothing(tmp_path: Path) -> None:
    write_imported([run("a")], tmp_path, SOURCE)
    before = tree(tmp_path)
    report = write_imported([run("a")], tmp_path, SOURCE)
    assert (report.written, report.unchanged, report.imported) == (0, 1, 1)
    report = write_imported([run("a"), run("b")], tmp_path, SOURCE)
    assert (report.written, report.unchanged, report.imported) == (1, 1, 2)
    assert tree(tmp_path)["records/a.json"] == before["records/a.json"]


@pytest.mark.parametrize(
    "existing", ["records/a.json", "records/A.json", "records/a.runrecord.json", "records/a/1.json"]
)
def test_another_run_of_the_case_is_there_already(tmp_path: Path, existing: str) -> None:
    file = tmp_path / existing
    file.parent.mkdir(parents=True)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        write_imported([run("a"), run("b")], tmp_path, SOURCE)
    named = existing.removesuffix("/1.json")
    assert str(caught.value).startswith(f"{tmp_path / named}: case a: ")
    assert "remove it" in str(caught.value)
    assert tree(tmp_path) == {existing: b"{}"}


def test_nothing_to_write_leaves_nothing(tmp_path: Path) -> None:
    report = write_imported([Skipped("x", "no run")], tmp_path / "suite", SOURCE)
    assert report.imported == 0
    assert not (tmp_path / "suite").exists()


def test_a_suite_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_imported([run("a")], file, SOURCE)
    (tmp_path / "records").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_imported([run("a")], tmp_path, SOURCE)


def test_a_record_too_deep_to_be_read_again_is_rejected(tmp_path: Path) -> None:
    deep = loads("[" * 200 + "]" * 200)
    report = write_imported([run("a", position="row 1", contextSnapshot=deep), run("b")], tmp_path, SOURCE)
    assert report.rejected == (Rejected("row 1", "$: nests deeper than 200"),)
    assert list(tree(tmp_path)) == ["records/b.json"]


def test_warnings_sum_up(tmp_path: Path) -> None:
    failed = [run(f"f{number}", status="failed") for number in range(7)]
    talks = [run("m1", multi_turn=True), run("m2", multi_turn=True)]
    report = write_imported([*failed, *talks, run("x")], tmp_path, SOURCE)
    assert report.warnings == (
        FAILED_WARNING,
        MULTI_TURN_WARNING,
    )


def test_labelled_runs_are_counted(tmp_path: Path) -> None:
    labelled = run("a", metadata={"regress": {"label": 0}})
    assert write_imported([labelled, run("b")], tmp_path, SOURCE).labelled == 1
