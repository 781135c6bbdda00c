"""Reading run records from files: what belongs to a folder of records, and errors that lead to the fault."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject, dumps
from regress_core.records.loading import (
    CaseRecords,
    LoadedRecord,
    RecordFile,
    display_name,
    list_case_records,
    list_record_files,
    load_record,
)
from regress_core.records.model import RunRecord
from tests.support.records import message, record_json

REMEDY = "mend the file or take it out of the records"

REAL_RECORDS = [
    "compare-v1",
    "compare-v2",
    "handoff-allow",
    "handoff-deny",
    "reported-runrecord-1",
    "simple-run",
    "tool-allow",
]


def _folder(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"{}")
    return folder


def _sha8(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _refused(source: Path, listing: Callable[[Path], object] = list_record_files) -> InputError:
    with pytest.raises(InputError) as raised:
        listing(source)
    assert "\n" not in str(raised.value)
    return raised.value


def test_files_are_listed_in_the_order_of_their_case_ids(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "b.json", "a.runrecord.json", "B2.json", "10.json", "9.json", "a b.json")

    files = list_record_files(folder)

    assert [(file.case_id, file.path.name) for file in files] == [
        ("10", "10.json"),
        ("9", "9.json"),
        ("B2", "B2.json"),
        ("a", "a.runrecord.json"),
        (f"a-b-{_sha8('a b')}", "a b.json"),
        ("b", "b.json"),
    ]
    assert all(file.path.parent == folder for file in files)


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert list_record_files(_folder(tmp_path)) == []


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a.json", ".DS_Store", ".b.json", ".tmp-0123-c.json")
    (folder / ".git").mkdir()

    assert [file.case_id for file in list_record_files(folder)] == ["a"]


def test_one_file_may_be_given(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a.runrecord.json", "b.txt")

    assert list_record_files(folder / "a.runrecord.json") == [RecordFile("a", folder / "a.runrecord.json")]


def test_one_file_that_is_no_json_file_is_refused(tmp_path: Path) -> None:
    error = _refused(_folder(tmp_path, "b.txt") / "b.txt")

    assert error.file == str(tmp_path / "records" / "b.txt")
    assert "regress import" in str(error)


@pytest.mark.parametrize("name", ["notes.md", "a.jsonl", "a.json.gz", "a.yaml", "a"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = _folder(tmp_path, "a1.json", name)

    error = _refused(folder)

    assert str(error) == (
        f"{folder / name}: not a .json file; keep only run records here, or convert it with `regress import`"
    )


def test_a_sub_folder_is_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a.json")
    (folder / "more.json").mkdir()

    assert str(_refused(folder)) == (
        f"{folder / 'more.json'}: a sub-folder among the records; "
        "put the record files directly into the folder"
    )


@pytest.mark.parametrize(
    ("names", "second", "first", "case_id"),
    [
        (["a.json", "a.runrecord.json"], "a.runrecord.json", "a.json", "a"),
        (["A.json", "a.runrecord.json"], "a.runrecord.json", "A.json", "a"),
        (
            ["Straight.runrecord.json", "sTRAIGHT.json"],
            "sTRAIGHT.json",
            "Straight.runrecord.json",
            "sTRAIGHT",
        ),
    ],
)
def test_two_files_of_one_case_are_refused(
    tmp_path: Path, names: list[str], second: str, first: str, case_id: str
) -> None:
    folder = _folder(tmp_path, *names)

    error = _refused(folder)

    assert str(error) == (
        f"{folder / second}: case {case_id}: the same case as {first} (letter case aside); "
        "rename or remove one of them"
    )


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert str(_refused(tmp_path / "gone")) == (
        f"{tmp_path / 'gone'}: no such file or folder; name the records you have"
    )


def test_a_folder_among_baselines_holds_the_accepted_runs_of_one_case(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path, "b/2-x.json", "b/10-x.json", "b/1-x.json", "b/.hidden", "a.json", "c d/only.runrecord.json"
    )
    c_d = f"c-d-{_sha8('c d')}"

    assert list_case_records(folder) == [
        CaseRecords("a", "a", folder / "a.json", (RecordFile("a", folder / "a.json"),)),
        CaseRecords(
            "b",
            "b",
            folder / "b",
            tuple(RecordFile("b", folder / "b" / name) for name in ("1-x.json", "10-x.json", "2-x.json")),
        ),
        CaseRecords(c_d, "c d", folder / "c d", (RecordFile(c_d, folder / "c d" / "only.runrecord.json"),)),
    ]
    assert list_case_records(folder)[1].baseline.path.name == "1-x.json"


@pytest.mark.parametrize(
    ("names", "line"),
    [
        pytest.param(
            ["a/deeper/1.json"],
            "a/deeper: a sub-folder among the records; put the record files directly into the folder",
            id="deeper",
        ),
        pytest.param(
            ["a/1.json", "a/notes.md"],
            "a/notes.md: not a .json file; keep only run records here, or convert it with `regress import`",
            id="another kind of file",
        ),
        pytest.param(
            ["a/.gitkeep"],
            "a: case a: an empty folder among the records; put the accepted runs of the case into it, or "
            "remove it",
            id="empty",
        ),
        pytest.param(
            ["a/1.json", "A.json"],
            "a: case a: the same case as A.json (letter case aside); rename or remove one of them",
            id="letter case",
        ),
        pytest.param(
            ["records/a.json"],
            "records: a sub-folder among the records; name FOLDER/records itself",
            id="records in records",
        ),
        pytest.param(
            ["runrecords/a.json"],
            "runrecords: a sub-folder among the records; name FOLDER/runrecords itself",
            id="the RFC's name",
        ),
    ],
)
def test_a_folder_that_is_no_case_is_refused(tmp_path: Path, names: list[str], line: str) -> None:
    folder = _folder(tmp_path)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}")

    assert str(_refused(folder, list_case_records)) == f"{folder}/{line.replace('FOLDER', str(folder))}"


@pytest.mark.parametrize("name", ["a.json", "a.runrecord.json"])
def test_a_file_and_a_folder_of_one_case_are_refused(tmp_path: Path, name: str) -> None:
    folder = _folder(tmp_path, "a/1.json", "a/2.json", name)
    (folder / "a" / "1.json").write_bytes(b"[]")

    assert str(_refused(folder, list_case_records)) == (
        f"{folder / name}: case a: the same case as a (letter case aside); rename or remove one of them"
    )


@pytest.mark.parametrize("name", ["a.json", "a.runrecord.json"])
def test_a_file_whose_folder_has_it_as_its_first_is_what_remains_of_a_move(tmp_path: Path, name: str) -> None:
    folder = _folder(tmp_path, "a/1.json", "a/2.json", name)
    (folder / "a" / "2.json").write_bytes(b"[]")

    (case,) = list_case_records(folder)

    assert ([file.path.name for file in case.files], case.remains) == (["1.json", "2.json"], folder / name)


def test_two_files_beside_a_folder_are_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "a/1.json", "a.json", "a.runrecord.json")

    assert _refused(folder, list_case_records).file == str(folder / "a.runrecord.json")


@pytest.mark.parametrize("listing", [list_record_files, list_case_records])
def test_one_file_of_a_cases_folder_may_be_given(
    tmp_path: Path, listing: Callable[[Path], list[RecordFile] | list[CaseRecords]]
) -> None:
    folder = _folder(tmp_path, "a/1.json", "a/2.json")

    assert [one.case_id for one in listing(folder / "a" / "2.json")] == ["2"]


def test_a_record_is_loaded_with_the_hash_of_its_bytes(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + json.dumps(record_json(extra=1), indent=3).encode() + b"\n"
    path = tmp_path / "a.json"
    path.write_bytes(data)

    loaded = load_record(RecordFile("a", path))

    assert loaded == LoadedRecord(
        RunRecord.parse(record_json(extra=1)), hashlib.sha256(data).hexdigest(), data
    )


def _json(**changes: object) -> bytes:
    return dumps(record_json(**changes))


@pytest.mark.parametrize(
    ("data", "field", "reason"),
    [
        (b"", "$", "not JSON"),
        (b"[]", "$", "dictionary"),
        (b"\xff", "$", "not UTF-8 at byte 0"),
        (b"{}", "$.runId", "the field is missing"),
        (b'{"runId": 1}', "$.runId", "string"),
        (b'{"runId": "a", "runId": "b"}', "$.runId", "the key stands twice in one object"),
        (b'{"contextSnapshot": {"x": [1, NaN]}}', "$.contextSnapshot.x[1]", "NaN"),
        (_json(status="running"), "$.status", "completed"),
        (_json(items=[message("a"), {"type": "reasoning"}]), "$.items[1]", "reasoning"),
        (_json(items=[{"type": "tool_call_item", "name": "f"}]), "$.items[0].callId", "the field is missing"),
    ],
)
def test_a_faulty_record_names_file_path_case_and_remedy(
    tmp_path: Path, data: bytes, field: str, reason: str
) -> None:
    path = tmp_path / "case-1.json"
    path.write_bytes(data)

    with pytest.raises(InputError) as raised:
        load_record(RecordFile("case-1", path))

    error = raised.value
    assert (error.file, error.field, error.case, error.remedy) == (str(path), field, "case-1", REMEDY)
    assert reason in error.message
    assert str(error).startswith(f"{path}: {field}: case case-1: ")
    assert str(error).endswith(f"; {REMEDY}")
    assert "\n" not in str(error)


def test_the_whole_line_of_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")

    with pytest.raises(InputError) as raised:
        load_record(RecordFile("a", path))

    assert str(raised.value) == f"{path}: $.runId: case a: the field is missing; {REMEDY}"


def test_a_file_that_is_gone_names_file_and_case(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    with pytest.raises(InputError) as raised:
        load_record(RecordFile("a", path))

    assert str(raised.value) == f"{path}: case a: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("file_name", "metadata", "name"),
    [
        ("a.json", None, "a"),
        ("a.runrecord.json", {"team": "x"}, "a"),
        (f"a-b-{_sha8('a b')}.json", {"regress": {"name": "a b"}}, "a b"),
        ("a.json", {"regress": {"name": "a"}}, "a"),
        ("renamed.json", {"regress": {"name": "a b"}}, "renamed"),
        ("a.json", {"regress": {"name": 7}}, "a"),
        ("a.json", {"regress": "a"}, "a"),
        ("a b.json", {"regress": {"name": "other"}}, "a b"),
    ],
)
def test_the_name_of_a_case(tmp_path: Path, file_name: str, metadata: JsonObject | None, name: str) -> None:
    folder = _folder(tmp_path)
    (folder / file_name).write_bytes(_json(metadata=metadata))

    assert _names(folder) == [name]


@pytest.mark.parametrize(
    ("folder_name", "metadata", "name"),
    [
        ("a", None, "a"),
        ("a b", None, "a b"),
        ("a.json", None, "a.json"),
        (f"a-b-{_sha8('a b')}", {"regress": {"name": "a b"}}, "a b"),
        ("renamed", {"regress": {"name": "a b"}}, "renamed"),
    ],
)
def test_the_name_of_a_case_with_a_folder(
    tmp_path: Path, folder_name: str, metadata: JsonObject | None, name: str
) -> None:
    folder = _folder(tmp_path, f"{folder_name}/1.json", f"{folder_name}/2.json")
    (folder / folder_name / "1.json").write_bytes(_json(metadata=metadata))

    assert _names(folder) == [name]


def _names(folder: Path) -> list[str]:
    return [display_name(case, load_record(case.baseline).record) for case in list_case_records(folder)]


@pytest.mark.parametrize("case", REAL_RECORDS)
def test_a_real_record_loads_and_is_written_back_equal_and_in_order(data_dir: Path, case: str) -> None:
    path = data_dir / "aioc-runrecords" / f"{case}.json"

    loaded = load_record(RecordFile(case, path))

    assert _in_order(dumps(loaded.record.data)) == _in_order(path.read_bytes())
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def _in_order(data: bytes) -> object:
    """Read JSON with every object as its list of pairs."""
    return json.loads(data, object_pairs_hook=lambda pairs: pairs)


def test_the_index_among_the_real_records_is_no_record(data_dir: Path) -> None:
    files = list_record_files(data_dir / "aioc-runrecords")
    assert [file.case_id for file in files] == sorted([*REAL_RECORDS, "index"])
    (index,) = [file for file in files if file.case_id == "index"]

    with pytest.raises(InputError) as raised:
        load_record(index)

    assert (raised.value.field, raised.value.case) == ("$.runId", "index")
