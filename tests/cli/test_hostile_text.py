"""H62: an answer with escape characters, a NUL and a lone surrogate goes through everything."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from unicodedata import category

import pyarrow.parquet as pq
import pytest

from tests.cli.support import Command, Result
from tests.support.suites import baseline, candidate, write_record, write_suite

HOSTILE = "\x1b[31mred\x1b[0m, nul \x00, lone \ud800, bell \x07, csi \x9b2J, \u202e, line\u2028"
IN_PARQUET = HOSTILE.replace("\ud800", "\ufffd")


@dataclass(frozen=True)
class Ran:
    """A folder with the suite, `out` and `store` of a finished evaluation, and what that printed."""

    folder: Path
    result: Result


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("hostile")
    root = write_suite(folder / "suite", {"a": "same"})
    write_record(root / "new" / "a.json", (candidate("a", "same") or {}) | {"response": HOSTILE})
    return Ran(folder, Command(folder)("run", "suite", "--out", "out", "--store", "store"))


def assert_harmless(text: str) -> None:
    """Nothing in it commands a terminal: of the control characters there are line ends only."""
    assert [char for char in text if char != "\n" and category(char) in {"Cc", "Cs"}] == []
    assert "\u202e" not in text


def test_the_terminal(ran: Ran) -> None:
    result = ran.result
    assert result.code == 0
    assert_harmless(result.out)
    assert_harmless(result.err)
    assert r"\u001b[31mred" in result.out or r"\x1b[31mred" in result.out


def test_the_outputs(ran: Ran) -> None:
    texts = {path.name: path.read_bytes().decode("utf-8") for path in (ran.folder / "out").rglob("*.json")}

    assert json.loads(texts["a.runrecord.json"])["response"] == HOSTILE
    (difference,) = json.loads(texts["a.comparison.json"])["differences"]
    assert difference["right"] == HOSTILE
    result = json.loads(texts["a.result.json"])
    assert result["candidate"]["response"] == HOSTILE
    assert result["baseline"] == baseline("a")
    assert result["comparison"]["differences"] == [difference]
    assert json.loads(texts["summary.json"])["cases"][0]["signals"]["finalOutputChanged"] is True
    assert all("\x1b" not in text and "\x00" not in text for text in texts.values())


def test_parquet(ran: Ran) -> None:
    (path,) = (ran.folder / "store" / "history" / "candidate_records").rglob("*.parquet")
    with pq.ParquetFile(path) as file:
        (row,) = file.read().to_pylist()

    assert row["response"] == IN_PARQUET
    assert json.loads(row["record_json"])["response"] == HOSTILE


def test_sql(ran: Ran) -> None:
    regress = Command(ran.folder)
    question = ("sql", "SELECT response FROM candidate_records", "--store", "store")

    assert regress(*question, "--json").json == [{"response": IN_PARQUET}]
    table = regress(*question)
    assert table.code == 0
    assert_harmless(table.out)


def test_json_on_stdout(ran: Ran) -> None:
    result = Command(ran.folder)("run", "suite", "--json", "--store", "another")

    assert "\x1b" not in result.out
    assert "red" in result.json["cases"][0]["reasons"][0]


@pytest.mark.parametrize("command", ["run", "validate"])
def test_names_of_files_and_keys_in_errors(regress: Command, tmp_path: Path, command: str) -> None:
    root = write_suite(tmp_path / "suite", {"a": "same"})
    write_record(root / "records" / "\x1b[31m.json", {"\x1b[31m": 1})

    result = regress(command, "suite")

    assert result.code == 2
    assert_harmless(result.err)
