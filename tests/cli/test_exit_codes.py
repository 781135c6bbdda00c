"""Exit codes: 1 the gate, 3 nothing known, 4 no cases, 0 else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Command, Here
from tests.support.suites import Kind, tree, write_suite

PASS: dict[str, Kind] = {"a": "same", "b": "same"}
WARN: dict[str, Kind] = {"a": "same", "b": "reworded"}
FAIL: dict[str, Kind] = {"a": "same", "b": "failed", "c": "missing"}
PARTLY: dict[str, Kind] = {"a": "same", "b": "missing"}
NOTHING: dict[str, Kind] = {"a": "missing", "b": "missing"}


@pytest.mark.parametrize(
    ("kinds", "codes"),
    [
        # codes for --fail-on fail, warn, never
        pytest.param(PASS, (0, 0, 0), id="pass"),
        pytest.param(WARN, (0, 1, 0), id="warn"),
        pytest.param(FAIL, (1, 1, 0), id="fail"),
        pytest.param(PARTLY, (0, 1, 0), id="one of two inconclusive"),
        pytest.param(NOTHING, (3, 1, 3), id="all inconclusive"),
    ],
)
def test_fail_on(
    regress: Command, tmp_path: Path, kinds: dict[str, Kind], codes: tuple[int, int, int]
) -> None:
    write_suite(tmp_path / "suite", kinds, orphans=["z"])

    got = [regress("run", "suite", "--fail-on", fail_on).code for fail_on in ("fail", "warn", "never")]

    assert tuple(got) == codes


@pytest.mark.parametrize(
    ("kinds", "gate", "code"),
    [
        pytest.param(WARN, "{signals: {finalOutputChanged: fail}}", 1, id="a signal fails"),
        pytest.param(FAIL, "{min_pass_rate: 0.5}", 0, id="one of two conclusive fails, the floor holds"),
        pytest.param(FAIL, "{min_pass_rate: 0.51}", 1, id="one of two conclusive fails, the floor breaks"),
        pytest.param(NOTHING, "{min_pass_rate: 0.5}", 3, id="a floor without conclusive cases"),
    ],
)
def test_the_gate_of_the_suite(
    here: Here, tmp_path: Path, kinds: dict[str, Kind], gate: str, code: int
) -> None:
    write_suite(tmp_path / "suite", kinds, config=f"name: shop\ngate: {gate}\n", orphans=["z"])

    assert here("run", "suite").code == code, "--fail-on fail is the default"


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    """Three suites: with cases, with an empty folder of records, with hidden files only."""
    write_suite(tmp_path / "full", PASS)
    for name in ("empty", "hidden"):
        write_suite(tmp_path / name, {}, orphans=["z"])
    (tmp_path / "hidden" / "records" / ".keep").write_bytes(b"")
    return tmp_path


NO_CASES = {
    "a glob that matches nothing": ("full", "--cases", "nothing*"),
    "an empty folder": ("empty",),
    "hidden files only": ("hidden",),
    "an empty folder and a glob": ("empty", "--cases", "*"),
    "bare records": ("--records", "empty/records", "--candidate-records", "full/new"),
}


@pytest.mark.parametrize("arguments", NO_CASES.values(), ids=list(NO_CASES))
def test_no_cases(here: Here, suites: Path, arguments: tuple[str, ...]) -> None:
    """H51."""
    before = tree(suites)

    result = here("run", *arguments)

    assert (result.code, result.out) == (4, "")
    (line,) = result.err.splitlines()
    assert "--allow-empty" in line
    assert tree(suites) == before
    assert not (suites / ".regress").exists()

    allowed = here("run", *arguments, "--allow-empty", "--json")

    assert allowed.code == 0
    assert allowed.json["totals"]["cases"] == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "--fail-on", "never"), 4),
        (("validate",), 4),
        (("validate", "--allow-empty"), 0),
        (("run", "--dry-run"), 4),
    ],
)
def test_no_cases_with_other_options(here: Here, suites: Path, arguments: tuple[str, ...], code: int) -> None:
    assert here(*arguments, "empty").code == code
    assert not (suites / ".regress").exists()


def test_no_cases_in_a_process(regress: Command, suites: Path) -> None:
    assert regress("run", "full", "--cases", "nothing*").code == 4
    assert not (suites / ".regress").exists()
    assert regress("run", "empty", "--allow-empty").code == 0


def test_no_cases_leaves_earlier_outputs_alone(here: Here, suites: Path) -> None:
    here("run", "full", "--out", "out")
    before = tree(suites / "out")

    assert here("run", "full", "--cases", "nothing*", "--out", "out").code == 4

    assert tree(suites / "out") == before
