"""Files that are damaged inside, unfinished or taken away: named, left alone, looked for again."""

# The stubs of pyarrow leave type arguments open, so that its functions count as partly unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import csv
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from regress_core.errors import InputError
from regress_core.history.compact import compact
from regress_core.history.export import export
from regress_core.history.sql import query
from regress_core.history.store import History
from regress_core.history.verify import verify
from tests.history.support import AT, case_result, evaluation, file_of, write


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History.open(tmp_path)
    for number in range(1, 4):
        publish(history, f"e{number}")
    return history


def publish(history: History, evaluation_id: str, number: int = 1) -> None:
    """Write an evaluation of the cases `a` and `b`, or `b` once more."""
    cases = ["a", "b"] if number == 1 else ["b"]
    counts = {"cases": 2, "passed": 2, "warned": 0, "inconclusive": 0}
    rows = [case_result(case, number, evaluation_id=evaluation_id) for case in cases]
    evaluations = [evaluation(evaluation_id, number, **counts)]
    write(
        history,
        {"evaluations": evaluations, "case_results": rows},
        evaluation_id=evaluation_id,
        number=number,
    )


def damage(path: Path, column: str = "case_id") -> Path:
    """Change the last byte of a column's values; the footer stays as it is."""
    with pq.ParquetFile(path) as file:
        chunk = file.metadata.row_group(0).column(file.schema_arrow.get_field_index(column))
    end = min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset)
    data = bytearray(path.read_bytes())
    data[end + chunk.total_compressed_size - 1] ^= 0xFF
    path.write_bytes(data)
    return path


def names(history: History) -> list[str]:
    return sorted(path.name for path in file_of(history, "case_results").parent.iterdir())


def test_rows_that_cannot_be_read_stay_and_the_rest_is_compacted(history: History) -> None:
    """H68: the footer is fine, the values are not. No revision of that evaluation is put elsewhere."""
    publish(history, "e2", 2)
    bad = damage(file_of(history, "case_results", "e2-1"))

    (told,) = [one for one in compact(history) if one.left_alone]

    assert told.files == 2
    assert (told.left_alone or "").startswith("e2-1.parquet: cannot be read: ")
    assert names(history) == ["compacted-000001.parquet", "e2-1.parquet", "e2-2.parquet"]
    assert [row["case_id"] for row in history.rows_of("case_results", "e3")] == ["a", "b"]
    assert [one.path for one in verify(history).findings] == [bad]


