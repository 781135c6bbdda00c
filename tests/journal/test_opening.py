"""Opening a journal: made where missing, refused in one line where it cannot be used."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.journal.journal import Journal
from tests.journal.support import row


def test_folders_and_file_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "journal.sqlite"

    with Journal.open(path) as journal:
        assert journal.unfinished() == []

    assert [entry.name for entry in path.parent.iterdir()] == ["journal.sqlite"]


@pytest.mark.parametrize("name", ["a b", "it's", 'say "x"', "ünï😀", "a[b]*c", "a#b", "a?b", "a%41b"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "journal.sqlite"

    for _ in range(2):
        with Journal.open(path) as journal:
            journal.create_evaluation(row())

    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM evaluations").fetchone() == (1,)


def _newer(path: Path) -> None:
    with Journal.open(path):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE schema_version SET version = 99")


def _text(path: Path) -> None:
    path.write_text("this is no database, but long enough to be read as one's first page\n" * 100, "utf-8")


def _half(path: Path) -> None:
    with Journal.open(path):
        pass
    path.write_bytes(path.read_bytes()[:5000])


REMEDY = "name another folder with --store"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(_newer, ["schema 99", "upgrade regress"], id="a newer schema"),
        pytest.param(_text, ["not a usable journal", REMEDY], id="no database"),
        pytest.param(_half, ["not a usable journal", REMEDY], id="half a database"),
        pytest.param(Path.mkdir, ["not a usable journal", REMEDY], id="a folder"),
    ],
)
def test_an_unusable_file_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None], words: list[str]
) -> None:
    path = tmp_path / "journal.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(InputError) as raised:
        Journal.open(path)

    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert all(word in message for word in words)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("below", ["journal.sqlite", "store/journal.sqlite", "a/b/journal.sqlite"])
def test_a_store_below_a_file_is_refused(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    path = file / below

    with pytest.raises(InputError) as raised:
        Journal.open(path)

    assert str(raised.value).startswith(f"{path.parent}: the store cannot be created: ")
    assert str(raised.value).endswith(REMEDY)
    assert "\n" not in str(raised.value)
    assert file.read_text(encoding="utf-8") == "mine"
