"""CSV files in every form that is read, and every way they can be broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.importers.base import SourceRow
from regress_core.records.importers.csv_rows import read_csv_rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(b"a,b\n1,x\n2,y\n", [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}], id="plain"),
        pytest.param(b"a,b\r\n1,x", [{"a": "1", "b": "x"}], id="CRLF, no end of line"),
        pytest.param(b"\xef\xbb\xbfa\n1\n", [{"a": "1"}], id="byte order mark"),
        pytest.param(
            b'a,b\n"x, ""y""\nz",2\n', [{"a": 'x, "y"\nz', "b": "2"}], id="a quoted cell of two lines"
        ),
        pytest.param(b"a,b\n,2\n1,\n", [{"b": "2"}, {"a": "1"}], id="empty cells"),
        pytest.param(b"a\n\n1\n\n", [{"a": "1"}], id="blank lines"),
        pytest.param(b"info.label\n1\n", [{"info.label": "1"}], id="a dotted column"),
        pytest.param("a\nß\n".encode(), [{"a": "ß"}], id="UTF-8"),
        pytest.param(b"a,b\n", [], id="columns only"),
        pytest.param(b"", [], id="nothing"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_rows(tmp_path: Path, text: bytes, rows: list[dict[str, str]], suffix: str) -> None:
    file = tmp_path / f"x{suffix}"
    file.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)

    assert list(read_csv_rows(file)) == [
        SourceRow(file.name, number, row) for number, row in enumerate(rows, start=1)
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(b"a,b\n1,x\n2\n", "line 3: 1 cells, but 2 columns", id="too few cells"),
        pytest.param(b"a,b\n1,2,3\n", "line 2: 3 cells, but 2 columns", id="too many cells"),
        pytest.param(b"a,b,a\n1,2,3\n", "line 1: a column stands twice", id="a column twice"),
        pytest.param(b'a\n"1\n', "line 2: not CSV: unexpected end of data", id="an open quote"),
        pytest.param(b"a\n" + b"x" * 200_000, "line 2: not CSV: field larger than", id="a cell too long"),
        pytest.param(b"a\n\xff\n", "not UTF-8: invalid start byte", id="not UTF-8"),
    ],
)
def test_faults(tmp_path: Path, text: bytes, fault: str) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(text)

    with pytest.raises(InputError) as raised:
        list(read_csv_rows(file))

    assert str(raised.value).startswith(f"{file}: {fault}")
    assert str(raised.value).endswith("; mend the file, or use JSON lines")


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("x.csv.gz", gzip.compress(b"a\n1\n", mtime=0)[:-3], "cut short"),
        ("x.csv.gz", b"a\n1\n", "not gzip"),
        ("x.csv", None, "cannot be read"),
    ],
    ids=["cut short", "not gzip", "missing"],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, fault: str) -> None:
    file = tmp_path / name
    if data is not None:
        file.write_bytes(data)

    with pytest.raises(InputError, match=fault) as raised:
        list(read_csv_rows(file))

    assert raised.value.file == str(file)