READS: dict[str, Callable[[History], Any]] = {
    "rows of the evaluation": lambda history: list(history.rows_of("case_results", "e2")),
    "the table": lambda history: history.table("case_results"),
    "columns of the suite": lambda history: history.columns_of("case_results", "shop", ["case_id"]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_rows_that_cannot_be_read_are_one_line(history: History, read: Callable[[History], Any]) -> None:
    path = file_of(history, "case_results", "e2-1")
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(data)

    with pytest.raises(InputError) as raised:
        read(history)

    assert str(raised.value).startswith(f"{path}: cannot be read: ")
    assert "\n" not in str(raised.value)


def test_a_changed_value_is_found(history: History) -> None:
    """Pages carry checksums, so that a value that would read well is told too."""
    path = file_of(history, "case_results", "e1-1")
    damage(path, "revision")

    (found,) = verify(history).findings

    assert found.path == path
    assert found.message.startswith("cannot be read: ")


def test_a_newer_file_keeps_its_folder_and_no_other(history: History) -> None:
    path = file_of(history, "case_results", "e2-1")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({"regress.schema_version": "2"}), path)

    done = {one.folder.parents[1].name: one for one in compact(history)}

    assert "history schema 2" in (done["case_results"].left_alone or "")
    assert names(history) == ["e1-1.parquet", "e2-1.parquet", "e3-1.parquet"]
    assert done["evaluations"].files == 3
    assert [(one.path, one.remedy) for one in verify(history).findings] == [(path, "upgrade regress")]


@pytest.mark.parametrize(
    ("version", "replaces"),
    [pytest.param("one", "[]", id="a version"), pytest.param("1", "{", id="what it stands for")],
)
def test_metadata_that_is_none_of_ours(history: History, version: str, replaces: str) -> None:
    path = file_of(history, "case_results", "e2-1")
    metadata = {"regress.schema_version": version, "regress.replaces": replaces}
    pq.write_table(pq.read_table(path, partitioning=None).replace_schema_metadata(metadata), path)

    assert [bad.path for bad in history.list("case_results").bad] == [path]


def test_what_a_killed_process_left_is_taken_away(history: History) -> None:
    (file_of(history, "case_results").parent / ".tmp-1").write_bytes(b"half")

    compact(history)

    assert names(history) == ["compacted-000001.parquet"]
    assert verify(history).findings == ()


def test_a_damaged_compacted_file_concerns_its_own_evaluations(history: History) -> None:
    compact(history)
    publish(history, "e4")
    compacted = file_of(history, "case_results", "compacted-000001")
    compacted.write_bytes(b"")

    assert [row["case_id"] for row in history.rows_of("case_results", "e4")] == ["a", "b"]
    with pytest.raises(InputError, match="compacted-000001"):
        list(history.rows_of("case_results", "e1"))
    publish(history, "e1", 2)
    with pytest.raises(InputError, match="compacted-000001"):
        list(history.rows_of("case_results", "e1"))


def test_readers_do_not_mind_a_compaction(history: History) -> None:
    """Another thread publishes and compacts; whatever is listed may be gone when it is opened."""
    ended = threading.Event()

    def care() -> None:
        for number in range(10, 40):
            publish(history, f"e{number}")
            compact(history)
        ended.set()

    thread = threading.Thread(target=care)
    thread.start()
    try:
        while not ended.is_set():
            assert query(history, "SELECT * FROM case_results WHERE evaluation_id = 'e1'").table.num_rows == 2
            assert len(list(history.rows_of("case_results", "e1"))) == 2
            assert history.columns_of("case_results", "shop", ["case_id"]).num_rows >= 6
    finally:
        thread.join()
    assert verify(history).findings == ()


@pytest.mark.parametrize("trials", [{("a", 1): "fail"}, {("b", 1): "warn"}])
def test_each_status_is_counted(history: History, trials: dict[tuple[str, int], str]) -> None:
    rows = [case_result(case, status=trials.get((case, 1), "pass")) for case in ("a", "b")]
    write(
        history,
        {"evaluations": [evaluation(cases=2, passed=2, warned=0, inconclusive=0)], "case_results": rows},
    )
    (status,) = trials.values()
    word = {"fail": "failed", "warn": "warned"}[status]

    messages = {one.message for one in verify(history).findings}

    assert messages == {
        "evaluation e1 says 2 passed, there are 1",
        f"evaluation e1 says 0 {word}, there are 1",
    }


def test_an_inconclusive_case_is_a_warned_one_and_the_worst_trial_counts(history: History) -> None:
    rows = [
        case_result("a", trial=1),
        case_result("a", trial=2, status="fail"),
        case_result("b", status="warn", inconclusive=True),
        case_result("c", trial=1, status="warn"),
        case_result("c", trial=2, status="warn", inconclusive=True),
    ]
    row = evaluation(cases=3, passed=0, failed=1, warned=2, inconclusive=2)
    write(history, {"evaluations": [row], "case_results": rows})

    assert verify(history).findings == ()


@pytest.mark.parametrize(("trials", "findings"), [(2, 0), (1, 2)])
def test_failed_trials_within_their_noise_are_a_warned_case(
    history: History, trials: int, findings: int
) -> None:
    rows = [case_result("a", trial=1), case_result("a", trial=2, status="fail")]
    row = evaluation(cases=1, passed=0, failed=0, warned=1, inconclusive=0, trials=trials)
    write(history, {"evaluations": [row], "case_results": rows})

    assert len(verify(history).findings) == findings


def test_times_in_csv_are_iso_8601(history: History, tmp_path: Path) -> None:
    export(history, tmp_path / "out", "csv")

    with (tmp_path / "out" / "evaluations.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["created_at"] == f"{AT:%Y-%m-%dT%H:%M:%S.%f}Z"
