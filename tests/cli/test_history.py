"""`regress history`: what it prints, and with which exit code."""

from __future__ import annotations

from pathlib import Path

from tests.cli.support import Here
from tests.support.suites import MIXED, write_suite


def _evaluated(here: Here, tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", MIXED)
    for _ in range(2):
        here("run", "suite", "--store", "store", "--fresh")


def test_compact_then_verify(here: Here, tmp_path: Path) -> None:
    _evaluated(here, tmp_path)
    before = here("sql", "SELECT * FROM case_results ORDER BY ALL", "--store", "store", "--json")

    compacted = here("history", "compact", "--store", "store")
    verified = here("history", "verify", "--store", "store")

    assert (compacted.code, verified.code) == (0, 0)
    assert compacted.out.splitlines()[-1] == "20 files compacted in 10 folders"
    assert verified.out.splitlines()[-1].endswith(" rows, 0 findings")
    after = here("sql", "SELECT * FROM case_results ORDER BY ALL", "--store", "store", "--json")
    assert after.out == before.out
    assert here("history", "compact", "--store", "store").out == "0 files compacted in 0 folders\n"


def test_a_finding_is_exit_1(here: Here, tmp_path: Path) -> None:
    _evaluated(here, tmp_path)
    bad = next((tmp_path / "store" / "history" / "case_results").rglob("*.parquet"))
    bad.write_bytes(b"")

    result = here("history", "verify", "--store", "store")

    assert result.code == 1
    assert f"{bad.relative_to(tmp_path)}: " in result.out
    assert here("history", "verify", "--store", "store", "--json").json["findings"][0]["file"] == str(bad)


def test_export(here: Here, tmp_path: Path) -> None:
    _evaluated(here, tmp_path)

    result = here("history", "export", "out", "--store", "store", "--format", "csv", "--since", "2020-01-01")

    assert result.code == 0
    assert "case_results: 10 rows" in result.out
    assert (tmp_path / "out" / "case_results.csv").is_file()


def test_wrong_input_is_one_line(here: Here, tmp_path: Path) -> None:
    none = here("history", "verify", "--store", "store")
    _evaluated(here, tmp_path)
    date = here("history", "export", "out", "--store", "store", "--since", "June")
    full = here("history", "export", "suite", "--store", "store")

    assert [one.code for one in (none, date, full)] == [2, 2, 2]
    assert "no history here yet" in none.err
    assert "--since: 'June' is no date" in date.err
    assert "suite: not empty and no earlier export" in full.err
    assert [len(one.err.splitlines()) for one in (none, date, full)] == [1, 1, 1]
