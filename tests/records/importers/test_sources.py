"""Where rows may come from: folders, archives, standard input; what is no source is one line."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.rows import BadRow, rows_of
from regress_core.records.importers.sources import STDIN, SourceFile, open_sources

LINES = b'{"a": 1}\n{"a": 2}\n'


def read(source: Path) -> tuple[Mapping[str, list[Any]], list[tuple[str, str]]]:
    """Give the values of all rows by file, and what was skipped."""
    with open_sources(source) as (files, skipped):
        found = {
            file.name: [row.reason if isinstance(row, BadRow) else row.value for row in rows_of(file)]
            for file in files
        }
        return found, [(one.position, one.reason) for one in skipped]


def test_a_folder_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "z.jsonl.gz").write_bytes(gzip.compress(LINES))
    (tmp_path / "a.json").write_bytes(b"[1]")
    (tmp_path / "notes.md").write_bytes(b"about")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.json").write_bytes(b"[2]")
    with zipfile.ZipFile(tmp_path / "b" / "m.zip", "w") as archive:
        archive.writestr("in/y.ndjson", LINES)
        archive.writestr("in/readme.txt", "about")
        archive.writestr("__MACOSX/in/._y.ndjson", b"\x00")

    assert read(tmp_path) == (
        {
            "a.json": [1],
            "b/c/z.jsonl.gz": [{"a": 1}, {"a": 2}],
            "b/m.zip/in/y.ndjson": [{"a": 1}, {"a": 2}],
        },
        [("b/m.zip/in/readme.txt", "no JSON file"), ("notes.md", "no JSON file")],
    )


@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, compressed: bool) -> None:  # noqa: FBT001 - a case of the table
    data = gzip.compress(LINES) if compressed else LINES
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    with open_sources(STDIN) as ([file], _):
        for _ in range(2):  # a condition reads it twice
            assert [row.value for row in rows_of(file) if not isinstance(row, BadRow)] == [{"a": 1}, {"a": 2}]


def test_an_archive_of_inspects_gives_the_header_and_then_the_samples(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
        archive.writestr("samples/2_epoch_1.json", '{"id": 2}')
        archive.writestr("samples/1_epoch_1.json", '{"id": 1, "x": NaN}')
        archive.writestr("header.json", '{"version": 2}')
        archive.writestr("summaries.json", "[]")

    with open_sources(tmp_path / "log.eval") as ([file], _):
        header, bad, good = rows_of(file)

    assert not isinstance(header, BadRow)
    assert header.value == {"version": 2}
    assert isinstance(bad, BadRow)
    assert bad.position == "samples/1_epoch_1.json: $.x"
    assert not isinstance(good, BadRow)
    assert good.value == {"id": 2}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("none.json", None, "cannot be read"),
        ("x.zip", b"no archive", "no zip archive, or damaged"),
    ],
)
def test_no_source(tmp_path: Path, name: str, data: bytes | None, words: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=words) as caught, open_sources(tmp_path / name):
        pass
    assert caught.value.file == str(tmp_path / name)


def test_an_archive_with_a_password(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.json", "[1]")
    data = bytearray((tmp_path / "x.zip").read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag that says it is encrypted
        data[data.index(mark) + place] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    with (
        open_sources(tmp_path / "x.zip") as ([file], _),
        pytest.raises(InputError, match="cannot be unpacked"),
    ):
        list(rows_of(file))


def _rows(file: SourceFile) -> list[object]:
    return [(row.position, row.reason) if isinstance(row, BadRow) else row.value for row in rows_of(file)]


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("x.jsonl", b'{"a": 1}\n{"a": }\n{"a": 3}\n', [
            {"a": 1}, ("line 2", "not JSON at column 7: Expecting value"), {"a": 3},
        ]),
        ("x.jsonl", b'{"a": NaN}\n{"a": 2}\n', [
            ("line 1: $.a", "NaN, infinities and numbers beyond a double are no JSON values"), {"a": 2},
        ]),
        ("x.json", b'[1,\n {"a": 1, "a": 2}, 3]', [
            1, ("$[1].a", "the key stands twice in one object"), 3,
        ]),
        ("x.json", b'[1, {"a": 2', [1, ("$[1]", "the array is cut short")]),
    ],
)  # fmt: skip
def test_a_bad_row_does_not_stop_those_after_it(
    tmp_path: Path, name: str, text: bytes, rows: list[object]
) -> None:
    (tmp_path / name).write_bytes(text)
    with open_sources(tmp_path / name) as ([file], _):
        assert _rows(file) == rows


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "lone.json"])
def test_a_row_that_is_too_large_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("regress_core.records.importers.rows.LARGEST_ROW", 3 * 1024**2)
    large = json.dumps({"text": "x" * (5 * 1024**2)})
    text = {
        "x.jsonl": f'{{"a": 1}}\n{large}\n{{"a": 3}}\n',
        "x.json": f"[1, {large}]",
        "lone.json": f"\n {large}",
    }
    (tmp_path / name).write_text(text[name], encoding="utf-8")
    with open_sources(tmp_path / name) as ([file], _):
        rows = _rows(file)
    refused = "larger than 3 MiB"
    assert (
        rows
        == {
            "x.jsonl": [{"a": 1}, ("line 2", refused), {"a": 3}],
            "x.json": [1, ("$[1]", refused)],
            "lone.json": [("row 1", refused)],
        }[name]
    )
