"""Where the store is: option, environment, file, default, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.support import Command, Here
from tests.support.suites import write_suite

TOML = 'store = "from-toml"\n'
PYPROJECT = '[project]\nname = "x"\n[tool.regress]\nstore = "from-pyproject"\n'


@pytest.mark.parametrize(
    ("files", "options", "environment", "store"),
    [
        pytest.param({}, (), {}, "work/.regress", id="default"),
        pytest.param({"work/regress.toml": TOML}, (), {}, "work/from-toml", id="regress.toml"),
        pytest.param({"regress.toml": TOML}, (), {}, "from-toml", id="a file further up"),
        pytest.param({"pyproject.toml": PYPROJECT}, (), {}, "from-pyproject", id="pyproject.toml"),
        pytest.param(
            {"regress.toml": TOML, "work/pyproject.toml": PYPROJECT},
            (),
            {},
            "work/from-pyproject",
            id="the nearest file",
        ),
        pytest.param(
            {"work/regress.toml": TOML, "work/pyproject.toml": PYPROJECT},
            (),
            {},
            "work/from-toml",
            id="regress.toml before pyproject.toml",
        ),
        pytest.param(
            {"regress.toml": TOML, "work/pyproject.toml": "[project]\nname = 'x'\n"},
            (),
            {},
            "from-toml",
            id="a pyproject.toml without our table is passed over",
        ),
        pytest.param(
            {"work/regress.toml": TOML}, (), {"REGRESS_STORE": "from-env"}, "work/from-env", id="environment"
        ),
        pytest.param(
            {"work/regress.toml": TOML},
            ("--store", "from-option"),
            {"REGRESS_STORE": "from-env"},
            "work/from-option",
            id="option",
        ),
    ],
)
def test_store(
    here: Here,
    tmp_path: Path,
    files: Mapping[str, str],
    options: tuple[str, ...],
    environment: Mapping[str, str],
    store: str,
) -> None:
    write_suite(tmp_path / "work" / "suite", {"a": "same"})
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    result = here("run", "suite", *options, folder=tmp_path / "work", **environment)

    assert (result.code, result.err.count("Traceback")) == (0, 0)
    found = [path.parent.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("journal.sqlite")]
    assert found == [store]


@pytest.mark.parametrize(
    ("text", "environment", "store"),
    [
        ("REGRESS_STORE=from-env-file\n", {}, "from-env-file"),
        ("# a variable that is set stays\nREGRESS_STORE=from-env-file\n", {"REGRESS_STORE": "set"}, "set"),
        ("", {}, ".regress"),
    ],
)
def test_environment_file(
    regress: Command, tmp_path: Path, text: str, environment: Mapping[str, str], store: str
) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    (tmp_path / "my.env").write_text(text, encoding="utf-8")

    result = regress("run", "suite", "--env-file", "my.env", folder=tmp_path, **environment)

    assert (result.code, result.err.count("Traceback")) == (0, 0)
    assert [path.parent.name for path in tmp_path.rglob("journal.sqlite")] == [store]


def test_sql_and_run_find_the_same_store(regress: Command, tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    (tmp_path / "regress.toml").write_text(TOML, encoding="utf-8")

    regress("run", "suite")

    assert regress("sql", "SELECT status FROM evaluations", "--json").json == [{"status": "pass"}]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("regress.toml", "stor = 'x'\n", ["regress.toml: stor: unknown key", "store"]),
        ("regress.toml", "store = 3\n", ["regress.toml: store: "]),
        ("regress.toml", "store = \n", ["regress.toml: not TOML: "]),
        (
            "pyproject.toml",
            "[tool.regress]\nstor = 'x'\n",
            ["pyproject.toml: tool.regress.stor: unknown key"],
        ),
    ],
)
def test_a_bad_file_is_one_line(here: Here, tmp_path: Path, name: str, text: str, words: list[str]) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    (tmp_path / name).write_text(text, encoding="utf-8")

    fault = here("run", "suite").fault

    assert all(word in fault for word in words), fault
    assert not (tmp_path / ".regress").exists()


@pytest.mark.parametrize("make", ["missing", "folder", "not UTF-8"])
def test_a_bad_environment_file_is_one_line(regress: Command, tmp_path: Path, make: str) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    if make == "folder":
        (tmp_path / "my.env").mkdir()
    if make == "not UTF-8":
        (tmp_path / "my.env").write_bytes(b"REGRESS_STORE=caf\xe9\n")

    fault = regress("run", "suite", "--env-file", "my.env").fault

    assert "my.env" in fault
    assert "--env-file" in fault
