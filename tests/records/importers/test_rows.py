"""Source files in every form that is read, and every way they can be broken."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress_core.errors import InputError
from regress_core.records.importers.rows import read_rows

ONE, TWO = {"a": 1}, {"b": [2]}


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("x.json", b'[{"a": 1}, {"b": [2]}]', [(1, ONE, False), (2, TWO, False)]),
        ("x.json", b'[\n  {"a": 1},\n  {"b": [2]}\n]\n', [(1, ONE, False), (2, TWO, False)]),
        ("x.json", b'{"a": 1}\n{"b": [2]}\n', [(1, ONE, False), (2, TWO, False)]),
        ("x.jsonl", b'{"a": 1}\n{"b": [2]}', [(1, ONE, False), (2, TWO, False)]),
        ("x.ndjson", b'\n{"a": 1}\r\n\r\n{"b": [2]}\r\n', [(1, ONE, False), (2, TWO, False)]),
        ("x.jsonl", b'{"a": 1}\n', [(1, ONE, False)]),
        ("x.json", b'{"a": 1}\n', [(1, ONE, True)]),
        ("x.json", b'{\n  "a": 1\n}\n', [(1, ONE, True)]),
        ("x.json", b'\xef\xbb\xbf{"a": 1}\n{"b": [2]}\n', [(1, ONE, False), (2, TWO, False)]),
        ("x.json", b'\xef\xbb\xbf[{"a": 1}]', [(1, ONE, False)]),
        ("x.json", b"3", [(1, 3, True)]),
        ("x.json", b"[]", []),
        ("x.json", b"", []),
        ("x.jsonl", b"\n \n", []),
        ("x.json", b'[1, null, "\\ud800"]', [(1, 1, False), (2, None, False), (3, "\ud800", False)]),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_read(
    tmp_path: Path, name: str, text: bytes, rows: list[tuple[int, Any, bool]], *, compressed: bool
) -> None:
    file = tmp_path / (f"{name}.gz" if compressed else name)
    file.write_bytes(gzip.compress(text) if compressed else text)
    got = list(read_rows(file))
    assert [(row.number, row.value, row.alone) for row in got] == rows
    assert {row.file for row in got} <= {file.name}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.jsonl", b'{"a": 1}\n\n{"a": }\n', ["line 3", "not JSON at column 7"]),
        ("x.json", b'{"a": 1}\n{"a": 2\n', ["line 2", "not JSON"]),
        ("x.jsonl", b'{"a": 1}\n{"a": NaN}\n', ["line 2: $.a", "NaN"]),
        ("x.jsonl", b'{"a": {"b": 1, "b": 2}}\n', ["line 1: $.a.b", "twice"]),
        ("x.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', ["line 2", "not UTF-8"]),
        ("x.json", b'[{"a": 1},\n {"a": -Infinity}]', ["$[1].a", "infinities"]),
        ("x.json", b'[{"a": 1},\n {"a" 2}]', ["line 2", "column 7"]),
        ("x.json", b'\n\n{\n"a" 2}', ["line 4", "column 5"]),
        ("x.json", b"[" * 100_000, ["the array is cut short"]),
        ("x.json", b"[[" + b"[" * 100_000 + b"]" * 100_002, ["$[0]", "nests deeper"]),
        ("x.json", b"task_id,reward\n1,2\n", ["not JSON at line 1"]),
        ("x.json", '{"a": "é"}'.encode("utf-16"), ["not UTF-8"]),
        ("x.json.gz", b'{"a": 1}', ["not gzip"]),
    ],
)
def test_broken_files_are_named_with_their_place(
    tmp_path: Path, name: str, text: bytes, words: list[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(text)
    with pytest.raises(InputError) as caught:
        list(read_rows(file))
    message = str(caught.value)
    assert message.startswith(str(file))
    assert caught.value.remedy
    assert [word for word in words if word not in message] == []


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            list(read_rows(path))


@given(data=st.data())
def test_a_compressed_file_cut_short_is_an_error_wherever_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 50)
    cut = data.draw(st.integers(1, len(whole) - 1))
    file = tmp_path_factory.mktemp("cut") / "x.jsonl.gz"
    file.write_bytes(whole[:cut])
    with pytest.raises(InputError, match=r"cut short|damaged"):
        list(read_rows(file))


def test_damaged_compressed_data(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b'{"a": 1}\n' * 50, mtime=0))
    whole[14] ^= 0xFF
    file = tmp_path / "x.jsonl.gz"
    file.write_bytes(whole)
    with pytest.raises(InputError, match=r"damaged|cut short|not JSON|not UTF-8"):
        list(read_rows(file))


def test_json_lines_are_streamed(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b'{"a": 1}\n' * 3 + b"broken")
    rows = read_rows(file)
    assert [next(rows).number for _ in range(3)] == [1, 2, 3]
    with pytest.raises(InputError, match="line 4"):
        next(rows)
