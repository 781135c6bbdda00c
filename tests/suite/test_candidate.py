"""From files to a candidate: a file like candidate.yaml, a folder of records, one record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.suite.candidate import Candidate, load_candidate
from tests.suite.support import refusal, write_record


def _refused(source: Path) -> InputError:
    with pytest.raises(InputError) as raised:
        load_candidate(source)
    return refusal(raised)


def _id_of(*hashes: str) -> str:
    """The hash of the sorted record hashes as canonical JSON."""
    return hashlib.sha256(json.dumps(sorted(hashes), separators=(",", ":")).encode()).hexdigest()


def test_a_folder_of_records(tmp_path: Path) -> None:
    sha_b = write_record(tmp_path / "v2", "b.json", runId="run-b")
    sha_a = write_record(tmp_path / "v2", "a.runrecord.json", runId="run-a")

    candidate = load_candidate(tmp_path / "v2")

    assert {case: ref.sha256 for case, ref in candidate.records.items()} == {"a": sha_a, "b": sha_b}
    assert Path(candidate.records["a"].path).name == "a.runrecord.json"
    assert candidate.candidate_id == _id_of(sha_a, sha_b)
    assert candidate.label == f"v2@{candidate.candidate_id[:8]}"


def test_one_record(tmp_path: Path) -> None:
    sha256 = write_record(tmp_path / "v2", "a.json")
    write_record(tmp_path / "v2", "b.json")

    candidate = load_candidate(tmp_path / "v2" / "a.json")

    assert list(candidate.records) == ["a"]
    assert candidate.candidate_id == _id_of(sha256)


def test_a_file_names_records_and_label(tmp_path: Path) -> None:
    write_record(tmp_path / "s" / "candidates" / "v2", "a.json")
    path = tmp_path / "s" / "candidate.yaml"
    path.write_text("records: candidates/v2\nlabel: agent@v2\n", encoding="utf-8")

    candidate = load_candidate(path)

    assert candidate.label == "agent@v2"
    assert list(candidate.records) == ["a"]


@pytest.mark.parametrize("name", ["candidate.yaml", "v3.yml", "other.name.yaml"])
def test_records_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write_record(tmp_path / "s" / "candidates" / "v3", "a.json")
    (tmp_path / "s" / "candidates" / name).write_text("records: v3\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    candidate = load_candidate(Path("s") / "candidates" / name)

    assert list(candidate.records) == ["a"]
    assert candidate.label == f"v3@{candidate.candidate_id[:8]}"


@pytest.mark.parametrize(
    ("folders", "label"), [("agent/candidate", "agent"), ("agent/v2/records", "v2"), ("My Agent", "my-agent")]
)
def test_the_default_label_is_of_the_folder(tmp_path: Path, folders: str, label: str) -> None:
    write_record(tmp_path / folders, "a.json")

    candidate = load_candidate(tmp_path / folders)

    assert candidate.label == f"{label}@{candidate.candidate_id[:8]}"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for name in ("gone", "gone.json", "candidate.yaml", "gone.yml"):
        assert _refused(tmp_path / name).file == str(tmp_path / name)
    assert "--candidate" in str(_refused(tmp_path / "candidate.yaml"))


def test_a_file_may_name_records_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "candidate.yaml"
    path.write_text("records: v2\n", encoding="utf-8")

    assert _refused(path).file == str(tmp_path / "v2")


def test_an_empty_folder_is_no_candidate(tmp_path: Path) -> None:
    (tmp_path / "v2").mkdir()
    (tmp_path / "v2" / ".gitkeep").touch()
    (tmp_path / "candidate.yaml").write_text("records: v2\n", encoding="utf-8")

    for source in (tmp_path / "v2", tmp_path / "candidate.yaml"):
        error = _refused(source)
        assert error.file == str(tmp_path / "v2")
        assert "no candidate records" in str(error)


@pytest.mark.parametrize(
    ("yaml", "field"),
    [
        ("", "$"),
        ("records: v2\ndescriptor: harness.yaml\n", "$"),
        ("records: v2\nLabel: x\n", "$.Label"),
        ("- records: v2\n", "$"),
        ("records: [v2]\n", "$.records"),
    ],
)
def test_a_faulty_file_names_file_and_key(tmp_path: Path, yaml: str, field: str) -> None:
    path = tmp_path / "candidate.yaml"
    path.write_text(yaml, encoding="utf-8")
    write_record(tmp_path / "v2", "a.json")

    error = _refused(path)

    assert (error.file, error.field) == (str(path), field)


def test_a_faulty_record_is_named(tmp_path: Path) -> None:
    write_record(tmp_path / "v2", "a.json")
    write_record(tmp_path / "v2", "b.json", status="running")

    error = _refused(tmp_path / "v2")

    assert (error.file, error.field, error.case) == (str(tmp_path / "v2" / "b.json"), "$.status", "b")


def test_two_records_of_one_case_are_refused(tmp_path: Path) -> None:
    write_record(tmp_path / "v2", "a.json")
    write_record(tmp_path / "v2", "A.runrecord.json")

    assert "A.runrecord.json" in str(_refused(tmp_path / "v2"))


def test_a_failed_record_is_a_candidates_own_affair(tmp_path: Path) -> None:
    write_record(tmp_path / "v2", "a.json", status="failed")

    assert list(load_candidate(tmp_path / "v2").records) == ["a"]


def _plain(folder: Path) -> None:
    write_record(folder, "a.json", runId="run-a")
    write_record(folder, "b.json", runId="run-b")


def _another_record(folder: Path) -> None:
    _plain(folder)
    write_record(folder, "b.json", runId="run-b", response="x")


def _one_more(folder: Path) -> None:
    _plain(folder)
    write_record(folder, "c.json", runId="run-c")


def _one_less(folder: Path) -> None:
    write_record(folder, "a.json", runId="run-a")


def _one_twice(folder: Path) -> None:
    _plain(folder)
    write_record(folder, "c.json", runId="run-b")


@pytest.mark.parametrize("write", [_another_record, _one_more, _one_less, _one_twice])
def test_other_records_are_another_candidate(tmp_path: Path, write: Callable[[Path], None]) -> None:
    _plain(tmp_path / "v2")
    write(tmp_path / "other" / "v2")

    assert _load(tmp_path / "other" / "v2").candidate_id != _load(tmp_path / "v2").candidate_id


def test_the_same_records_are_the_same_candidate_wherever_they_lie_and_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    _plain(tmp_path / "v2")
    _plain(tmp_path / "elsewhere" / "v3")
    (tmp_path / "elsewhere" / "v3" / ".hidden").touch()
    (tmp_path / "candidate.yaml").write_text("records: v2\nlabel: agent@v2\n", encoding="utf-8")
    (tmp_path / "v3.yaml").write_text("records: elsewhere/v3\n", encoding="utf-8")
    sources = ("v2", "elsewhere/v3", "candidate.yaml", "v3.yaml")

    assert len({_load(tmp_path / source).candidate_id for source in sources}) == 1


def _load(source: Path) -> Candidate:
    return load_candidate(source)
