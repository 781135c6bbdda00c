"""Facts of the machine: option, environment, file, default, in this order."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from regress_core.errors import InputError
from regress_core.records.json_io import JsonObject
from regress_pipeline.settings import load_settings
from tests.cli.support import Command, Here, Result
from tests.support.candidates import TOOLS, write_candidate_suite
from tests.support.openai_server import KEY, Answer, Behaviour, OpenAIServer, after, error
from tests.support.openai_server import text as answering
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


@pytest.mark.parametrize(
    ("file", "environment", "changed"),
    [
        pytest.param("", {}, {}, id="defaults"),
        pytest.param("concurrency = 3", {}, {"concurrency": 3}, id="concurrency"),
        pytest.param("call_attempts = 1", {}, {"attempts": 1}, id="call_attempts"),
        pytest.param("call_time_out_s = 2.5", {}, {"time_out_s": 2.5}, id="call_time_out_s"),
        pytest.param("call_time_out_s = 2", {}, {"time_out_s": 2.0}, id="a whole number where any will do"),
        pytest.param("requests_per_second = 0.5", {}, {"requests_per_second": 0.5}, id="requests_per_second"),
        pytest.param("run_time_out_s = 30", {}, {"run_time_out_s": 30.0}, id="run_time_out_s"),
        pytest.param("", {"REGRESS_CONCURRENCY": "4"}, {"concurrency": 4}, id="environment"),
        pytest.param("", {"REGRESS_CALL_TIME_OUT_S": "0.5"}, {"time_out_s": 0.5}, id="environment, seconds"),
        pytest.param(
            "concurrency = 3\ncall_attempts = 2",
            {"REGRESS_CONCURRENCY": "4"},
            {"concurrency": 4, "attempts": 2},
            id="environment before file",
        ),
        pytest.param(
            "concurrency = 3", {"REGRESS_CONCURRENCY": ""}, {"concurrency": 3}, id="empty is not set"
        ),
    ],
)
def test_limits(
    tmp_path: Path, file: str, environment: Mapping[str, str], changed: Mapping[str, float]
) -> None:
    (tmp_path / "regress.toml").write_text(file, encoding="utf-8")
    defaults = {
        "concurrency": 8,
        "attempts": 4,
        "time_out_s": 60.0,
        "requests_per_second": None,
        "run_time_out_s": 900.0,
    }

    limits = load_settings(folder=tmp_path, environment=environment).limits

    assert {name: getattr(limits, name) for name in defaults} == {**defaults, **changed}


@pytest.mark.parametrize(("concurrency", "failures"), [(1, 10), (8, 10), (9, 11), (64, 66)])
def test_the_circuit_opens_for_more_than_one_failure_of_every_call_in_flight(
    tmp_path: Path, concurrency: int, failures: int
) -> None:
    environment = {"REGRESS_CONCURRENCY": str(concurrency)}

    limits = load_settings(folder=tmp_path, environment=environment).limits

    assert limits.failures_to_open == failures


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concurrency", "0"),
        ("concurrency", "-1"),
        ("concurrency", "2.5"),
        ("concurrency", "inf"),
        ("concurrency", "1e400"),
        ("call_attempts", "0"),
        ("call_attempts", "1.5"),
        ("call_time_out_s", "0"),
        ("call_time_out_s", "-2"),
        ("call_time_out_s", "inf"),
        ("call_time_out_s", "nan"),
        ("requests_per_second", "0"),
        ("requests_per_second", "nan"),
        ("run_time_out_s", "0"),
        ("run_time_out_s", "inf"),
        ("run_time_out_s", "-0.0"),
    ],
)
@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_limit_out_of_its_range_is_one_line(
    here: Here, tmp_path: Path, where: str, name: str, value: str
) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    variable = f"REGRESS_{name.upper()}"
    environment = {variable: value} if where == "environment" else {}
    if where == "file":
        (tmp_path / "regress.toml").write_text(f"{name} = {value}\n", encoding="utf-8")

    fault = here("run", "suite", folder=tmp_path, **environment).fault

    assert f"{name} or {variable}: " in fault
    assert not (tmp_path / ".regress").exists()


@pytest.mark.parametrize("text", ["eight", "8 s", "0x8", "true"])
def test_a_variable_that_is_no_number_is_named(here: Here, tmp_path: Path, text: str) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})

    assert "REGRESS_CONCURRENCY: not a number" in here("run", "suite", REGRESS_CONCURRENCY=text).fault


@pytest.mark.parametrize("value", ["'8'", "true", "[8]"])
def test_a_key_that_is_no_number_is_named_with_its_file(here: Here, tmp_path: Path, value: str) -> None:
    write_suite(tmp_path / "suite", {"a": "same"})
    (tmp_path / "regress.toml").write_text(f"concurrency = {value}\n", encoding="utf-8")

    assert "regress.toml: concurrency: not a number" in here("run", "suite").fault


ANSWER = answering("On its way.")


def run_six(here: Here, root: Path, behaviour: Behaviour | Answer) -> tuple[Result, OpenAIServer]:
    """Run six cases, one request each, on a server's model."""
    write_candidate_suite(root / "suite", dict.fromkeys("abcdef", "same"), adapter=TOOLS)
    with OpenAIServer(behaviour) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", KEY)
        return here("run", "suite", "--model", "openai:m-small", "--json"), server


def test_concurrency_reaches_the_provider(here: Here, tmp_path: Path) -> None:
    """Requests are answered two by two: with less concurrency there would never be two."""
    (tmp_path / "regress.toml").write_text("concurrency = 2\n", encoding="utf-8")
    pair = threading.Barrier(2, timeout=60)

    def behave(_: JsonObject, __: int) -> Answer:
        pair.wait()
        return ANSWER

    result, server = run_six(here, tmp_path, behave)

    assert (result.code, server.count, server.peak) == (0, 6, 2)


@pytest.mark.parametrize(
    ("file", "answer", "code", "words"),
    [
        pytest.param("call_attempts = 1", error(500), "500", "(1 attempt)", id="call_attempts"),
        pytest.param(
            "call_time_out_s = 0.1\ncall_attempts = 1",
            after(60, ANSWER),
            "time-out",
            "no answer within 0.1 s",
            id="call_time_out_s",
        ),
        pytest.param(
            "run_time_out_s = 0.1",
            after(60, ANSWER),
            "time-out",
            "the run took longer than 0.1 s",
            id="run_time_out_s",
        ),
    ],
)
def test_limits_end_calls_and_runs(
    here: Here, tmp_path: Path, file: str, answer: Answer, code: str, words: str
) -> None:
    (tmp_path / "regress.toml").write_text(file, encoding="utf-8")

    result, server = run_six(here, tmp_path, answer)

    assert result.code == 3
    assert server.count <= 6
    assert [case["trouble"]["code"] for case in result.json["cases"]] == [code] * 6
    assert all(words in case["reasons"][0] for case in result.json["cases"])


def test_requests_per_second_reach_the_provider(here: Here, tmp_path: Path) -> None:
    """The sixth request leaves half a second after the first, which may have been long on its way."""
    (tmp_path / "regress.toml").write_text("requests_per_second = 10\n", encoding="utf-8")
    times: list[float] = []

    def behave(_: JsonObject, __: int) -> Answer:
        times.append(time.monotonic())
        return ANSWER

    result, _ = run_six(here, tmp_path, behave)

    assert (result.code, len(times)) == (0, 6)
    assert max(times) - min(times) >= 0.25


@pytest.mark.parametrize(
    ("file", "environment", "days"),
    [
        pytest.param("", {}, 30, id="default"),
        pytest.param("keep_days = 7\n", {}, 7, id="file"),
        pytest.param("keep_days = 7\n", {"REGRESS_KEEP_DAYS": "1"}, 1, id="environment"),
    ],
)
def test_how_long_logs_are_kept(tmp_path: Path, file: str, environment: Mapping[str, str], days: int) -> None:
    (tmp_path / "regress.toml").write_text(file, encoding="utf-8")
    assert load_settings(folder=tmp_path, environment=environment).keep_days == days


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "inf", "nan"])
def test_days_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"REGRESS_KEEP_DAYS: .* is no whole number of days, 1 or more"):
        load_settings(folder=tmp_path, environment={"REGRESS_KEEP_DAYS": text})


def test_an_address_with_a_secret_is_no_key_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "regress.toml").write_text("webhook_url = 'https://example.org/hook'\n", encoding="utf-8")
    with pytest.raises(InputError, match="webhook_url: unknown key"):
        load_settings(folder=tmp_path, environment={})
